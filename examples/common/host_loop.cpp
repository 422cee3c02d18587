#include "host_loop.hpp"

#include <algorithm>
#include <thread>
#include <vector>

unsigned host_threads() { return std::max(std::thread::hardware_concurrency(), 1U); }

void for_each_band(std::size_t count, const std::function<void(std::size_t first, std::size_t last)>& work) {
  const std::size_t bands = std::clamp<std::size_t>(host_threads(), 1, std::max<std::size_t>(count, 1));
  std::vector<std::jthread> threads;
  threads.reserve(bands - 1);
  for (std::size_t band = 1; band < bands; ++band)
    threads.emplace_back(
        [&work, first = count * band / bands, last = count * (band + 1) / bands] { work(first, last); });
  work(0, count / bands);
}
