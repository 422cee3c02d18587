#include "dispatch/encode/access_history.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace fastdispatch::detail {
namespace {

auto key(const Hazard& hazard) { return std::tuple(hazard.earlier.kind, hazard.earlier.index, hazard.scope); }

}  // namespace

std::vector<Hazard> AccessHistory::hazards(std::span<const Access> accesses) {
  std::vector<Hazard> hazards;
  for (const Access& access : accesses) {
    visit(access, [&](const Interval& interval) {
      if (interval.written) {
        const auto& [writer, scope] = *interval.written;
        hazards.push_back({writer, std::max(scope, access.scope)});
      }
      if (!access.writes()) return;
      for (const auto& dispatch : {interval.reading_dispatch, interval.reading_before})
        if (dispatch) hazards.push_back({{Toucher::Kind::dispatch, *dispatch}});
      for (const Toucher& other : interval.reading_others) hazards.push_back({other});
    });
  }
  std::sort(hazards.begin(), hazards.end(), [](const Hazard& a, const Hazard& b) { return key(a) < key(b); });
  hazards.erase(std::unique(hazards.begin(), hazards.end()), hazards.end());
  return hazards;
}

void AccessHistory::add(Toucher step, std::span<const Access> accesses) {
  for (const Access& access : accesses) {
    if (!access.reads()) continue;
    visit(access, [&](Interval& interval) {
      std::vector<Toucher>& others = interval.reading_others;
      if (step.kind == Toucher::Kind::dispatch) {
        if (interval.reading_dispatch != step.index)
          interval.reading_before = std::exchange(interval.reading_dispatch, step.index);
      } else if (others.empty() || others.back() != step) {
        others.push_back(step);
      }
    });
  }
  for (const Access& access : accesses) {
    if (!access.writes()) continue;
    visit(access, [&](Interval& interval) {
      const bool again = interval.written && interval.written->earlier == step;
      const FenceScope scope = again ? std::max(interval.written->scope, access.scope) : access.scope;
      interval = {.written = Hazard{step, scope}, .reading_dispatch = {}, .reading_before = {}, .reading_others = {}};
    });
  }
}

AccessHistory::Intervals::iterator AccessHistory::split(std::uintptr_t address) {
  const auto interval = std::prev(intervals_.upper_bound(address));
  if (interval->first == address) return interval;
  return intervals_.emplace_hint(std::next(interval), address, interval->second);
}

template <class Visit>
void AccessHistory::visit(const Access& access, Visit visit) {
  const auto first = split(access.begin);
  const auto last = split(access.end);
  std::for_each(first, last, [&](auto& interval) { visit(interval.second); });
}

}  // namespace fastdispatch::detail
