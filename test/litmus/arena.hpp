// The memory that a litmus test works on. Owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "litmus_test.hpp"

namespace softgpu::litmus {

inline constexpr std::uint32_t most_threads = 4;
/// Of a launch: as many as the arena has room for at 16 bytes a lane, every other element used.
inline constexpr std::uint32_t most_rounds = 512;

class Arena {
public:
  Arena();

  void clear();
  [[nodiscard]] std::uint64_t variable(unsigned number) const { return address() + number * variable_stride; }
  [[nodiscard]] std::uint64_t results(unsigned thread) const {
    return address() + results_begin + thread * results_stride;
  }
  [[nodiscard]] std::uint64_t progress() const { return address() + progress_begin; }
  [[nodiscard]] std::uint64_t lane_offsets() const { return address() + offsets_begin; }
  [[nodiscard]] std::uint64_t arguments() const { return address() + arguments_begin; }

private:
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }

  static constexpr std::size_t mebibyte = 1 << 20;
  static constexpr std::size_t size = 16 * mebibyte;
  /// Unlike by the lower twelve bits, which a CPU compares first: stores to x are not to delay loads of y.
  static constexpr std::size_t variable_stride = mebibyte + 2112;
  static constexpr std::size_t results_begin = 4 * mebibyte;
  static constexpr std::size_t results_stride = 2 * mebibyte;
  static constexpr std::size_t progress_begin = results_begin + most_threads * results_stride;
  static constexpr std::size_t offsets_begin = progress_begin + mebibyte;
  static constexpr std::size_t arguments_begin = offsets_begin + mebibyte;
  static_assert(arguments_begin < size && 3 * variable_stride < results_begin);

  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Free> memory_;  ///< aligned to its size: kernels add offsets to the lower half only
};

}  // namespace softgpu::litmus
