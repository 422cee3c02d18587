#include "litmus_test.hpp"

#include <algorithm>
#include <array>

namespace softgpu::litmus {

bool LitmusTest::has(Event::Kind kind) const {
  return std::ranges::any_of(threads, [&](const Events& events) {
    return std::ranges::any_of(events, [&](const Event& event) { return event.kind == kind; });
  });
}

bool LitmusTest::is_forbidden(const Outcome& outcome) const {
  return std::ranges::any_of(forbidden, [&](const std::vector<int>& pattern) {
    return std::ranges::equal(
        pattern, outcome, [](int wanted, unsigned seen) { return wanted == any || wanted == static_cast<int>(seen); });
  });
}

Outcome outcome_in_turn(const LitmusTest& test) {
  std::array<unsigned, variable_count> variables = {};
  Outcome outcome;
  for (const Events& events : test.threads)
    for (const Event& event : events) {
      if (event.kind == Event::Kind::store) variables[event.variable] = event.value;
      if (event.kind == Event::Kind::load) outcome.push_back(variables[event.variable]);
    }
  if (test.observes_final_values) outcome.insert(outcome.end(), variables.begin(), variables.end());
  return outcome;
}

}  // namespace softgpu::litmus
