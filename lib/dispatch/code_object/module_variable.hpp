// The variables of a loaded code object.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hsa/hsa.h>

#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch::detail {

struct ModuleVariable {
  std::string name;              ///< as in the code object: mangled where it is in a namespace
  std::byte* address = nullptr;  ///< the agent's
  std::size_t bytes = 0;
};

/// Throws Error when HSA refuses.
[[nodiscard]] std::vector<ModuleVariable> variables_of(const HsaApi& api, hsa_executable_t executable,
                                                       hsa_agent_t agent);

/// The variable that `name` means: the symbol, or its name in the source. Throws Error, with the names of all, when
/// there is no such variable. `file` is for error texts.
[[nodiscard]] const ModuleVariable& find_variable(std::span<const ModuleVariable> variables, std::string_view name,
                                                  std::string_view file);

}  // namespace fastdispatch::detail
