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

  /// A block of `bytes`, rounded up to whole lines and never across the ring's end; empty if it does not fit now.
  [[nodiscard]] std::optional<Block> try_acquire(std::size_t bytes) noexcept {
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (in_use_ == 0) position_ = 0;
    const bool at_end = rounded > capacity_ - position_;
    const std::size_t taken = rounded + (at_end ? capacity_ - position_ : 0);
    if (taken > capacity_ - in_use_) return std::nullopt;
    const Block block{at_end ? 0 : position_, next_};
    position_ = block.offset + rounded;
    in_use_ += taken;
    blocks_[next_] = {taken, unretired};
    next_ = after(next_);
    return block;
  }

  /// The block is in use until `epoch`.
  void retire(std::size_t index, std::uint64_t epoch) noexcept { blocks_[index].epoch = epoch; }

  /// Takes back the oldest blocks, as far as their epochs completed.
  void reclaim(std::uint64_t completed_epoch) noexcept {
    // An unretired block has the largest possible epoch, so it stops the loop.
    for (; in_use_ != 0 && blocks_[oldest_].epoch <= completed_epoch; oldest_ = after(oldest_))
      in_use_ -= blocks_[oldest_].bytes;
  }

  /// 0 where no block is in use.
  [[nodiscard]] std::uint64_t oldest_epoch() const noexcept { return in_use_ == 0 ? 0 : blocks_[oldest_].epoch; }

private:
  struct Use {
    std::size_t bytes = 0;  ///< with the unused bytes before it at the ring's end
    std::uint64_t epoch = 0;
  };

  // Without a division: every dispatch comes here.
  [[nodiscard]] std::size_t after(std::size_t index) const noexcept {
    return index + 1 == blocks_.size() ? 0 : index + 1;
  }

  std::size_t capacity_;
  std::vector<Use> blocks_;   ///< as many as there are lines, so it never overflows
  std::size_t oldest_ = 0;    ///< the block in use for longest
  std::size_t next_ = 0;      ///< the block to hand out next
  std::size_t position_ = 0;  ///< behind the last block, in bytes
  std::size_t in_use_ = 0;    ///< bytes
};

}  // namespace fastdispatch::detail
