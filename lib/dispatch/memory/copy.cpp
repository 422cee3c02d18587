#include "fastdispatch/copy.hpp"

#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/failure_messages.hpp"
#include "dispatch/device/wait.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/memory/copier.hpp"
#include "dispatch/memory/copy_engine.hpp"
#include "dispatch/trace/host_span.hpp"
#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/pin.hpp"

namespace fastdispatch {
namespace {

// Owns a lock for the time of one copy.
class CopyLock {
public:
  CopyLock(Agent agent, const MemoryView& memory)
      : ranges_(detail::state_of(agent.host()).locked_for_copies), range_(memory.address, memory.size) {
    ranges_.add(range_);
    try {
      pin_.emplace(agent, range_);
    } catch (const Error& error) {
      detail::log().debug("copying {} bytes in pieces through pinned memory, because they cannot be locked: {}",
                          range_.size(), error.what());
    }
  }
  ~CopyLock() {
    pin_.reset();
    ranges_.remove(range_);
  }
  CopyLock(const CopyLock&) = delete;
  CopyLock& operator=(const CopyLock&) = delete;

  /// Empty if the memory can't be locked: read-only pages, or the system's limit on locked memory.
  [[nodiscard]] const std::optional<Pin>& pin() const noexcept { return pin_; }

private:
  detail::LockedRanges& ranges_;
  std::span<std::byte> range_;
  std::optional<Pin> pin_;
};

void copy_pageable(Agent agent, const MemoryView& destination, const MemoryView& source, const CopyOptions& options,
                   const detail::Deadline& deadline) {
  detail::Copier& copier = detail::copier_of(agent);
  const bool upload = source.kind == MemoryKind::pageable;
  if (source.size >= options.lock_from && options.timeout == forever) {
    const CopyLock lock(agent, upload ? source : destination);
    if (const auto& pin = lock.pin())
      return copier.copy(upload ? destination : MemoryView(*pin), upload ? MemoryView(*pin) : source, deadline);
  }
  if (upload)
    copier.upload(destination, source.address, deadline);
  else
    copier.download(destination.address, source, deadline);
}

void copy_by_device(Agent agent, const MemoryView& destination, const MemoryView& source, const CopyOptions& options) {
  const detail::Deadline deadline(options.timeout);
  if (destination.kind == MemoryKind::pageable || source.kind == MemoryKind::pageable) {
    copy_pageable(agent, destination, source, options, deadline);
  } else {
    detail::make_reachable(destination, source);
    detail::copier_of(agent).copy(destination, source, deadline);
  }
}

}  // namespace

namespace detail {

MemoryView host_view(const MemoryView& peer, std::span<std::byte> bytes) {
  if (peer.agent) return view_of(*peer.agent, bytes);
  return {.address = bytes.data(),
          .device_address = bytes.data(),
          .size = bytes.size(),
          .kind = MemoryKind::pageable,
          .agent = std::nullopt};
}

}  // namespace detail

void copy(const MemoryView& destination, const MemoryView& source, const CopyOptions& options) {
  detail::check_not_forked();
  detail::check_ranges(destination, source);
  if (source.size == 0) return;
  const detail::HostSpan span("copy", "copy", {"bytes", source.size});
  if (destination.kind != MemoryKind::device && source.kind != MemoryKind::device) {
    detail::log().debug("copying {} bytes by the host, not by a copy engine: neither side is device memory",
                        source.size);
    std::memcpy(destination.address, source.address, source.size);
    return;
  }
  const Agent agent = destination.kind == MemoryKind::device ? *destination.agent : *source.agent;
  try {
    copy_by_device(agent, destination, source, options);
  } catch (const TimeoutError&) {
    throw TimeoutError(
        fmt::format("copying {} bytes: not done within {}. The device goes on with what it has begun: keep device and "
                    "pinned memory until a later copy has returned",
                    source.size, detail::in_words(options.timeout)));
  }
}

void copy_async(const MemoryView& destination, const MemoryView& source, const Signal& completion,
                std::span<const hsa_signal_t> depends_on) {
  detail::check_ranges(destination, source);
  detail::make_reachable(destination, source);
  const std::optional<Agent>& agent = destination.agent ? destination.agent : source.agent;
  if (!agent) throw Error("an asynchronous copy of no memory at all: one side must belong to an agent");
  const detail::HostSpan span("copy", "start a copy", {"bytes", source.size});
  if (source.size == 0) throw Error("an asynchronous copy of 0 bytes: nothing would complete the signal");
  detail::start_copy(*agent, destination, source, completion.handle(), depends_on);
}

}  // namespace fastdispatch
