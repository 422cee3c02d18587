#include "softgpu/command_processor/sdma_queue.hpp"

#include <algorithm>
#include <string>

#include "softgpu/command_processor/device_access.hpp"

namespace softgpu::command_processor {
namespace {

using sdma::Operation;
using sdma::Packet;
using sdma::Plane;

/// Whether a memory location meets a POLL_REGMEM packet.
bool poll_met(const Packet& packet) {
  const std::uint32_t value =
      __atomic_load_n(at_address<const std::uint32_t>(packet.quad(1)), __ATOMIC_ACQUIRE) & packet.dword(4);
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

}  // namespace

SdmaQueue::SdmaQueue(std::uint64_t id, const SdmaQueueMemory& memory, Host& host)
    : id_(id), memory_(memory), host_(host) {}

void SdmaQueue::fetch(Progress& progress, Lookout& lookout) {
  const std::uint64_t limit = __atomic_load_n(&write_index_, __ATOMIC_ACQUIRE);
  while (read_index_ != limit) {
    const Packet packet = read_packet();
    if (packet.operation() == Operation::copy) lookout.leave();
    const auto length = carry_out(packet);
    if (!length) return;
    progress.moved = true;
    __atomic_store_n(&read_index_, read_index_ + std::uint64_t{*length} * sizeof(std::uint32_t), __ATOMIC_RELEASE);
  }
}

Packet SdmaQueue::read_packet() const {
  // Packets do not wrap around: the host fills the end of the ring with empty ones.
  const std::uint64_t offset = read_index_ & (memory_.ring_bytes - 1);
  const std::uint64_t bytes = std::min<std::uint64_t>(sizeof(Packet), memory_.ring_bytes - offset);
  Packet packet;
  copy_device(reinterpret_cast<std::uint64_t>(&packet), reinterpret_cast<std::uint64_t>(memory_.ring + offset), bytes);
  return packet;
}

std::optional<unsigned> SdmaQueue::carry_out(const Packet& packet) {
  switch (packet.operation()) {
  case Operation::nop:
    return 1 + packet.bits(0, 16, 14);
  case Operation::copy:
    return copy(packet);
  case Operation::fence:
    __atomic_store_n(at_address<std::uint32_t>(packet.quad(1)), packet.dword(3), __ATOMIC_RELEASE);
    return 4;
  case Operation::trap:
    host_.raise_event(packet.bits(1, 0, 28));
    return 2;
  case Operation::poll_memory:
    // Without the memory bit it polls a register: ROCr's flush of the host data path, which is not there.
    if (packet.bits(0, 31, 1) != 0 && !poll_met(packet)) return std::nullopt;
    return 6;
  case Operation::atomic:
    if (packet.bits(0, 25, 7) != sdma::atomic_add_64) return refuse(packet, "an atomic other than a 64-bit add");
    __atomic_fetch_add(at_address<std::uint64_t>(packet.quad(1)), packet.quad(3), __ATOMIC_ACQ_REL);
    return 8;
  case Operation::constant_fill:
    if (packet.bits(0, 30, 2) != 2) return refuse(packet, "a fill by anything but dwords");
    fill_device(packet.quad(1), packet.dword(3), packet.bits(4, 0, 22) / sizeof(std::uint32_t) + 1);
    return 5;
  case Operation::cache_request:
    return 5;  // GCR_REQ, which SDMA 5 has: there are no caches
  case Operation::timestamp:
    if (packet.sub_operation() != sdma::timestamp_get_global) return refuse(packet, "a timestamp other than global");
    __atomic_store_n(at_address<std::uint64_t>(packet.quad(1)), gpu_clock(), __ATOMIC_RELEASE);
    return 3;
  }
  return refuse(packet, "an unknown operation");
}

std::optional<unsigned> SdmaQueue::copy(const Packet& packet) {
  switch (packet.sub_operation()) {
  case sdma::copy_linear:
    // 30 bits from gfx90a on; the 22 of before are what ROCr 5.2 fills.
    copy_device(packet.quad(5), packet.quad(3), std::size_t{packet.bits(1, 0, 30)} + 1);
    return 7;
  case sdma::copy_linear_rectangle:
    copy_rectangle(packet);
    return 13;
  default:
    return refuse(packet, "a copy that is neither linear nor rectangular");
  }
}

void SdmaQueue::copy_rectangle(const Packet& packet) const {
  const unsigned element_shift = packet.bits(0, 29, 3);
  const Plane source = Plane::parse(packet, 1);
  const Plane target = Plane::parse(packet, 6);
  const std::size_t row_bytes = (std::size_t{packet.bits(11, 0, 14)} + 1) << element_shift;
  const std::uint32_t rows = packet.bits(11, 16, 14) + 1;
  const std::uint32_t slices = packet.bits(12, 0, 11) + 1;
  for (std::uint32_t slice = 0; slice != slices; ++slice)
    for (std::uint32_t row = 0; row != rows; ++row)
      copy_device(target.row(row, slice, element_shift), source.row(row, slice, element_shift), row_bytes);
}

std::optional<unsigned> SdmaQueue::refuse(const Packet& packet, std::string_view what) {
  if (stop())
    host_.report_error("copy queue " + std::to_string(id_) + " stops: " + std::string(what) + " (first dword " +
                       std::to_string(packet.dword(0)) + ")");
  return std::nullopt;
}

}  // namespace softgpu::command_processor
