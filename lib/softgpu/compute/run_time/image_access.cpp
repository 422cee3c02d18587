#include "softgpu/compute/run_time/image_access.hpp"

#include <bit>
#include <optional>

#include "softgpu/compute/run_time/image_view.hpp"

namespace softgpu::compute::runtime {
namespace {

std::uint32_t address_of(const WaveState& state, unsigned number, unsigned lane) {
  return state.image_address[number][lane];
}

/// The place of a lane that addresses a texel. The slice of a one-dimensional array is the second address.
TexelPlace place_of(const WaveState& state, const ImageAccess& access, unsigned lane) {
  const unsigned first = access.first_coordinate();
  TexelPlace place{.x = address_of(state, first, lane)};
  if (access.dimension == ImageDimension::one_array)
    place.z = address_of(state, first + 1, lane);
  else if (access.coordinates() > 1)
    place.y = address_of(state, first + 1, lane);
  if (access.coordinates() > 2) place.z = address_of(state, first + 2, lane);
  return place;
}

std::uint32_t level_of(const WaveState& state, const ImageAccess& access, unsigned lane) {
  return access.has_last() ? address_of(state, access.last(), lane) : 0;
}

/// Calls `use(component, row of lane_data)` for the components of the mask.
template <class Use>
void for_each_component(const ImageAccess& access, Use&& use) {
  unsigned row = 0;
  for (unsigned c = 0; c < 4; ++c)
    if ((access.mask >> c & 1) != 0) use(c, row++);
}

}  // namespace

void image_load(WaveState* state, std::uint64_t lanes, std::uint64_t bits) {
  if (lanes == 0) return;  // nobody looks at the descriptor
  const auto unpacked = ImageAccess::unpacked(bits);
  const ImageView view(*state, unpacked.descriptors);
  const ImageAccess access = unpacked.within(view.dimension());
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const auto address = view.address(level_of(*state, access, lane), place_of(*state, access, lane));
    ElementWords words = {};
    if (address) words = ImageView::read(*state, *address, view.format()->bytes());
    for_each_component(access, [&](unsigned c, unsigned row) {
      const std::uint32_t loaded = view.component(words, c, access.width);
      state->lane_data[row][lane] = loaded;
    });
  }
}

void image_store(WaveState* state, std::uint64_t lanes, std::uint64_t bits) {
  if (lanes == 0) return;  // nobody looks at the descriptor
  const auto unpacked = ImageAccess::unpacked(bits);
  const ImageView view(*state, unpacked.descriptors);
  const ImageAccess access = unpacked.within(view.dimension());
  if (!view.format()) return;
  if (view.format()->is_srgb()) refuse_resource("a store to an image of an sRGB format");
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const auto address = view.address(level_of(*state, access, lane), place_of(*state, access, lane));
    if (!address) continue;
    std::uint32_t components[4] = {};  // those that the mask leaves out are 0
    for_each_component(access, [&](unsigned c, unsigned row) { components[c] = state->lane_data[row][lane]; });
    ElementWords words = {};
    for (unsigned c = 4; c-- > 0;)  // of two components for one place, the first is stored
      if (const std::uint32_t selected = view.resource().selected.at(c); selected >= select_x)
        view.format()->put(words, selected - select_x, components[c], access.width);
    ImageView::write(*state, *address, words, view.format()->bytes());
  }
}

std::uint64_t image_addresses(WaveState* state, std::uint64_t lanes, std::uint64_t bits, std::uint32_t bytes) {
  if (lanes == 0) return 0;  // nobody looks at the descriptor
  const auto unpacked = ImageAccess::unpacked(bits);
  const ImageView view(*state, unpacked.descriptors);
  const ImageAccess access = unpacked.within(view.dimension());
  if (view.format() && (view.format()->bytes() != bytes || !view.format()->is_of_dwords()))
    refuse_resource("an atomic access to an image of this format");
  std::uint64_t in_range = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const auto address = view.address(level_of(*state, access, lane), place_of(*state, access, lane));
    if (address) {
      state->lane_addresses[lane] = *address;
      in_range |= std::uint64_t{1} << lane;
    } else {
      state->lane_data[0][lane] = state->lane_data[1][lane] = 0;
    }
  }
  return in_range;
}

void image_size(WaveState* state, std::uint64_t lanes, std::uint64_t bits) {
  if (lanes == 0) return;  // nobody looks at the descriptor
  const auto unpacked = ImageAccess::unpacked(bits);
  const ImageView view(*state, unpacked.descriptors);
  const ImageAccess access = unpacked.within(view.dimension());
  // Which component has the slices of one-dimensional arrays, and what those hold that an image has not got, is not
  // known for sure.
  if (view.dimension() == ImageDimension::one_array) refuse_resource("the size of a one-dimensional array");
  constexpr unsigned levels = 8;
  const unsigned known = levels | (view.dimension() == ImageDimension::one   ? 1U
                                   : view.dimension() == ImageDimension::two ? 3U
                                                                             : 7U);
  if ((access.mask & ~known) != 0) refuse_resource("the size of an image in a dimension that it has not got");
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uint32_t level = address_of(*state, 0, lane);
    std::uint32_t size[4] = {0, 0, 0, view.levels()};
    if (level < view.levels()) {
      const ImageView::Size extent = view.size(level);
      size[0] = extent.width;
      size[1] = extent.height;
      size[2] = extent.depth;
    }
    for_each_component(access, [&](unsigned c, unsigned row) { state->lane_data[row][lane] = size[c]; });
  }
}

}  // namespace softgpu::compute::runtime
