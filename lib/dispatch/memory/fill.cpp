#include "fastdispatch/fill.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/trace/host_span.hpp"
#include "fastdispatch/copy.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/detail/forked_child.hpp"

namespace fastdispatch::detail {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint32_t);
/// From which a value that HSA cannot fill with is copied.
constexpr std::size_t block_bytes = std::size_t{1} << 20U;

/// The value as HSA fills with it: four bytes that repeat.
std::optional<std::uint32_t> word_of(std::span<const std::byte> element) {
  std::array<std::byte, word_bytes> bytes{};
  for (std::size_t i = 0; i < word_bytes; ++i) bytes.at(i) = element[i % element.size()];
  const bool repeats = word_bytes % element.size() == 0 || element.size() % word_bytes == 0;
  for (std::size_t i = 0; i < element.size(); ++i)
    if (!repeats || element[i] != bytes.at(i % word_bytes)) return {};
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data(), word_bytes);
  return word;
}

void fill_by_host(std::span<std::byte> destination, std::span<const std::byte> element) {
  for (std::size_t at = 0; at < destination.size(); at += element.size())
    std::memcpy(destination.data() + at, element.data(), element.size());
}

void fill_by_copies(const MemoryView& destination, std::span<const std::byte> element) {
  const std::size_t elements = std::max<std::size_t>(block_bytes / element.size(), 1);
  std::vector<std::byte> block(std::min(destination.size, elements * element.size()));
  fill_by_host(block, element);
  for (std::size_t at = 0; at < destination.size; at += block.size()) {
    const std::size_t size = std::min(block.size(), destination.size - at);
    copy(destination.subview(at, size), std::span(block).first(size));
  }
}

}  // namespace

void fill(const MemoryView& destination, std::span<const std::byte> element) {
  check_not_forked();
  if (destination.size == 0) return;
  const HostSpan span("fill", "fill", {"bytes", destination.size});
  if (destination.kind != MemoryKind::device) return fill_by_host({destination.address, destination.size}, element);
  const std::optional<std::uint32_t> word = word_of(element);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(destination.address) % word_bytes == 0;
  if (!word || !is_aligned || destination.size % word_bytes != 0) return fill_by_copies(destination, element);
  const HsaApi& api = destination.agent->api();
  check(api, api.amd_memory_fill(destination.address, *word, destination.size / word_bytes), "hsa_amd_memory_fill",
        "filling a buffer");
}

}  // namespace fastdispatch::detail
