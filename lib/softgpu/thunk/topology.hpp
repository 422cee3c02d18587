// The machine as ROCr sees it: node 0 is the host, nodes 1 to N are GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <hsakmt.h>

#include "softgpu/compute/run_time/global_wave_sync.hpp"
#include "softgpu/thunk/environment.hpp"

namespace softgpu::thunk {

class Topology {
public:
  explicit Topology(const Environment& environment);

  [[nodiscard]] std::uint32_t node_count() const noexcept { return environment_.gpus + 1; }
  [[nodiscard]] bool is_node(std::uint32_t node) const noexcept { return node < node_count(); }
  [[nodiscard]] bool is_gpu(std::uint32_t node) const noexcept { return node != 0 && is_node(node); }

  [[nodiscard]] HsaNodeProperties node(std::uint32_t node) const;
  void memory_banks(std::uint32_t node, std::span<HsaMemoryProperties> banks) const;
  void caches(std::uint32_t node, std::uint32_t processor, std::span<HsaCacheProperties> caches) const;
  void links(std::uint32_t node, std::span<HsaIoLinkProperties> links) const;

private:
  [[nodiscard]] HsaNodeProperties host() const;
  [[nodiscard]] HsaNodeProperties gpu(std::uint32_t node) const;

  Environment environment_;
  std::string host_name_;
};

/// Flat addresses with these high halves are LDS and scratch, as the Linux driver places them on gfx9.
inline constexpr std::uint64_t shared_aperture = 0x1000000000000;
inline constexpr std::uint64_t private_aperture = 0x2000000000000;

/// Of global wave sync, which a queue gets all of.
inline constexpr std::uint32_t global_sync_resources = compute::GlobalWaveSync::resource_count;

}  // namespace softgpu::thunk
