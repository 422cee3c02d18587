#include "tally.hpp"

#include <algorithm>

namespace softgpu::litmus {
namespace {

unsigned digit_count(const LitmusTest& test) {
  unsigned count = test.observes_final_values ? variable_count : 0;
  for (const Events& events : test.threads) count += load_count(events);
  return count;
}

Outcome outcome_of(const LitmusTest& test, std::size_t code) {
  Outcome outcome(digit_count(test));
  for (std::size_t i = outcome.size(); i-- > 0; code >>= 2) outcome[i] = code & 3;
  return outcome;
}

bool is_forbidden(const Setup& setup, std::size_t code) {
  const LitmusTest& test = *setup.test;
  if (test.values != Values::flags) return code == Tally::newer_first;
  const Outcome outcome = outcome_of(test, code);
  return setup.side == Side::lane ? outcome != outcome_in_turn(test) : test.is_forbidden(outcome);
}

std::string name_of(const LitmusTest& test, std::size_t code) {
  if (test.values == Values::patterns) return code == Tally::same ? "unchanged" : "changed";
  if (test.values == Values::counters)
    return code == Tally::same ? "same" : code == Tally::older_first ? "older first" : "newer first";
  std::string text;
  for (const unsigned digit : outcome_of(test, code)) {
    if (!text.empty()) text += ',';
    text += std::to_string(digit);
  }
  return text;
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  for (std::size_t code = 0; code < seen.size(); ++code) seen[code] += other.seen[code];
  rounds += other.rounds;
  torn += other.torn;
  return *this;
}

std::uint64_t forbidden_count(const Setup& setup, const Tally& tally) {
  std::uint64_t count = tally.torn;
  for (std::size_t code = 0; code < tally.seen.size(); ++code)
    if (tally.seen[code] != 0 && is_forbidden(setup, code)) count += tally.seen[code];
  return count;
}

unsigned interleavings(const Tally& tally) {
  return static_cast<unsigned>(std::ranges::count_if(tally.seen, [](std::uint64_t count) { return count != 0; }));
}

std::string outcomes_text(const Setup& setup, const Tally& tally) {
  std::string text;
  const auto add = [&](const std::string& name, std::uint64_t count) {
    if (count == 0) return;
    if (!text.empty()) text += "  ";
    text += name;
    text += ": " + std::to_string(count);
  };
  for (std::size_t code = 0; code < tally.seen.size(); ++code) add(name_of(*setup.test, code), tally.seen[code]);
  add("torn", tally.torn);
  return text;
}

}  // namespace softgpu::litmus
