#include "dispatch/device/kernel_names.hpp"

#include <utility>

namespace fastdispatch::detail {

void KernelNames::add(std::uint64_t kernel_object, std::string name) {
  const std::scoped_lock lock(mutex_);
  names_.insert_or_assign(kernel_object, std::move(name));
}

void KernelNames::remove(std::uint64_t kernel_object) noexcept {
  const std::scoped_lock lock(mutex_);
  names_.erase(kernel_object);
}

std::string KernelNames::find(std::uint64_t kernel_object) const {
  const std::scoped_lock lock(mutex_);
  const auto found = names_.find(kernel_object);
  return found == names_.end() ? std::string() : found->second;
}

}  // namespace fastdispatch::detail
