// C++ names as their authors wrote them.
#pragma once

#include <string>
#include <string_view>

namespace fastdispatch::detail {

// "_Z5scalePf" becomes "scale(float*)"; a name that is not mangled stays as it is.
[[nodiscard]] std::string demangle(const char* name);

// The name alone, without return type and parameters: "scale", "space::sum<float>".
[[nodiscard]] std::string source_name(const std::string& mangled);

}  // namespace fastdispatch::detail
