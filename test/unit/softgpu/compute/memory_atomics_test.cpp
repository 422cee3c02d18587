#include "softgpu/compute/run_time/memory_atomics.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {
namespace {

/// What an operation of lane 0 leaves in LDS.
template <class T>
T left_by(AtomicOperation operation, T memory, T data) {
  const auto state = std::make_unique<WaveState>();
  state->lds = reinterpret_cast<std::byte*>(&memory);
  state->lds_bytes = sizeof memory;
  std::memcpy(&state->lane_data[0][0], &data, 4);
  if (sizeof data == 8) std::memcpy(&state->lane_data[1][0], reinterpret_cast<const std::byte*>(&data) + 4, 4);
  atomic_functions(operation, 8 * sizeof(T)).in_lds(state.get(), 1);
  return memory;
}

std::uint32_t bits(float number) { return std::bit_cast<std::uint32_t>(number); }

constexpr std::uint32_t quiet_nan = 0x7fc00001;
constexpr std::uint32_t signaling_nan = 0x7f800001;

TEST(MemoryAtomics, ExtremesAreInTheOrderOfTheManuals) {
  using enum AtomicOperation;
  EXPECT_EQ(left_by(min_in_order, bits(2), bits(1)), bits(1));
  EXPECT_EQ(left_by(max_in_order, bits(2), bits(1)), bits(2));
  for (const AtomicOperation operation : {min_in_order, max_in_order}) {
    EXPECT_EQ(left_by(operation, quiet_nan, bits(1)), bits(1));
    EXPECT_EQ(left_by(operation, bits(1), quiet_nan), bits(1));
    EXPECT_EQ(left_by(operation, bits(1), signaling_nan), quiet_nan);
    EXPECT_EQ(left_by(operation, signaling_nan, bits(1)), quiet_nan);
  }
  EXPECT_EQ(left_by(min_in_order, bits(0.0F), bits(-0.0F)), bits(-0.0F));
  EXPECT_EQ(left_by(max_in_order, bits(-0.0F), bits(0.0F)), bits(0.0F));
  EXPECT_EQ(left_by(max_in_order, std::bit_cast<std::uint64_t>(-1.0), std::bit_cast<std::uint64_t>(-2.0)),
            std::bit_cast<std::uint64_t>(-1.0));
}

TEST(MemoryAtomics, SumsMayHaveNoDenormals) {
  using enum AtomicOperation;
  constexpr float least = std::numeric_limits<float>::min();
  EXPECT_EQ(left_by(add_float, bits(0), 1U), 1U);
  EXPECT_EQ(left_by(add_float_flushing, bits(0), 1U), 0U);
  EXPECT_EQ(left_by(add_float_flushing, bits(least), 1U), bits(least));
  EXPECT_EQ(left_by(add_float_flushing, bits(1.5F * least), bits(-least)), 0U);
  EXPECT_EQ(left_by(add_float_flushing, bits(1), bits(2)), bits(3));
}

}  // namespace
}  // namespace softgpu::compute::runtime
