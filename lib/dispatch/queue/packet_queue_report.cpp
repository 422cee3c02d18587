// A queue's messages about itself when it failed or takes too long.
#include <algorithm>
#include <new>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/failure_messages.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/queue/packet_queue.hpp"

namespace fastdispatch::detail {

namespace {

std::string packet_in_words(const Packet& packet, const KernelNames& kernels) {
  switch (packet.header().type) {
  case PacketType::invalid:
    return "a slot that was reserved and is not published";
  case PacketType::kernel_dispatch: {
    const std::string name = kernels.find(packet.kernel_object());
    return name.empty() ? "a kernel dispatch" : fmt::format("a dispatch of kernel {}", name);
  }
  case PacketType::barrier_and:
    return "a barrier-AND packet";
  case PacketType::barrier_or:
    return "a barrier-OR packet";
  case PacketType::vendor_specific:
    return "a vendor-specific packet";
  }
  return "a packet of an unknown type";
}

}  // namespace

std::uint64_t PacketQueue::oldest_packet() const noexcept {
  const std::uint64_t written = ring_.write_index();
  const std::uint64_t completed = ring_.end_of(std::min(completed_epoch(), ring_.epochs()));
  // Older packets may have been written over.
  return std::max(completed, written - std::min<std::uint64_t>(written, size()));
}

void PacketQueue::add_running_kernels(std::vector<std::string>& names) const {
  // Command processors take a packet off the ring when they start it, or when it completed. So the packet at the read
  // index may have been started, too. Consumed packets keep their bodies, only their headers become INVALID; the read
  // index may follow late.
  const std::uint64_t oldest = oldest_packet();
  const std::uint64_t written = ring_.write_index();
  std::uint64_t next = std::max(ring_.read_index(), oldest);
  while (next < written && ring_.peek(next).header().type == PacketType::invalid) ++next;
  for (std::uint64_t index = std::min(next + 1, written); index-- > oldest;) {
    std::string name = state_of(agent_).kernels.find(ring_.peek(index).kernel_object());
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
}

bool PacketQueue::was_to_complete(hsa_signal_t signal) const noexcept {
  for (std::uint64_t index = oldest_packet(), end = ring_.write_index(); index < end; ++index)
    if (ring_.peek(index).completion_signal().handle == signal.handle) return true;
  return false;
}

void PacketQueue::fail(hsa_status_t status) noexcept {
  try {
    std::vector<std::string> suspects;
    add_running_kernels(suspects);
    const Error error = queue_error(agent_.api(), status, suspects);
    log().debug("{}", error.what());
    fail(error);
  } catch (const std::bad_alloc&) {
    fail(state_of(agent_).queues.wordless_error());
  }
}

std::string PacketQueue::describe() const {
  const std::uint64_t read = ring_.read_index();
  const std::uint64_t written = ring_.write_index();
  std::string text = fmt::format("the queue's read index is {}, its write index {}, {} of {} epochs completed", read,
                                 written, completed_epoch(), ring_.epochs());
  if (read < written)
    return text + fmt::format("; next is {}", packet_in_words(ring_.peek(read), state_of(agent_).kernels));
  std::vector<std::string> running;
  add_running_kernels(running);
  return text + fmt::format("; all packets were started; running: {}", blame(running));
}

}  // namespace fastdispatch::detail
