// Which steps of a recording must come after which.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dispatch/record/access.hpp"
#include "dispatch/record/step.hpp"

namespace fastdispatch::detail {

// What each of several steps reads and writes, in an order that they may run in.
using AccessLists = std::vector<std::vector<Access>>;

// For each step, by its number, the steps that it must come after, in ascending order. A step is left out of a list if
// another step in the list comes after it and it touches nothing else.
using Dependencies = std::vector<std::vector<std::size_t>>;

// Within a recording.
[[nodiscard]] Dependencies dependencies_of(std::span<const Step> steps);
// The dependencies of the steps of `later` on the steps of `earlier`, which runs before.
[[nodiscard]] Dependencies dependencies_between(const AccessLists& earlier, const AccessLists& later);

// For each step, the length of the longest chain of steps before it: 0 for a step without dependencies.
[[nodiscard]] std::vector<std::size_t> depths(const Dependencies& dependencies);

}  // namespace fastdispatch::detail
