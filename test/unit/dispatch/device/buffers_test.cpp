#include "dispatch/device/buffers.hpp"

#include <bit>

#include <gtest/gtest.h>

namespace fastdispatch::detail {
namespace {

const std::byte* at(std::uint64_t address) { return std::bit_cast<const std::byte*>(address); }

class BufferAddresses : public testing::Test {
protected:
  BufferAddresses() {
    buffers.add(at(0x10000), 4096, "cells");
    buffers.add(at(0x20000), 256, "");
  }
  Buffers buffers;
};

TEST_F(BufferAddresses, are_told_by_the_buffer_that_they_are_in_or_near) {
  EXPECT_EQ(buffers.place_of(0x10000), "0 bytes into buffer 'cells' of 4096 bytes");
  EXPECT_EQ(buffers.place_of(0x10fff), "4095 bytes into buffer 'cells' of 4096 bytes");
  EXPECT_EQ(buffers.place_of(0x11000), "0 bytes behind the end of buffer 'cells' of 4096 bytes");
  EXPECT_EQ(buffers.place_of(0x11040), "64 bytes behind the end of buffer 'cells' of 4096 bytes");
  EXPECT_EQ(buffers.place_of(0xfff8), "8 bytes before buffer 'cells' of 4096 bytes");
  EXPECT_EQ(buffers.place_of(0x1fff0), "16 bytes before a buffer of 256 bytes without a name");
  EXPECT_EQ(buffers.place_of(0x20110), "16 bytes behind the end of a buffer of 256 bytes without a name");
}

TEST_F(BufferAddresses, far_from_all_are_told_by_none) {
  EXPECT_EQ(buffers.place_of(0x20100 + (1 << 20)), "");
  EXPECT_EQ(buffers.place_of(~std::uint64_t{0}), "");
  EXPECT_EQ(Buffers().place_of(0x10000), "");
}

TEST_F(BufferAddresses, of_a_freed_buffer_are_told_until_another_is_there) {
  buffers.remove(at(0x10000));
  EXPECT_EQ(buffers.place_of(0x10008), "8 bytes into buffer 'cells' of 4096 bytes, which was freed");
  EXPECT_EQ(buffers.name_of(at(0x10008)), "cells");
  buffers.add(at(0x10000), 64, "others");
  EXPECT_EQ(buffers.place_of(0x10008), "8 bytes into buffer 'others' of 64 bytes");
  buffers.remove(at(0x10000));
  EXPECT_EQ(buffers.place_of(0x10008), "8 bytes into buffer 'others' of 64 bytes, which was freed");
}

TEST_F(BufferAddresses, have_the_buffers_name) {
  EXPECT_EQ(buffers.name_of(at(0x10010)), "cells");
  EXPECT_EQ(buffers.name_of(at(0x11000)), "");
  EXPECT_EQ(buffers.name_of(at(0x20000)), "");
  EXPECT_EQ(buffers.name_of(nullptr), "");
  buffers.remove(at(0x30000));  // of a buffer that nobody added
  EXPECT_EQ(buffers.name_of(at(0x30000)), "");
}

}  // namespace
}  // namespace fastdispatch::detail
