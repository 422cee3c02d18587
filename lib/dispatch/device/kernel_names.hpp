// Kernels' names by kernel object, so that errors can name the kernels that ran.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace fastdispatch::detail {

/// Thread safety: every member may be called from any thread.
class KernelNames {
public:
  void add(std::uint64_t kernel_object, std::string name);
  void remove(std::uint64_t kernel_object) noexcept;
  /// Empty where the kernel object is not known.
  [[nodiscard]] std::string find(std::uint64_t kernel_object) const;

private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace fastdispatch::detail
