// Loads and stores of buffers whose elements have a format: MTBUF, and MUBUF's instructions named "format".
//
// Called by translated code, as memory_runtime.hpp describes; lane_data holds a component a row, each of 32 bits or, in
// D16 instructions, of 16 in the low half.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/compute/instruction_set/image_resource.hpp"
#include "softgpu/compute/run_time/element_format.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {

/// The instruction's fields, in one number for translated code.
struct TypedAccess {
  unsigned components;  ///< 1 to 4
  ComponentWidth width;
  std::uint32_t data_format = 0;  ///< MTBUF's own; 0 where the descriptor has format and selection of components
  std::uint32_t number_format = 0;
  /// Later than GFX9: both together are one number of the architecture's, the data format its lower four bits.
  ImageDescriptors numbering = ImageDescriptors::gfx9;
  bool is_indexed = false;  ///< the instruction has IDXEN

  /// Nothing: there is no such format.
  [[nodiscard]] std::optional<ElementFormat> format(std::uint32_t data, std::uint32_t number) const {
    if (numbering == ImageDescriptors::gfx9) return ElementFormat::make(data, number);
    return ElementFormat::make_unified(data | number << 4, numbering);
  }

  [[nodiscard]] std::uint32_t packed() const {
    return components | static_cast<std::uint32_t>(width) << 3 | data_format << 4 | number_format << 8 |
           static_cast<std::uint32_t>(numbering) << 11 | (is_indexed ? 1U : 0U) << 13;
  }
  [[nodiscard]] static TypedAccess unpacked(std::uint32_t bits) {
    return {bits & 7,      static_cast<ComponentWidth>(bits >> 3 & 1),    bits >> 4 & 15,
            bits >> 8 & 7, static_cast<ImageDescriptors>(bits >> 11 & 3), (bits >> 13 & 1) != 0};
  }
};

/// An element is within the buffer's range as a whole, or out of it: then, and where the descriptor has no format, it
/// reads 0 and is not written.
void typed_buffer_load(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                       std::uint32_t scalar_offset, std::uint32_t access);
void typed_buffer_store(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                        std::uint32_t scalar_offset, std::uint32_t access);

}  // namespace softgpu::compute::runtime
