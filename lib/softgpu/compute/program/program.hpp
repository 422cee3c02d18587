// A kernel's instructions as control flow reaches them from its entry. The size of a kernel's code is not known where a
// dispatch packet is executed, so that the branches have to be followed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

/// Why a program could not be read.
struct UnreadableCode {
  std::int64_t offset;
  std::string text;
};

struct Program {
  /// A contiguous piece of the code that was decoded.
  struct Piece {
    std::int64_t offset;
    std::vector<std::byte> bytes;
    bool operator==(const Piece&) const = default;
  };

  Target target;                                     ///< it was compiled for this
  std::int64_t start = 0;                            ///< where it was begun to read
  std::map<std::int64_t, Instruction> instructions;  ///< by their offset from the entry
  std::set<std::int64_t> leaders;                    ///< where basic blocks begin
  std::set<std::int64_t> indirect_targets;  ///< known functions and the places that calls return to, if there are any
  std::vector<Piece> pieces;                ///< in the order of their offsets

  /// Follows control flow from `start`, an offset from the kernel's entry, which is an address.
  [[nodiscard]] static std::variant<Program, UnreadableCode> read(std::uint64_t entry, const Target& target,
                                                                  std::int64_t start = 0);

  /// Whether it calls or branches to where registers say, or was reached in that way.
  [[nodiscard]] bool branches_indirectly() const { return !indirect_targets.empty(); }

private:
  /// `guessed` tells whether a branch's target was guessed; with null, no target is guessed.
  [[nodiscard]] static std::variant<Program, UnreadableCode> read(std::uint64_t entry, const Target& target,
                                                                  std::int64_t start, bool* guessed);
};

/// Whether the instruction may branch back to itself or to an earlier one.
[[nodiscard]] bool may_close_a_loop(const Instruction& instruction);

/// Where control flow goes on after an instruction, as far as the code tells.
[[nodiscard]] std::vector<std::int64_t> successors(const Instruction& instruction);

/// Copies memory that may not be mapped: returns how many bytes could be read from `address` on.
std::size_t read_memory(std::uint64_t address, std::span<std::byte> destination);

}  // namespace softgpu::compute
