// The HSA runtime: opened at run time, on an AMD GPU or on the soft GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"

namespace fastdispatch {

namespace detail {
struct RuntimeState;
}

/// Which device the runtime is opened on.
enum class Device {
  automatic,  ///< an AMD GPU where there is /dev/kfd, the soft GPU elsewhere; FASTDISPATCH_DEVICE overrides
  amd,
  softgpu,
};

struct RuntimeOptions {
  Device device = Device::automatic;
};

/// Owns a share of the process's HSA runtime. Copies, and further Runtimes, share one state. So do the objects that are
/// made with its agents and hold something of HSA's: queues, signals, buffers, modules and their kernels, Streams. The
/// last of all these closes the runtime and shuts HSA down; it must not be destroyed in a callback. HSA of ROCm 6.3 and
/// later stays open until the process ends: it does not start twice. An agent is a view: it keeps nothing open.
///
/// Environment: FASTDISPATCH_DEVICE=auto|amd|softgpu, FASTDISPATCH_SOFTGPU (path of the soft GPU's libhsakmt.so.1),
/// ROCM_PATH (ROCm's folder, whose HSA runtime comes first, then /opt/rocm's, then the dynamic linker's),
/// FASTDISPATCH_LOG=off|error|warning|info|debug|packets, FASTDISPATCH_TRACE (file of a trace, see docs/tracing.md).
///
/// A child after fork has no GPU if its parent had a Runtime then: the GPU stays with the parent. In the child,
/// whatever was made with the Runtime throws Error where it is used, and may be destroyed. A new Runtime throws, too; a
/// program that the child starts (exec) has a GPU of its own.
///
/// Thread safety: every member may be called from any thread.
class FASTDISPATCH_EXPORT Runtime {
public:
  /// Opens libhsa-runtime64.so.1 and initializes it.
  /// Throws Error when there is no such library or device, when there is an AMD GPU that this process may not use, when
  /// the process runs HSA on another device already, or when the file of FASTDISPATCH_TRACE cannot be written.
  explicit Runtime(RuntimeOptions options = {});

  /// The GPUs that can run kernels, in HSA's order.
  [[nodiscard]] std::span<const Agent> gpus() const& noexcept;
  /// Throws Error when there are fewer than `index` + 1 GPUs.
  [[nodiscard]] Agent gpu(std::size_t index = 0) const&;
  /// The agent of the host's processors.
  [[nodiscard]] Agent host() const& noexcept;

  // `Runtime().gpu()` would be an agent of a runtime that is gone.
  std::span<const Agent> gpus() const&& = delete;
  Agent gpu(std::size_t index = 0) const&& = delete;
  Agent host() const&& = delete;

  /// The file that the HSA runtime was loaded from.
  [[nodiscard]] std::string_view library_path() const noexcept;
  /// The version of HSA that the runtime implements, such as "1.1".
  [[nodiscard]] std::string_view version() const noexcept;
  [[nodiscard]] bool on_softgpu() const noexcept;
  /// The file of the thunk, the driver's interface below the HSA runtime: the soft GPU's or AMD's libhsakmt.so.1; empty
  /// where the HSA runtime has it built in.
  [[nodiscard]] std::string_view thunk_path() const noexcept;
  /// Why this device was opened, for people: "FASTDISPATCH_DEVICE is softgpu", "/dev/kfd cannot be opened".
  [[nodiscard]] std::string_view device_reason() const noexcept;

private:
  std::shared_ptr<detail::RuntimeState> state_;
};

}  // namespace fastdispatch
