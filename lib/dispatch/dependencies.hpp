// Which steps of a program must come after which.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dispatch/batch_image.hpp"

namespace fastdispatch::detail {

// Of each step, by its number, steps that it must come after, in ascending order. Not all of them: those that these
// come after are left out where they touch nothing else.
struct Dependencies {
  std::vector<std::vector<std::size_t>> within;  // the same run of the program
  std::vector<std::vector<std::size_t>> across;  // the run before, where the program runs again
};

// From what the steps read and write.
[[nodiscard]] Dependencies dependencies_of(std::span<const Step> steps);

// How many steps follow one another at least up to each step: 0 for those that come after none.
[[nodiscard]] std::vector<std::size_t> depths(const Dependencies& dependencies);

}  // namespace fastdispatch::detail
