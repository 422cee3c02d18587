// An object that a higher layer keeps with an agent.
#pragma once

#include <memory>
#include <mutex>

namespace fastdispatch::detail {

/// Made at its first use, destroyed with the agent. All users of one attachment name the same type.
///
/// Thread safety: every member may be called from any thread.
class Attachment {
public:
  /// The attached object; `make` returns a std::unique_ptr to it and is called once.
  template <class T, class Make>
  [[nodiscard]] T& get(Make make) {
    const std::scoped_lock lock(mutex_);
    if (!attached_) attached_ = std::shared_ptr<T>(make());
    return *static_cast<T*>(attached_.get());
  }

  /// The attached object; null if it was not made.
  template <class T>
  [[nodiscard]] T* find() noexcept {
    const std::scoped_lock lock(mutex_);
    return static_cast<T*>(attached_.get());
  }

  /// Destroys the attached object.
  void reset() noexcept {
    const std::scoped_lock lock(mutex_);
    attached_.reset();
  }

private:
  std::mutex mutex_;
  std::shared_ptr<void> attached_;  // a shared_ptr, because it knows how to destroy the object
};

}  // namespace fastdispatch::detail
