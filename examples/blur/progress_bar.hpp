// A line on standard error that fills up.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

/// Owns the line; wiped out at the end. Redrawn ten times a second at most.
class ProgressBar {
public:
  enum class Visible : bool { no, yes };

  explicit ProgressBar(Visible visible) : visible_(visible == Visible::yes) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  [[nodiscard]] bool is_visible() const { return visible_; }
  /// `done` of `total` steps of what `name` says.
  void show(const std::string& name, std::size_t done, std::size_t total);
  void clear();

private:
  bool visible_;
  std::size_t width_ = 0;  ///< of what is drawn
  std::chrono::steady_clock::time_point drawn_;
};
