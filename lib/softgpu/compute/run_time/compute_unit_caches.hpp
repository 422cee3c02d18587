// The caches of a compute unit as the least generous hardware has them: what was read once is read again as it was,
// until somebody asks for its invalidation. A fence that is missing shows as old data.
//
// These are the vector cache (L1; GL0 on RDNA) and the scalar cache. Stores go through to the L2 (l2_cache.hpp), or to
// memory. Not modelled are several L2s and the instruction cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "softgpu/compute/run_time/cache_lines.hpp"

namespace softgpu::compute {

class L2Cache;
struct WaveState;

/// What lies between kernels and memory.
enum class Caches {
  coherent,  ///< nothing: every load reads memory
  kept,      ///< ComputeUnitCaches; each access is a call
};

/// Addresses are host addresses; an access has 1, 2, 4 or 8 bytes at any alignment.
///
/// A fault or an interrupt may end any member halfway: nothing is allocated, no lock is held, and a line that is being
/// filled is no line.
///
/// Thread safety: none.
class ReadCache {
public:
  /// `lines` is a power of two. Lines whose addresses differ by a multiple of the size replace each other. Lines come
  /// from `l2`, or from memory where that is null.
  explicit ReadCache(std::size_t lines, L2Cache* l2 = nullptr) : lines_(lines), l2_(l2) {}

  [[nodiscard]] std::uint64_t read(std::uint64_t address, std::uint32_t bytes);
  /// The L2 or memory has the value already.
  void written(std::uint64_t address, std::uint64_t value, std::uint32_t bytes);
  /// The next read looks into memory: another way than this cache was taken there.
  void forget(std::uint64_t address, std::uint32_t bytes);
  void invalidate() noexcept { ++generation_; }

private:
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};
  struct Line {
    std::uint64_t number = nothing;  ///< address / cache_line_bytes
    std::uint64_t generation = 0;
    std::array<std::uint64_t, cache_line_bytes / 8> words;
  };

  [[nodiscard]] Line& place_of(std::uint64_t number) { return lines_[number & (lines_.size() - 1)]; }
  /// Null if it is not there.
  [[nodiscard]] Line* find(std::uint64_t number);
  [[nodiscard]] Line& filled(std::uint64_t number);

  std::vector<Line> lines_;
  L2Cache* l2_;
  std::uint64_t generation_ = 1;
};

/// One per worker thread, which stands for a compute unit.
class ComputeUnitCaches {
public:
  /// Larger than hardware's: what hardware may have dropped, these still hold.
  static constexpr std::size_t vector_lines = std::size_t{1} << 15;
  static constexpr std::size_t scalar_lines = std::size_t{1} << 10;

  /// `l2` is null where memory is as new as the L2.
  explicit ComputeUnitCaches(L2Cache* l2 = nullptr) : vector(vector_lines, l2), scalar(scalar_lines, l2), l2_(l2) {}

  ReadCache vector;
  ReadCache scalar;

  [[nodiscard]] L2Cache* l2() const noexcept { return l2_; }
  /// Of a vector instruction.
  void write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes);
  /// Before an access that goes to memory, past these caches: what they have of it is no longer to be seen.
  void make_way(std::uint64_t address, std::uint32_t bytes);
  void invalidate() noexcept;
  /// Invalidates them if the agent's packets have asked for it since the last call: `acquires` counts those.
  void catch_up(std::uint64_t acquires) noexcept;

private:
  L2Cache* l2_;
  std::uint64_t acquires_ = 0;
};

namespace runtime {

/// buffer_wbinvl1, buffer_inv, buffer_gl0_inv
void invalidate_vector_cache(WaveState* state);
/// s_dcache_inv
void invalidate_scalar_cache(WaveState* state);
/// Up to 16 dwords from `address` on to lane_data[0], each whose bit in `mask` is set; the others read 0.
void load_scalars(WaveState* state, std::uint64_t address, std::uint32_t mask);
/// Before scalar stores.
void make_way_for_scalars(WaveState* state, std::uint64_t address, std::uint32_t bytes);

}  // namespace runtime
}  // namespace softgpu::compute
