#include "dispatch/dependencies.hpp"

#include <algorithm>

#include "dispatch/access_history.hpp"

namespace fastdispatch::detail {
namespace {

void add_once(std::vector<std::size_t>& steps, std::size_t step) {
  if (steps.empty() || steps.back() != step) steps.push_back(step);  // hazards are in order
}

}  // namespace

Dependencies dependencies_of(std::span<const Step> steps) {
  const std::size_t count = steps.size();
  Dependencies result{std::vector<std::vector<std::size_t>>(count), std::vector<std::vector<std::size_t>>(count)};
  AccessHistory history;
  for (std::size_t number = 0; number < 2 * count; ++number) {
    const std::size_t step = number % count;
    const std::vector<Access> accesses = accesses_of(steps[step]);
    if (number >= count) {
      for (const Hazard& hazard : history.hazards(accesses)) {
        if (hazard.earlier.index < count)
          add_once(result.across[step], hazard.earlier.index);
        else
          add_once(result.within[step], hazard.earlier.index - count);
      }
    }
    history.add({Toucher::Kind::step, number}, accesses);
  }
  return result;
}

std::vector<std::size_t> depths(const Dependencies& dependencies) {
  std::vector<std::size_t> result(dependencies.within.size());
  for (std::size_t step = 0; step < result.size(); ++step)
    for (const std::size_t earlier : dependencies.within[step])
      result[step] = std::max(result[step], result[earlier] + 1);
  return result;
}

}  // namespace fastdispatch::detail
