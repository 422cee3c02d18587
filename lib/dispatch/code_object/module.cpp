#include "fastdispatch/module.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <mutex>
#include <system_error>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/code_object.hpp"
#include "dispatch/code_object/demangle.hpp"
#include "dispatch/code_object/kernel_info.hpp"
#include "dispatch/code_object/kernel_lookup.hpp"
#include "dispatch/code_object/kernel_metadata.hpp"
#include "dispatch/code_object/kernel_occupancy.hpp"
#include "dispatch/code_object/module_variable.hpp"
#include "dispatch/code_object/signature.hpp"
#include "dispatch/code_object/uncompressed_file.hpp"
#include "dispatch/device/agent_state.hpp"
#include "dispatch/hsa/log.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {
namespace {

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("reading the code object {}: {}", path.string(), why));
  };
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) fail("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::generic_category().message(errno));
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  const auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

// What an HSA runtime that is older than the code object needs to be told. Empty where it is not that.
std::string advice_on(unsigned version, Agent agent) {
  if (version < 6) return {};
  return fmt::format(
      ", which has version {} of the format; ROCr reads version 6 from 6.2 on; for an older one, compile "
      "with --offload-arch={} and -mcode-object-version=5",
      version, agent.name());
}

// Owns an executable and the reader that it was loaded through.
class Executable {
public:
  Executable(Agent agent, std::span<const std::byte> elf, unsigned version, const std::string& name) : agent_(agent) {
    const detail::HsaApi& api = agent.api();
    const auto doing = [&] {
      return fmt::format("loading the code object {} for {}{}", name, agent.name(), advice_on(version, agent));
    };
    try {
      detail::check(api, api.code_object_reader_create_from_memory(elf.data(), elf.size(), &reader_),
                    "hsa_code_object_reader_create_from_memory", doing);
      detail::check(
          api,
          api.executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable_),
          "hsa_executable_create_alt", doing);
      detail::check(api, api.executable_load_agent_code_object(executable_, agent.handle(), reader_, nullptr, nullptr),
                    "hsa_executable_load_agent_code_object", doing);
      detail::check(api, api.executable_freeze(executable_, nullptr), "hsa_executable_freeze", doing);
    } catch (...) {
      release();
      throw;
    }
  }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable() { release(); }

  // The address of the kernel's descriptor, as packets want it.
  [[nodiscard]] std::uint64_t kernel_object(const detail::KernelMetadata& kernel) const {
    const detail::HsaApi& api = agent_.api();
    const auto doing = [&] {
      return fmt::format("looking up kernel {} in a loaded code object", detail::demangle(kernel.name));
    };
    const hsa_agent_t agent = agent_.handle();
    hsa_executable_symbol_t handle{};
    detail::check(api, api.executable_get_symbol_by_name(executable_, kernel.symbol.c_str(), &agent, &handle),
                  "hsa_executable_get_symbol_by_name", doing);
    std::uint64_t object = 0;
    detail::check(api, api.executable_symbol_get_info(handle, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object),
                  "hsa_executable_symbol_get_info", doing);
    return object;
  }

  [[nodiscard]] std::vector<detail::ModuleVariable> variables() const {
    return detail::variables_of(agent_.api(), executable_, agent_.handle());
  }

private:
  void release() noexcept {
    if (executable_.handle != 0) agent_.api().executable_destroy(executable_);
    if (reader_.handle != 0) agent_.api().code_object_reader_destroy(reader_);
  }

  Agent agent_;
  hsa_code_object_reader_t reader_{};
  hsa_executable_t executable_{};
};

}  // namespace

struct Module::State {
  State(Agent on, const detail::CodeObject& code_object, std::string file, const ModuleOptions& options)
      : runtime(detail::share_runtime_of(on)), agent(on), name(std::move(file)), target(to_string(code_object.target)),
        elf(code_object.elf.begin(), code_object.elf.end()), metadata(detail::read_kernel_metadata(elf, name)),
        executable(on, elf, code_object.version, name) {
    infos.reserve(metadata.size());
    for (const detail::KernelMetadata& kernel : metadata) {
      infos.push_back(make_kernel_info(kernel, executable.kernel_object(kernel), agent, options.dynamic_stack_bytes));
      infos.back().registers = detail::read_kernel_registers(elf, kernel, name);
    }
    for (const detail::KernelInfo& info : infos) detail::state_of(agent).kernels.add(info.object, info.name);
    detail::log().debug("{}: {} kernel(s) loaded for {}", name, infos.size(), agent.name());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (const detail::KernelInfo& info : infos) detail::state_of(agent).kernels.remove(info.object);
  }

  detail::RuntimeShare runtime;
  Agent agent;
  std::string name;
  std::string target;
  std::vector<std::byte> elf;  // the loader reads from it as long as the executable lives
  std::vector<detail::KernelMetadata> metadata;
  Executable executable;
  std::mutex services;                    // for provide_services
  std::vector<detail::KernelInfo> infos;  // in the order of metadata; never resized: kernels point into it
};

Module::Module(std::unique_ptr<State> state) : state_(std::move(state), "module") {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

Module Module::load(Agent agent, const std::filesystem::path& file, const ModuleOptions& options) {
  return load(agent, read_file(file), file.string(), options);
}

Module Module::load(Agent agent, std::span<const std::byte> image, std::string_view name,
                    const ModuleOptions& options) {
  if (options.dynamic_stack_bytes % 16 != 0 || options.dynamic_stack_bytes > ModuleOptions::most_stack_bytes)
    throw Error(fmt::format("ModuleOptions::dynamic_stack_bytes is {}: it must be a multiple of 16 up to {}",
                            options.dynamic_stack_bytes, ModuleOptions::most_stack_bytes));
  const detail::UncompressedFile file(image, name);
  const detail::CodeObject code_object = detail::select_code_object(file.bytes(), name, agent.isa());
  return Module(std::make_unique<State>(agent, code_object, std::string(name), options));
}

std::shared_ptr<const detail::KernelInfo> Module::find(std::string_view name,
                                                       std::span<const detail::Parameter> parameters) const {
  State& state = *state_;
  const std::size_t index = detail::find_kernel(state.metadata, name, state.name);
  detail::check_signature(state.metadata[index], parameters);
  detail::check_implicit_arguments(state.metadata[index]);
  {
    const std::scoped_lock lock(state.services);
    provide_services(state.infos[index], state.agent);
  }
  return {state_.share(), &state.infos[index]};
}

DynamicKernel Module::kernel(std::string_view name, std::span<const ParameterType> signature) const& {
  return {find(name, signature), signature};
}

KernelDescription Module::describe(std::string_view name) const {
  const detail::KernelMetadata& kernel = state_->metadata[detail::find_kernel(state_->metadata, name, state_->name)];
  std::vector<std::string> types = types_of_arguments(kernel);
  KernelDescription description{.name = detail::demangle(kernel.name), .mangled_name = kernel.name, .parameters = {}};
  std::vector<KernelParameter>& parameters = description.parameters;
  for (const detail::ArgumentMetadata& argument : kernel.arguments) {
    if (argument.hidden()) continue;
    parameters.push_back({.name = argument.name,
                          .type = std::move(types[parameters.size()]),
                          .kind = argument.value_kind,
                          .offset = argument.offset,
                          .size = argument.size});
  }
  return description;
}

MemoryView Module::find_variable(std::string_view name, std::size_t element_bytes) const {
  const State& state = *state_;
  const std::vector<detail::ModuleVariable> variables = state.executable.variables();
  const detail::ModuleVariable& variable = detail::find_variable(variables, name, state.name);
  if (variable.bytes % element_bytes != 0)
    throw Error(fmt::format("variable {} of {} has {} bytes: no multiple of {}, the size of an element", name,
                            state.name, variable.bytes, element_bytes));
  return {.address = variable.address,
          .device_address = variable.address,
          .size = variable.bytes,
          .kind = MemoryKind::device,
          .agent = state.agent};
}

std::vector<std::string> Module::kernel_names() const {
  std::vector<std::string> names;
  for (const detail::KernelMetadata& kernel : state_->metadata) names.push_back(kernel.name);
  return names;
}

std::string Module::target() const { return state_->target; }

}  // namespace fastdispatch
