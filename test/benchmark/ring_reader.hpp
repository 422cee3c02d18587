// The reader of rings in plain memory: a thread that does the work of a command processor, for every kind of writer.
#pragma once

#include <stop_token>
#include <thread>
#include <vector>

#include "command_processor.hpp"

/// Owns a thread on another core than the caller's, which stays on the first one. It waits for the rings' doorbells,
/// and reads the packets of each in the same way.
class RingReader {
public:
  explicit RingReader(std::vector<fastdispatch::test::RingView> rings);
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

private:
  void read(const std::stop_token& stop) const noexcept;

  const std::vector<fastdispatch::test::RingView> rings_;
  std::jthread thread_;
};
