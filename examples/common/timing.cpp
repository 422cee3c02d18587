#include "timing.hpp"

#include <chrono>

double time_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

std::vector<std::vector<double>> time_in_turns(const std::vector<std::function<void()>>& works,
                                               std::size_t iterations) {
  std::vector<std::vector<double>> series(works.size());
  for (std::size_t iteration = 0; iteration <= iterations; ++iteration) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const double time = time_of(works[i]);
      if (iteration > 0) series[i].push_back(time);
    }
  }
  return series;
}
