// What move-only handles of the library hold.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

[[noreturn]] inline void throw_moved_from(const char* what) {
  throw Error(std::string("a ") + what + " that was moved from can only be destroyed or assigned to");
}

/// Owns the state of a handle, alone or with what the handle made; an access throws Error once it was moved from. Cost:
/// a comparison.
template <class State>
class Owner {
public:
  /// `what` is the handle in words, such as "queue", and lives for ever.
  Owner(std::unique_ptr<State> state, const char* what) : state_(std::move(state)), what_(what) {}

  [[nodiscard]] State& operator*() const {
    if (state_ == nullptr) [[unlikely]]
      throw_moved_from(what_);
    return *state_;
  }
  [[nodiscard]] State* operator->() const { return &**this; }
  [[nodiscard]] std::shared_ptr<State> share() const noexcept { return state_; }

private:
  std::shared_ptr<State> state_;
  const char* what_;
};

}  // namespace fastdispatch::detail
