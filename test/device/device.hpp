// The common start of all tests on a device.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fastdispatch/fastdispatch.hpp"
#include "loaded_rocr.hpp"

namespace fastdispatch::test {

/// A GPU, the kernels of device_test.hip, and a queue.
class Device : public ::testing::Test {
protected:
  [[nodiscard]] static std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t first = 0) {
    std::vector<std::uint32_t> result(count);
    std::iota(result.begin(), result.end(), first);
    return result;
  }
  template <class T>
  [[nodiscard]] DeviceBuffer<T> upload(const std::vector<T>& values) {
    DeviceBuffer<T> buffer(gpu, values.size());
    copy(buffer, std::span(values));
    return buffer;
  }
  template <class T>
  [[nodiscard]] static std::vector<T> download(const DeviceBuffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    copy(std::span(values), buffer);
    return values;
  }
  /// The text of the Error that `action` throws.
  template <class Action>
  static std::string error_of(Action action) {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return {};
  }

  /// Whether a memory fault is told as such: of those since ROCr started, it is the first one. A ROCr with the thunk
  /// built in, 6.3 and later, starts once in a process.
  static bool tells_memory_fault() {
    static bool is_first = true;
    return std::exchange(is_first, false) || rocr_has_thunk_beside_it();
  }

  static constexpr WaitOptions limit{.timeout = std::chrono::minutes(25)};

  Runtime runtime;
  Agent gpu = runtime.gpu(0);
  Module module = Module::load(gpu, DEVICE_TEST_KERNELS);
  Queue queue{gpu};
};

}  // namespace fastdispatch::test
