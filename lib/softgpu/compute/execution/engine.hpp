// What the command processor needs of the compute side: translate a kernel, prepare a dispatch, run its work-groups.
//
// The compute side knows code objects, wavefronts, LDS and memory instructions; it knows nothing of queues, rings,
// signals or threads. Who calls `WorkGroupRunner::run` owns the threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <hsa/hsa.h>

#include "softgpu/compute/host_code/optimize.hpp"
#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/program/waits_for.hpp"
#include "softgpu/compute/run_time/compute_unit_caches.hpp"
#include "softgpu/compute/run_time/host_cpu.hpp"

namespace softgpu::compute {

/// Why a dispatch was refused or did not finish.
struct Failure {
  enum class Kind {
    invalid_dimensions,   ///< grid or work-group size of 0, or a dimension count outside 1 to 3
    group_memory,         ///< the packet asks for more LDS than a work-group can have
    invalid_code_object,  ///< the kernel object points to no kernel descriptor that this agent can run
    work_group_size,      ///< more work-items a work-group than the agent allows
    illegal_instruction,  ///< an instruction that is not known or not supported: refused before anything ran
    memory_fault,         ///< a load, store or atomic at an address that is not mapped or may not be written
    private_memory,       ///< an access beyond the private memory (stack) of a work-item
    trap,                 ///< the kernel executed s_trap
    host_memory,          ///< the host has no memory left to translate the kernel or to run its work-groups
    interrupted,          ///< interrupt() ended it
  };
  Kind kind;
  std::uint64_t address = 0;                   ///< memory_fault: the address accessed
  std::string text;                            ///< for a person: the mnemonic and offset, the address, the limit passed
  bool is_imprecise = false;                   ///< memory_fault: the address is not known
  bool is_read_only = false;                   ///< memory_fault: a write to memory that may only be read
  std::optional<std::uint64_t> instruction{};  ///< its offset from the entry, where it is known
  std::uint64_t host_address = 0;              ///< in the translated code, of what did it; 0: not known
};

/// A translated kernel: immutable, shared by every dispatch of it.
class Kernel;

namespace profile {
class Profile;
}

class AccessibleMemory;
class ComputeUnits;
class L2Caches;
class GlobalWaveSync;

/// Who hears the interrupts that kernels send to the host.
///
/// Thread safety: called on the threads that run work-groups, several at once.
class InterruptHandler {
public:
  virtual ~InterruptHandler() = default;
  /// s_sendmsg of MSG_INTERRUPT. `data` is what the interrupt carries: the lower 24 bits of M0.
  virtual void kernel_interrupt(std::uint32_t data) = 0;
};

/// What a dispatch has from its queue. The fields of AMD's queue structure that it reads: where scratch is, and the
/// apertures of flat addresses.
struct QueueView {
  std::uint64_t queue_address = 0;              ///< of amd_queue_t, for the queue pointer SGPRs
  std::uint64_t dispatch_id = 0;                ///< the packet's index, for the dispatch id SGPRs
  std::uint32_t scratch_descriptor[4] = {};     ///< amd_queue_t::scratch_resource_descriptor
  std::uint64_t scratch_base = 0;               ///< amd_queue_t::scratch_backing_memory_location
  std::uint64_t scratch_bytes = 0;              ///< amd_queue_t::scratch_backing_memory_byte_size
  std::uint32_t scratch_bytes_per_lane = 0;     ///< amd_queue_t::scratch_wave64_lane_byte_size
  std::uint32_t shared_aperture_high = 0;       ///< amd_queue_t::group_segment_aperture_base_hi
  std::uint32_t private_aperture_high = 0;      ///< amd_queue_t::private_segment_aperture_base_hi
  InterruptHandler* interrupts = nullptr;       ///< not owned; without one, interrupts get lost
  const ComputeUnits* compute_units = nullptr;  ///< the usable ones; not owned; null: the agent has one
  const AccessibleMemory* memory = nullptr;     ///< of the GPU; not owned; null: all memory
  /// How often the agent's packets acquired; not owned. Null: no caches. Else kernels must be translated for caches.
  const std::atomic<std::uint64_t>* acquires = nullptr;
  L2Caches* l2s = nullptr;                ///< not owned; null: memory is as new as the L2
  GlobalWaveSync* global_sync = nullptr;  ///< not owned; without one, instructions that need it end the dispatch
};

struct EngineOptions {
  const Architecture* architecture = &Architecture::gfx90a();  ///< whose code objects are executed
  HostCpu cpu = HostCpu::host;
  Optimize optimize = Optimize::yes;
  Caches caches = Caches::coherent;
  std::string cache_folder = {};                         ///< where host code is kept between runs; empty: nowhere
  std::uint64_t cache_bytes = std::uint64_t{256} << 20;  ///< limit of the folder; the oldest files go first
  profile::Profile* profile = nullptr;                   ///< counts what kernels do; not owned; null: nobody counts
  /// Called before the first translation that a thread of the engine's own makes, when LLVM has its static objects: who
  /// ends that thread at the process's exit has to do so before their destructors.
  std::function<void()> before_optimizing = {};
  std::function<void(std::string_view)> log = {};   ///< a line a translation, and the folder's errors
  std::function<void(std::string_view)> warn = {};  ///< once, if the folder may not be trusted
};

/// Translates kernels and keeps the translations. One per agent.
///
/// Thread safety: every member may be called from any thread; two threads that ask for one kernel translate it once,
/// and different kernels at the same time.
class Engine {
public:
  explicit Engine(const EngineOptions& options = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The translation of the kernel whose descriptor (or amd_kernel_code_t) is at `kernel_object`. The first call for a
  /// kernel takes a fraction of a millisecond an instruction, up to some milliseconds where it is to be optimized, or
  /// less than one in all from the cache; later ones are a look-up.
  [[nodiscard]] std::variant<std::shared_ptr<const Kernel>, Failure> kernel(std::uint64_t kernel_object);
  /// The same for a packet with such a grid and such work-groups, which may allow for faster code.
  [[nodiscard]] std::variant<std::shared_ptr<const Kernel>, Failure> kernel(const hsa_kernel_dispatch_packet_t& packet);

  /// A packet's kernel if it is there already, else null: takes no time worth mentioning.
  [[nodiscard]] std::shared_ptr<const Kernel> known_kernel(const hsa_kernel_dispatch_packet_t& packet);
  /// Whether that would be `kernel`.
  [[nodiscard]] bool is_known(const hsa_kernel_dispatch_packet_t& packet, const Kernel& kernel);

  /// Where in the kernel the failure came from, for a person: the instruction and its source line, as far as they are
  /// known. Empty if neither is, and while the process exits. May translate the kernel once more, which takes its time.
  [[nodiscard]] std::string place_of(std::uint64_t kernel_object, const Failure& failure) const;

  /// No kernel's translation is replaced by an optimized one any more.
  void stop_optimizing() noexcept;
  /// For the end of the process: LLVM is not used any more, once the translations of this moment are done, or after
  /// seconds. Who wants another translation waits for ever.
  void stop_translating() noexcept;

  /// Drops the translations of code within [base, base + size), which is about to be freed or rewritten.
  void forget(std::uint64_t base, std::size_t size);

private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Whether the work-items of each of a launch's wavefronts, of so many lanes, follow each other in x, and have y and z
/// in common.
[[nodiscard]] bool has_ids_in_rows(const hsa_kernel_dispatch_packet_t& packet, std::uint32_t lanes) noexcept;

/// One kernel dispatch packet prepared for execution: sizes checked, initial registers worked out.
/// Immutable once made; any number of runners may work on it at once.
class Launch {
public:
  /// `packet` is copied (the ring slot may be reused); `packet_address` is the ring slot's address, for the dispatch
  /// pointer SGPRs. The kernel reads its dispatch packet through that pointer, so the copy's address is what it gets.
  static std::variant<std::shared_ptr<Launch>, Failure>
  make(std::shared_ptr<const Kernel> kernel, const hsa_kernel_dispatch_packet_t& packet, const QueueView& queue);
  /// Makes it the launch of another packet that has the same kernel, see Engine::is_known. Nobody may run it meanwhile.
  [[nodiscard]] virtual std::optional<Failure> renew(const hsa_kernel_dispatch_packet_t& packet,
                                                     const QueueView& queue) = 0;
  virtual ~Launch() = default;
  [[nodiscard]] virtual std::uint64_t group_count() const noexcept = 0;
  /// True when a run needs scratch memory that the queue does not have yet, by private segment size a lane.
  [[nodiscard]] virtual std::uint32_t private_segment_bytes() const noexcept = 0;
  /// What its work-groups may wait for.
  [[nodiscard]] virtual WaitsFor waits_for() const noexcept = 0;
  /// Whether its wavefronts can run one after the other, as none waits for another.
  [[nodiscard]] virtual bool runs_in_turn() const noexcept = 0;
  /// Of a whole work-group.
  [[nodiscard]] virtual std::uint32_t waves_per_group() const noexcept = 0;
  /// How many of its work-groups a compute unit holds at once, by their wavefronts, registers and LDS.
  [[nodiscard]] virtual std::uint32_t groups_per_compute_unit() const noexcept = 0;
  /// For interrupt(). Unlike an address it is never another launch's.
  [[nodiscard]] std::uint64_t identity() const noexcept { return identity_; }

protected:
  void take_new_identity() noexcept { identity_ = next_identity(); }

private:
  [[nodiscard]] static std::uint64_t next_identity() noexcept;

  std::uint64_t identity_ = next_identity();
};

/// A work-group that was set aside because it waits, or because its turn was over. Owns its LDS and its wavefronts'
/// stacks; its destructor ends it. The launch, and the objects that the launch has from its queue, must outlive it.
///
/// Thread safety: none; it may go on in another thread than the one that it began in.
class SuspendedGroup {
public:
  virtual ~SuspendedGroup() = default;
  /// Whether one of its wavefronts ended its wait when the work-group last went on.
  [[nodiscard]] virtual bool got_on() const noexcept = 0;
  /// Whether it does not wait: its turn was over.
  [[nodiscard]] virtual bool can_go_on() const noexcept = 0;
  /// Ends it, and says so as an interrupt would have.
  virtual Failure end() = 0;
};

/// Executes work-groups on the calling thread. Owns LDS and the stacks of suspended wavefronts: one per worker thread.
class WorkGroupRunner {
public:
  /// `worker_index` picks the runner's scratch slots; distinct among runners that run at once.
  explicit WorkGroupRunner(std::uint32_t worker_index);
  ~WorkGroupRunner();
  WorkGroupRunner(const WorkGroupRunner&) = delete;
  WorkGroupRunner& operator=(const WorkGroupRunner&) = delete;

  /// Runs work-group `group` (x fastest) to its end, or until interrupt(thread, launch.identity()). A failure ends the
  /// work-group at once; the thread is fine after.
  [[nodiscard]] std::optional<Failure> run(const Launch& launch, std::uint64_t group);

  /// The outcome of a work-group: it ended, it failed, or it waits or its turn was over.
  using Outcome = std::variant<std::monostate, Failure, std::unique_ptr<SuspendedGroup>>;
  /// As run(), but does not stay with a work-group that waits for longer than a moment, or that runs for longer than
  /// its turn.
  [[nodiscard]] Outcome start(const Launch& launch, std::uint64_t group);
  /// The same for the work-groups from `begin` to before `end`, of a launch that runs in turn. Stops behind the first
  /// that has not ended, whose outcome it returns; `begin` is then the next one.
  [[nodiscard]] Outcome start(const Launch& launch, std::uint64_t& begin, std::uint64_t end);
  /// Goes on with a work-group that was set aside, until it waits again or its turn is over.
  [[nodiscard]] Outcome resume(std::unique_ptr<SuspendedGroup> group);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Limits that topology reports and `Launch::make` enforces.
inline constexpr std::uint32_t max_work_items_per_group = 1024;
inline constexpr std::uint32_t max_lds_bytes_per_group = 163840;  ///< of the GPU that has most
inline constexpr std::uint32_t wavefront_size = 64;               ///< the largest one
inline constexpr std::uint32_t smallest_wavefront_size = 32;
inline constexpr std::uint32_t max_waves_per_group = max_work_items_per_group / wavefront_size;

}  // namespace softgpu::compute
