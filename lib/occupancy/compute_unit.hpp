// What the work-groups on a GPU's compute unit share: SIMDs, registers, LDS.
#pragma once

#include <cstdint>

namespace occupancy {

/// Where work-groups are placed: a compute unit, or a pair of RDNA's.
struct Place {
  std::uint32_t compute_units = 1;
  std::uint32_t simds = 0;
  std::uint32_t lds_bytes = 0;
  std::uint32_t barriers = 0;  ///< each work-group of several wavefronts takes one
};

struct ComputeUnit {
  std::uint32_t simds;
  bool works_in_pairs;  ///< RDNA: kernels may ask that their work-groups spread over two compute units
  std::uint32_t barriers;
  std::uint32_t most_waves_per_simd;
  std::uint32_t vector_registers_per_simd;  ///< of wavefronts of 64 lanes; twice as many of those of 32
  std::uint32_t vgpr_allocation_granule;    ///< likewise
  std::uint32_t vgpr_granule;               ///< of kernel descriptors, for wavefronts of 64 lanes; 8 for those of 32
  std::uint32_t scalar_registers_per_simd;  ///< 0: each wavefront has all that instructions can name
  std::uint32_t lds_bytes;
  std::uint32_t lds_granule;

  [[nodiscard]] constexpr Place alone() const {
    return {.compute_units = 1, .simds = simds, .lds_bytes = lds_bytes, .barriers = barriers};
  }
  [[nodiscard]] constexpr Place in_a_pair() const {
    return {.compute_units = 2, .simds = 2 * simds, .lds_bytes = 2 * lds_bytes, .barriers = 2 * barriers};
  }
  /// Where a kernel's work-groups are placed, by COMPUTE_PGM_RSRC1 of its descriptor: its bit WGP_MODE.
  [[nodiscard]] constexpr Place place_of(std::uint32_t rsrc1) const {
    return works_in_pairs && (rsrc1 >> 29U & 1U) != 0 ? in_a_pair() : alone();
  }
  /// The vector registers of a kernel with wavefronts of `lanes` lanes, by COMPUTE_PGM_RSRC1 of its descriptor. AGPRs
  /// count, too, where they share the registers with the VGPRs.
  [[nodiscard]] constexpr std::uint32_t vector_registers_in(std::uint32_t rsrc1, std::uint32_t lanes) const {
    return ((rsrc1 & 0x3fU) + 1) * (lanes == 32 ? 8 : vgpr_granule);
  }
};

}  // namespace occupancy
