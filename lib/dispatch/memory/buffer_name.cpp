#include "dispatch/memory/buffer_name.hpp"

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"

namespace fastdispatch::detail {

std::string buffer_name(const MemoryView& view) {
  return view.agent ? state_of(*view.agent).host->buffers.name_of(view.address) : std::string();
}

std::string buffer_in_brackets(const MemoryView& view) {
  const std::string name = buffer_name(view);
  return name.empty() ? name : fmt::format(" (buffer '{}')", name);
}

}  // namespace fastdispatch::detail
