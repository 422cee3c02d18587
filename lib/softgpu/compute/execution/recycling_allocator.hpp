// Memory for objects that are made and destroyed with every dispatch.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "softgpu/compute/run_time/sanitizers.hpp"

namespace softgpu::compute {

/// A few blocks that a thread freed last and will want again. The general allocator takes several times as long,
/// above all for blocks aligned to cache lines.
///
/// Thread safety: none needed; each thread has its own. A block may be freed in another thread than it was made in.
template <std::size_t size, std::size_t alignment>
class SpareBlocks {
public:
  static SpareBlocks& of_this_thread() noexcept {
    static thread_local SpareBlocks blocks;
    return blocks;
  }

  [[nodiscard]] void* take() {
    return count_ != 0 ? blocks_[--count_] : ::operator new(size, std::align_val_t{alignment});
  }
  void give_back(void* block) noexcept {
    if (count_ < most_)
      blocks_[count_++] = block;
    else
      ::operator delete(block, std::align_val_t{alignment});
  }

  ~SpareBlocks() {
    most_ = 0;  // blocks that this thread still frees go back at once
    while (count_ != 0) ::operator delete(blocks_[--count_], std::align_val_t{alignment});
  }
  SpareBlocks(const SpareBlocks&) = delete;
  SpareBlocks& operator=(const SpareBlocks&) = delete;

private:
  SpareBlocks() = default;

#if SOFTGPU_ADDRESS_SANITIZER
  static constexpr std::size_t capacity = 0;  // uses after the end are to be seen
#else
  static constexpr std::size_t capacity = 16;
#endif
  std::array<void*, capacity + 1> blocks_{};
  std::size_t count_ = 0;
  std::size_t most_ = capacity;
};

/// For std::allocate_shared.
template <class T>
class RecyclingAllocator {
public:
  using value_type = T;

  RecyclingAllocator() = default;
  template <class Other>
  RecyclingAllocator(const RecyclingAllocator<Other>& /*other*/) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count == 1) return static_cast<T*>(Blocks::of_this_thread().take());
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{alignof(T)}));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count == 1) return Blocks::of_this_thread().give_back(memory);
    ::operator delete(memory, std::align_val_t{alignof(T)});
  }

  template <class Other>
  bool operator==(const RecyclingAllocator<Other>& /*other*/) const noexcept {
    return true;
  }

private:
  using Blocks = SpareBlocks<sizeof(T), alignof(T)>;
};

}  // namespace softgpu::compute
