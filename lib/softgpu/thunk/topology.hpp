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

  /// The number by which the driver knows a GPU; 0 for the host.
  [[nodiscard]] static std::uint32_t gpu_id(std::uint32_t node) noexcept { return node == 0 ? 0 : 0x90a0 + node; }
  /// The number of the GPU's render node, /dev/dri/renderD<number>.
  [[nodiscard]] static std::uint32_t render_minor(std::uint32_t node) noexcept { return 127 + node; }
  /// As libdrm names the GPU's family.
  [[nodiscard]] std::uint32_t family_id(std::uint32_t node) const {
    return environment_.architecture_of(node - 1).family_id;
  }

  /// GB_ADDR_CONFIG: how the GPU tiles images.
  [[nodiscard]] std::uint32_t gb_addr_config(std::uint32_t node) const {
    return environment_.architecture_of(node - 1).gb_addr_config;
  }

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

/// What the GPUs are sold as.
inline constexpr const char* marketing_name = "fastdispatch soft GPU";

/// Of global wave sync, which a queue gets all of.
inline constexpr std::uint32_t global_sync_resources = compute::GlobalWaveSync::resource_count;

}  // namespace softgpu::thunk
