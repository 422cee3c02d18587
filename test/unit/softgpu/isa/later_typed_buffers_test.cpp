// Typed buffers of RDNA, where one number is data format and number format, and the descriptor chooses what out of
// range is.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "image_model.hpp"
#include "tested_target.hpp"

namespace softgpu::isa::image {
namespace {

constexpr unsigned element_vgpr = 8;
constexpr u32 records = 40;
constexpr u32 stride = 16;

/// OOB_SELECT: 0 and 1 compare the record's number, 2 compares nothing, 3 compares bytes.
Case typed_case(const NumberedFormat& numbered, u32 range_check, bool is_in_instruction, bool is_load,
                bool is_half = false) {
  const ElementFormat& format = numbered.format;
  const auto is_inside = [=](u32 record) {
    if (range_check == 3) return record * stride + format.bytes() <= records;
    return range_check == 2 || record < records;
  };
  const std::string text = std::string(is_in_instruction ? "tbuffer" : "buffer") + (is_load ? "_load" : "_store") +
                           "_format_" + (is_half ? "d16_xyzw v[8:9]" : "xyzw v[8:11]") + ", v0, s[4:7], 0" +
                           (is_in_instruction ? " format:" + std::to_string(numbered.number) : "") + " idxen";
  const auto prepare = [=](MachineState& state, Random& random) {
    state.set_scalar_value(4, 8, image_base(state) | u64{stride} << 48);
    state.scalar[6] = records;
    constexpr u32 in_order_bits = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    state.scalar[7] = in_order_bits | (is_in_instruction ? 0 : numbered.number << 12) | range_check << 28;
    if (tested_target().architecture->major == 10) state.scalar[7] |= 1U << 24;  // RESOURCE_LEVEL
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      state.vector[0].at(lane) = (lane * 5 + static_cast<u32>(random() % 2)) % 64;
      for (unsigned n = 0; n < 4; ++n)
        state.vector.at(element_vgpr + n).at(lane) =
            static_cast<u32>(interesting_value(is_half ? Type::packed_float16 : Type::float32, random));
    }
  };
  const auto reference = [=](MachineState& state) {
    for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
      if (!state.active(lane)) continue;
      const u32 record = state.vector[0].at(lane);
      std::uint8_t* memory =
          is_inside(record) ? state.at(image_base(state) + u64{record} * stride, format.bytes()) : nullptr;
      if (!is_load && memory != nullptr) std::fill_n(memory, format.bytes(), std::uint8_t{0});
      for (unsigned c = 0; c < 4; ++c) {
        u32& data = state.vector.at(element_vgpr + (is_half ? c / 2 : c)).at(lane);
        const unsigned first_bit = is_half ? c % 2 * 16 : 0;
        const u32 bits = is_half ? 0xffff : ~0U;
        if (is_load) {
          const u32 loaded = memory != nullptr ? format.load(memory, c, is_half) : 0;
          data = (data & ~(bits << first_bit)) | loaded << first_bit;
        } else if (memory != nullptr) {
          format.store(memory, c, data >> first_bit & bits, is_half);
        }
      }
    }
  };
  return {.assembly = text, .prepare = prepare, .reference = reference};
}

TEST(LaterTypedBuffers, FormatsHaveOneNumber) {
  if (!has_images()) return;
  std::vector<Case> cases;
  for (const NumberedFormat& format : image_formats())
    for (const bool is_in_instruction : {false, true})
      for (const bool is_load : {false, true})
        for (const bool is_half : {false, true})
          cases.push_back(typed_case(format, 0, is_in_instruction, is_load, is_half));
  for (const u32 range_check : {1U, 2U, 3U})
    cases.push_back(typed_case(image_format("16_16 SINT"), range_check, false, true));
  expect_match(cases, {.states = 1, .gfx90a_lacks_them = true});
}

}  // namespace
}  // namespace softgpu::isa::image
