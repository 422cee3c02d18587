#include "softgpu/compute/run_time/typed_buffers.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "softgpu/compute/instruction_set/buffer_resource.hpp"
#include "softgpu/compute/run_time/image_view.hpp"
#include "softgpu/compute/run_time/lane_memory.hpp"

namespace softgpu::compute::runtime {
namespace {

/// A descriptor, and the format that an instruction takes it to have.
class TypedBuffer {
public:
  TypedBuffer(std::uint64_t low, std::uint64_t high, std::uint32_t scalar_offset, const TypedAccess& access)
      : resource_(low, high, layout_of(access)), scalar_offset_(scalar_offset), is_indexed_(access.is_indexed),
        selects_((access.data_format | access.number_format) == 0),
        format_(selects_ ? descriptors_format(access) : access.format(access.data_format, access.number_format)) {
    if (resource_.is_swizzled() && access.numbering != ImageDescriptors::gfx9)
      refuse_resource("a swizzled buffer of elements with a format");
  }

  [[nodiscard]] const std::optional<ElementFormat>& format() const { return format_; }
  /// MTBUF has the components in their order, whatever the descriptor selects.
  [[nodiscard]] std::uint32_t selected(unsigned component) const {
    return selects_ ? resource_.selected(component) : select_x + component;
  }

  /// Calls `access(dword's number, address, bytes)` for the parts of a lane's element; false where it is out of range.
  template <class Access>
  bool visit(WaveState& state, unsigned lane, Access&& access) const {
    const std::uint64_t index = (state.lane_addresses[lane] >> 32) + (resource_.adds_lane ? lane : 0);
    const std::uint64_t offset = state.lane_addresses[lane] & 0xffffffff;
    const std::uint32_t bytes = format_->bytes();
    if (!resource_.contains(index, offset, bytes, scalar_offset_, is_indexed_)) return false;
    for (std::uint32_t at = 0; at < bytes; at += 4) {
      const std::uint64_t address = resource_.base + scalar_offset_ + resource_.place(index, offset + at);
      check_access(state, address, std::min(bytes, 4U));
      access(at / 4, address, std::min(bytes, 4U));
    }
    return true;
  }

private:
  [[nodiscard]] static BufferDescriptors layout_of(const TypedAccess& access) {
    if (access.numbering == ImageDescriptors::gfx9) return BufferDescriptors::gfx9;
    return access.numbering == ImageDescriptors::gfx10 ? BufferDescriptors::gfx10 : BufferDescriptors::gfx11;
  }
  [[nodiscard]] std::optional<ElementFormat> descriptors_format(const TypedAccess& access) const {
    if (access.numbering == ImageDescriptors::gfx9)
      return access.format(resource_.data_format(), resource_.number_format());
    const std::uint32_t bits = access.numbering == ImageDescriptors::gfx10 ? 0x7f : 0x3f;
    const std::uint32_t format = resource_.format >> 12 & bits;
    return access.format(format & 15, format >> 4);
  }

  BufferResource resource_;
  std::uint32_t scalar_offset_;
  bool is_indexed_;
  bool selects_;
  std::optional<ElementFormat> format_;
};

std::uint32_t component_of(const TypedBuffer& buffer, const ElementWords& words, unsigned component,
                           ComponentWidth width) {
  if (!buffer.format()) return 0;
  const std::uint32_t selected = buffer.selected(component);
  if (selected >= select_x) return buffer.format()->get(words, selected - select_x, width);
  return selected == select_one ? buffer.format()->one(width) : 0;
}

}  // namespace

void typed_buffer_load(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                       std::uint32_t scalar_offset, std::uint32_t access) {
  const auto typed = TypedAccess::unpacked(access);
  const TypedBuffer buffer(resource_low, resource_high, scalar_offset, typed);
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    ElementWords words = {};
    if (buffer.format())
      buffer.visit(*state, lane, [&](std::uint32_t dword, std::uint64_t address, std::uint32_t bytes) {
        words.at(dword) = read_cached(*state, address, bytes);
      });
    for (unsigned c = 0; c < typed.components; ++c)
      state->lane_data[c][lane] = component_of(buffer, words, c, typed.width);
  }
}

void typed_buffer_store(WaveState* state, std::uint64_t lanes, std::uint64_t resource_low, std::uint64_t resource_high,
                        std::uint32_t scalar_offset, std::uint32_t access) {
  const auto typed = TypedAccess::unpacked(access);
  const TypedBuffer buffer(resource_low, resource_high, scalar_offset, typed);
  if (!buffer.format()) return;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    ElementWords words = {};                       // components that the instruction does not have are 0
    for (unsigned c = typed.components; c-- > 0;)  // of two components for one place, the first is stored
      if (const std::uint32_t selected = buffer.selected(c); selected >= select_x)
        buffer.format()->put(words, selected - select_x, state->lane_data[c][lane], typed.width);
    buffer.visit(*state, lane, [&](std::uint32_t dword, std::uint64_t address, std::uint32_t bytes) {
      write_cached(*state, address, words.at(dword), bytes);
    });
  }
}

}  // namespace softgpu::compute::runtime
