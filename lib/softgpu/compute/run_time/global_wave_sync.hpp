// Global wave sync (GWS): barriers and semaphores of wavefronts of all work-groups.
//
// Thread safety: every member may be called from any thread.
// Memory ordering: a wavefront arrives at a barrier, or raises a semaphore; other wavefronts then go on. Everything
// that the first did before happens before everything that the others do afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace softgpu::compute {

/// The instructions ds_gws_*.
enum class GlobalSync : std::uint32_t { init, barrier, raise, raise_by, lower, release_all };

/// The resources that a queue has. A resource counts: at a barrier the wavefronts that are still to come after the
/// next, as a semaphore those that may go on.
class GlobalWaveSync {
public:
  static constexpr std::uint32_t resource_count = 64;

  /// What a wavefront waits for. Those that do not wait are done.
  struct Wait {
    enum class Kind : std::uint8_t { done, barrier, semaphore };
    Kind kind = Kind::done;
    std::uint32_t resource = 0;
    std::uint64_t release = 0;  ///< the resource's when the wavefront began to wait
  };

  /// Carries out an instruction. `value` is what a barrier counts from when it opens. `lower`, `raise` and
  /// `release_all` do not read `value`.
  [[nodiscard]] Wait carry_out(GlobalSync instruction, std::uint32_t resource, std::uint32_t value);

  /// True when the wait is over; the one for a semaphore has then lowered it. Called until then.
  [[nodiscard]] bool is_over(const Wait& wait);

private:
  struct Resource {
    std::uint64_t count = 0;
    std::uint64_t releases = 0;
  };

  std::mutex mutex_;
  std::array<Resource, resource_count> resources_;
};

}  // namespace softgpu::compute
