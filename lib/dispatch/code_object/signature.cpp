#include "dispatch/code_object/signature.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/demangle.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

// Both sides of an error text, in the same words.
std::string describe(const ArgumentMetadata& argument) {
  const std::string type = argument.type_name.empty() ? "" : fmt::format(" ({})", argument.type_name);
  return fmt::format("{} of {} bytes{}", argument.value_kind, argument.size, type);
}

std::string describe(const Parameter& parameter) {
  const char* kind = parameter.kind == ParameterKind::pointer ? "pointer"
                     : parameter.kind == ParameterKind::value ? "value"
                                                              : "LocalMemory";
  return fmt::format("{} of {} bytes ({})", kind, parameter.size, demangle(parameter.type->name()));
}

// Empty when the parameter fits the argument, otherwise advice.
std::string_view mismatch(const ArgumentMetadata& argument, const Parameter& parameter) {
  if (argument.value_kind == "global_buffer") {
    if (parameter.kind != ParameterKind::pointer) return "a pointer is wanted";
  } else if (argument.value_kind == "dynamic_shared_pointer") {
    if (parameter.kind != ParameterKind::local_memory) return "fastdispatch::LocalMemory is wanted";
  } else if (argument.value_kind == "by_value") {
    if (parameter.kind != ParameterKind::value) return "a value is wanted";
  } else {
    return "arguments of this kind are not supported";
  }
  return parameter.size == argument.size ? "" : "the sizes must be equal";
}

}  // namespace

void check_signature(const KernelMetadata& kernel, std::span<const Parameter> parameters) {
  std::vector<const ArgumentMetadata*> arguments;
  for (const ArgumentMetadata& argument : kernel.arguments) {
    if (!argument.hidden()) arguments.push_back(&argument);
  }
  if (arguments.size() != parameters.size()) {
    std::vector<std::string> described;
    described.reserve(arguments.size());
    for (const ArgumentMetadata* argument : arguments) described.push_back(describe(*argument));
    throw Error(fmt::format("kernel {} takes {} arguments, the signature has {}; the code object has: {}", kernel.name,
                            arguments.size(), parameters.size(),
                            arguments.empty() ? "none" : fmt::to_string(fmt::join(described, ", "))));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view advice = mismatch(*arguments[i], parameters[i]);
    if (advice.empty()) continue;
    const std::string name = arguments[i]->name.empty() ? "" : fmt::format(" \"{}\"", arguments[i]->name);
    throw Error(fmt::format("kernel {}, argument {}{}: the code object has {}, the signature has {}; {}", kernel.name,
                            i + 1, name, describe(*arguments[i]), describe(parameters[i]), advice));
  }
}

}  // namespace fastdispatch::detail
