// Every environment variable that the soft GPU reads, in one place.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "softgpu/compute/execution/engine.hpp"

namespace softgpu::thunk {

enum class LogLevel {
  off,      ///< nothing
  error,    ///< the reason why a packet was refused or a queue stopped
  packets,  ///< also every packet that a queue launches, and every translation
};

/// The soft GPU as the user wants it.
///
// clang-format off
/// | variable             | meaning                                                      | default                      |
/// |----------------------|--------------------------------------------------------------|------------------------------|
/// | SOFTGPU_GPUS         | how many GPUs the host has, 1 to 16              | as many as SOFTGPU_ARCH names |
/// | SOFTGPU_ARCH         | the GPUs' architecture, or one for each, see docs/soft_gpu.md | gfx90a |
/// | SOFTGPU_COMPUTE_UNITS| compute units that each GPU reports, 1 to 512                | 104                          |
/// | SOFTGPU_MEMORY       | device memory of each GPU: bytes, or with K, M, G or T       | half of the host's memory    |
/// | SOFTGPU_HOST_MEMORY  | host memory that can be allocated: bytes, or with K, M, G or T | what is free at the start |
/// | SOFTGPU_LARGE_BAR    | 1: the host sees all device memory; 0: none of it             | 1                            |
/// | SOFTGPU_XNACK        | 1: kernels may access all memory of the program; 0: what the GPU was given | 0              |
/// | SOFTGPU_STRICT       | 1: as the least generous hardware, see docs/soft_gpu.md       | 0                            |
/// | SOFTGPU_THREADS      | worker threads that execute work-groups, 1 to 256            | hardware threads, at least 4 |
/// | SOFTGPU_SHUFFLE      | a seed: reorders packets and work-groups that may overlap    | unset: in order              |
/// | SOFTGPU_TIMEOUT      | seconds that a kernel may run before its queue stops, 1 to 86400 | unset: no limit              |
/// | SOFTGPU_CACHE        | a folder for translated kernels, an absolute path; or off    | softgpu in the user's cache folder |
/// | SOFTGPU_CPU          | what translated kernels may use: host, avx2 or avx512        | host                         |
/// | SOFTGPU_OPTIMIZE     | 2: kernels that have run for a while are optimized; 1: all    | 2                           |
/// |                      | are, before they run; 0: none is                              |                             |
/// | SOFTGPU_LOG          | off, error, packets: what is written to standard error       | error                        |
/// | SOFTGPU_TRACE        | a file for a trace of what the queues carry out              | unset: none                  |
/// | SOFTGPU_PROFILE      | table, or a file for a profile, .json or .html               | unset: none                  |
// clang-format on
struct Environment {
  std::uint32_t gpus = 1;
  std::vector<const compute::Architecture*> architectures{&compute::Architecture::gfx90a()};  ///< of all, or of each
  std::uint32_t compute_units = 104;
  std::uint64_t memory_bytes = 0;
  std::uint64_t host_memory_bytes = 0;
  std::uint32_t large_bar = 1;
  std::uint32_t xnack = 0;
  std::uint32_t strict = 0;
  std::uint32_t threads = 0;
  std::optional<std::uint64_t> shuffle_seed;
  std::optional<std::chrono::seconds> timeout;
  LogLevel log = LogLevel::error;
  std::string trace;         ///< empty: none
  std::string profile;       ///< empty: none; "table", or a file besides the table
  std::string cache_folder;  ///< empty: none
  compute::HostCpu cpu = compute::HostCpu::host;
  std::uint32_t optimize = 2;

  /// `gpu` counts from 0.
  [[nodiscard]] const compute::Architecture& architecture_of(std::uint32_t gpu) const {
    return *architectures[architectures.size() == 1 ? 0 : gpu];
  }

  /// Looks a variable up; null where it is not set. Tests replace it.
  using Lookup = std::function<const char*(const char* name)>;

  /// The environment, or one line that says which variable is wrong and what it may be.
  [[nodiscard]] static std::variant<Environment, std::string> read(const Lookup& lookup);
  [[nodiscard]] static std::variant<Environment, std::string> read();
};

}  // namespace softgpu::thunk
