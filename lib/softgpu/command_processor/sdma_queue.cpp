#include "softgpu/command_processor/sdma_queue.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/command_processor/packet_trace.hpp"

namespace softgpu::command_processor {
namespace {

using sdma::Operation;

/// Whether a memory location meets a POLL_REGMEM packet.
bool poll_met(const sdma::Packet& packet) {
  const std::uint32_t value = load_device(packet.quad(1)) & packet.dword(4);
  const std::uint32_t reference = packet.dword(3);
  switch (packet.bits(0, 28, 3)) {
  case 0:
    return true;
  case 1:
    return value < reference;
  case 2:
    return value <= reference;
  case 3:
    return value == reference;
  case 4:
    return value != reference;
  case 5:
    return value >= reference;
  default:
    return value > reference;
  }
}

std::uint64_t copied_bytes(const sdma::Packet& packet) {
  return std::uint64_t{packet.bits(1, 0, 30)} + 1;  // 30 bits from gfx90a on; ROCr 5.2 fills 22, as before
}

std::uint64_t filled_dwords(const sdma::Packet& packet) { return packet.bits(4, 0, 22) / sizeof(std::uint32_t) + 1; }

/// The access of a packet to memory.
std::string name_of(const sdma::Packet& packet) {
  std::ostringstream text;
  text << std::showbase;
  const auto at = [&](const char* what, std::uint64_t address) { text << what << std::hex << address; };
  switch (packet.operation()) {
  case Operation::copy:
    if (packet.sub_operation() == sdma::copy_linear) {
      text << "a copy of " << copied_bytes(packet) << " bytes";
      at(" from ", packet.quad(3));
      at(" to ", packet.quad(5));
    } else {
      at("a copy of a box from ", packet.quad(1));
      at(" to ", packet.quad(6));
    }
    break;
  case Operation::fence:
    at("a fence at ", packet.quad(1));
    break;
  case Operation::poll_memory:
    at("a poll at ", packet.quad(1));
    break;
  case Operation::atomic:
    at("an atomic addition at ", packet.quad(1));
    break;
  case Operation::constant_fill:
    text << "a fill of " << filled_dwords(packet) * sizeof(std::uint32_t) << " bytes";
    at(" at ", packet.quad(1));
    break;
  case Operation::timestamp:
    at("a timestamp at ", packet.quad(1));
    break;
  default:
    text << "operation " << packet.bits(0, 0, 8);
  }
  return text.str();
}

}  // namespace

SdmaQueue::SdmaQueue(std::uint64_t id, const SdmaQueueMemory& memory, const sdma::BoxFields& box_fields, Host& host)
    : id_(id), memory_(memory), box_fields_(box_fields), host_(host),
      read_index_(memory.read_index != nullptr ? memory.read_index : &own_read_index_),
      write_index_(memory.write_index != nullptr ? memory.write_index : &own_write_index_) {}

void SdmaQueue::fetch(Progress& progress, Lookout& lookout) {
  const std::uint64_t limit = __atomic_load_n(write_index_, __ATOMIC_ACQUIRE);
  while (*read_index_ != limit) {
    const sdma::Packet packet = read_packet();
    if (packet.operation() == Operation::copy) lookout.leave();
    const auto length = carry_out(packet);
    if (!length) return;
    progress.moved = true;
    __atomic_store_n(read_index_, *read_index_ + std::uint64_t{*length} * sizeof(std::uint32_t), __ATOMIC_RELEASE);
  }
}

sdma::Packet SdmaQueue::read_packet() const {
  // Packets do not wrap around: the host fills the end of the ring with empty ones.
  const std::uint64_t offset = *read_index_ & (memory_.ring_bytes - 1);
  const std::uint64_t bytes = std::min<std::uint64_t>(sizeof(sdma::Packet), memory_.ring_bytes - offset);
  sdma::Packet packet;
  copy_device(reinterpret_cast<std::uint64_t>(&packet), reinterpret_cast<std::uint64_t>(memory_.ring + offset), bytes);
  return packet;
}

std::optional<unsigned> SdmaQueue::carry_out(const sdma::Packet& packet) {
  switch (packet.operation()) {
  case Operation::nop:
    return 1 + packet.bits(0, 16, 14);
  case Operation::copy:
    return traced_copy(packet);
  case Operation::fence:
    return access(packet, 4, [&] { store_device(packet.quad(1), packet.dword(3)); });
  case Operation::trap:
    host_.raise_event(packet.bits(1, 0, 28));
    return 2;
  case Operation::poll_memory:
    return poll(packet);
  case Operation::atomic:
    if (packet.bits(0, 25, 7) != sdma::atomic_add_64) return refuse(packet, "an atomic other than a 64-bit add");
    return access(packet, 8, [&] { add_device(packet.quad(1), packet.quad(3)); });
  case Operation::constant_fill:
    if (packet.bits(0, 30, 2) != 2) return refuse(packet, "a fill by anything but dwords");
    return access(packet, 5, [&] { fill_device(packet.quad(1), packet.dword(3), filled_dwords(packet)); });
  case Operation::cache_request:
    return 5;  // GCR_REQ, which SDMA 5 has: there are no caches
  case Operation::timestamp:
    if (packet.sub_operation() != sdma::timestamp_get_global) return refuse(packet, "a timestamp other than global");
    return access(packet, 3, [&, now = gpu_clock()] { store_device(packet.quad(1), now); });
  }
  return refuse(packet, "an unknown operation");
}

template <class Body>
std::optional<unsigned> SdmaQueue::access(const sdma::Packet& packet, unsigned length, const Body& body) {
  fault_watch_.look();
  if (const auto exit = guard_.run(body)) {
    stop_with_fault(packet, *exit);
    return std::nullopt;
  }
  return length;
}

std::optional<unsigned> SdmaQueue::copy(const sdma::Packet& packet) {
  switch (packet.sub_operation()) {
  case sdma::copy_linear:
    return access(packet, 7, [&] { copy_device(packet.quad(5), packet.quad(3), copied_bytes(packet)); });
  case sdma::copy_linear_rectangle:
    return access(packet, 13, [&] { copy_rectangle(packet); });
  default:
    return refuse(packet, "a copy that is neither linear nor rectangular");
  }
}

std::optional<unsigned> SdmaQueue::poll(const sdma::Packet& packet) {
  constexpr unsigned length = 6;
  // Without the memory bit it polls a register: ROCr's flush of the host data path, which is not there.
  if (packet.bits(0, 31, 1) == 0) return length;
  bool met = false;
  const auto done = access(packet, length, [&] { met = poll_met(packet); });
  return met ? done : std::nullopt;
}

std::optional<unsigned> SdmaQueue::traced_copy(const sdma::Packet& packet) {
  PacketTrace* const trace = host_.trace();
  if (trace == nullptr) return copy(packet);
  const std::uint64_t begin = gpu_clock();
  const auto length = copy(packet);
  if (!length) return length;
  const bool is_linear = packet.sub_operation() == sdma::copy_linear;
  trace->add_copy({.gpu = memory_.gpu, .queue = id_, .packet = *read_index_}, is_linear ? "copy" : "copy of a box",
                  is_linear ? copied_bytes(packet) : sdma::Box(packet, box_fields_).bytes(),
                  {.begin = begin, .end = gpu_clock()});
  return length;
}

void SdmaQueue::copy_rectangle(const sdma::Packet& packet) const {
  const sdma::Box box(packet, box_fields_);
  for (std::uint32_t slice = 0; slice != box.slices; ++slice)
    for (std::uint32_t row = 0; row != box.rows; ++row)
      copy_device(box.target.row(row, slice, box.element_shift), box.source.row(row, slice, box.element_shift),
                  box.row_bytes);
}

std::optional<unsigned> SdmaQueue::refuse(const sdma::Packet& packet, std::string_view what) {
  if (stop())
    host_.report_error("copy queue " + std::to_string(id_) + " stops: " + std::string(what) + " (first dword " +
                       std::to_string(packet.dword(0)) + ")");
  return std::nullopt;
}

void SdmaQueue::stop_with_fault(const sdma::Packet& packet, const compute::EarlyExit& exit) {
  if (!stop()) return;
  const std::string queue = "copy queue " + std::to_string(id_);
  std::ostringstream text;
  text << queue << " stops: " << compute::refusal_text(exit) << "; accessed by " << name_of(packet)
       << " (packet at byte " << *read_index_ << ")";
  host_.report_error(text.str());
  // Copy queues have no inactive signal: there is no other way to the runtime.
  if (!host_.report_memory_fault({.gpu = memory_.gpu,
                                  .address = exit.address,
                                  .is_imprecise = exit.cause == compute::EarlyExit::Cause::impossible_address,
                                  .is_read_only = exit.refusal == compute::Refusal::read_only}))
    host_.report_error(queue +
                       ": the runtime takes no further memory fault; who waits for these copies waits for ever");
}

}  // namespace softgpu::command_processor
