#include "softgpu/command_processor/coming_kernels.hpp"

#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "softgpu/command_processor/packets.hpp"

namespace softgpu::command_processor {
namespace {

using Slot = hsa_kernel_dispatch_packet_t;

constexpr Slot packet(hsa_packet_type_t type, std::uint64_t kernel = 0) {
  Slot made = {};
  made.header = static_cast<std::uint16_t>(type << HSA_PACKET_HEADER_TYPE);
  made.kernel_object = kernel;
  return made;
}
constexpr Slot dispatch_of(std::uint64_t kernel) { return packet(HSA_PACKET_TYPE_KERNEL_DISPATCH, kernel); }

std::optional<std::uint64_t> next(ComingKernels& kernels) {
  const auto taken = kernels.take();
  return taken ? std::optional(taken->kernel_object) : std::nullopt;
}

TEST(ComingKernels, AreToldOnceAndInOrderUpToAPacketThatIsNotWritten) {
  const std::array<Slot, 8> ring{dispatch_of(3), dispatch_of(4), packet(HSA_PACKET_TYPE_INVALID),     dispatch_of(5),
                                 dispatch_of(9), dispatch_of(1), packet(HSA_PACKET_TYPE_BARRIER_AND), dispatch_of(1)};
  ComingKernels kernels;
  EXPECT_EQ(next(kernels), std::nullopt);
  kernels.note(reinterpret_cast<const std::byte*>(ring.data()), ring.size() - 1, 5, 12);  // past the ring's end
  EXPECT_EQ(next(kernels), 1U);
  EXPECT_EQ(next(kernels), 3U);
  EXPECT_EQ(next(kernels), 4U);
  EXPECT_EQ(next(kernels), std::nullopt);

  kernels.note(reinterpret_cast<const std::byte*>(ring.data()), ring.size() - 1, 8, 10);
  kernels.note(reinterpret_cast<const std::byte*>(ring.data()), ring.size() - 1, 3, 4);
  EXPECT_EQ(next(kernels), 5U) << "what was known before is replaced";
  EXPECT_EQ(next(kernels), std::nullopt);
}

}  // namespace
}  // namespace softgpu::command_processor
