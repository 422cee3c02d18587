// An L2 cache that is written back only by a release, as those of gfx90a and gfx94x are for memory of the GPU.
//
// What kernels store to the GPU's own coarse-grained memory stays here: other kernels see it, the host and copies do
// not. Lines that are only read are not kept: one L2 stands for all, so that memory is as new as they.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
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
  /// Memory that it stands before, in whole lines: all else is not cached.
  void add(std::uint64_t base, std::uint64_t bytes);
  /// What was stored there and not written back is lost.
  void remove(std::uint64_t base) noexcept;

  [[nodiscard]] std::uint64_t read(std::uint64_t address, std::uint32_t bytes);
  void write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes);
  /// A release at system scope.
  void write_back() noexcept;
  /// The same for the lines of an access that goes to memory.
  void write_back(std::uint64_t address, std::uint32_t bytes) noexcept;

private:
  struct Line {
    std::uint64_t dirty = 0;  ///< a bit a byte
    std::array<std::byte, cache_line_bytes> bytes;
  };
  class Lock;

  [[nodiscard]] bool stands_before(std::uint64_t address) const;
  static void write_back(std::uint64_t number, const Line& line) noexcept;

  std::mutex mutex_;
  std::atomic<std::uint64_t> write_backs_{0};
  std::map<std::uint64_t, std::uint64_t> ranges_;  ///< end by begin
  std::unordered_map<std::uint64_t, Line> lines_;  ///< by address / cache_line_bytes
};

namespace runtime {

/// buffer_wbl2
void write_back_l2(WaveState* state);

}  // namespace runtime
}  // namespace softgpu::compute
