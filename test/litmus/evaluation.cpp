#include "evaluation.hpp"

#include <array>
#include <cstring>

#include "litmus_kernel.hpp"

namespace softgpu::litmus {
namespace {

std::uint64_t read(std::uint64_t address, std::uint32_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), bytes);  // NOLINT(performance-no-int-to-ptr)
  return value;
}

}  // namespace

Evaluation::Evaluation(const Setup& setup, std::span<const ThreadArguments> arguments)
    : setup_(setup), arguments_(arguments) {
  const LitmusTest& test = *setup.test;
  const std::uint64_t row = std::uint64_t{lanes()} * setup.element.result_bytes();
  const std::uint32_t bytes = setup.element.result_bytes() / setup.element.variables();
  unsigned in_turn = 0;  // the loads of all threads, where one wavefront makes them
  for (const Events& events : test.threads) in_turn += load_count(events);
  unsigned before = 0;
  for (std::size_t thread = 0; thread < test.threads.size(); ++thread) {
    const unsigned own = load_count(test.threads[thread]);
    const bool is_shared = setup.side == Side::lane;
    for (unsigned i = 0; i < own; ++i)
      columns_.push_back({arguments[is_shared ? 0 : thread].results + row * (is_shared ? before + i : i),
                          row * (is_shared ? in_turn : own), bytes, 0});
    before += own;
  }
  if (!test.observes_final_values) return;
  for (const std::uint64_t variable : arguments[0].variables)
    columns_.push_back({variable, arguments[0].slot_bytes, setup.element.variable_bytes(), arguments[0].lane_offsets});
}

std::uint64_t Evaluation::value(const Column& column, std::uint32_t round, std::uint32_t lane,
                                std::uint32_t part) const {
  const std::uint32_t parts = setup_.element.variables();
  const std::uint64_t offset =
      column.lane_offsets == 0 ? std::uint64_t{column.bytes} * parts * lane : read(column.lane_offsets + 4 * lane, 4);
  return read(column.first + column.round_stride * round + offset + std::uint64_t{column.bytes} * part, column.bytes);
}

/// Whether the halves differ of an element that is stored with equal halves.
bool Evaluation::is_torn(std::uint64_t value) const {
  const std::uint32_t bytes = setup_.element.variable_bytes();
  if (bytes != 8 && setup_.test->values != Values::patterns) return false;
  const std::uint32_t half = 4 * bytes;
  const std::uint64_t low = value & ((std::uint64_t{1} << half) - 1);
  return (low | low << half) != value;
}

/// What a flag's store said in this launch, else 0.
unsigned Evaluation::digit(std::uint64_t value) const {
  const std::uint32_t bits = setup_.element.variable_bytes() == 8 ? 32 : 8 * setup_.element.variable_bytes();
  const std::uint64_t digit = (value - arguments_[0].first_value) & ((std::uint64_t{1} << bits) - 1);
  return digit < 4 ? static_cast<unsigned>(digit) : 0;
}

unsigned Evaluation::relation(std::span<const std::uint64_t> values, std::uint32_t round, std::uint32_t lane,
                              std::uint32_t part) const {
  if (setup_.test->values == Values::patterns)
    return round == 0 || values[0] == value(columns_[0], round - 1, lane, part) ? Tally::same : Tally::older_first;
  const auto newer = static_cast<std::int32_t>(static_cast<std::uint32_t>(values[0] - values[1]));
  return newer == 0 ? Tally::same : newer < 0 ? Tally::older_first : Tally::newer_first;
}

void Evaluation::add_round(Tally& tally, std::uint32_t round, std::uint32_t lane, std::uint32_t part) const {
  std::array<std::uint64_t, Tally::most_digits> values = {};
  ++tally.rounds;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    values[i] = value(columns_[i], round, lane, part);
    if (is_torn(values[i])) {
      ++tally.torn;
      return;
    }
  }
  if (setup_.test->values != Values::flags) return tally.count(relation(values, round, lane, part));
  unsigned code = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) code = code << 2 | digit(values[i]);
  tally.count(code);
}

void Evaluation::add_to(Tally& tally) const {
  for (std::uint32_t round = 0; round < arguments_[0].rounds; ++round)
    for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
      if ((arguments_[0].execution_mask >> lane & 1) == 0) continue;
      for (std::uint32_t part = 0; part < setup_.element.variables(); ++part) add_round(tally, round, lane, part);
    }
}

}  // namespace softgpu::litmus
