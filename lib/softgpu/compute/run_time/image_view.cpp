#include "softgpu/compute/run_time/image_view.hpp"

#include <algorithm>

#include "softgpu/compute/run_time/lane_memory.hpp"

namespace softgpu::compute::runtime {
namespace {

/// A row of a linear image whose descriptor tells no pitch takes whole 256 bytes (ROCr's addrlib,
/// HwlComputeSurfaceInfoLinear). On GFX12 it takes whole 128 bytes, but a slice is as long as if it took 256
/// (GetMipOffset).
constexpr std::uint32_t row_unit = 256;
constexpr std::uint32_t gfx12_row_unit = 128;

constexpr std::uint32_t rounded_up(std::uint32_t bytes, std::uint32_t unit) { return (bytes + unit - 1) / unit * unit; }

constexpr std::uint32_t first_image_type = 8;

}  // namespace

void refuse_resource(const char* what) {
  FaultGuard::exit({.cause = EarlyExit::Cause::unknown_resource, .resource = what});
}

ImageView::ImageView(const WaveState& state, ImageDescriptors layout) : resource_(state.image_resource, layout) {
  if (resource_.type < first_image_type) refuse_resource("an image's descriptor that is none");
  dimension_ = static_cast<ImageDimension>(resource_.type - first_image_type);
  if (dimension_ == ImageDimension::cube) refuse_resource("a cube map");
  if (dimension_ > ImageDimension::two_array) refuse_resource("an image of several samples a texel");
  if (resource_.array_pitch != 0) refuse_resource("an image with an array pitch");
  if (resource_.last_level < resource_.base_level) refuse_resource("an image whose last level is before its first");
  resource_.greatest_level = std::max(resource_.greatest_level, resource_.last_level);
  format_ = ElementFormat::make_unified(resource_.format, layout);
  const std::uint32_t data_format = layout == ImageDescriptors::gfx9 ? resource_.format & 63 : resource_.format;
  if (!format_ && data_format != 0) refuse_resource("an image of this format");
  if (dimension_ == ImageDimension::one || dimension_ == ImageDimension::one_array) resource_.height = 1;

  const std::uint32_t bytes = format_ ? format_->bytes() : 0;
  if (resource_.swizzle_mode == 0) {
    if (resource_.greatest_level != 0) refuse_resource("a linear image of several levels");
    if (layout == ImageDescriptors::gfx9) {
      row_bytes_ = (resource_.pitch + 1) * bytes;
      slice_bytes_ = std::uint64_t{row_bytes_} * resource_.height;
      return;
    }
    const bool has_pitch = dimension_ == ImageDimension::one || dimension_ == ImageDimension::two;
    if (has_pitch && resource_.pitch != 0) {
      row_bytes_ = (resource_.pitch + 1) * bytes;  // there is one slice
      return;
    }
    const std::uint32_t texels = resource_.width * bytes;
    row_bytes_ = rounded_up(texels, layout == ImageDescriptors::gfx12 ? gfx12_row_unit : row_unit);
    slice_bytes_ = std::uint64_t{rounded_up(texels, row_unit)} * resource_.height;
    return;
  }
  for (std::uint32_t level = 0; level <= resource_.greatest_level; ++level)
    slice_bytes_ += std::uint64_t{width_of(level)} * height_of(level) * bytes;
}

std::uint32_t ImageView::width_of(std::uint32_t level) const { return std::max(resource_.width >> level, 1U); }
std::uint32_t ImageView::height_of(std::uint32_t level) const { return std::max(resource_.height >> level, 1U); }

ImageView::Size ImageView::size(std::uint32_t level) const {
  const std::uint32_t in_memory = level + resource_.base_level;
  std::uint32_t depth = 1;
  if (dimension_ == ImageDimension::three) depth = std::max((resource_.depth + 1) >> in_memory, 1U);
  if (is_array()) depth = resource_.depth + 1 - std::min(resource_.first_slice, resource_.depth);
  return {width_of(in_memory), height_of(in_memory), depth};
}

std::optional<std::uint64_t> ImageView::address(std::uint32_t level, TexelPlace place) const {
  if (level >= levels() || !format_) return std::nullopt;
  const Size extent = size(level);
  if (dimension_ == ImageDimension::one || dimension_ == ImageDimension::one_array) place.y = 0;
  if (dimension_ == ImageDimension::one || dimension_ == ImageDimension::two) place.z = 0;
  if (place.x >= extent.width || place.y >= extent.height || place.z >= extent.depth) return std::nullopt;
  const std::uint64_t slice = std::uint64_t{place.z} + (is_array() ? resource_.first_slice : 0);
  const std::uint32_t bytes = format_->bytes();
  std::uint64_t address = resource_.base + slice * slice_bytes_;
  if (resource_.swizzle_mode == 0)
    return address + std::uint64_t{place.y} * row_bytes_ + std::uint64_t{place.x} * bytes;
  for (std::uint32_t before = 0; before < level + resource_.base_level; ++before)
    address += std::uint64_t{width_of(before)} * height_of(before) * bytes;
  return address + (std::uint64_t{place.y} * extent.width + place.x) * bytes;
}

ElementWords ImageView::read(WaveState& state, std::uint64_t address, std::uint32_t bytes) {
  ElementWords words = {};
  check_access(state, address, bytes);
  for (std::uint32_t at = 0; at < bytes; at += 4)
    words.at(at / 4) = static_cast<std::uint32_t>(read_cached(state, address + at, std::min(bytes - at, 4U)));
  return words;
}

void ImageView::write(WaveState& state, std::uint64_t address, const ElementWords& words, std::uint32_t bytes) {
  check_access(state, address, bytes);
  for (std::uint32_t at = 0; at < bytes; at += 4)
    write_cached(state, address + at, words.at(at / 4), std::min(bytes - at, 4U));
}

std::uint32_t ImageView::component(const ElementWords& words, unsigned component, ComponentWidth width) const {
  const std::uint32_t selected = resource_.selected.at(component);
  if (selected == select_one) return format_ ? format_->one(width) : ElementFormat::float_one(width);
  if (selected < select_x || !format_) return 0;
  return format_->get(words, selected - select_x, width);
}

}  // namespace softgpu::compute::runtime
