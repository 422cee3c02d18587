// Lanes whose addresses are close together, if not side by side.
#pragma once

#include <array>
#include <cstdint>

#include "softgpu/compute/emit/lane_addresses.hpp"

namespace softgpu::compute {

/// Lanes in ascending order within 32 dwords, in the same places of every chunk: a stride of two, or pairs that are not
/// far apart. Two vectors hold these dwords, and a permutation within them is faster than a gather or scatter.
class Window {
public:
  [[nodiscard]] static bool is_possible(Emitter& e) { return e.vectors() == HostVectors::avx512; }
  /// Whether lanes that are in a row may be such.
  [[nodiscard]] static bool may_hold(Emitter& e, const LaneAddresses& a) {
    const std::uint32_t step = a.row->stride << a.shift;
    return is_possible(e) && step != 0 && (lanes_per_chunk - 1) * step < 4 * window_dwords;
  }
  /// Whether the lanes are such (i1), wherever the base is.
  [[nodiscard]] static llvm::Value* holds(Emitter& e, const LaneAddresses& a);
  /// The shape of such lanes (lane_shape.hpp).
  [[nodiscard]] static llvm::Value* shape(Emitter& e, const LaneAddresses& a);

  /// For lanes of that shape.
  Window(Emitter& e, const LaneAddresses& a, llvm::Value* shape);

  /// Whether two cache lines a chunk hold the lanes' dwords (i1). Lanes access both, so that both can be read.
  [[nodiscard]] llvm::Value* is_in_lines();
  /// Whether vectors that begin with lane 0's dword can be read, as they are in lane 0's page (i1). A load with a mask
  /// would wait for the mask.
  [[nodiscard]] llvm::Value* is_in_pages();
  /// How far before lane 0 the vectors begin, for one or the other (i64).
  [[nodiscard]] llvm::Value* from_line() const { return from_line_; }
  [[nodiscard]] llvm::Value* from_lane_0() { return e_.ir.getInt64(0); }

  [[nodiscard]] Chunks load(llvm::Value* before_lane_0);
  void store(const Chunks& values, llvm::Value* before_lane_0);

private:
  static constexpr std::uint64_t window_dwords = 2 * lanes_per_chunk;
  static constexpr std::uint64_t line_bytes = 64;

  llvm::Value* half(unsigned chunk, unsigned h, llvm::Value* before_lane_0);
  llvm::Value* expand(llvm::Value* values, llvm::Value* mask);

  Emitter& e_;
  const LaneAddresses& a_;
  llvm::Value* shape_;
  llvm::Value* from_line_;
};

}  // namespace softgpu::compute
