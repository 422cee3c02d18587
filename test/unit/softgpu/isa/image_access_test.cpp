// Image instructions without a sampler: loads, stores and atomic accesses of texels, sizes; what is refused.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "image_model.hpp"
#include "tested_target.hpp"

namespace softgpu::isa::image {
namespace {

constexpr unsigned texel_vgpr = 8;

/// The place that a lane's addresses tell, one in each of v0, v1 and v2.
std::array<i64, 3> place_of(const MachineState& state, const Image& image, unsigned lane) {
  std::array<i64, 3> place{};
  const auto at = [&](unsigned n) { return i64{state.vector.at(n).at(lane)}; };
  place[0] = at(0);
  if (image.kind == Kind::one_array)
    place[2] = at(1);
  else if (coordinate_count(image.kind) > 1)
    place[1] = at(1);
  if (coordinate_count(image.kind) > 2) place[2] = at(2);
  return place;
}

/// A different texel for each lane, of which some are out of range.
void aim(MachineState& state, const Image& image, Random& random) {
  const u32 rows = image.axes() > 1 ? image.height + 1 : 1;
  const auto first = static_cast<u32>(random() % 3);
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    const u32 number = lane * 3 + first;
    const u32 columns = image.width + 1;
    std::array<u32, 3> place = {number % columns, number / columns % rows, number / columns / rows};
    if (random() % 16 == 0) place.at(random() % 3) = 0xffffffff;
    const bool is_flat_array = image.kind == Kind::one_array;
    for (unsigned n = 0; n < 3; ++n) state.vector.at(n).at(lane) = place.at(n);
    if (is_flat_array) state.vector[1].at(lane) = place[2];
  }
}

u32 loaded(MachineState& state, const Image& image, i64 offset, unsigned component, bool is_half) {
  const u32 selected = image.selection.at(component);
  if (selected == 1) return image.format.one(is_half);
  if (selected < 4 || offset < 0) return 0;
  return image.format.load(texel(state, image, offset), selected - 4, is_half);
}

struct Form {
  u32 mask = 15;
  bool is_half = false;    ///< D16
  bool has_level = false;  ///< in the register behind the coordinates
  bool is_list = false;    ///< the addresses are in v0, v1, v2 as a list, in another order of the text
};

std::string access_text(const std::string& mnemonic, const Image& image, const Form& form, unsigned registers) {
  const unsigned addresses = coordinate_count(image.kind) + (form.has_level ? 1 : 0);
  std::string list = address_text(0, addresses);
  if (form.is_list && addresses > 1) {
    list = "[";
    for (unsigned n = 0; n < addresses; ++n) list.append(n == 0 ? "v" : ", v").append(std::to_string(n));
    list += "]";
  }
  return mnemonic + (form.has_level ? "_mip " : " ") + tuple(texel_vgpr, registers) + ", " + list +
         ", s[4:11] dmask:" + std::to_string(form.mask) + dimension_text(image.kind) + texel_addresses() +
         (form.is_half ? " d16" : "");
}

unsigned registers_of(const Form& form) {
  const auto components = static_cast<unsigned>(std::popcount(form.mask));
  return form.is_half ? (components + 1) / 2 : components;
}

void prepare_access(MachineState& state, const Image& image, const Form& form, Random& random) {
  put_descriptors(state, image);
  aim(state, image, random);
  if (!form.has_level) return;
  for (u32& level : state.vector.at(coordinate_count(image.kind))) level = static_cast<u32>(random() % 4);
}

u32 level_of(const MachineState& state, const Image& image, const Form& form, unsigned lane) {
  return form.has_level ? state.vector.at(coordinate_count(image.kind)).at(lane) : 0;
}

Case load_case(const Image& image, const Form& form = {}) {
  return {.assembly = access_text("image_load", image, form, registers_of(form)),
          .prepare = [=](MachineState& state, Random& random) { prepare_access(state, image, form, random); },
          .reference =
              [=](MachineState& state) {
                const MachineState before = state;
                for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
                  if (!before.active(lane)) continue;
                  const i64 offset = image.offset(level_of(before, image, form, lane), place_of(before, image, lane));
                  unsigned row = 0;
                  for (unsigned c = 0; c < 4; ++c) {
                    if ((form.mask >> c & 1) == 0) continue;
                    const u32 value = loaded(state, image, offset, c, form.is_half);
                    u32& target = state.vector.at(texel_vgpr + (form.is_half ? row / 2 : row)).at(lane);
                    if (!form.is_half)
                      target = value;
                    else if (row % 2 == 0)
                      target = (target & 0xffff0000) | value;
                    else
                      target = (target & 0xffff) | value << 16;
                    ++row;
                  }
                }
              }};
}

Case store_case(const Image& image, const Form& form = {}) {
  return {.assembly = access_text("image_store", image, form, registers_of(form)),
          .prepare =
              [=](MachineState& state, Random& random) {
                prepare_access(state, image, form, random);
                for (unsigned n = 0; n < 4; ++n)
                  for (u32& value : state.vector.at(texel_vgpr + n))
                    value = static_cast<u32>(
                        interesting_value(form.is_half ? Type::packed_float16 : Type::float32, random));
              },
          .reference =
              [=](MachineState& state) {
                const MachineState before = state;
                for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
                  const i64 offset = image.offset(level_of(before, image, form, lane), place_of(before, image, lane));
                  if (!before.active(lane) || offset < 0) continue;
                  std::uint8_t* memory = texel(state, image, offset);
                  std::fill_n(memory, image.format.bytes(), std::uint8_t{0});
                  unsigned row = 0;
                  for (unsigned c = 0; c < 4; ++c) {
                    if ((form.mask >> c & 1) == 0) continue;
                    u32 value = before.vector.at(texel_vgpr + (form.is_half ? row / 2 : row)).at(lane);
                    if (form.is_half) value = value >> (row % 2 == 0 ? 0 : 16) & 0xffff;
                    if (image.selection.at(c) >= 4)
                      image.format.store(memory, image.selection.at(c) - 4, value, form.is_half);
                    ++row;
                  }
                }
              }};
}

/// Images of all kinds, tiled and linear.
std::vector<Image> images(const std::string& format) {
  std::vector<Image> all;
  for (const bool is_linear : {false, true}) {
    all.push_back(image_of(Kind::one, 37, 1, 1, format));
    all.push_back(image_of(Kind::two, 13, 5, 1, format));
    all.push_back(image_of(Kind::three, 6, 4, 3, format));
    all.push_back(image_of(Kind::one_array, 11, 1, 4, format));
    all.push_back(image_of(Kind::two_array, 7, 3, 4, format));
    all.back().first_slice = 1;
    for (std::size_t n = all.size() - 5; n < all.size(); ++n) all.at(n).is_linear = is_linear;
  }
  all.push_back(image_of(Kind::two, 13, 5, 1, format));
  all.back().is_linear = true;
  all.back().pitch = 128;
  return all;
}

Image with_levels() {
  Image image = image_of(Kind::two_array, 9, 6, 2, "32 UINT");
  image.levels = 3;
  image.base_level = 1;
  return image;
}

std::vector<Case> of_all(const std::function<Case(const Image&, const Form&)>& make) {
  std::vector<Case> cases;
  for (const Image& image : images("32 FLOAT"))
    for (const bool is_list : {false, true}) cases.push_back(make(image, {.mask = 1, .is_list = is_list}));
  for (const Image& image : images("8_8_8_8 UNORM")) cases.push_back(make(image, {}));
  for (const NumberedFormat& format : image_formats()) {
    if (format.format.bytes() == 12) continue;  // of buffers only
    const std::string name = format.format.data_name + " " + format.format.number_name;
    cases.push_back(make(image_of(Kind::two, 13, 5, 1, name), {}));
    cases.push_back(make(image_of(Kind::two, 13, 5, 1, name), {.is_half = true}));
  }
  Image selected = image_of(Kind::two, 13, 5, 1, "16_16_16_16 SINT");
  selected.selection = {6, 1, 4, 0};
  for (const u32 mask : {1U, 2U, 5U, 7U, 14U, 15U}) {
    cases.push_back(make(selected, {.mask = mask}));
    cases.push_back(make(selected, {.mask = mask, .is_half = true}));
  }
  cases.push_back(make(with_levels(), {.mask = 1, .has_level = true}));
  return cases;
}

TEST(LaterImageLoads, TakeTexelsApart) {
  if (has_images()) expect_image_match(of_all(load_case));
}
TEST(LaterImageStores, PutTexelsTogether) {
  if (has_images()) expect_image_match(of_all(store_case));
}

TEST(LaterImageLoads, TakeAddressesOf16Bits) {
  if (!has_images()) return;
  Image image = image_of(Kind::three, 6, 4, 3, "32 UINT");
  Case made = load_case(image, {.mask = 1});
  made.assembly = "image_load v8, " + address_text(4, 2) + ", s[4:11] dmask:1" + dimension_text(Kind::three) +
                  texel_addresses() + " a16";
  made.prepare = [prepare = made.prepare](MachineState& state, Random& random) {
    prepare(state, random);
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      for (unsigned n = 0; n < 3; ++n) state.vector.at(n).at(lane) &= 0xffff;
      state.vector[4].at(lane) = state.vector[0].at(lane) | state.vector[1].at(lane) << 16;
      state.vector[5].at(lane) = state.vector[2].at(lane) | 0xabcd0000;
    }
  };
  expect_image_match({made});
}

TEST(LaterImageSizes, AreThoseOfTheLevel) {
  if (!has_images()) return;
  Image image = image_of(Kind::three, 13, 6, 5, "32 UINT");
  image.levels = 3;
  expect_image_match(
      {{.assembly = "image_get_resinfo v[8:11], v0, s[4:11] dmask:15" + dimension_text(Kind::three) + texel_addresses(),
        .prepare =
            [=](MachineState& state, Random& random) {
              put_descriptors(state, image);
              for (u32& level : state.vector[0]) level = static_cast<u32>(random() % 4);
            },
        .reference =
            [=](MachineState& state) {
              for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
                if (!state.active(lane)) continue;
                const u32 level = state.vector[0].at(lane);
                for (unsigned axis = 0; axis < 3; ++axis)
                  state.vector.at(texel_vgpr + axis).at(lane) = level < 3 ? image.size(axis, level) : 0;
                state.vector[texel_vgpr + 3].at(lane) = 3;
              }
            }}});
}

TEST(LaterImageAtomics, ReadAndWriteTexels) {
  if (!has_images()) return;
  const auto made = [](const std::string& name, const std::string& format, const std::function<u64(u64, u64, u64)>& f) {
    const Image image = image_of(Kind::two, 13, 5, 1, format);
    const unsigned dwords = image.format.bytes() / 4 * (name == "cmpswap" ? 2 : 1);
    return Case{.assembly = "image_atomic_" + name + " " + tuple(texel_vgpr, dwords) + ", " + address_text(0, 2) +
                            ", s[4:11] dmask:" + std::to_string((1U << dwords) - 1) + dimension_text(Kind::two) +
                            texel_addresses() + " glc",
                .prepare =
                    [=](MachineState& state, Random& random) {
                      put_descriptors(state, image);
                      aim(state, image, random);
                    },
                .reference =
                    [=](MachineState& state) {
                      const unsigned bytes = image.format.bytes();
                      for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
                        if (!state.active(lane)) continue;
                        const i64 offset = image.offset(0, place_of(state, image, lane));
                        u64 memory = 0;
                        if (offset >= 0) {
                          std::uint8_t* at = texel(state, image, offset);
                          std::memcpy(&memory, at, bytes);
                          const u64 after = f(memory, state.vector_value(texel_vgpr, lane, bytes),
                                              state.vector_value(texel_vgpr + bytes / 4, lane, bytes));
                          std::memcpy(at, &after, bytes);
                        }
                        state.set_vector_value(texel_vgpr, lane, bytes, memory);
                      }
                    }};
  };
  expect_image_match(
      {made("add", "32 UINT", [](u64 memory, u64 data, u64) { return memory + data; }),
       made("add", "32_32 UINT", [](u64 memory, u64 data, u64) { return memory + data; }),
       made("smax", "32 SINT",
            [](u64 memory, u64 data, u64) {
              return u64{static_cast<u32>(std::max(static_cast<i32>(memory), static_cast<i32>(data)))};
            }),
       made("cmpswap", "32 UINT", [](u64 memory, u64 data, u64 with) { return memory == with ? data : memory; })},
      {.states = 1});
}

// --- What is refused

TEST(LaterImageRefusals, NameTheInstruction) {
  if (!has_images()) GTEST_SKIP() << "it has no images";
  const auto load = [](unsigned registers, unsigned addresses, Kind kind) {
    return "image_load " + tuple(8, registers) + ", " + address_text(0, addresses) + ", s[4:11] dmask:15" +
           dimension_text(kind) + texel_addresses();
  };
  const auto sample = [](const std::string& mnemonic, unsigned addresses) {
    return mnemonic + " v[8:9], " + address_text(0, addresses) + ", s[4:11], s[12:15] dmask:3" +
           dimension_text(Kind::two);
  };
  const std::string with_warning = tests_rdna4() ? sample("image_sample_lz", 2) : load(4, 2, Kind::two);
  std::vector<std::string> refused = {with_warning + " lwe"};
  if (tests_rdna())
    refused.insert(refused.end(),
                   {load(5, 2, Kind::two) + " tfe", load(4, 3, Kind::cube), load(4, 3, Kind::two_samples),
                    sample("image_get_lod", 2), sample("image_sample_c_lz", 3)});
  for (const std::string& assembly : refused) {
    const auto failure = refusal(assembly);
    if (!failure) FAIL() << assembly << " ran";
    EXPECT_EQ(failure->kind, compute::Failure::Kind::illegal_instruction) << failure->text;
    EXPECT_NE(failure->text.find("image_"), std::string::npos) << failure->text;
  }
}

/// A load by one lane, after the descriptor has been put into its registers.
std::string load_with(const Image& image, u64 base) {
  std::string text;
  const auto words = image.descriptor(base);
  for (unsigned n = 0; n < words.size(); ++n)
    text += "s_mov_b32 s" + std::to_string(4 + n) + ", " + std::to_string(words.at(n)) + "\n";
  return text + "s_mov_b32 exec_lo, 1\nv_mov_b32 v0, 0\nv_mov_b32 v1, 0\nimage_load v8, " + address_text(0, 2) +
         ", s[4:11] dmask:1" + dimension_text(Kind::two) + texel_addresses() + "\n";
}

TEST(LaterImageRefusals, NameWhatOnlyTheDescriptorTells) {
  if (!has_images()) GTEST_SKIP() << "it has no images";
  Image image = image_of(Kind::two_samples, 4, 4, 1, "32 UINT");
  const auto samples = refusal(load_with(image, 0));
  image.kind = Kind::cube;
  const auto cube = refusal(load_with(image, 0));
  image.kind = Kind::two;
  image.format_number = 175;  // BC4 of RDNA2; RDNA3 has no such number
  const auto format = refusal(load_with(image, 0));
  if (!samples || !cube || !format) FAIL() << "it ran";
  EXPECT_EQ(samples->kind, compute::Failure::Kind::illegal_instruction) << samples->text;
  EXPECT_NE(samples->text.find("several samples"), std::string::npos) << samples->text;
  EXPECT_NE(cube->text.find("cube map"), std::string::npos) << cube->text;
  EXPECT_NE(format->text.find("format"), std::string::npos) << format->text;
}

TEST(LaterImageFaults, AreTheKernels) {
  if (!has_images()) GTEST_SKIP() << "it has no images";
  constexpr u64 nowhere = 0xdead0000;
  const auto failure = refusal(load_with(image_of(Kind::two, 4, 4, 1, "32 UINT"), nowhere));
  if (!failure) FAIL() << "it ran";
  EXPECT_EQ(failure->kind, compute::Failure::Kind::memory_fault) << failure->text;
  EXPECT_EQ(failure->address, nowhere);
}

}  // namespace
}  // namespace softgpu::isa::image
