// The library's buffers by address, so that messages and traces can name them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace fastdispatch::detail {

/// Of all agents of a runtime: an address belongs to one buffer, wherever its memory is. A buffer's name may be empty.
///
/// Thread safety: every member may be called from any thread.
class Buffers {
public:
  void add(const std::byte* address, std::size_t bytes, std::string name);
  /// Before the memory is freed: then the address may be another buffer's.
  void remove(const std::byte* address) noexcept;

  /// The name of the buffer that the address lies in, or lay in, if it is one of the last that were freed. Empty where
  /// the buffer has no name, and where there is no buffer.
  [[nodiscard]] std::string name_of(const std::byte* address) const;
  /// "64 bytes behind the end of buffer 'cells' of 4096 bytes", for an address in a buffer, near one, or in one of the
  /// last that were freed; empty for all else.
  [[nodiscard]] std::string place_of(std::uint64_t address) const;

private:
  struct Range {
    std::uint64_t bytes = 0;
    std::string name;
  };
  struct FreedRange {
    std::uint64_t begin = 0;
    Range range;
  };

  /// The last one that was freed; null if there is none. Under the lock.
  [[nodiscard]] const FreedRange* find_freed(std::uint64_t address) const;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Range> ranges_;
  std::array<FreedRange, 16> freed_;
  std::size_t freed_count_ = 0;
};

}  // namespace fastdispatch::detail
