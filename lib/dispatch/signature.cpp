#include "dispatch/signature.hpp"

#include <string>
#include <vector>

#include "dispatch/demangle.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

// As a code object has it, so that both sides of an error text speak alike.
std::string describe(const ArgumentMetadata& argument) {
  return argument.value_kind + " of " + std::to_string(argument.size) + " bytes" +
         (argument.type_name.empty() ? "" : " (" + argument.type_name + ")");
}

std::string describe(const Parameter& parameter) {
  const char* kind = parameter.kind == ParameterKind::pointer ? "pointer"
                     : parameter.kind == ParameterKind::value ? "value"
                                                              : "LocalMemory";
  return std::string(kind) + " of " + std::to_string(parameter.size) + " bytes (" + demangle(parameter.type->name()) +
         ")";
}

// Empty when the parameter is what the argument wants, otherwise what to do about it.
std::string mismatch(const ArgumentMetadata& argument, const Parameter& parameter) {
  if (argument.value_kind == "global_buffer") {
    return parameter.kind == ParameterKind::pointer ? "" : "a pointer is wanted";
  }
  if (argument.value_kind == "dynamic_shared_pointer") {
    return parameter.kind == ParameterKind::local_memory ? "" : "fastdispatch::LocalMemory is wanted";
  }
  if (argument.value_kind == "by_value") {
    if (parameter.kind != ParameterKind::value) return "a value is wanted";
    return parameter.size == argument.size ? "" : "the sizes must be equal";
  }
  return "arguments of this kind are not supported";
}

}  // namespace

void check_signature(const KernelMetadata& kernel, std::span<const Parameter> parameters) {
  std::vector<const ArgumentMetadata*> arguments;
  for (const ArgumentMetadata& argument : kernel.arguments) {
    if (!argument.hidden()) arguments.push_back(&argument);
  }
  if (arguments.size() != parameters.size()) {
    std::string text = "kernel " + kernel.name + " takes " + std::to_string(arguments.size()) +
                       " arguments, the signature has " + std::to_string(parameters.size()) + "; the code object has ";
    for (std::size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "" : ", ") + describe(*arguments[i]);
    throw Error(text + (arguments.empty() ? "none" : ""));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string advice = mismatch(*arguments[i], parameters[i]);
    if (advice.empty()) continue;
    const std::string name = arguments[i]->name.empty() ? "" : " \"" + arguments[i]->name + "\"";
    throw Error("kernel " + kernel.name + ", argument " + std::to_string(i + 1) + name + ": the code object has " +
                describe(*arguments[i]) + ", the signature has " + describe(parameters[i]) + "; " + advice);
  }
}

}  // namespace fastdispatch::detail
