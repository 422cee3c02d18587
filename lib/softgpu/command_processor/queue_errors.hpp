// The bits by which the firmware tells the runtime, through the queue's inactive signal, why a queue stopped.
//
// Facts: ROCr's handler of that signal (src/core/runtime/amd_aql_queue.cpp, DynamicScratchHandler).
#pragma once

#include <cstdint>

#include "softgpu/compute/execution/engine.hpp"

namespace softgpu::command_processor::queue_error {

inline constexpr std::int64_t scratch_wanted = 1;
inline constexpr std::int64_t dimensions = 2;
inline constexpr std::int64_t group_memory = 4;
inline constexpr std::int64_t code_object = 8;
inline constexpr std::int64_t packet_format = 32;
inline constexpr std::int64_t work_group_size = 64;
inline constexpr std::int64_t vendor_packet_format = 256;
inline constexpr std::int64_t scratch_returned = 512;
inline constexpr std::int64_t aperture_violation = 0x20000000;
inline constexpr std::int64_t illegal_instruction = 0x40000000;
inline constexpr std::int64_t trap = 0x80000000;

[[nodiscard]] constexpr std::int64_t of(compute::Failure::Kind kind) noexcept {
  using Kind = compute::Failure::Kind;
  switch (kind) {
  case Kind::invalid_dimensions:
    return dimensions;
  case Kind::group_memory:
    return group_memory;
  case Kind::invalid_code_object:
    return code_object;
  case Kind::work_group_size:
    return work_group_size;
  case Kind::illegal_instruction:
    return illegal_instruction;
  case Kind::memory_fault:
  case Kind::private_memory:
    return aperture_violation;
  case Kind::trap:
  case Kind::host_memory:
  case Kind::interrupted:
    return trap;
  }
  return trap;
}

}  // namespace softgpu::command_processor::queue_error
