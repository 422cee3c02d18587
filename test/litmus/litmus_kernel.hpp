// The assembly of a kernel that makes a litmus test round after round.
//
// Threads do not meet at barriers. Now and then each thread publishes its round and waits until the others are there,
// too. Then it delays itself by a time that differs from round to round, so that the threads' accesses overlap in all
// ways.
#pragma once

#include <cstdint>
#include <string>

#include "setup.hpp"

namespace softgpu::litmus {

/// The arguments of a thread's wavefront: kernarg[0] points to one of these for each thread.
struct ThreadArguments {
  std::uint64_t variables[variable_count];  ///< addresses, or offsets within LDS
  std::uint64_t results;                    ///< a round's registers: load after load, lane after lane
  std::uint64_t progress;                   ///< a word a thread, progress_stride apart
  std::uint64_t lane_offsets;               ///< a word a lane; of thread t at t * lane_offsets_stride
  std::uint64_t execution_mask;
  std::uint32_t rounds;
  std::uint32_t slot_bytes;   ///< from a round's variables to those of the next
  std::uint32_t first_value;  ///< of counters: the first round's, less 1; of flags: what is added to each
  std::uint32_t pace;         ///< the threads meet every pace + 1 rounds
};
static_assert(sizeof(ThreadArguments) == 64);

inline constexpr std::uint32_t progress_stride = 128;
inline constexpr std::uint32_t lane_offsets_stride = 256;

/// How many repeats a thread is late in a round: a hash of the round and the thread, whose upper bits count.
inline constexpr std::uint32_t delay_bits = 3;
[[nodiscard]] constexpr std::uint32_t round_hash(std::uint32_t round, std::uint32_t first_value, unsigned thread) {
  constexpr std::uint32_t golden_ratio = 0x9e3779b1;
  return (round + first_value) * (golden_ratio + 0x2c9277b4 * thread);
}

/// Of a wavefront of the tested target.
[[nodiscard]] std::uint32_t lanes();

[[nodiscard]] std::string kernel_text(const Setup& setup);

}  // namespace softgpu::litmus
