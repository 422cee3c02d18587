// Lanes whose addresses are close together, if not side by side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lane_addresses.hpp"

namespace softgpu::compute {

/// Lanes in ascending order within 32 dwords, in the same places of every chunk: a stride of two, or pairs that are not
/// far apart. Two vectors hold these dwords, and a permutation within them is faster than a gather or scatter.
class Window {
public:
  [[nodiscard]] static bool is_possible(Emitter& e, const LaneAddresses& a, std::size_t dwords);

  Window(Emitter& e, const LaneAddresses& a) : e_(e), a_(a), distances_(distances(0)) {}

  /// Whether the lanes are such (i1).
  [[nodiscard]] llvm::Value* holds();
  /// Whether the dwords between the lanes' can be read as well, as they are in the same pages (i1). A load with a mask
  /// would wait for the mask.
  [[nodiscard]] llvm::Value* is_readable();
  [[nodiscard]] Chunks load();
  void store(const Chunks& values);

private:
  static constexpr std::uint64_t window_dwords = 2 * lanes_per_chunk;

  /// The lanes' distances from lane 0, in bytes.
  llvm::Value* distances(unsigned chunk);
  llvm::Value* half(unsigned chunk, unsigned h);
  llvm::Value* expand(llvm::Value* values, llvm::Value* mask);
  /// The lanes' dwords within the window (<16 x i32>).
  llvm::Value* find_places();
  /// Which of each half's dwords are some lane's (<16 x i1>).
  std::array<llvm::Value*, 2> find_used();

  Emitter& e_;
  const LaneAddresses& a_;
  llvm::Value* distances_;  ///< of chunk 0
};

}  // namespace softgpu::compute
