#include "softgpu/compute/run_time/moving_memory.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace softgpu::compute {
namespace {

TEST(MovingMemory, lets_an_access_be_tried_again_once_after_its_move) {
  constexpr std::uint64_t first = 0x10000;
  constexpr std::uint64_t second = 0x20000;
  constexpr std::uint64_t bytes = 0x1000;
  { const MovingMemory move(first, bytes); }
  { const MovingMemory move(second, bytes); }
  EXPECT_FALSE(MovingMemory::wait_for(first - 1)) << "nothing moved there";
  EXPECT_TRUE(MovingMemory::wait_for(first + bytes - 1)) << "another move has followed";
  EXPECT_FALSE(MovingMemory::wait_for(first)) << "it faults for another reason";
  EXPECT_TRUE(MovingMemory::wait_for(second));
  EXPECT_FALSE(MovingMemory::wait_for(second));
  { const MovingMemory move(first, bytes); }
  EXPECT_TRUE(MovingMemory::wait_for(first)) << "it has moved anew";
}

}  // namespace
}  // namespace softgpu::compute
