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

// Of each step, by its number, the steps that it must come after, in ascending order. A step is left out where another
// one in the list comes after it, and it touches nothing else.
using Dependencies = std::vector<std::vector<std::size_t>>;

// Within a recording.
[[nodiscard]] Dependencies dependencies_of(std::span<const Step> steps);
// Of each step of `later` on those of `earlier`, which runs before it.
[[nodiscard]] Dependencies dependencies_between(const AccessLists& earlier, const AccessLists& later);

// The length of the longest chain of steps that each step comes after: 0 where it comes after none.
[[nodiscard]] std::vector<std::size_t> depths(const Dependencies& dependencies);

}  // namespace fastdispatch::detail
