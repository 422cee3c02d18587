// What move-only handles of the library hold.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

[[noreturn]] inline void throw_moved_from(const char* what) {
  throw Error(std::string("a ") + what + " that was moved from can only be destroyed or assigned to");
}

/// Owns the state of a handle, alone or with what the handle made; an access throws Error once it was moved from, and
/// in a child after fork. Cost: two comparisons.
template <class State>
class Owner {
public:
  /// `what` is the handle in words, such as "queue", and lives for ever.
  Owner(std::unique_ptr<State> state, const char* what) : state_(state.release(), DeleteUnlessForked()), what_(what) {}

  [[nodiscard]] State& operator*() const {
    if (state_ == nullptr) [[unlikely]]
      throw_moved_from(what_);
    check_not_forked();
    return *state_;
  }
  [[nodiscard]] State* operator->() const { return &**this; }
  [[nodiscard]] std::shared_ptr<State> share() const noexcept { return state_; }

private:
  std::shared_ptr<State> state_;
  const char* what_;
};

}  // namespace fastdispatch::detail
