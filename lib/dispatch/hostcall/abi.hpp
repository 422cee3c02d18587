// What the device library and the host share: the layout of hostcall's buffer, its services, and its messages.
//
// AMD calls it a preview and writes it down only in its sources. The device's half is in ROCm-Device-Libs:
// ockl/src/hostcall_impl.cl (buffer), services.cl (services and messages), dm.cl (malloc). HIP's half is in clr:
// rocclr/device/devhostcall.hpp and .cpp, devhcmessages.hpp, devhcprintf.cpp. Both are the same from ROCm 3.5 to 6.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hsa/hsa.h>

namespace fastdispatch::detail::hostcall {

inline constexpr std::size_t lanes = 64;          ///< of a packet, also for wavefronts of 32
inline constexpr std::size_t words_per_lane = 8;  ///< arguments; the host returns results in the first two

/// A wavefront's request. Packets are linked to stacks by tagged indices: the low bits are the packet's index, the high
/// bits a count that makes two uses of the packet differ. 0 ends a stack.
struct PacketHeader {
  std::uint64_t next;
  std::uint64_t active_lanes;  ///< a bit for each lane that has a slot in the payload
  std::uint32_t service;
  std::uint32_t control;  ///< bit 0 is set while the packet waits for the host
};
static_assert(sizeof(PacketHeader) == 24);
static_assert(offsetof(PacketHeader, active_lanes) == 8 && offsetof(PacketHeader, service) == 16);
static_assert(offsetof(PacketHeader, control) == 20);

inline constexpr std::uint32_t waits_for_host = 1;  ///< in PacketHeader::control

struct Payload {
  std::uint64_t slots[lanes][words_per_lane];
};
static_assert(sizeof(Payload) == 4096);

/// What the implicit argument hidden_hostcall_buffer points to. A wavefront takes a packet from the free stack, pushes
/// it on the ready stack, adds 1 to the doorbell, waits until the host has cleared `waits_for_host`, and gives the
/// packet back. It does not expect the free stack to be empty.
struct BufferHeader {
  PacketHeader* headers;
  Payload* payloads;
  hsa_signal_t doorbell;
  std::uint64_t free_stack;
  std::uint64_t ready_stack;
  std::uint64_t index_mask;
};
static_assert(sizeof(BufferHeader) == 48);
static_assert(offsetof(BufferHeader, payloads) == 8 && offsetof(BufferHeader, doorbell) == 16);
static_assert(offsetof(BufferHeader, free_stack) == 24 && offsetof(BufferHeader, ready_stack) == 32);
static_assert(offsetof(BufferHeader, index_mask) == 40);

enum Service : std::uint32_t {
  call_function = 1,  ///< of the host, by its address
  print = 2,          ///< printf, and the message of a failed assertion
  device_memory = 3,  ///< for malloc and free
  sanitizer = 4,      ///< a report of the address sanitizer
};

// A message has any length: each lane sends it in slots of up to seven words. The slot's first word describes the rest:
// bit 0 begins a message, bit 1 ends it, bits 5 to 7 are the count of words, bits 8 to 63 the message's number. The
// host chooses the number and returns it in the first word, unless the message ended.
inline constexpr std::uint64_t begins_message = 1;
inline constexpr std::uint64_t ends_message = 2;
inline constexpr std::uint64_t reserved_in_descriptor = 7U << 2U;
inline constexpr unsigned length_shift = 5;
inline constexpr std::uint64_t length_mask = 7;
inline constexpr unsigned number_shift = 8;

// A message of `print`: a word that chooses the stream, the format, the arguments. Texts are in place, with their
// terminating zero, padded to whole words. Numbers are a word each.
inline constexpr std::uint64_t to_stdout = 0;
inline constexpr std::uint64_t to_stderr = 1;

// Memory: the first word of a slot is the address to free, or 0; then the second is the count of bytes to allocate, and
// the address is returned. The device library takes memory for small blocks in slabs, which it finds by their
// alignment.
inline constexpr std::size_t slab_bytes = std::size_t{2} << 20U;
/// What hidden_heap_v1 points to, all zero at first.
inline constexpr std::size_t heap_bytes = std::size_t{128} * 1024;

}  // namespace fastdispatch::detail::hostcall
