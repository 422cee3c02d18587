#include "dispatch/code_object/module_variable.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <optional>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "dispatch/code_object/demangle.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

template <class T>
T symbol_info(const HsaApi& api, hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t which) {
  T value{};
  check(api, api.executable_symbol_get_info(symbol, which, &value), "hsa_executable_symbol_get_info",
        "asking for a symbol of a code object");
  return value;
}

std::optional<ModuleVariable> variable_of(const HsaApi& api, hsa_executable_symbol_t symbol) {
  if (symbol_info<hsa_symbol_kind_t>(api, symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) != HSA_SYMBOL_KIND_VARIABLE)
    return {};
  const auto length = symbol_info<std::uint32_t>(api, symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH);
  std::string name(length, '\0');
  check(api, api.executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data()),
        "hsa_executable_symbol_get_info", "asking for a symbol's name");
  const auto address = symbol_info<std::uint64_t>(api, symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS);
  return ModuleVariable{.name = std::move(name),
                        .address = std::bit_cast<std::byte*>(address),
                        .bytes = symbol_info<std::uint32_t>(api, symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE)};
}

// A variable's mangled name is a function's without parameters: `v` is a list of none.
std::string source_name_of(const ModuleVariable& variable) {
  const std::optional<SourceName> source = source_name(variable.name + "v");
  return source ? source->name : variable.name;
}

}  // namespace

std::vector<ModuleVariable> variables_of(const HsaApi& api, hsa_executable_t executable, hsa_agent_t agent) {
  struct Visit {
    const HsaApi& api;
    std::vector<ModuleVariable> variables{};
    std::exception_ptr failure{};
  } visit{api};
  const auto callback = [](hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t symbol, void* data) {
    auto& state = *static_cast<Visit*>(data);
    try {
      if (auto variable = variable_of(state.api, symbol)) state.variables.push_back(*std::move(variable));
      return HSA_STATUS_SUCCESS;
    } catch (...) {
      state.failure = std::current_exception();
      return HSA_STATUS_ERROR;
    }
  };
  const hsa_status_t status = api.executable_iterate_agent_symbols(executable, agent, callback, &visit);
  if (visit.failure) std::rethrow_exception(visit.failure);
  check(api, status, "hsa_executable_iterate_agent_symbols", "looking for the variables of a code object");
  return std::move(visit.variables);
}

const ModuleVariable& find_variable(std::span<const ModuleVariable> variables, std::string_view name,
                                    std::string_view file) {
  auto found = std::ranges::find(variables, name, &ModuleVariable::name);
  if (found == variables.end()) found = std::ranges::find(variables, name, source_name_of);
  if (found != variables.end()) return *found;
  if (variables.empty()) throw Error(fmt::format("{} has no variable {}: it has no variables at all", file, name));
  std::vector<std::string> names;
  for (const ModuleVariable& each : variables) names.push_back(source_name_of(each));
  throw Error(fmt::format("{} has no variable {}; it has: {}", file, name, fmt::join(names, ", ")));
}

}  // namespace fastdispatch::detail
