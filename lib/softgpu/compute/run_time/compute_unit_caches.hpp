// The caches of a compute unit as the least generous hardware has them: what was read once is read again as it was,
// until somebody asks for its invalidation. A fence that is missing shows as old data.
//
// These are the vector cache (L1; two L0s on RDNA), the scalar cache, and on RDNA the L1 of the shader array, which
// both read from: each compute unit is in a shader array of its own. Stores go through to the L2 (l2_cache.hpp), or to
// memory. Not modelled is the instruction cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "softgpu/compute/run_time/cache_lines.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

class L2Cache;
class L2Caches;

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
  /// What a cache's lines come from: the first that is not null, or else memory.
  struct Source {
    ReadCache* cache = nullptr;
    L2Cache* l2 = nullptr;

    [[nodiscard]] std::uint64_t read(std::uint64_t address, std::uint32_t bytes) const;
  };

  /// `lines` is a power of two. Lines whose addresses differ by a multiple of the size replace each other.
  explicit ReadCache(std::size_t lines, Source source) : lines_(lines), source_(source) {}

  [[nodiscard]] std::uint64_t read(std::uint64_t address, std::uint32_t bytes);
  /// The source has the value already.
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
  Source source_;
  std::uint64_t generation_ = 1;
};

/// One per worker thread, which stands for a compute unit.
class ComputeUnitCaches {
public:
  /// Larger than hardware's: what hardware may have dropped, these still hold.
  static constexpr std::size_t vector_lines = std::size_t{1} << 15;
  static constexpr std::size_t scalar_lines = std::size_t{1} << 10;
  static constexpr std::size_t shader_array_lines = std::size_t{1} << 16;

  /// `l2s` is null where memory is as new as the L2. RDNA has an L1 for each shader array.
  ComputeUnitCaches(std::uint32_t compute_unit, L2Caches* l2s, bool has_shader_array_cache);
  ComputeUnitCaches(const ComputeUnitCaches&) = delete;
  ComputeUnitCaches& operator=(const ComputeUnitCaches&) = delete;

  /// By vector instructions that use the vector cache of that index, 0 or 1.
  [[nodiscard]] std::uint64_t read(unsigned cache, std::uint64_t address, std::uint32_t bytes, GoesPast caches);
  void write(unsigned cache, std::uint64_t address, std::uint64_t value, std::uint32_t bytes, GoesPast caches);
  [[nodiscard]] std::uint32_t read_scalar(std::uint64_t address, GoesPast caches);
  /// Before an access that goes to memory, past all caches: by a vector instruction, and by a scalar one.
  void make_way(std::uint64_t address, std::uint32_t bytes);
  void make_way_for_scalars(std::uint64_t address, std::uint32_t bytes);

  void invalidate_vector(unsigned cache) noexcept { vector_[cache].invalidate(); }
  void invalidate_scalar() noexcept { scalar_.invalidate(); }
  void invalidate_shader_array() noexcept { shader_array_.invalidate(); }
  /// All but the L2.
  void invalidate() noexcept;
  /// Invalidates them if the agent's packets have asked for it since the last call: `acquires` counts those.
  void catch_up(std::uint64_t acquires) noexcept;

  /// Before another compute unit goes on with a work-group of this one: it is to find what this one stored.
  void leave() noexcept;
  /// Before this compute unit goes on with a work-group of another one.
  void take_over() noexcept;

  [[nodiscard]] L2Cache* l2() const noexcept { return l2_; }

private:
  /// Of the vector caches and the scalar cache.
  [[nodiscard]] ReadCache::Source source() noexcept;
  /// What the next read finds there comes from memory.
  void forget_past(GoesPast caches, std::uint64_t address, std::uint32_t bytes);

  L2Caches* l2s_;
  L2Cache* l2_;  ///< its own of these
  ReadCache shader_array_;
  bool has_shader_array_cache_;
  std::array<ReadCache, 2> vector_;
  ReadCache scalar_;
  std::uint64_t acquires_ = 0;
};

namespace runtime {

/// buffer_wbinvl1, buffer_inv, buffer_gl0_inv
void invalidate_vector_cache(WaveState* state);
/// buffer_gl1_inv, s_gl1_inv
void invalidate_shader_array_cache(WaveState* state);
/// s_dcache_inv
void invalidate_scalar_cache(WaveState* state);
/// Up to 16 dwords from `address` on to lane_data[0], each whose bit in `mask` is set; the others read 0.
void load_scalars(WaveState* state, std::uint64_t address, std::uint32_t mask);
/// Before scalar stores.
void make_way_for_scalars(WaveState* state, std::uint64_t address, std::uint32_t bytes);

}  // namespace runtime
}  // namespace softgpu::compute
