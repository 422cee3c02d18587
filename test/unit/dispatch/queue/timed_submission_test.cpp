#include "fastdispatch/timed_submission.hpp"

#include <chrono>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/batch_parameter.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "fastdispatch/queue.hpp"
#include "mock_hsa.hpp"
#include "number_kernel.hpp"

namespace fastdispatch::test {
namespace {

using std::chrono::nanoseconds;
using testing::HasSubstr;

class Timed : public testing::Test {
protected:
  /// The packets in the ring.
  std::vector<Packet> packets() {
    const auto& ring = hsa.queue().ring;
    return {ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(hsa.queue().amd.write_dispatch_id)};
  }

  MockHsa hsa;
  const Kernel<void(unsigned)> kernel = number_kernel();
};

TEST_F(Timed, submissions_give_each_kernel_a_signal_and_end_with_a_barrier) {
  Queue queue(hsa.agent());
  Batch batch(hsa.agent());
  for (unsigned i = 0; i != 3; ++i) batch.dispatch(kernel, grid(64).group(64), i);
  const TimedSubmission timed = queue.submit_timed(batch);
  const std::vector<Packet> published = packets();
  ASSERT_EQ(published.size(), 4U);
  for (std::size_t i = 0; i != 3; ++i)
    for (std::size_t j = i + 1; j != 4; ++j)
      EXPECT_NE(published[i].completion_signal().handle, published[j].completion_signal().handle);
  EXPECT_EQ(published[3].header(),
            (PacketHeader{PacketType::barrier_and, {BarrierBit::set, FenceScope::none, FenceScope::none}}));
  EXPECT_THAT(error_of([&] { static_cast<void>(timed.dispatches()); }), HasSubstr("wait for the submission first"));
  MockHsa::complete(hsa.queue());
  timed.wait();
  ASSERT_EQ(timed.dispatches().size(), 3U);
  EXPECT_EQ(timed.dispatches()[1].duration(), nanoseconds(2000));
  EXPECT_EQ(timed.kernel_time(), nanoseconds(6000));
  EXPECT_EQ(timed.elapsed(), nanoseconds(2000)) << "all at once";
}

TEST_F(Timed, submissions_leave_later_ones_as_they_were) {
  Queue queue(hsa.agent());
  Batch batch(hsa.agent());
  batch.dispatch(kernel, grid(64).group(64), 1U);
  queue.submit(batch);
  MockHsa::complete(hsa.queue());
  const std::vector<Packet> before = packets();
  for (int i = 0; i != 3; ++i) {
    static_cast<void>(queue.submit_timed(batch));
    MockHsa::complete(hsa.queue());
  }
  queue.submit(batch);
  EXPECT_EQ(packets().size(), 8U);
  EXPECT_EQ(packets().back().completion_signal().handle, before.back().completion_signal().handle);
  EXPECT_EQ(hsa.calls("amd_profiling_set_profiler_enabled"), 1) << "once a queue";
}

TEST_F(Timed, submissions_set_parameters) {
  Queue queue(hsa.agent());
  Batch batch(hsa.agent());
  const auto number = batch.parameter<unsigned>("number");
  batch.dispatch(kernel, grid(64).group(64), number);
  const TimedSubmission timed = queue.submit_timed(batch, set(number, 7U));
  const std::uint64_t arguments = packets()[0].word64(10);
  EXPECT_EQ(*reinterpret_cast<const unsigned*>(arguments), 7U);  // NOLINT(performance-no-int-to-ptr)
  EXPECT_THAT(error_of([&] { static_cast<void>(queue.submit_timed(batch)); }), HasSubstr("number"));
}

TEST_F(Timed, copies_start_after_the_kernels_signal) {
  Queue queue(hsa.agent());
  Batch batch(hsa.agent());
  DeviceBuffer<int> from(hsa.agent(), 4);
  DeviceBuffer<int> to(hsa.agent(), 4);
  batch.dispatch(kernel, grid(64).group(64), 1U);
  batch.copy(to, from);
  const TimedSubmission timed = queue.submit_timed(batch);
  ASSERT_EQ(hsa.copies().size(), 1U);
  ASSERT_EQ(hsa.copies()[0].depends_on.size(), 1U);
  EXPECT_EQ(hsa.copies()[0].depends_on[0].handle, packets()[0].completion_signal().handle);
  EXPECT_EQ(packets().size(), 2U) << "the barrier packet behind the copy ends the epoch";
}

TEST_F(Timed, times_stay_when_queue_and_batch_have_gone) {
  std::optional<TimedSubmission> timed;
  {
    Queue queue(hsa.agent());
    Batch batch(hsa.agent());
    batch.dispatch(kernel, grid(64).group(64), 1U);
    timed = queue.submit_timed(batch);
    MockHsa::complete(hsa.queue());
  }
  EXPECT_EQ(timed->kernel_time(), nanoseconds(2000));
}

TEST_F(Timed, submissions_of_nothing_take_no_time) {
  Queue queue(hsa.agent());
  const TimedSubmission timed = queue.submit_timed(Batch(hsa.agent()));
  MockHsa::complete(hsa.queue());
  timed.wait();
  EXPECT_EQ(timed.kernel_time(), nanoseconds(0));
  EXPECT_EQ(timed.elapsed(), nanoseconds(0));
}

TEST_F(Timed, submissions_tell_which_call_of_hsa_failed) {
  Queue queue(hsa.agent());
  Batch batch(hsa.agent());
  batch.dispatch(kernel, grid(64).group(64), 1U);
  hsa.fail("amd_profiling_set_profiler_enabled", HSA_STATUS_ERROR_INVALID_QUEUE);
  EXPECT_THAT(error_of([&] { static_cast<void>(queue.submit_timed(batch)); }),
              HasSubstr("hsa_amd_profiling_set_profiler_enabled"));
  hsa.fail("amd_profiling_set_profiler_enabled", HSA_STATUS_SUCCESS);
  const TimedSubmission timed = queue.submit_timed(batch);
  MockHsa::complete(hsa.queue());
  hsa.fail("amd_profiling_get_dispatch_time", HSA_STATUS_ERROR_INVALID_SIGNAL);
  EXPECT_THAT(error_of([&] { static_cast<void>(timed.dispatches()); }),
              HasSubstr("hsa_amd_profiling_get_dispatch_time"));
}

}  // namespace
}  // namespace fastdispatch::test
