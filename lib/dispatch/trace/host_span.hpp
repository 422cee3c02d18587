// What a thread of the host does, for a trace.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "dispatch/hsa/watching.hpp"

namespace fastdispatch::detail {

/// Puts the time from its construction to its destruction into the trace, if one is recorded.
///
/// Cost without a trace: a load and a branch.
class HostSpan {
public:
  struct Number {
    std::string_view name;
    std::uint64_t value;
  };

  /// The texts live for ever.
  explicit HostSpan(std::string_view category, std::string_view name, Number first = {}, Number second = {}) noexcept
      : recorded_(is_watched_by(Watcher::trace)) {
    if (!recorded_) [[likely]]
      return;
    category_ = category;
    name_ = name;
    numbers_ = {first, second};
    begin_ = std::chrono::steady_clock::now();
  }
  ~HostSpan() {
    if (recorded_) [[unlikely]]
      end();
  }
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;

private:
  void end() const noexcept;

  bool recorded_;
  std::string_view category_;
  std::string_view name_;
  std::array<Number, 2> numbers_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace fastdispatch::detail
