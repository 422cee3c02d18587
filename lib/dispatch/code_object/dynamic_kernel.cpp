#include "fastdispatch/dynamic_kernel.hpp"

#include <cstring>

#include <spdlog/fmt/fmt.h>

#include "fastdispatch/error.hpp"

namespace fastdispatch {
namespace {

LocalMemory local_memory_in(std::span<const std::byte> argument) {
  LocalMemory memory;
  std::memcpy(&memory, argument.data(), sizeof memory);
  return memory;
}

}  // namespace

std::uint64_t DynamicKernel::local_memory(std::span<const std::span<const std::byte>> arguments) const {
  if (arguments.size() != signature_.size())
    throw Error(
        fmt::format("kernel {} takes {} arguments, and {} are given", name(), signature_.size(), arguments.size()));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].size() != signature_[i].size)
      throw Error(fmt::format("kernel {}, argument {} at offset {}: {} bytes are given, its type has {}", name(), i + 1,
                              info_->arguments[i].offset, arguments[i].size(), signature_[i].size));
    if (signature_[i].kind == detail::ParameterKind::local_memory)
      bytes += detail::local_memory_of(local_memory_in(arguments[i]));
  }
  return bytes;
}

void DynamicKernel::write_arguments(std::byte* kernarg,
                                    std::span<const std::span<const std::byte>> arguments) const noexcept {
  auto local = static_cast<std::uint32_t>(detail::aligned_local_memory(info_->group_segment_size));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const detail::ArgumentSlot& slot = info_->arguments[i];
    if (signature_[i].kind == detail::ParameterKind::local_memory)
      detail::write_argument<LocalMemory>(kernarg, slot, local, local_memory_in(arguments[i]));
    else
      std::memcpy(kernarg + slot.offset, arguments[i].data(), arguments[i].size());
  }
}

}  // namespace fastdispatch
