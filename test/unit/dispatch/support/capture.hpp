// What a test writes to one of its streams.
#pragma once

#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace fastdispatch::test {

/// Takes everything that is written to a file descriptor while this object lives.
class Capture {
public:
  explicit Capture(int descriptor) : descriptor_(descriptor), before_(dup(descriptor)), file_(std::tmpfile()) {
    EXPECT_TRUE(before_ >= 0 && file_ != nullptr);
    std::fflush(nullptr);
    dup2(fileno(file_), descriptor_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    dup2(before_, descriptor_);
    close(before_);
    std::fclose(file_);
  }

  /// What is in the file by now: nothing is flushed here.
  [[nodiscard]] std::string text() const {
    std::string result;
    char block[4096];
    for (off_t at = 0;;) {
      const ssize_t size = pread(fileno(file_), block, sizeof(block), at);
      if (size <= 0) return result;
      result.append(block, static_cast<std::size_t>(size));
      at += size;
    }
  }

private:
  int descriptor_;
  int before_;
  std::FILE* file_;
};

/// What `action` writes to the file descriptor. Failures of the test are to be found afterwards: gtest writes them to
/// stdout.
template <class Action>
std::string captured(int descriptor, Action action) {
  const Capture capture(descriptor);
  action();
  return capture.text();
}

}  // namespace fastdispatch::test
