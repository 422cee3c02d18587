#include "dispatch/code_object/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace fastdispatch::detail {

std::string demangle(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

std::string source_name(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return mangled;
  std::string name = demangle(mangled.c_str());
  // The last closing parenthesis ends the parameters; earlier ones may belong to template arguments.
  if (const std::size_t close = name.rfind(')'); close != std::string::npos) {
    std::size_t depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      if (name[i] == ')') ++depth;
      if (name[i] == '(' && --depth == 0) {
        name.resize(i);
        break;
      }
    }
  }
  // Instances of templates demangle with their return type, which is void for kernels.
  constexpr std::string_view return_type = "void ";
  return name.starts_with(return_type) ? name.substr(return_type.size()) : name;
}

}  // namespace fastdispatch::detail
