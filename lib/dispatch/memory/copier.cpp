#include "dispatch/memory/copier.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/memory/copy_engine.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

void wait_for_copy(Signal& copied) {
  copied.wait();
  if (copied.load() >= 0) return;
  copied.store(0);  // a negative value tells that the copy failed; the signal is used again
  throw Error(ErrorKind::queue_failed, "a copy by the device failed while it ran");
}

}  // namespace

Copier::Copier(Agent agent) : agent_(agent), signals_(agent), blocks_{Block(agent), Block(agent)} {}

void Copier::copy(const MemoryView& destination, const MemoryView& source) {
  PooledSignal copied = signals_.acquire(1);
  try {
    start_copy(agent_, destination, source, copied->handle(), {});
  } catch (...) {
    copied->store(0);
    throw;
  }
  wait_for_copy(*copied);
}

void Copier::start(const MemoryView& destination, const MemoryView& source, Block& block) {
  block.copied.store(1);
  try {
    start_copy(agent_, destination, source, block.copied.handle(), {});
  } catch (...) {
    block.copied.store(0);
    throw;
  }
}

template <class Copies>
void Copier::take_turn(Copies copies) {
  const std::scoped_lock lock(mutex_);
  try {
    copies();
  } catch (...) {
    for (Block& block : blocks_) {
      try {
        wait_for_copy(block.copied);
      } catch (const Error&) {  // the first one is thrown
      }
    }
    throw;
  }
}

void Copier::upload(const MemoryView& destination, const std::byte* source) {
  take_turn([&] {
    for (std::size_t offset = 0; offset < destination.size; offset += block_size) {
      Block& block = block_at(offset);
      wait_for_copy(block.copied);
      const std::size_t size = std::min(block_size, destination.size - offset);
      std::memcpy(block.memory.data(), source + offset, size);
      start(destination.subview(offset, size), MemoryView(block.memory).subview(0, size), block);
    }
    for (Block& block : blocks_) wait_for_copy(block.copied);
  });
}

void Copier::download(std::byte* destination, const MemoryView& source) {
  const auto start_at = [&](std::size_t offset) {
    if (offset >= source.size) return;
    Block& block = block_at(offset);
    const std::size_t size = std::min(block_size, source.size - offset);
    start(MemoryView(block.memory).subview(0, size), source.subview(offset, size), block);
  };
  take_turn([&] {
    start_at(0);
    for (std::size_t offset = 0; offset < source.size; offset += block_size) {
      start_at(offset + block_size);
      Block& block = block_at(offset);
      wait_for_copy(block.copied);
      std::memcpy(destination + offset, block.memory.data(), std::min(block_size, source.size - offset));
    }
  });
}

Copier& copier_of(Agent agent) {
  return state_of(agent).copier.get<Copier>([&] { return std::make_unique<Copier>(agent); });
}

}  // namespace fastdispatch::detail
