// The part that all programs share.
#pragma once

#include <string_view>

namespace random_programs {

/// HIP source: types, and functions that have the same result on the host and on a GPU. It includes no header.
extern const std::string_view prelude;

}  // namespace random_programs
