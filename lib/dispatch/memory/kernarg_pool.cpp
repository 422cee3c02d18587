#include "dispatch/memory/kernarg_pool.hpp"

#include <spdlog/fmt/fmt.h>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

std::size_t checked_capacity(std::size_t bytes) {
  if (bytes == 0 || bytes % KernargRing::alignment != 0)
    throw Error(fmt::format("a kernarg pool of {} bytes: the size must be a multiple of {} and not zero", bytes,
                            KernargRing::alignment));
  return bytes;
}

}  // namespace

KernargPool::KernargPool(Agent agent, std::size_t bytes, KernargMemory memory)
    : memory_(agent, checked_capacity(bytes), memory), ring_(bytes) {}

void KernargPool::refuse(std::size_t bytes) const {
  throw Error(fmt::format("{} bytes of kernel arguments do not fit into the queue's kernarg pool of {} bytes: make it "
                          "larger with QueueOptions::kernarg_bytes",
                          bytes, capacity()));
}

}  // namespace fastdispatch::detail
