// The read-modify-write operations of global, flat, buffer and LDS atomics.
#pragma once

#include <cstdint>

#include "softgpu/compute/run_time/memory_runtime.hpp"

namespace softgpu::compute::runtime {

enum class AtomicOperation : std::uint8_t {
  swap,          ///< data
  compare_swap,  ///< memory == second ? data : memory
  compare_swap_float,
  add,
  subtract,
  reverse_subtract,  ///< data - memory
  signed_min,
  unsigned_min,
  signed_max,
  unsigned_max,
  bit_and,
  bit_or,
  bit_xor,
  masked_or,  ///< (memory & ~data) | second
  increment,  ///< memory >= data ? 0 : memory + 1
  decrement,  ///< memory == 0 || memory > data ? data : memory - 1
  wrap,       ///< memory >= data ? memory - data : memory + second
  add_float,
  add_float_flushing,  ///< takes and gives denormals as zeros
  min_float,
  max_float,
  min_in_order,  ///< a signaling NaN is the result, made quiet; else a number wins over a quiet NaN, and -0 < +0
  max_in_order,
  add_packed_half,
  add_packed_bfloat,
  min_number,  ///< any number before any NaN, -0 before +0
  max_number,
  conditional_subtract,  ///< memory >= data ? memory - data : memory
  subtract_clamped,      ///< memory >= data ? memory - data : 0
  conditional_exchange,  ///< of each dword: data without its highest bit where that is set, else memory
};

/// What executes an operation for each lane in turn, on lane_data[0] (and [1] where it takes a second operand; operands
/// of 64 bits take two dwords each), and leaves the memory's former value in lane_data.
struct AtomicFunctions {
  /// Atomic towards other threads.
  void (*in_memory)(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment,
                    std::uint64_t offset) = nullptr;
  /// On offsets in the work-group's LDS, which no other thread sees: beyond it, reads give 0 and writes do nothing.
  void (*in_lds)(WaveState* state, std::uint64_t lanes) = nullptr;
};

AtomicFunctions atomic_functions(AtomicOperation operation, unsigned bits);

}  // namespace softgpu::compute::runtime
