// Executes the instructions that lane_sums.hpp follows, and the steps that it tells, side by side.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "softgpu/compute/program/lane_sums.hpp"

namespace softgpu::compute {

/// The registers of one wavefront.
class LaneSumMachine {
public:
  explicit LaneSumMachine(unsigned lanes) : lanes_(lanes) {}

  using Lanes = std::array<std::uint32_t, 64>;

  std::array<std::uint32_t, scalar_register::count> scalar = {};
  std::array<Lanes, 16> vector = {};
  bool scc = false;

  [[nodiscard]] std::uint64_t exec() const { return mask(scalar_register::exec); }
  void set_exec(std::uint64_t lanes) { set_mask(scalar_register::exec, lanes); }

  /// Any of the instructions that random programs have; branches change nothing.
  void execute(const Instruction& instruction);

private:
  [[nodiscard]] bool is_active(unsigned lane) const { return (exec() >> lane & 1) != 0; }
  [[nodiscard]] std::uint64_t all() const { return lanes_ == 32 ? 0xffffffff : ~std::uint64_t{0}; }
  [[nodiscard]] std::uint64_t mask(unsigned index) const;
  void set_mask(unsigned index, std::uint64_t value);
  [[nodiscard]] std::uint64_t source_mask(const Operand& operand) const;
  [[nodiscard]] std::uint32_t word(const Operand& operand, unsigned lane) const;
  [[nodiscard]] std::uint64_t wide(const Operand& operand, unsigned lane) const;
  void write(const Operand& to, unsigned lane, std::uint64_t value);
  void add(const Instruction& instruction, bool has_carry);
  void combine_masks(const Instruction& instruction, std::string_view name);

  unsigned lanes_;

  friend class LaneSumParts;
};

/// What the emitter keeps beside the registers.
class LaneSumParts {
public:
  explicit LaneSumParts(const LaneSumMachine& machine) : machine_(machine) {}

  void take(const LaneSumStep& step);
  /// Whether a sum is what its registers have.
  [[nodiscard]] bool holds(unsigned low, const LaneSum& sum) const { return !sum.is_guess || sums_.at(low).holds; }
  /// The address in a lane, by the lane's own index.
  [[nodiscard]] std::uint64_t address(unsigned low, const LaneSum& sum, unsigned lane) const;
  /// The same where the index is a row, by lane 0's.
  [[nodiscard]] std::uint64_t address_in_row(unsigned low, const LaneSum& sum, unsigned lane) const;
  /// What a lane has of a row.
  [[nodiscard]] std::uint32_t value(unsigned index, const LaneRow& row, unsigned lane) const {
    return words_.at(index) + lane * row.stride;
  }
  /// As a wavefront starts, see LaneRows.
  void begin_with_ids(unsigned count);

private:
  struct Parts {
    std::uint64_t base = 0;
    std::uint32_t start = 0;  ///< of the index, if it is a row
    bool holds = true;        ///< what was guessed
    LaneSumMachine::Lanes index = {};
  };

  [[nodiscard]] std::uint64_t word(const LaneWord& word) const;
  [[nodiscard]] std::uint64_t pair(const UniformPair& pair) const;
  [[nodiscard]] Parts source(const LanePair& pair) const;
  [[nodiscard]] bool is_zero(unsigned index) const;
  [[nodiscard]] std::uint32_t start(const LaneRowStep& step) const;

  const LaneSumMachine& machine_;
  std::map<unsigned, Parts> sums_;
  std::map<unsigned, std::uint32_t> words_;
  std::map<unsigned, std::array<Parts, 2>> halfway_;
};

}  // namespace softgpu::compute
