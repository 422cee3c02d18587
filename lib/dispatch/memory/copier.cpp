#include "dispatch/memory/copier.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/backoff.hpp"
#include "dispatch/hsa/watching.hpp"
#include "dispatch/memory/copy_engine.hpp"
#include "dispatch/memory/copy_trace.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

void wait_for_copy(Signal& copied, const Deadline& deadline) {
  copied.wait({.timeout = deadline.left()});
  if (copied.load() >= 0) return;
  copied.store(0);  // a negative value tells that the copy failed; the signal is used again
  throw Error(ErrorKind::queue_failed, "a copy by the device failed while it ran");
}

/// No timed_mutex: the thread sanitizer does not see its waits for a point in time.
std::unique_lock<std::mutex> lock_in_time(std::mutex& mutex, const Deadline& deadline) {
  if (deadline.is_never()) return std::unique_lock(mutex);
  std::unique_lock lock(mutex, std::try_to_lock);
  for (Backoff backoff; !lock.owns_lock() && !lock.try_lock(); backoff())
    if (deadline.passed()) throw TimeoutError("other copies have not ended");
  return lock;
}

/// Whether it failed was the concern of the copy that did not wait for it.
void wait_for_leftover(Signal& copied, const Deadline& deadline) {
  copied.wait({.timeout = deadline.left()});
  copied.store(0);
}

}  // namespace

Copier::Copier(Agent agent)
    : agent_(agent), signals_(OwnAgent{agent}, Interrupts::yes),
      in_use_(new InUse{.blocks = {Block(OwnAgent{agent}), Block(OwnAgent{agent})}, .unfinished = {}}) {}

Copier::~Copier() {
  try {
    const Deadline deadline(copies_may_take);
    wait_for_unfinished(deadline);
    for (Block& block : in_use_->blocks) wait_for_leftover(block.copied, deadline);
  } catch (...) {
    static_cast<void>(in_use_.release());
  }
}

void Copier::copy(const MemoryView& destination, const MemoryView& source, const Deadline& deadline) {
  wait_for_unfinished(deadline);
  PooledSignal copied = signals_.acquire(1);
  try {
    start_copy(agent_, destination, source, copied->handle(), {});
  } catch (...) {
    copied->store(0);
    throw;
  }
  try {
    wait_for_copy(*copied, deadline);
    if (is_watched_by(Watcher::trace)) trace_copy(agent_, copied->handle(), destination, source);
  } catch (const TimeoutError&) {
    leave(std::move(copied));
    throw;
  }
}

void Copier::start(const MemoryView& destination, const MemoryView& source, Block& block) {
  block.copied.store(1);
  block.destination = destination;
  block.source = source;
  try {
    start_copy(agent_, destination, source, block.copied.handle(), {});
  } catch (...) {
    block.copied.store(0);
    throw;
  }
}

void Copier::wait_for(Block& block, const Deadline& deadline) {
  wait_for_copy(block.copied, deadline);
  if (block.source.size != 0 && is_watched_by(Watcher::trace))
    trace_copy(agent_, block.copied.handle(), block.destination, block.source);
  block.source = {};
}

void Copier::wait_for_unfinished(const Deadline& deadline) {
  const auto turn = lock_in_time(waiting_, deadline);
  while (auto copied = take_left()) {
    try {
      wait_for_leftover(**copied, deadline);
    } catch (...) {
      leave(*std::move(copied));
      throw;
    }
  }
}

void Copier::leave(PooledSignal copied) {
  const std::scoped_lock lock(unfinished_mutex_);
  in_use_->unfinished.push_back(std::move(copied));
}

std::optional<PooledSignal> Copier::take_left() {
  const std::scoped_lock lock(unfinished_mutex_);
  auto& unfinished = in_use_->unfinished;
  if (unfinished.empty()) return std::nullopt;
  std::optional<PooledSignal> last(std::move(unfinished.back()));
  unfinished.pop_back();
  return last;
}

template <class Copies>
void Copier::take_turn(const Deadline& deadline, Copies copies) {
  wait_for_unfinished(deadline);
  const auto lock = lock_in_time(turn_, deadline);
  for (Block& block : in_use_->blocks) wait_for_leftover(block.copied, deadline);
  try {
    copies();
  } catch (const TimeoutError&) {
    throw;
  } catch (...) {
    for (Block& block : in_use_->blocks) {
      try {
        wait_for_copy(block.copied, deadline);
      } catch (const Error&) {  // the first one is thrown
      }
    }
    throw;
  }
}

void Copier::upload(const MemoryView& destination, const std::byte* source, const Deadline& deadline) {
  take_turn(deadline, [&] {
    for (std::size_t offset = 0; offset < destination.size; offset += block_size) {
      Block& block = block_at(offset);
      wait_for(block, deadline);
      const std::size_t size = std::min(block_size, destination.size - offset);
      std::memcpy(block.memory.data(), source + offset, size);
      start(destination.subview(offset, size), block.memory.view().subview(0, size), block);
    }
    for (Block& block : in_use_->blocks) wait_for(block, deadline);
  });
}

void Copier::download(std::byte* destination, const MemoryView& source, const Deadline& deadline) {
  const auto start_at = [&](std::size_t offset) {
    if (offset >= source.size) return;
    Block& block = block_at(offset);
    const std::size_t size = std::min(block_size, source.size - offset);
    start(block.memory.view().subview(0, size), source.subview(offset, size), block);
  };
  take_turn(deadline, [&] {
    start_at(0);
    for (std::size_t offset = 0; offset < source.size; offset += block_size) {
      start_at(offset + block_size);
      Block& block = block_at(offset);
      wait_for(block, deadline);
      std::memcpy(destination + offset, block.memory.data(), std::min(block_size, source.size - offset));
    }
  });
}

Copier& copier_of(Agent agent) {
  return state_of(agent).copier.get<Copier>([&] { return std::make_unique<Copier>(agent); });
}

}  // namespace fastdispatch::detail
