// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

#include <hsa/hsa.h>

#include "fastdispatch/detail/export.hpp"

namespace fastdispatch {

/// Thrown for whatever goes wrong: a wrong argument, a failed HSA call, a fault on the GPU seen by a waiter.
///
/// `what()` is one line that says what was being done, which call failed with which text, and what to do about it.
class FASTDISPATCH_EXPORT Error : public std::runtime_error {
public:
  /// An error that the library found by itself, such as an argument out of range.
  explicit Error(const std::string& message);
  /// An error that HSA reported by `call`, or asynchronously (then `call` names the object, such as "queue").
  Error(hsa_status_t status, std::string call, const std::string& message);

  /// HSA's status; HSA_STATUS_ERROR where HSA had no part in it.
  [[nodiscard]] hsa_status_t status() const noexcept { return status_; }
  /// The HSA call that failed; empty where HSA had no part in it.
  [[nodiscard]] const std::string& call() const noexcept { return call_; }

private:
  hsa_status_t status_ = HSA_STATUS_ERROR;
  std::string call_;
};

/// Thrown when a time limit passes. After that of a wait, what was waited for goes on, and can be waited for again.
/// After full_timeout, of a submission that found no room, nothing was submitted; or a part of a batch that is longer
/// than the ring, and then the queue has failed.
class FASTDISPATCH_EXPORT TimeoutError : public Error {
public:
  using Error::Error;
};

}  // namespace fastdispatch
