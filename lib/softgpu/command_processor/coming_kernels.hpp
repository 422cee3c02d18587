// The kernels behind one that is being translated: other workers translate them meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <hsa/hsa.h>

namespace softgpu::command_processor {

/// Thread-safe.
class ComingKernels {
public:
  /// Replaces what is known by the kernels of these packets, up to one that is not written yet, and not very many.
  void note(const std::byte* ring, std::uint64_t slot_mask, std::uint64_t begin, std::uint64_t end);

  /// A packet of the next one to be translated, which is not told again.
  [[nodiscard]] std::optional<hsa_kernel_dispatch_packet_t> take();

private:
  std::mutex mutex_;
  std::vector<hsa_kernel_dispatch_packet_t> packets_;  // one a kernel; the next one is last
};

}  // namespace softgpu::command_processor
