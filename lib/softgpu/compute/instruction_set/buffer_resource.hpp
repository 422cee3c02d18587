// The descriptor of a buffer, in four scalar registers (the ISA manuals' "Buffer Resource").
#pragma once

#include <cstdint>

namespace softgpu::compute::runtime {

/// How architectures lay descriptors out. From RDNA on a descriptor chooses by OOB_SELECT what is out of range; from
/// RDNA3 on it has a number of two bits for SWIZZLE_ENABLE (Mesa's S_008F04_SWIZZLE_ENABLE_GFX11, and its uses).
enum class BufferDescriptors : std::uint8_t { gfx9, gfx10, gfx11 };

class BufferResource {
public:
  BufferResource(std::uint64_t low, std::uint64_t high, BufferDescriptors layout)
      : base(low & 0xffffffffffff), stride(static_cast<std::uint32_t>(low >> 48) & 0x3fff),
        record_count(static_cast<std::uint32_t>(high)), format(static_cast<std::uint32_t>(high >> 32)),
        index_stride(8U << (format >> 21 & 3)), adds_lane((format >> 23 & 1) != 0),
        chooses_range_(layout != BufferDescriptors::gfx9),
        swizzle_(layout == BufferDescriptors::gfx11 ? static_cast<std::uint32_t>(low >> 62)
                                                    : static_cast<std::uint32_t>(low >> 63)) {}

  std::uint64_t base;
  std::uint32_t stride;
  std::uint32_t record_count;
  std::uint32_t format;  ///< the fourth dword
  std::uint32_t index_stride;
  bool adds_lane;

  [[nodiscard]] bool is_swizzled() const { return swizzle_ != 0; }
  /// Whether the manuals tell how large the elements of a swizzled buffer are.
  [[nodiscard]] bool has_known_elements() const { return swizzle_ != 2; }

  /// DST_SEL of a component, the number format and the data format.
  [[nodiscard]] std::uint32_t selected(unsigned component) const { return format >> (3 * component) & 7; }
  [[nodiscard]] std::uint32_t number_format() const { return format >> 12 & 7; }
  [[nodiscard]] std::uint32_t data_format() const { return format >> 15 & 15; }

  /// From the base, without the scalar offset.
  [[nodiscard]] std::uint64_t place(std::uint64_t index, std::uint64_t offset) const {
    if (!is_swizzled()) return index * stride + offset;
    const std::uint64_t element_bytes = swizzle_ == 3 ? 16 : 4;
    const std::uint64_t row = index / index_stride * stride + offset / element_bytes * element_bytes;
    return row * index_stride + index % index_stride * element_bytes + offset % element_bytes;
  }

  /// `is_indexed`: the instruction has IDXEN. On GFX9 a linear buffer with a stride is structured where it has, or
  /// where the descriptor adds the lane's number; otherwise it is raw (CDNA4 ISA manual, "Range Checking").
  [[nodiscard]] bool contains(std::uint64_t index, std::uint64_t offset, std::uint32_t bytes,
                              std::uint32_t scalar_offset, bool is_indexed) const {
    const bool is_in_record = stride == 0 || offset + bytes <= stride;
    if (chooses_range_) {  // RDNA2 ISA manual, "Range checking"
      enum : std::uint8_t { structured_with_offset, structured, no_check };
      switch (format >> 28 & 3) {
      case structured_with_offset:
        return index < record_count && is_in_record;
      case structured:
        return index < record_count;
      case no_check:
        return record_count != 0;
      default:
        break;
      }
    }
    if (stride != 0 && is_swizzled()) return index < record_count && is_in_record;
    if (stride != 0 && !chooses_range_ && (is_indexed || adds_lane)) return index < record_count;
    return place(index, offset) + bytes + scalar_offset <= record_count;
  }

private:
  bool chooses_range_;
  std::uint32_t swizzle_;  ///< 0: not at all; 1: by elements of 4 bytes; 3: of 16
};

}  // namespace softgpu::compute::runtime
