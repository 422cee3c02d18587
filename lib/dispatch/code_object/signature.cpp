#include "dispatch/code_object/signature.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "dispatch/code_object/demangle.hpp"
#include "dispatch/code_object/types_fit.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

// An explicit argument of a kernel, with its type where the code object tells it.
struct KernelArgumentType {
  const ArgumentMetadata* argument;
  std::optional<SourceType> type{};
};

// The mangled name of a C++ kernel tells its types. OpenCL's metadata have their names.
std::vector<KernelArgumentType> parameters_of(const KernelMetadata& kernel) {
  std::vector<KernelArgumentType> parameters;
  for (const ArgumentMetadata& argument : kernel.arguments) {
    if (!argument.hidden()) parameters.push_back({&argument, opencl_type(argument.type_name)});
  }
  if (const auto source = source_name(kernel.name); source && source->parameters.size() == parameters.size()) {
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].type = source->parameters[i];
  }
  return parameters;
}

std::string type_text(const KernelArgumentType& parameter) {
  return parameter.type ? parameter.type->text : parameter.argument->type_name;
}

// Both sides of an error text, in the same words.
std::string describe(const KernelArgumentType& parameter) {
  const ArgumentMetadata& argument = *parameter.argument;
  const std::string type = type_text(parameter);
  return fmt::format("{} of {} bytes{}", argument.value_kind, argument.size,
                     type.empty() ? "" : fmt::format(" ({})", type));
}

std::string describe(const Parameter& parameter) {
  const char* kind = parameter.kind == ParameterKind::pointer ? "pointer"
                     : parameter.kind == ParameterKind::value ? "value"
                                                              : "LocalMemory";
  const std::optional<SourceType> type = source_type(parameter.type->name());
  return fmt::format("{} of {} bytes ({})", kind, parameter.size, type ? type->text : parameter.type->name());
}

// Empty when kind and size of the parameter fit the argument, otherwise advice.
std::string_view mismatch_of_bytes(const ArgumentMetadata& argument, const Parameter& parameter) {
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

// The kernel's type, or the metadata, say that it may write through a pointer.
bool may_write(const KernelArgumentType& parameter) {
  const auto writes = [](std::string_view access) { return access == "write_only" || access == "read_write"; };
  const ArgumentMetadata& argument = *parameter.argument;
  if (writes(argument.access) || writes(argument.actual_access)) return true;
  if (argument.actual_access == "read_only") return false;
  return parameter.type && parameter.type->is_from_name && parameter.type->pointers > 0 &&
         !parameter.type->points_to_const;
}

// Empty when the types fit, otherwise advice.
std::string_view mismatch_of_types(const KernelArgumentType& wanted, const Parameter& given) {
  if (given.kind == ParameterKind::local_memory) return "";
  const std::optional<SourceType> type = source_type(given.type->name());
  if (!type) return "";
  if (wanted.type && !types_fit(*wanted.type, *type)) {
    return given.kind == ParameterKind::pointer
               ? "say the kernel's type, or void* if the memory is known to hold what the kernel wants"
               : "say the kernel's type";
  }
  if (type->points_to_const && may_write(wanted)) {
    return "the kernel may write through this pointer, and Fences::derived would not know: say a pointer to what is "
           "not "
           "const, and fd::read at the dispatch if the kernel only reads; or make the kernel's parameter const";
  }
  return "";
}

}  // namespace

void check_signature(const KernelMetadata& kernel, std::span<const Parameter> parameters) {
  const std::vector<KernelArgumentType> wanted = parameters_of(kernel);
  if (wanted.size() != parameters.size()) {
    std::vector<std::string> described;
    described.reserve(wanted.size());
    for (const KernelArgumentType& parameter : wanted) described.push_back(describe(parameter));
    throw Error(fmt::format("kernel {} takes {} arguments, the signature has {}; the code object has: {}",
                            demangle(kernel.name), wanted.size(), parameters.size(),
                            wanted.empty() ? "none" : fmt::to_string(fmt::join(described, ", "))));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::string_view advice = mismatch_of_bytes(*wanted[i].argument, parameters[i]);
    if (advice.empty()) advice = mismatch_of_types(wanted[i], parameters[i]);
    if (advice.empty()) continue;
    const std::string& name = wanted[i].argument->name;
    throw Error(fmt::format("kernel {}, argument {}{} at offset {}: the code object has {}, the signature has {}; {}",
                            demangle(kernel.name), i + 1, name.empty() ? "" : fmt::format(" \"{}\"", name),
                            wanted[i].argument->offset, describe(wanted[i]), describe(parameters[i]), advice));
  }
}

std::vector<std::string> types_of_arguments(const KernelMetadata& kernel) {
  std::vector<std::string> types;
  for (const KernelArgumentType& parameter : parameters_of(kernel)) types.push_back(type_text(parameter));
  return types;
}

}  // namespace fastdispatch::detail
