// Named series of measured times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

class Stopwatch {
public:
  [[nodiscard]] double microseconds() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Samples {
public:
  void add(const std::string& name, double value) { series_[name].push_back(value); }

  [[nodiscard]] bool has(const std::string& name) const { return series_.contains(name); }

  /// Medians, not means: a shared machine's outliers are all on one side.
  [[nodiscard]] double median(const std::string& name) const {
    std::vector<double> values = series_.at(name);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

private:
  std::map<std::string, std::vector<double>> series_;
};
