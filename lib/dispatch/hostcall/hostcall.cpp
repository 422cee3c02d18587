#include "dispatch/hostcall/hostcall.hpp"

#include <bit>
#include <csignal>
#include <cstdio>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <pthread.h>
#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/hostcall/printf_text.hpp"
#include "fastdispatch/copy.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch::detail {

namespace {

using hostcall::QueueCalls;

constexpr hsa_signal_value_t stop_value = -1;  // the doorbell counts up from 0

// A wavefront has one packet at most, so these are enough for one queue, as HIP has it.
std::uint32_t resident_waves(Agent agent) {
  std::uint32_t waves = 0;  // a compute unit
  check(agent.api(),
        agent.api().agent_get_info(agent.handle(), static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU),
                                   &waves),
        "hsa_agent_get_info", "asking for the wavefronts of a compute unit");
  return waves * agent.compute_units();
}

std::string_view in_words(std::uint32_t service) {
  switch (service) {
  case hostcall::call_function:
    return "a call of a host function by its address";
  case hostcall::sanitizer:
    return "a report of the address sanitizer";
  default:
    return "which is not known";
  }
}

}  // namespace

Hostcall::Hostcall(Agent agent)
    : agent_(agent), packets_(resident_waves(agent)), doorbell_(OwnAgent{agent}, 0), heap_(agent),
      thread_([this] { run(); }) {}

Hostcall::~Hostcall() {
  stopping_.store(true);
  doorbell_.store(stop_value);
  thread_.join();
}

std::uint64_t Hostcall::buffer_of(const hsa_queue_t* queue) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<QueueCalls>& calls = queues_[queue];
  if (calls == nullptr) calls = std::make_unique<QueueCalls>(agent_, packets_, doorbell_.handle());
  return reinterpret_cast<std::uintptr_t>(calls->buffer.address());
}

std::unique_ptr<QueueCalls> Hostcall::end_for(const hsa_queue_t* queue) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return nullptr;
  std::unique_ptr<QueueCalls> calls = std::move(found->second);
  queues_.erase(found);
  return calls;
}

std::uint64_t Hostcall::heap_state() {
  const std::scoped_lock lock(heap_state_mutex_);
  if (heap_state_ != 0) return heap_state_;
  std::uint64_t address = 0;
  {
    const std::scoped_lock heap_lock(mutex_);
    address = heap_.allocate(hostcall::heap_bytes);
  }
  if (address == 0)
    throw Error(ErrorKind::out_of_memory,
                fmt::format("{} has no memory left for the heap of kernels that call malloc", agent_.name()));
  auto* memory = std::bit_cast<std::byte*>(address);
  const std::vector<std::byte> zeros(hostcall::heap_bytes);
  copy({.address = memory,
        .device_address = memory,
        .size = hostcall::heap_bytes,
        .kind = MemoryKind::device,
        .agent = agent_},
       std::span(zeros));
  return heap_state_ = address;
}

void Hostcall::run() {
  pthread_setname_np(pthread_self(), "fd-hostcall");
  sigset_t all;  // the process's signals are for its own threads; a closed pipe is an error of the write
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);

  const hsa_signal_t doorbell = doorbell_.handle();
  hsa_signal_value_t seen = 0;
  while (true) {
    // Wavefronts ring after they pushed their packets: a packet that this round does not see changes the value again.
    seen = agent_.api().signal_wait_scacquire(doorbell, HSA_SIGNAL_CONDITION_NE, seen,
                                              std::numeric_limits<std::uint64_t>::max(), HSA_WAIT_STATE_BLOCKED);
    if (stopping_.load()) return;
    const std::scoped_lock lock(mutex_);
    for (auto& [queue, calls] : queues_)
      if (calls != nullptr && !calls->failed) serve(queue, *calls);
  }
}

void Hostcall::serve(const hsa_queue_t* queue, QueueCalls& calls) {
  const auto fail = [&](std::string_view why) {
    calls.failed = true;
    std::fflush(stdout);
    state_of(agent_).queues.fail(queue, fmt::format("a call of the host by a kernel could not be served: {}", why));
  };
  try {
    const std::vector<std::uint32_t> ready = calls.buffer.take_ready();
    if (ready.empty()) return;
    for (const std::uint32_t packet : ready) serve(packet, calls);
    std::fflush(stdout);
    for (const std::uint32_t packet : ready) calls.buffer.answer(packet);
  } catch (const Error& error) {
    fail(error.what());
  } catch (const std::bad_alloc&) {
    fail("the host has no memory left");
  }
}

void Hostcall::serve(std::uint32_t packet, QueueCalls& calls) {
  const std::uint32_t service = calls.buffer.service(packet);
  for (std::uint64_t left = calls.buffer.active_lanes(packet); left != 0; left &= left - 1) {
    const auto slot = calls.buffer.slot(packet, static_cast<unsigned>(std::countr_zero(left)));
    switch (service) {
    case hostcall::print:
      print(slot, calls.messages);
      break;
    case hostcall::device_memory:
      give_memory(slot);
      break;
    default:
      throw Error(
          fmt::format("it asked for service {}, {}; there are printf, assert and malloc", service, in_words(service)));
    }
  }
}

void Hostcall::print(std::span<std::uint64_t> slot, hostcall::Messages& messages) {
  const std::optional<hostcall::Message> message = messages.add(slot);
  if (!message) return;
  const auto printed = hostcall::printf_text(*message);
  if (!printed) throw Error("a printf without a format, or to a stream that is not known");
  std::FILE* stream = printed->stream == hostcall::Stream::err ? stderr : stdout;
  const std::string& text = printed->text;
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  slot[0] = static_cast<std::uint64_t>(written ? static_cast<std::int64_t>(text.size()) : -1);
}

void Hostcall::give_memory(std::span<std::uint64_t> slot) {
  if (slot[0] != 0) {
    if (!heap_.free(slot[0])) throw Error(fmt::format("it freed {:#x}, which is no memory of its heap", slot[0]));
    return;
  }
  slot[0] = heap_.allocate(slot[1]);
}

Hostcall& hostcall_of(Agent agent) {
  return state_of(agent).hostcall.get<Hostcall>([&] { return std::make_unique<Hostcall>(agent); });
}

std::unique_ptr<QueueCalls> end_hostcall_for(Agent agent, const hsa_queue_t* queue) noexcept {
  Hostcall* made = state_of(agent).hostcall.find<Hostcall>();
  return made == nullptr ? nullptr : made->end_for(queue);
}

}  // namespace fastdispatch::detail
