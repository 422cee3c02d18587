#include "dispatch/streams/dependencies.hpp"

#include <algorithm>

#include "dispatch/encode/access_history.hpp"

namespace fastdispatch::detail {
namespace {

// The steps in `hazards` with numbers below `end`.
std::vector<std::size_t> steps_of(std::span<const Hazard> hazards, std::size_t end) {
  std::vector<std::size_t> steps;
  for (const auto& [step, scope] : hazards) {  // they are in order
    if (step.index < end && (steps.empty() || steps.back() != step.index)) steps.push_back(step.index);
  }
  return steps;
}

}  // namespace

Dependencies dependencies_of(std::span<const Step> steps) {
  Dependencies result;
  AccessHistory history;
  for (const Step& step : steps) {
    const std::vector<Access> accesses = accesses_of(step);
    const std::size_t number = result.size();
    result.push_back(steps_of(history.hazards(accesses), number));
    history.add({Toucher::Kind::step, number}, accesses);
  }
  return result;
}

Dependencies dependencies_between(const AccessLists& earlier, const AccessLists& later) {
  Dependencies result;
  AccessHistory history;
  std::size_t number = 0;
  for (const std::vector<Access>& accesses : earlier) history.add({Toucher::Kind::step, number++}, accesses);
  for (const std::vector<Access>& accesses : later) {
    result.push_back(steps_of(history.hazards(accesses), earlier.size()));
    history.add({Toucher::Kind::step, number++}, accesses);
  }
  return result;
}

std::vector<std::size_t> depths(const Dependencies& dependencies) {
  std::vector<std::size_t> result(dependencies.size());
  for (std::size_t step = 0; step < result.size(); ++step)
    for (const std::size_t earlier : dependencies[step]) result[step] = std::max(result[step], result[earlier] + 1);
  return result;
}

}  // namespace fastdispatch::detail
