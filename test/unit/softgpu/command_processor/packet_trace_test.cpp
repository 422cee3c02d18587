#include "softgpu/command_processor/packet_trace.hpp"

#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

#include "softgpu/command_processor/command_processor.hpp"
#include "temporary_folder.hpp"
#include "trace_check.hpp"

namespace softgpu::command_processor {
namespace {

using fastdispatch::test::CheckedTrace;
using fastdispatch::test::TraceSpan;

class PacketTraceTest : public testing::Test {
protected:
  [[nodiscard]] CheckedTrace ended() {
    trace.reset();
    return CheckedTrace(path);
  }

  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "trace.json";
  std::optional<PacketTrace> trace{std::in_place, path, "gfx90a"};
  const std::uint64_t now = gpu_clock();
};

TEST_F(PacketTraceTest, ShowsKernelsThatOverlapOnTracksOfTheirOwn) {
  trace->add_kernel({.gpu = 0, .queue = 3, .packet = 1}, {.object = 0x1200, .groups = 7, .failure = ""},
                    {.begin = now + 100, .end = now + 300});
  trace->add_kernel({.gpu = 0, .queue = 3, .packet = 0}, {.object = 0x1200, .groups = 8, .failure = ""},
                    {.begin = now + 50, .end = now + 400});
  trace->add_kernel({.gpu = 0, .queue = 3, .packet = 2}, {.object = 0x1200, .groups = 9, .failure = "a trap"},
                    {.begin = now + 300, .end = now + 500});
  const std::vector<TraceSpan> kernels = ended().of("kernel");
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].name, "kernel object 0x1200");
  EXPECT_EQ(kernels[0].end - kernels[0].begin, 200);
  EXPECT_EQ(kernels[0].args.at("work-groups"), 7);
  EXPECT_EQ(kernels[0].args.at("packet"), 1);
  EXPECT_FALSE(kernels[0].args.contains("failed"));
  EXPECT_NE(kernels[0].track, kernels[1].track);
  EXPECT_EQ(kernels[0].track, kernels[2].track);
  EXPECT_EQ(kernels[2].args.at("failed"), "a trap");
}

TEST_F(PacketTraceTest, ShowsEachQueueOfEachGpu) {
  for (const std::uint32_t gpu : {0U, 1U}) {
    trace->add_barrier({.gpu = gpu, .queue = 3, .packet = 5}, "barrier-AND", {.begin = now + 100, .end = now + 100});
    trace->add_copy({.gpu = gpu, .queue = 4, .packet = 28}, "copy", 4096, {.begin = now + 100, .end = now + 300});
  }
  const CheckedTrace checked = ended();
  const std::vector<TraceSpan> copies = checked.of("copy");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].args.at("bytes"), 4096);
  EXPECT_NE(copies[0].track.first, copies[1].track.first);
  EXPECT_EQ(checked.of("barrier").size(), 2U);
  EXPECT_EQ(checked.of("barrier")[0].name, "barrier-AND");
}

}  // namespace
}  // namespace softgpu::command_processor
