// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

#include <hsa/hsa.h>

#include "fastdispatch/detail/export.hpp"

namespace fastdispatch {

/// The kinds of errors that callers tell apart.
enum class ErrorKind {
  bad_argument,   ///< the call was wrong, and would be wrong again
  out_of_memory,  ///< memory, queues or signals are exhausted
  full,           ///< no room now: QueueFullError
  timeout,        ///< TimeoutError
  queue_failed,   ///< a queue or its device failed: its submissions are lost, a new queue is needed
  runtime,        ///< the HSA runtime or the device is not there, or refused something else
};

/// Thrown for every error: a wrong argument, a failed HSA call, a fault on the GPU seen by a waiter.
///
/// `what()` is one line: the action, the failed call with its text, and advice.
class FASTDISPATCH_EXPORT Error : public std::runtime_error {
public:
  /// An error that the library found by itself: a bad argument, unless `kind` says otherwise.
  explicit Error(const std::string& message) : Error(ErrorKind::bad_argument, message) {}
  Error(ErrorKind kind, const std::string& message);
  /// An error that HSA reported by `call`; its kind follows from `status`.
  Error(hsa_status_t status, std::string call, const std::string& message);
  /// An error that HSA reported asynchronously; `call` names the object, such as "queue".
  Error(ErrorKind kind, hsa_status_t status, std::string call, const std::string& message);

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

  /// HSA's status; HSA_STATUS_ERROR where HSA had no part in it.
  [[nodiscard]] hsa_status_t status() const noexcept { return status_; }
  /// The HSA call that failed; empty where HSA had no part in it.
  [[nodiscard]] const std::string& call() const noexcept { return call_; }

private:
  ErrorKind kind_;
  hsa_status_t status_ = HSA_STATUS_ERROR;
  std::string call_;
};

/// Thrown when a time limit passes. After a wait's time limit, the submission goes on, and can be waited for again.
/// After full_timeout, when a submission found no room, nothing was submitted. The exception is a batch that is longer
/// than the ring: if a part of it was submitted, the queue has failed.
class FASTDISPATCH_EXPORT TimeoutError : public Error {
public:
  explicit TimeoutError(const std::string& message) : Error(ErrorKind::timeout, message) {}
};

/// Thrown if a queue with WhenFull::report has no room now; nothing was submitted.
class FASTDISPATCH_EXPORT QueueFullError : public Error {
public:
  explicit QueueFullError(const std::string& message) : Error(ErrorKind::full, message) {}
};

}  // namespace fastdispatch
