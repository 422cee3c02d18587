// A batch's submission whose kernels are timed by the device.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/submission.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch {

namespace detail {
struct KernelTimes;
}  // namespace detail

/// When a kernel ran, as the device wrote it down: by HSA's system clock, from when its first work-group started to
/// when its last one had ended.
struct DeviceTime {
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};

  [[nodiscard]] std::chrono::nanoseconds duration() const noexcept { return end - start; }
};

/// A submission and the times of its kernels: `queue.submit_timed(batch)`. The times stay as long as this, whatever
/// becomes of queue and batch.
///
/// Thread safety: const members may be called from any thread.
/// Source: hsa_amd_profiling_get_dispatch_time (hsa/hsa_ext_amd.h).
class FASTDISPATCH_EXPORT TimedSubmission {
public:
  ~TimedSubmission();
  TimedSubmission(TimedSubmission&&) noexcept;
  TimedSubmission& operator=(TimedSubmission&&) noexcept;

  [[nodiscard]] const Submission& submission() const noexcept { return submission_; }
  /// As Submission::wait does.
  void wait(WaitOptions options = {}) const { submission_.wait(options); }

  /// The times of the batch's dispatches, in the order in which they were recorded. Where the batch lets kernels run
  /// side by side, their times overlap.
  /// Throws Error when a kernel has not completed: wait first.
  [[nodiscard]] std::vector<DeviceTime> dispatches() const;

  /// The sum of the kernels' durations, without the time between them.
  /// Throws Error as dispatches does.
  [[nodiscard]] std::chrono::nanoseconds kernel_time() const;

  /// From the start of the first kernel to the end of the last one, with copies and gaps between them; 0 without any.
  /// Throws Error as dispatches does.
  [[nodiscard]] std::chrono::nanoseconds elapsed() const;

private:
  friend class Queue;
  TimedSubmission(const Submission& submission, std::shared_ptr<detail::KernelTimes> times) noexcept;

  Submission submission_;
  std::shared_ptr<detail::KernelTimes> times_;
};

}  // namespace fastdispatch
