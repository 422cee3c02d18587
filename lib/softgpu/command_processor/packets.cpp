#include "softgpu/command_processor/packets.hpp"

#include "softgpu/command_processor/device_access.hpp"

namespace softgpu::command_processor {
namespace {

constexpr std::uint32_t opcode_nop = 0x10;
constexpr std::uint32_t opcode_indirect_buffer = 0x3f;
constexpr std::uint32_t opcode_acquire_mem = 0x58;

constexpr std::uint32_t type_of(std::uint32_t header) { return header >> 30; }
constexpr std::uint32_t opcode_of(std::uint32_t header) { return (header >> 8) & 0xff; }
/// A type 3 packet's length, its header included.
constexpr std::uint32_t dwords_of(std::uint32_t header) { return ((header >> 16) & 0x3fff) + 2; }

}  // namespace

bool is_cache_maintenance(const Pm4Packet& packet) noexcept {
  const auto& jump = packet.indirect_buffer;
  if (type_of(jump[0]) != 3 || opcode_of(jump[0]) != opcode_indirect_buffer) return false;
  const std::uint64_t address = (std::uint64_t{jump[2] & 0xffff} << 32 | jump[1]) & ~std::uint64_t{3};
  const std::uint32_t size = jump[3] & 0xfffff;
  for (std::uint32_t at = 0; at < size;) {
    std::uint32_t header = 0;
    copy_device(reinterpret_cast<std::uint64_t>(&header), address + at * sizeof(header), sizeof(header));
    if (type_of(header) != 3) return false;
    if (opcode_of(header) != opcode_acquire_mem && opcode_of(header) != opcode_nop) return false;
    at += dwords_of(header);
  }
  return true;
}

}  // namespace softgpu::command_processor
