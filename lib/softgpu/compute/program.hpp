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

#include "instruction.hpp"

namespace softgpu::compute {

/// Why a program could not be read.
struct UnreadableCode {
  std::uint32_t offset;
  std::string text;
};

struct Program {
  /// A contiguous piece of the code that was decoded.
  struct Piece {
    std::uint32_t offset;
    std::vector<std::byte> bytes;
    bool operator==(const Piece&) const = default;
  };

  std::map<std::uint32_t, Instruction> instructions;  ///< by their offset from the entry
  std::set<std::uint32_t> leaders;                    ///< where basic blocks begin
  std::vector<Piece> pieces;                          ///< in the order of their offsets

  [[nodiscard]] static std::variant<Program, UnreadableCode> read(std::uint64_t entry);
};

/// Copies memory that may not be mapped: returns how many bytes could be read from `address` on.
std::size_t read_memory(std::uint64_t address, std::span<std::byte> destination);

}  // namespace softgpu::compute
