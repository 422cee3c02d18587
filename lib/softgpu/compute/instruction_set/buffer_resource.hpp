// The descriptor of a buffer, in four scalar registers (the ISA manual's "Buffer Resource").
#pragma once

#include <cstdint>

namespace softgpu::compute::runtime {

/// The fields of a descriptor, as GFX9 lays them out.
struct BufferResource {
  BufferResource(std::uint64_t low, std::uint64_t high)
      : base(low & 0xffffffffffff), stride(static_cast<std::uint32_t>(low >> 48) & 0x3fff), swizzled((low >> 63) != 0),
        record_count(static_cast<std::uint32_t>(high)), format(static_cast<std::uint32_t>(high >> 32)),
        index_stride(8U << (format >> 21 & 3)), adds_lane((format >> 23 & 1) != 0) {}

  std::uint64_t base;
  std::uint32_t stride;
  bool swizzled;
  std::uint32_t record_count;
  std::uint32_t format;  ///< the fourth dword
  std::uint32_t index_stride;
  bool adds_lane;

  /// DST_SEL of a component, the number format and the data format.
  [[nodiscard]] std::uint32_t selected(unsigned component) const { return format >> (3 * component) & 7; }
  [[nodiscard]] std::uint32_t number_format() const { return format >> 12 & 7; }
  [[nodiscard]] std::uint32_t data_format() const { return format >> 15 & 15; }

  /// From the base, without the scalar offset.
  [[nodiscard]] std::uint64_t place(std::uint64_t index, std::uint64_t offset) const {
    if (!swizzled) return index * stride + offset;
    constexpr std::uint64_t element_bytes = 4;
    const std::uint64_t row = index / index_stride * stride + offset / element_bytes * element_bytes;
    return row * index_stride + index % index_stride * element_bytes + offset % element_bytes;
  }

  [[nodiscard]] bool contains(std::uint64_t index, std::uint64_t offset, std::uint32_t bytes,
                              std::uint32_t scalar_offset) const {
    if (stride != 0 && swizzled) return index < record_count && offset + bytes <= stride;
    if (stride != 0) return index < record_count;
    return place(index, offset) + bytes + scalar_offset <= record_count;
  }

  /// The same for descriptors of RDNA, which choose by OOB_SELECT what out of range is (RDNA2 ISA manual, "Range
  /// checking"). Not of swizzled buffers.
  [[nodiscard]] bool contains_as_it_chooses(std::uint64_t index, std::uint64_t offset, std::uint32_t bytes,
                                            std::uint32_t scalar_offset) const {
    enum : std::uint8_t { structured_with_offset, structured, no_check, raw };
    switch (format >> 28 & 3) {
    case structured_with_offset:
      return index < record_count && (stride == 0 || offset + bytes <= stride);
    case structured:
      return index < record_count;
    case no_check:
      return record_count != 0;
    default:
      return place(index, offset) + bytes + scalar_offset <= record_count;
    }
  }
};

}  // namespace softgpu::compute::runtime
