// The L2 caches of a GPU whose memory they write back only for a release, as those of gfx90a and gfx94x do.
//
// What kernels store to the GPU's own coarse-grained memory stays in the L2 of their XCD: other kernels of the XCD see
// it; the host, copies and the other XCDs do not. A GPU with several L2s also keeps what it has read there, until an
// acquire. A single L2 keeps no such lines: memory is as new as they.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "softgpu/compute/run_time/cache_lines.hpp"

namespace softgpu::compute {

struct WaveState;

/// Addresses are host addresses; an access has 1, 2, 4 or 8 bytes at any alignment.
///
/// Thread safety: every member may be called from any thread, also by a wavefront that may be interrupted.
class L2Cache {
public:
  /// `keeps_reads`: it has not seen others' stores until it is invalidated.
  explicit L2Cache(bool keeps_reads = false) : keeps_reads_(keeps_reads) {}

  /// Memory that it stands before, in whole lines: all else is not cached.
  void add(std::uint64_t base, std::uint64_t bytes);
  /// Memory on which floating-point atomics do nothing.
  void drop_float_atomics(std::uint64_t base, std::uint64_t bytes);
  /// What was stored there and not written back is lost.
  void remove(std::uint64_t base) noexcept;

  [[nodiscard]] bool drops_float_atomics(std::uint64_t address);
  [[nodiscard]] std::uint64_t read(std::uint64_t address, std::uint32_t bytes);
  void write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes);
  void write_back() noexcept;
  /// Drops what has not been stored here.
  void invalidate() noexcept;
  /// Before an access that goes past it to memory: writes back the access's lines and drops them.
  void make_way(std::uint64_t address, std::uint32_t bytes) noexcept;

private:
  struct Line {
    std::uint64_t valid = 0;  ///< a bit a byte
    std::uint64_t dirty = 0;  ///< of those that are valid
    std::array<std::byte, cache_line_bytes> bytes;

    /// At most 8 bytes.
    void put(std::size_t offset, const std::byte* from, std::uint32_t size);
  };
  class Lock;

  using Ranges = std::map<std::uint64_t, std::uint64_t>;  ///< end by begin

  [[nodiscard]] static bool contains(const Ranges& in, std::uint64_t address);
  [[nodiscard]] bool stands_before(std::uint64_t address, std::uint32_t bytes) const;
  /// All of a line, unless it is none of the GPU's memory.
  void keep_line(std::uint64_t number);
  static void write_back(std::uint64_t number, Line& line) noexcept;

  bool keeps_reads_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> changes_{0};  ///< what was read from memory before one of them is not to be kept
  Ranges ranges_;
  Ranges without_float_atomics_;
  std::unordered_map<std::uint64_t, Line> lines_;  ///< by address / cache_line_bytes
};

/// Those of a GPU, one for each XCD.
///
/// Thread safety: as L2Cache.
class L2Caches {
public:
  /// `count` is at least 1. `drops_float_atomics`: on fine-grained memory.
  explicit L2Caches(unsigned count, bool drops_float_atomics = false);

  /// Coarse-grained memory of the GPU.
  void add(std::uint64_t base, std::uint64_t bytes);
  /// Of the GPU, or the host's.
  void add_fine_grained(std::uint64_t base, std::uint64_t bytes);
  void remove(std::uint64_t base) noexcept;

  [[nodiscard]] bool are_several() const noexcept { return caches_.size() > 1; }
  /// Compute units spread over the XCDs.
  [[nodiscard]] L2Cache& of_compute_unit(std::uint32_t index) { return caches_[index % caches_.size()]; }

  /// A release: at system scope; where there are several, at agent scope, too.
  void write_back() noexcept;
  /// An acquire, where there are several.
  void invalidate() noexcept;
  /// L2Cache::make_way for all: an atomic happens where all of them meet.
  void make_way(std::uint64_t address, std::uint32_t bytes) noexcept;

private:
  std::deque<L2Cache> caches_;
  bool drops_float_atomics_;
};

namespace runtime {

/// buffer_wbl2, of the wavefront's XCD
void write_back_l2(WaveState* state);
/// buffer_inv sc1, of the wavefront's XCD
void invalidate_l2(WaveState* state);

}  // namespace runtime
}  // namespace softgpu::compute
