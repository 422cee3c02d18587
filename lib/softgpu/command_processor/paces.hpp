// How long the kernels of a queue take, from what they took lately: a short one is not worth a second thread.
//
// Thread safety: every member may be called from any thread.
//
// A pace is a guess only: two kernels may share one, which is then wrong for both.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softgpu::command_processor {

class Paces {
public:
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  /// How many nanoseconds so many work-groups of a kernel may take one after the other.
  [[nodiscard]] std::uint64_t expected(std::uint64_t kernel_object, std::uint64_t groups) const noexcept {
    const Pace& pace = of(kernel_object);
    if (pace.kernel_object.load(std::memory_order_relaxed) != kernel_object) return unknown;
    return pace.group_nanoseconds.load(std::memory_order_relaxed) * groups;
  }

  /// A lower time halves the distance; a higher time at most doubles the pace: the thread may have lost its core
  /// meanwhile.
  void note(std::uint64_t kernel_object, std::uint64_t groups, std::uint64_t nanoseconds) noexcept {
    Pace& pace = of(kernel_object);
    const std::uint64_t sample = nanoseconds / groups;
    if (pace.kernel_object.load(std::memory_order_relaxed) != kernel_object) {
      pace.group_nanoseconds.store(sample, std::memory_order_relaxed);
      pace.kernel_object.store(kernel_object, std::memory_order_relaxed);
      return;
    }
    const std::uint64_t known = pace.group_nanoseconds.load(std::memory_order_relaxed);
    const std::uint64_t next = sample < known ? (known + sample) / 2 : std::min(sample, 2 * known + rise);
    pace.group_nanoseconds.store(next, std::memory_order_relaxed);
  }

private:
  static constexpr std::uint64_t rise = 100;
  static constexpr std::size_t count = 64;

  struct Pace {
    std::atomic<std::uint64_t> kernel_object{0};
    std::atomic<std::uint64_t> group_nanoseconds{0};
  };

  /// Descriptors are 64 bytes, aligned.
  [[nodiscard]] static std::size_t place(std::uint64_t kernel_object) noexcept {
    return (kernel_object / 64 ^ kernel_object / 4096) % count;
  }
  [[nodiscard]] Pace& of(std::uint64_t kernel_object) noexcept { return paces_[place(kernel_object)]; }
  [[nodiscard]] const Pace& of(std::uint64_t kernel_object) const noexcept { return paces_[place(kernel_object)]; }

  std::array<Pace, count> paces_;
};

}  // namespace softgpu::command_processor
