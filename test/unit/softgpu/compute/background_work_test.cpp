#include "softgpu/compute/execution/background_work.hpp"

#include <future>
#include <stop_token>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softgpu::compute {
namespace {

TEST(BackgroundWork, does_one_job_after_the_other) {
  std::vector<int> done;
  std::promise<void> last;
  BackgroundWork work;
  for (int job = 0; job < 3; ++job) work.add([&done, job](const std::stop_token&) { done.push_back(job); });
  work.add([&](const std::stop_token&) { last.set_value(); });
  last.get_future().wait();
  EXPECT_THAT(done, ::testing::ElementsAre(0, 1, 2));
}

TEST(BackgroundWork, tells_the_present_job_to_end_and_begins_no_other) {
  std::promise<void> begun;
  bool ended = false, began_other = false;  // the one that is added too late
  BackgroundWork work;
  work.add([&](const std::stop_token& stop) {
    begun.set_value();
    while (!stop.stop_requested()) std::this_thread::yield();
    ended = true;
  });
  begun.get_future().wait();
  work.stop();
  EXPECT_TRUE(ended);
  work.add([&](const std::stop_token&) { began_other = true; });
  EXPECT_FALSE(began_other);
}

// A job may own the last of what owns the thread.
TEST(BackgroundWork, may_be_ended_by_a_job) {
  std::promise<void> done;
  auto work = std::make_shared<BackgroundWork>();
  auto* in = work.get();
  std::promise<void> handed_over;
  in->add([owner = std::move(work), &done, &handed_over](const std::stop_token&) mutable {
    handed_over.get_future().wait();
    owner.reset();
    done.set_value();
  });
  handed_over.set_value();
  done.get_future().wait();
}

}  // namespace
}  // namespace softgpu::compute
