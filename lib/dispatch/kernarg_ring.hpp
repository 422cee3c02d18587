// Which bytes of a kernarg pool are in use: a ring of blocks that come back in order. Offsets only, no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fastdispatch::detail {

/// Thread safety: none.
class KernargRing {
public:
  static constexpr std::size_t alignment = 64;
  static constexpr std::uint64_t unretired = ~std::uint64_t{0};

  struct Block {
    std::size_t offset;  ///< bytes
    std::size_t index;   ///< for retire
  };

  /// `capacity` is a multiple of `alignment`.
  explicit KernargRing(std::size_t capacity) : capacity_(capacity), blocks_(capacity / alignment) {}

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// A block of `bytes`, rounded up to whole lines and never across the ring's end; none where it does not fit now.
  [[nodiscard]] std::optional<Block> try_acquire(std::size_t bytes) noexcept {
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (oldest_ == next_) begin_ = end_ = 0;
    const std::size_t to_end = capacity_ - end_ % capacity_;
    const std::size_t skipped = rounded <= to_end ? 0 : to_end;
    if (end_ - begin_ + skipped + rounded > capacity_) return std::nullopt;
    const Block block{(end_ + skipped) % capacity_, next_ % blocks_.size()};
    end_ += skipped + rounded;
    blocks_[block.index] = {end_, unretired};
    ++next_;
    return block;
  }

  /// The block is in use until `epoch`.
  void retire(std::size_t index, std::uint64_t epoch) noexcept { blocks_[index].epoch = epoch; }

  /// Takes back the oldest blocks, as far as their epochs completed.
  void reclaim(std::uint64_t completed_epoch) noexcept {
    // An unretired block has the largest epoch there is, so it stops the loop.
    for (; oldest_ != next_ && blocks_[oldest_ % blocks_.size()].epoch <= completed_epoch; ++oldest_)
      begin_ = blocks_[oldest_ % blocks_.size()].end;
  }

  /// 0 where no block is in use.
  [[nodiscard]] std::uint64_t oldest_epoch() const noexcept {
    return oldest_ == next_ ? 0 : blocks_[oldest_ % blocks_.size()].epoch;
  }

private:
  struct Use {
    std::size_t end = 0;  ///< position behind the block, counted without wrapping
    std::uint64_t epoch = 0;
  };

  std::size_t capacity_;
  std::vector<Use> blocks_;  ///< as many as there are lines, so it never overflows
  std::size_t oldest_ = 0;   ///< blocks taken back so far
  std::size_t next_ = 0;     ///< blocks handed out so far
  std::size_t begin_ = 0;    ///< first byte in use, counted without wrapping
  std::size_t end_ = 0;      ///< behind the last byte in use
};

}  // namespace fastdispatch::detail
