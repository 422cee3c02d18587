#include "progress_bar.hpp"

#include <iostream>
#include <string>

void ProgressBar::clear() {
  if (width_ > 0) std::cerr << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

void ProgressBar::show(const std::string& name, std::size_t done, std::size_t total) {
  if (!visible_) return;
  constexpr std::chrono::milliseconds pause(100);
  const auto now = std::chrono::steady_clock::now();
  if (width_ > 0 && now - drawn_ < pause) return;
  drawn_ = now;

  constexpr std::size_t cells = 30;
  const std::size_t filled = cells * done / total;
  std::string line = "[";
  line.append(filled, '#').append(cells - filled, '.').append("] ");
  line += std::to_string(done) + " of " + std::to_string(total) + ", " + name;
  const std::size_t length = line.size();
  if (length < width_) line.append(width_ - length, ' ');
  width_ = length;
  std::cerr << '\r' << line << std::flush;
}
