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

// Of each step, by its number, steps that it must come after, in ascending order. Not all of them: those that these
// come after are left out where they touch nothing else.
using Dependencies = std::vector<std::vector<std::size_t>>;

// Within a recording.
[[nodiscard]] Dependencies dependencies_of(std::span<const Step> steps);
// Of each step of `later` on those of `earlier`, which runs before it.
[[nodiscard]] Dependencies dependencies_between(const AccessLists& earlier, const AccessLists& later);

// How many steps follow one another at least up to each step: 0 for those that come after none.
[[nodiscard]] std::vector<std::size_t> depths(const Dependencies& dependencies);

}  // namespace fastdispatch::detail
