#include "fastdispatch/memory_view.hpp"

#include <limits>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/memory/buffer_name.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

MemoryView MemoryView::subview(std::size_t offset, std::size_t count, std::size_t element_size) const {
  const std::size_t elements = size / element_size;
  if (offset > elements || count > elements - offset) {
    throw Error(fmt::format("{} elements from the {}th on are not inside of a memory of {} elements of {} bytes{}",
                            count, offset, elements, element_size, detail::buffer_in_brackets(*this)));
  }
  MemoryView part = *this;
  part.size = count * element_size;
  if (address != nullptr) {
    part.address += offset * element_size;
    part.device_address += offset * element_size;
  }
  return part;
}

MemoryView view_of(Agent near, std::span<std::byte> bytes) {
  MemoryView view{.address = bytes.data(),
                  .device_address = bytes.data(),
                  .size = bytes.size(),
                  .kind = MemoryKind::pageable,
                  .agent = std::nullopt};
  if (bytes.empty()) return view;

  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  const detail::HsaApi& api = near.api();
  const bool locked_for_copy = detail::state_of(near.host()).locked_for_copies.overlap_while(bytes, [&] {
    detail::check(api, api.amd_pointer_info(bytes.data(), &info, nullptr, nullptr, nullptr), "hsa_amd_pointer_info",
                  "looking up what kind of memory a span is");
  });
  if (info.type != HSA_EXT_POINTER_TYPE_HSA && info.type != HSA_EXT_POINTER_TYPE_LOCKED) return view;

  const bool locked = info.type == HSA_EXT_POINTER_TYPE_LOCKED;
  if (locked && locked_for_copy) return view;
  const auto* base = static_cast<const std::byte*>(locked ? info.hostBaseAddress : info.agentBaseAddress);
  const std::size_t offset = static_cast<std::size_t>(bytes.data() - base);
  if (offset > info.sizeInBytes || bytes.size() > info.sizeInBytes - offset) {
    throw Error(
        fmt::format("a span of {} bytes reaches past its allocation, which has {} bytes, of which {} are before "
                    "the span",
                    bytes.size(), info.sizeInBytes, offset));
  }
  view.device_address = static_cast<std::byte*>(info.agentBaseAddress) + offset;
  view.agent = near;
  if (locked || info.agentOwner.handle == near.host().handle().handle) {
    view.kind = MemoryKind::pinned;
  } else if (info.agentOwner.handle == near.handle().handle) {
    view.kind = MemoryKind::device;
  } else {
    throw Error("a span is in the memory of another device than the copy; pass its DeviceBuffer");
  }
  return view;
}

}  // namespace fastdispatch
