// Sample and gather instructions: which texels, and with which weights.
//
// Coordinates have 8 bits of fraction within a texel, to which they are rounded, and so have the levels of an image:
// what drivers report of these GPUs (RADV, subTexelPrecisionBits and mipmapPrecisionBits), and what AMD's own tests of
// textures expect. Coordinates out of range become texels by whole numbers, as those tests have it.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "softgpu/compute/run_time/image_access.hpp"
#include "softgpu/compute/run_time/image_view.hpp"
#include "softgpu/compute/run_time/small_float.hpp"

namespace softgpu::compute::runtime {
namespace {

using Clamp = ImageSampler::Clamp;
using Filter = ImageSampler::Filter;

constexpr int place_bits = 8;
constexpr int texel = 1 << place_bits;

/// One axis of a filter's footprint: two texels, or twice the same.
struct Footprint {
  std::array<std::optional<std::uint32_t>, 2> index;  ///< nothing: the border
  float weight = 0;                                   ///< of the second one
};

/// A number of 24 bits of fraction and more would not come from a texel's coordinate: the greatest image has 2^14.
std::int64_t in_fractions(float texels, double rounding = 0.5) {
  if (std::isnan(texels)) return 0;
  constexpr float far = 1 << 28;
  return static_cast<std::int64_t>(std::floor(double{std::clamp(texels, -far, far)} * texel + rounding));
}

std::int64_t modulo(std::int64_t number, std::int64_t divisor) { return (number % divisor + divisor) % divisor; }

std::optional<std::uint32_t> clamped(std::int64_t index, std::uint32_t size, Clamp clamp, Filter filter) {
  const auto last = static_cast<std::int64_t>(size) - 1;
  switch (clamp) {
  case Clamp::wrap:
    return static_cast<std::uint32_t>(modulo(index, size));
  case Clamp::mirror: {
    const std::int64_t within = modulo(index, 2 * (last + 1));
    return static_cast<std::uint32_t>(within <= last ? within : 2 * last + 1 - within);
  }
  case Clamp::mirror_once_last_texel:
  case Clamp::mirror_once_half_border:
  case Clamp::mirror_once_border:
    if (index < 0) index = -1 - index;
    break;
  default:
    break;
  }
  const bool to_border = clamp == Clamp::border || clamp == Clamp::mirror_once_border;
  const bool to_half = clamp == Clamp::half_border || clamp == Clamp::mirror_once_half_border;
  if ((to_border || (to_half && filter == Filter::linear)) && (index < 0 || index > last)) return std::nullopt;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(index, 0, last));
}

/// `place` counts fractions of a texel from the first texel's edge.
Footprint footprint(std::int64_t place, std::uint32_t size, Clamp clamp, Filter filter) {
  if (filter == Filter::point) return {{clamped(place >> place_bits, size, clamp, filter), std::nullopt}, 0};
  const std::int64_t end = static_cast<std::int64_t>(size) * texel;
  if (clamp == Clamp::half_border) place = std::clamp<std::int64_t>(place, 0, end);
  if (clamp == Clamp::mirror_once_half_border) place = std::clamp(place, -end, end);
  place -= texel / 2;
  const std::int64_t first = place >> place_bits;
  return {{clamped(first, size, clamp, filter), clamped(first + 1, size, clamp, filter)},
          static_cast<float>(place & (texel - 1)) / texel};
}

/// The addresses of a lane, by their roles.
struct SampleAddress {
  std::array<float, 3> coordinate = {};
  std::array<std::int32_t, 3> offset = {};
  float slice = 0;
  float reference = 0;
};

class Sampling {
public:
  Sampling(WaveState& state, const ImageAccess& access)
      : state_(state), view_(state, access.descriptors), access_(access.within(view_.dimension())),
        sampler_(state.image_sampler, access.descriptors) {
    check();
  }

  void sample(unsigned lane) {
    const SampleAddress address = address_of(lane);
    const float level = level_of(lane);
    const Filter filter = plain(level > 0 ? sampler_.minifying : sampler_.magnifying);
    if (access_.has(ImageAccess::gathers)) return gather(lane, address, nearest(level));
    if (filter == Filter::point && (sampler_.levels != ImageSampler::LevelFilter::linear || !has_levels()) &&
        !access_.has(ImageAccess::reference) && depth_filter(filter) == Filter::point)
      return put_texel(lane, address, nearest(level));
    if (view_.format() && view_.format()->is_integer()) refuse_resource("a linear filter on integers");

    std::array<float, 4> sum = {};
    const float last = static_cast<float>(view_.levels() - 1);
    const float place = std::clamp(level, 0.0F, last);
    if (sampler_.levels == ImageSampler::LevelFilter::linear && has_levels()) {
      const auto fractions = static_cast<std::uint32_t>(in_fractions(place));
      const std::uint32_t first = fractions >> place_bits;
      const float weight = static_cast<float>(fractions & (texel - 1)) / texel;
      add_level(sum, address, first, filter, 1 - weight);
      if (weight != 0) add_level(sum, address, first + 1, filter, weight);
    } else {
      add_level(sum, address, nearest(level), filter, 1);
    }
    put(lane, sum);
  }

private:
  /// Refuses what the soft GPU has not got of samplers.
  void check() const {
    if (sampler_.has_degamma) refuse_resource("a sampler with a conversion of gamma of its own");
    if (sampler_.reduction != 0) refuse_resource("a sampler that takes the least or the greatest texel");
    if (is_there_another_axis()) refuse_resource("an image of other dimensions than the instruction's");
    if (sampler_.border == ImageSampler::Border::of_register)
      refuse_resource("a sampler with a border color from a table");
  }

  [[nodiscard]] bool is_there_another_axis() const {
    const unsigned axes = view_.dimension() == ImageDimension::three ? 3 : has_rows() ? 2 : 1;
    return axes != access_.axes();
  }

  /// Anisotropic filters are as the plain ones.
  static Filter plain(Filter filter) {
    if (filter == Filter::anisotropic_point) return Filter::point;
    return filter == Filter::anisotropic_linear ? Filter::linear : filter;
  }
  [[nodiscard]] Filter depth_filter(Filter of_xy) const {
    if (view_.dimension() != ImageDimension::three || sampler_.depth == ImageSampler::DepthFilter::as_xy) return of_xy;
    return sampler_.depth == ImageSampler::DepthFilter::linear ? Filter::linear : Filter::point;
  }
  [[nodiscard]] bool has_levels() const { return view_.levels() > 1; }
  [[nodiscard]] bool is_unnormalized() const { return sampler_.unnormalized || access_.has(ImageAccess::unnormalized); }

  [[nodiscard]] std::uint32_t bits(unsigned number, unsigned lane) const { return state_.image_address[number][lane]; }
  [[nodiscard]] float number(unsigned index, unsigned lane, bool is_half) const {
    const std::uint32_t value = bits(index, lane);
    return is_half ? static_cast<float>(widen(half_float, value & 0xffff)) : std::bit_cast<float>(value);
  }
  [[nodiscard]] float coordinate(unsigned index, unsigned lane) const {
    return number(access_.first_coordinate() + index, lane, access_.has(ImageAccess::half_addresses));
  }

  [[nodiscard]] SampleAddress address_of(unsigned lane) const {
    SampleAddress address;
    const unsigned axes = access_.axes();
    for (unsigned axis = 0; axis < axes; ++axis) address.coordinate.at(axis) = coordinate(axis, lane);
    if (access_.coordinates() > axes) address.slice = coordinate(axes, lane);
    unsigned next = 0;
    if (access_.has(ImageAccess::offset)) {
      const std::uint32_t packed = bits(next++, lane);
      for (unsigned axis = 0; axis < axes; ++axis)  // six bits each, with a sign
        address.offset.at(axis) = static_cast<std::int32_t>(packed << (26 - 8 * axis)) >> 26;
    }
    if (access_.has(ImageAccess::bias)) ++next;
    if (access_.has(ImageAccess::reference)) address.reference = number(next, lane, false);
    return address;
  }

  /// By how much the coordinates change in one direction, in texels of level 0.
  template <class Change>
  [[nodiscard]] float length_of(Change&& change) const {
    const ImageView::Size size = view_.size(0);
    const std::array<std::uint32_t, 3> extents = {size.width, size.height, size.depth};
    float sum = 0;
    for (unsigned axis = 0; axis < access_.axes(); ++axis) {
      const float texels = change(axis) * (is_unnormalized() ? 1.0F : static_cast<float>(extents.at(axis)));
      sum += texels * texels;
    }
    return std::sqrt(sum);
  }

  /// The level that the changes of the coordinates ask for, without any bias.
  [[nodiscard]] float asked_level(unsigned lane) const {
    if (access_.level == ImageAccess::Level::zero) return 0;
    if (access_.level == ImageAccess::Level::given)
      return number(access_.last(), lane, access_.has(ImageAccess::half_addresses));
    float length = 0;
    for (unsigned direction = 0; direction < 2; ++direction) {
      const auto gradient = [&](unsigned axis) {
        return number(access_.first_gradient() + direction * access_.axes() + axis, lane,
                      access_.has(ImageAccess::half_gradients));
      };
      const auto difference = [&](unsigned axis) {
        const unsigned first = lane & ~3U;
        return coordinate(axis, first + 1 + direction) - coordinate(axis, first);
      };
      length = std::max(length,
                        access_.level == ImageAccess::Level::gradients ? length_of(gradient) : length_of(difference));
    }
    return std::log2(length);  // of 0: less than any level
  }

  [[nodiscard]] float level_of(unsigned lane) const {
    float level = asked_level(lane) + sampler_.bias;
    if (access_.has(ImageAccess::bias))
      level += number(access_.has(ImageAccess::offset) ? 1 : 0, lane, access_.has(ImageAccess::half_addresses));
    if (std::isnan(level)) level = 0;
    level = std::min(std::max(level, sampler_.least_level), sampler_.greatest_level);
    const float least = static_cast<float>(view_.resource().least_level) / 256;
    level = std::max(level, least - static_cast<float>(view_.resource().base_level));
    if (access_.has(ImageAccess::least_level))
      level = std::max(level, number(access_.last(), lane, access_.has(ImageAccess::half_addresses)));
    return level;
  }

  [[nodiscard]] std::uint32_t nearest(float level) const {
    if (sampler_.levels == ImageSampler::LevelFilter::none) return 0;
    const float last = static_cast<float>(view_.levels() - 1);
    return static_cast<std::uint32_t>(std::floor(std::clamp(level, 0.0F, last) + 0.5F));
  }

  [[nodiscard]] std::array<Footprint, 3> footprints(const SampleAddress& address, std::uint32_t level, Filter xy,
                                                    Filter z) const {
    const ImageView::Size size = view_.size(level);
    const std::array<std::uint32_t, 3> extents = {size.width, size.height, size.depth};
    const unsigned dimensions = view_.dimension() == ImageDimension::three ? 3 : 2;
    std::array<Footprint, 3> result;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const bool is_there = axis < dimensions && (axis != 1 || has_rows());
      if (!is_there) {
        result.at(axis) = {{0U, std::nullopt}, 0};
        continue;
      }
      float place = address.coordinate.at(axis);
      if (!is_unnormalized()) place *= static_cast<float>(extents.at(axis));
      place += static_cast<float>(address.offset.at(axis));
      result.at(axis) = footprint(in_fractions(place, sampler_.truncates ? 0 : 0.5), extents.at(axis),
                                  sampler_.clamp.at(axis), axis == 2 ? z : xy);
    }
    if (view_.is_array()) {
      const float last = static_cast<float>(size.depth - 1);
      const float slice = std::isnan(address.slice) ? 0 : std::clamp(std::nearbyint(address.slice), 0.0F, last);
      result[2] = {{static_cast<std::uint32_t>(slice), std::nullopt}, 0};
    }
    return result;
  }
  [[nodiscard]] bool has_rows() const {
    return view_.dimension() != ImageDimension::one && view_.dimension() != ImageDimension::one_array;
  }

  /// A component of a texel (nothing: of the border).
  [[nodiscard]] std::uint32_t component(const std::optional<ElementWords>& words, unsigned c,
                                        ComponentWidth width) const {
    if (words) return view_.component(*words, c, width);
    if (view_.resource().selected.at(c) < select_x) return view_.component({}, c, width);
    const bool is_one = sampler_.border == ImageSampler::Border::opaque_white ||
                        (sampler_.border == ImageSampler::Border::opaque_black && c == 3);
    if (!is_one) return 0;
    return view_.format() ? view_.format()->one(width) : ElementFormat::float_one(width);
  }

  /// Nothing: the border.
  [[nodiscard]] std::optional<ElementWords> texel_at(std::uint32_t level, const std::optional<std::uint32_t>& x,
                                                     const std::optional<std::uint32_t>& y,
                                                     const std::optional<std::uint32_t>& z) const {
    if (!x || !y || !z) return std::nullopt;
    const auto address = view_.address(level, {*x, *y, *z});
    if (!address) return ElementWords{};
    return ImageView::read(state_, *address, view_.format()->bytes());
  }

  /// Whether the reference passes the comparison with a depth, as a number.
  [[nodiscard]] float compared(float reference, float depth) const {
    constexpr unsigned less = 1;
    constexpr unsigned equal = 2;
    constexpr unsigned greater = 4;
    if (view_.format() && view_.format()->is_unorm()) reference = std::clamp(reference, 0.0F, 1.0F);
    const unsigned is = reference < depth ? less : reference > depth ? greater : reference == depth ? equal : 0;
    return (sampler_.compare & is) != 0 || sampler_.compare == 7 ? 1.0F : 0.0F;
  }

  /// Adds a level's texels, each times its weight and `scale`.
  void add_level(std::array<float, 4>& sum, const SampleAddress& address, std::uint32_t level, Filter filter,
                 float scale) const {
    const auto axes = footprints(address, level, filter, depth_filter(filter));
    for (unsigned corner = 0; corner < 8; ++corner) {
      float weight = scale;
      std::array<std::optional<std::uint32_t>, 3> place;
      for (unsigned axis = 0; axis < 3; ++axis) {
        const unsigned end = corner >> axis & 1;
        weight *= end == 1 ? axes.at(axis).weight : 1 - axes.at(axis).weight;
        place.at(axis) = axes.at(axis).index.at(end);
      }
      if (weight == 0) continue;
      const auto words = texel_at(level, place[0], place[1], place[2]);
      for (unsigned c = 0; c < 4; ++c) {
        float value = std::bit_cast<float>(component(words, c, ComponentWidth::full));
        if (access_.has(ImageAccess::reference)) value = c == 0 ? compared(address.reference, value) : 0;
        sum.at(c) += weight * value;
      }
    }
  }

  [[nodiscard]] std::uint32_t encoded(float value) const {
    return access_.width == ComponentWidth::half ? narrow(half_float, double{value})
                                                 : std::bit_cast<std::uint32_t>(value);
  }

  void put(unsigned lane, const std::array<float, 4>& values) {
    unsigned row = 0;
    for (unsigned c = 0; c < 4; ++c)
      if ((access_.mask >> c & 1) != 0) state_.lane_data[row++][lane] = encoded(values.at(c));
  }

  /// One texel, bit by bit.
  void put_texel(unsigned lane, const SampleAddress& address, std::uint32_t level) {
    const auto axes = footprints(address, level, Filter::point, Filter::point);
    const auto words = texel_at(level, axes[0].index[0], axes[1].index[0], axes[2].index[0]);
    unsigned row = 0;
    for (unsigned c = 0; c < 4; ++c)
      if ((access_.mask >> c & 1) != 0) state_.lane_data[row++][lane] = component(words, c, access_.width);
  }

  /// The four texels that a linear filter would blend, counter-clockwise from the lower left.
  void gather(unsigned lane, const SampleAddress& address, std::uint32_t level) {
    const auto axes = footprints(address, level, Filter::linear, Filter::point);
    constexpr std::array<std::array<std::uint8_t, 2>, 4> corners = {{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
    const auto c = static_cast<unsigned>(std::countr_zero(access_.mask));
    for (unsigned row = 0; row < 4; ++row) {
      const auto [x, y] = corners.at(row);
      const auto words = texel_at(level, axes[0].index.at(x), axes[1].index.at(y), axes[2].index[0]);
      const bool compares = access_.has(ImageAccess::reference);
      const std::uint32_t found = component(words, c, compares ? ComponentWidth::full : access_.width);
      state_.lane_data[row][lane] =
          compares ? encoded(compared(address.reference, std::bit_cast<float>(found))) : found;
    }
  }

  WaveState& state_;
  ImageView view_;
  ImageAccess access_;
  ImageSampler sampler_;
};

}  // namespace

void image_sample(WaveState* state, std::uint64_t lanes, std::uint64_t bits) {
  if (lanes == 0) return;  // nobody looks at the descriptors
  Sampling sampling(*state, ImageAccess::unpacked(bits));
  for (; lanes != 0; lanes &= lanes - 1) sampling.sample(static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace softgpu::compute::runtime
