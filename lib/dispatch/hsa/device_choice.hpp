// Which device a process runs on, which HSA runtime it opens for it, and what to tell a user where there is no GPU.
#pragma once

#include <string>
#include <vector>

#include "dispatch/hsa/machine.hpp"
#include "fastdispatch/runtime.hpp"

namespace fastdispatch::detail {

/// What `requested` and the environment variable FASTDISPATCH_DEVICE choose: `amd` or `softgpu`. The soft GPU is chosen
/// by itself only where there is no /dev/kfd. Throws Error for a bad value, and, with the remedy, where an AMD GPU is
/// there but this process may not use it, or is asked for and not there.
[[nodiscard]] Device choose_device(Device requested, const Machine& machine);

/// Why choose_device chooses what it does, for people: "FASTDISPATCH_DEVICE is softgpu".
[[nodiscard]] std::string reason_for_device(Device requested, const Machine& machine);

/// An HSA runtime that may be opened, and why it is looked at.
struct RuntimeCandidate {
  std::string library;  ///< a path, or a name for the dynamic linker
  std::string why;
};

/// In the order in which they are tried: ROCM_PATH's, /opt/rocm's, the dynamic linker's.
[[nodiscard]] std::vector<RuntimeCandidate> runtime_candidates(const Machine& machine);

/// The message for an HSA runtime that started and shows no GPU: what hides it, or what to look at.
[[nodiscard]] std::string no_gpu_message(const Machine& machine);

}  // namespace fastdispatch::detail
