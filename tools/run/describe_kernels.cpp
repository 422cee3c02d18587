#include "describe_kernels.hpp"

#include <string>

namespace {

/// What --arg gives for it.
std::string word_for(const std::string& kind) {
  if (kind == "global_buffer") return "array";
  if (kind == "by_value") return "value";
  if (kind == "dynamic_shared_pointer") return "local";
  return kind;
}

Document describe(const fastdispatch::KernelParameter& parameter) {
  Document document;
  document["offset"] = parameter.offset;
  document["bytes"] = parameter.size;
  document["kind"] = word_for(parameter.kind);
  document["type"] = parameter.type;
  document["name"] = parameter.name;
  return document;
}

}  // namespace

Document describe_kernels(const fastdispatch::Module& module) {
  Document document;
  document["target"] = module.target();
  Document& kernels = document["kernels"] = Document::array();
  for (const std::string& name : module.kernel_names()) {
    const fastdispatch::KernelDescription description = module.describe(name);
    Document kernel;
    kernel["name"] = description.name;
    Document& arguments = kernel["arguments"] = Document::array();
    for (const fastdispatch::KernelParameter& parameter : description.parameters)
      arguments.push_back(describe(parameter));
    kernels.push_back(std::move(kernel));
  }
  return document;
}
