// What a translated wavefront gets when it starts, and how it calls back.
//
// Translated code addresses these fields by offset: the struct is the binary interface between it and the runner.
// A translated wavefront keeps its registers in host registers and on the host stack, never here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::compute {

class AccessibleMemory;
class ComputeUnitCaches;
class InterruptHandler;
struct LeftStack;
class PreparedLaunch;
struct RegisterFile;
struct WorkGroup;

/// How far an access goes past a compute unit's caches.
enum class GoesPast : std::uint32_t {
  nothing,
  first_level,  ///< the vector cache, or the scalar cache
  all,          ///< and what the architecture has between them and where all compute units meet
};

struct WaveState {
  static constexpr unsigned initial_sgpr_count = 32;
  static constexpr unsigned ttmp6 = initial_sgpr_count;  ///< of `sgprs`: from there on ttmp6 to ttmp9
  static constexpr unsigned sgpr_words = ttmp6 + 4;

  /// What goes on when it comes to a barrier, and where its own stack is left then (stack_switch.hpp). Null: the runner
  /// finds out.
  LeftStack* stack_behind_barrier = nullptr;
  LeftStack* stack = nullptr;

  const std::uint32_t* work_item_ids = nullptr;  ///< of each lane: x | y << 10 | z << 20
  std::uint32_t sgprs[sgpr_words] = {};          ///< user SGPRs, then work-group ids, scratch wave offset
  std::uint64_t exec = 0;                        ///< one bit a work-item that exists
  std::uint64_t code_address = 0;                ///< of the kernel's first instruction, for s_getpc
  std::uint32_t m0 = 0;                          ///< LDS size clamp on older code
  std::uint32_t wave_in_group = 0;

  /// Wavefronts behind this one that translated code runs, too, if it can: it counts them down. They differ in what it
  /// sets itself: `work_item_ids`, `wave_in_group`, and the work-group's id in x, `group_id_place` bytes from the
  /// state's beginning.
  std::uint32_t waves_behind = 0;
  std::uint32_t waves_in_group = 0;
  std::uint32_t group_id_place = 0;
  std::uint32_t no_group_id = 0;             ///< its place where the kernel does not ask for it
  const std::uint32_t* group_ids = nullptr;  ///< `work_item_ids` of its work-group's first wavefront

  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  /// `nowhere` when a wavefront starts and once it has ended. Else it has branched to this address, for which its
  /// function has no code, and its registers are in `registers`: the function that has the code goes on from there.
  std::uint64_t branch_target = nowhere;
  RegisterFile* registers = nullptr;

  std::byte* lds = nullptr;  ///< the work-group's LDS
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes_per_lane = 0;
  std::uint32_t wavefront_size = 64;
  std::uint64_t scratch_wave_base = 0;  ///< host address of this wave's scratch
  std::uint64_t shared_aperture = 0;    ///< flat address of LDS byte 0 (low half 0)
  std::uint64_t private_aperture = 0;   ///< flat address of scratch byte 0 (low half 0)

  /// The memory that it may access, and its window.
  const AccessibleMemory* memory = nullptr;
  std::uint64_t window_base = 0;
  std::uint64_t window_mask = 0;
  /// Memory outside of the window that was found accessible last. A kernel goes to several buffers in turns.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    [[nodiscard]] bool contains(std::uint64_t address) const noexcept { return address >= begin && address < end; }
  };
  Range ranges[4] = {};
  std::uint32_t oldest_range = 0;
  std::uint64_t packet_address = 0;  ///< of the dispatch packet that the kernel sees, which is the soft GPU's

  ComputeUnitCaches* caches = nullptr;     ///< of the compute unit that it is on; null: coherent memory
  std::uint32_t vector_cache = 0;          ///< which of these its vector instructions use, 0 or 1
  GoesPast goes_past = GoesPast::nothing;  ///< set before each load and store where there are caches

  /// s_barrier: returns when every wavefront of the work-group that has not ended has called it.
  void (*barrier)(WaveState*) = nullptr;
  /// s_barrier_signal_isfirst: whether no other wavefront of the work-group has signaled as often.
  std::uint32_t (*signals_first)(WaveState*) = nullptr;
  std::uint32_t barrier_signals = 0;  ///< so many of its own
  /// s_sleep: lets other wavefronts of the work-group run.
  void (*yield)(WaveState*) = nullptr;
  /// A loop: the wavefront's turn is over, others are to run.
  void (*end_turn)(WaveState*) = nullptr;
  /// s_trap: does not return. `offset` is the instruction's, from the kernel's entry.
  void (*trap)(WaveState*, std::uint32_t id, std::int64_t offset) = nullptr;
  /// s_sendmsg of MSG_INTERRUPT, with M0.
  void (*interrupt_host)(WaveState*, std::uint32_t data) = nullptr;
  /// ds_gws_*: returns when the wavefront may go on. `instruction` is a GlobalSync.
  void (*sync_globally)(WaveState*, std::uint32_t instruction, std::uint32_t resource, std::uint32_t value) = nullptr;
  void* runner = nullptr;  ///< the callbacks' own
  InterruptHandler* interrupts = nullptr;
  const PreparedLaunch* launch = nullptr;
  const WorkGroup* group = nullptr;
  std::uint32_t polls = 0;       ///< accesses that may have waited for another wavefront
  std::uint64_t turn_since = 0;  ///< the first look at the clock in the present turn; 0: none yet

  alignas(64) std::uint32_t room_for_ids[64];  ///< `work_item_ids` may point to it

  /// Operands and results of memory instructions that the runtime executes lane by lane (memory_runtime.hpp).
  alignas(64) std::uint64_t lane_addresses[64];
  alignas(64) std::uint32_t lane_data[4][64];  ///< dword after dword

  /// The descriptors of an image instruction, and the addresses of its lanes (image_access.hpp).
  alignas(64) std::uint32_t image_resource[8];
  std::uint32_t image_sampler[4];
  alignas(64) std::uint32_t image_address[12][64];

  /// Operands and result of matrix instructions (matrix_product.hpp, scaled_product.hpp, wave_matrix.hpp), register
  /// after register.
  alignas(64) std::uint32_t matrix_a[8][64];
  alignas(64) std::uint32_t matrix_b[8][64];
  alignas(64) std::uint32_t matrix_indices[64];
  alignas(64) std::uint32_t matrix_scales[2][64];
  alignas(64) std::uint32_t matrix_sums[32][64];
};

/// Translated code: runs one wavefront to its end, or to an indirect branch out of the code.
using WaveFunction = void (*)(WaveState*);

/// Host code of a program that was translated as one function.
struct WaveCode {
  WaveFunction run = nullptr;
  std::size_t bytes = 0;  ///< of the function; 0: not known
  bool is_optimized = true;

  [[nodiscard]] bool contains(std::uint64_t host_address) const noexcept {
    return host_address - reinterpret_cast<std::uint64_t>(run) < bytes;
  }
};

}  // namespace softgpu::compute
