// A litmus test as data: the accesses of a few threads to two variables, and the outcomes that the memory model
// forbids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softgpu::litmus {

enum class Order : std::uint8_t { relaxed, acquire, release, sequential };

inline constexpr unsigned variable_count = 2;
inline constexpr unsigned x = 0;
inline constexpr unsigned y = 1;

struct Event {
  enum class Kind : std::uint8_t { load, store, fence };
  Kind kind;
  Order order;
  unsigned variable = 0;  ///< of a load or a store
  unsigned value = 0;     ///< of a store: 1 to 3
};
using Events = std::vector<Event>;

[[nodiscard]] constexpr Event load(unsigned variable, Order order = Order::relaxed) {
  return {Event::Kind::load, order, variable};
}
[[nodiscard]] constexpr Event store(unsigned variable, unsigned value, Order order = Order::relaxed) {
  return {Event::Kind::store, order, variable, value};
}
[[nodiscard]] constexpr Event fence(Order order) { return {Event::Kind::fence, order}; }

/// The digits 0 to 3 of an outcome: the result of each load, thread after thread, then the final values of the
/// variables. A variable that no store of the round has reached yet counts as 0.
using Outcome = std::vector<unsigned>;

/// Any value of a forbidden outcome's digit.
inline constexpr int any = -1;

/// The values of the variables.
enum class Values : std::uint8_t {
  flags,     ///< what the stores say; each round has variables of its own
  counters,  ///< the round's number; all rounds share the variables. A later load of older values is forbidden
  patterns,  ///< the same, its digits repeated in both halves of the element: only whether a value is whole matters
};

struct LitmusTest {
  std::string name;
  std::vector<Events> threads;
  std::vector<std::vector<int>> forbidden = {};  ///< of flags: outcomes, where a digit may be `any`
  Values values = Values::flags;
  bool observes_final_values = false;
  bool needs_own_variables = false;  ///< of each lane: several stores of one value make the outcome possible

  [[nodiscard]] bool has(Event::Kind kind) const;
  [[nodiscard]] bool is_forbidden(const Outcome& outcome) const;
};

/// The outcome when the threads run one after another.
[[nodiscard]] Outcome outcome_in_turn(const LitmusTest& test);

}  // namespace softgpu::litmus
