// A profile's counts added up: for each kernel, for each kind of access, for each source line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/compute/profile/kernel_profile.hpp"

namespace softgpu::compute::profile {

inline constexpr std::size_t category_count = 8;

struct Totals {
  std::uint64_t instructions = 0;  ///< executed by wavefronts
  std::array<std::uint64_t, category_count> by_category{};
  std::uint64_t lanes = 0;         ///< that could have been active in vector, memory and LDS instructions
  std::uint64_t active_lanes = 0;  ///< that were
  std::uint64_t accesses = 0;
  std::uint64_t scattered = 0;  ///< of global memory
  std::uint64_t lds_passes = 0;
  std::uint64_t lds_conflicts = 0;

  void add(const InstructionCounts& instruction, std::uint32_t wavefront_size);
};

/// Accesses of one kind.
struct AccessRow {
  Space space;
  Direction direction;
  std::uint32_t bytes;
  std::array<std::uint64_t, shape_count> by_shape;
};

struct LineRow {
  std::string line;
  Totals totals;
};

struct KernelSummary {
  std::string name;
  std::string architecture;
  std::uint32_t lanes = 0;
  std::uint64_t wavefronts = 0;
  Totals totals;
  std::vector<AccessRow> accesses;  ///< by space, direction and bytes
  std::vector<LineRow> lines;       ///< in the order of their first instruction; empty if no line is known
};

/// Of the kernels that ran.
[[nodiscard]] std::vector<KernelSummary> summaries(const Profile& profile);

[[nodiscard]] const char* word_for(Category category);    ///< "vector"
[[nodiscard]] const char* word_for(Space space);          ///< "global"
[[nodiscard]] const char* word_for(Direction direction);  ///< "load"
[[nodiscard]] const char* word_for(Shape shape);          ///< "consecutive"

}  // namespace softgpu::compute::profile
