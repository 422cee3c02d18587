#include "softgpu/thunk/svm_ranges.hpp"

#include <algorithm>
#include <iterator>

#include <sys/mman.h>

#include "softgpu/command_processor/device_access.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t svm_page = 4096;
constexpr std::uint32_t largest_granularity = 0x3f;

bool is_access(std::uint32_t type) {
  return type == HSA_SVM_ATTR_ACCESS || type == HSA_SVM_ATTR_ACCESS_IN_PLACE || type == HSA_SVM_ATTR_NO_ACCESS;
}

/// Whether the program has mapped all of it.
bool is_mapped(std::uint64_t base, std::uint64_t size) {
  constexpr std::uint64_t most_pages = 1024;
  unsigned char present[most_pages];
  for (std::uint64_t done = 0; done != size;) {
    const std::uint64_t part = std::min(size - done, most_pages * svm_page);
    if (mincore(command_processor::at_address<void>(base + done), part, present) != 0) return false;
    done += part;
  }
  return true;
}

}  // namespace

bool SvmRanges::Attributes::is_accessible() const noexcept {
  return std::ranges::any_of(access, [](HSA_SVM_ATTR_TYPE type) { return type != HSA_SVM_ATTR_NO_ACCESS; });
}

SvmRanges::Attributes SvmRanges::defaults() const {
  Attributes attributes;
  attributes.access.assign(node_count_, HSA_SVM_ATTR_NO_ACCESS);  // as without XNACK
  return attributes;
}

HSAKMT_STATUS SvmRanges::check(std::span<const HSA_SVM_ATTRIBUTE> attributes) const {
  for (const HSA_SVM_ATTRIBUTE& attribute : attributes) {
    if (attribute.type > HSA_SVM_ATTR_GRANULARITY) return HSAKMT_STATUS_INVALID_PARAMETER;
    const bool is_location =
        attribute.type == HSA_SVM_ATTR_PREFERRED_LOC || attribute.type == HSA_SVM_ATTR_PREFETCH_LOC;
    if (attribute.type == HSA_SVM_ATTR_PREFERRED_LOC && attribute.value == INVALID_NODEID) continue;
    if ((is_location || is_access(attribute.type)) && attribute.value >= node_count_)
      return HSAKMT_STATUS_INVALID_NODE_UNIT;
    if (is_access(attribute.type) && attribute.value == 0) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  }
  return HSAKMT_STATUS_SUCCESS;
}

void SvmRanges::split_at(std::uint64_t address) {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return;
  auto& [begin, range] = *std::prev(after);
  if (begin == address || range.end <= address) return;
  // What is accessible is known by its ends. Kernels may be using it.
  if (range.attributes.is_accessible()) {
    memory_.make_accessible(begin, address - begin);
    memory_.make_accessible(address, range.end - address);
    memory_.make_inaccessible(begin, range.end - begin);
  }
  ranges_.emplace_hint(after, address, Range{range.end, range.attributes});
  range.end = address;
}

void SvmRanges::apply(std::span<const HSA_SVM_ATTRIBUTE> attributes, std::uint64_t begin, Range& range) {
  Attributes& kept = range.attributes;
  const bool was_accessible = kept.is_accessible();
  for (const auto& [type, value] : attributes) {
    switch (static_cast<HSA_SVM_ATTR_TYPE>(type)) {
    case HSA_SVM_ATTR_PREFERRED_LOC:
      kept.preferred_node = value;
      break;
    case HSA_SVM_ATTR_PREFETCH_LOC:
      kept.prefetched_node = value;
      break;
    case HSA_SVM_ATTR_SET_FLAGS:
      kept.flags |= value;
      break;
    case HSA_SVM_ATTR_CLR_FLAGS:
      kept.flags &= ~value;
      break;
    case HSA_SVM_ATTR_GRANULARITY:
      kept.granularity = std::min(value, largest_granularity);
      break;
    default:
      kept.access[value] = static_cast<HSA_SVM_ATTR_TYPE>(type);
    }
  }
  if (kept.is_accessible() && !was_accessible) memory_.make_accessible(begin, range.end - begin);
  if (!kept.is_accessible() && was_accessible) memory_.make_inaccessible(begin, range.end - begin);
}

HSAKMT_STATUS SvmRanges::set(std::uint64_t base, std::uint64_t size, std::span<const HSA_SVM_ATTRIBUTE> attributes) {
  if (base == 0 || size == 0 || (base | size) % svm_page != 0 || size > ~base) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (const HSAKMT_STATUS status = check(attributes); status != HSAKMT_STATUS_SUCCESS) return status;
  if (!is_mapped(base, size)) return HSAKMT_STATUS_ERROR;
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = base + size;
  split_at(base);
  split_at(end);
  for (std::uint64_t at = base; at != end;) {
    auto next = ranges_.lower_bound(at);
    if (next == ranges_.end() || next->first != at) {
      const std::uint64_t gap_end = next == ranges_.end() ? end : std::min(end, next->first);
      next = ranges_.emplace_hint(next, at, Range{gap_end, defaults()});
    }
    apply(attributes, at, next->second);
    at = next->second.end;
  }
  return HSAKMT_STATUS_SUCCESS;
}

SvmRanges::Attributes SvmRanges::common(std::uint64_t begin, std::uint64_t end, std::uint32_t& any_flags) const {
  auto next = ranges_.upper_bound(begin);
  if (next != ranges_.begin() && std::prev(next)->second.end > begin) --next;
  if (next == ranges_.end() || next->first >= end) {
    any_flags = defaults().flags;
    return defaults();
  }
  Attributes result = next->second.attributes;
  any_flags = result.flags;
  for (++next; next != ranges_.end() && next->first < end; ++next) {
    const Attributes& other = next->second.attributes;
    if (other.preferred_node != result.preferred_node) result.preferred_node = INVALID_NODEID;
    if (other.prefetched_node != result.prefetched_node) result.prefetched_node = INVALID_NODEID;
    result.granularity = std::min(result.granularity, other.granularity);
    result.flags &= other.flags;
    any_flags |= other.flags;
    for (std::size_t node = 0; node != result.access.size(); ++node)
      if (other.access[node] != result.access[node]) result.access[node] = HSA_SVM_ATTR_NO_ACCESS;
  }
  return result;
}

HSAKMT_STATUS SvmRanges::get(std::uint64_t base, std::uint64_t size, std::span<HSA_SVM_ATTRIBUTE> attributes) {
  if (base == 0 || size == 0 || (base | size) % svm_page != 0 || size > ~base) return HSAKMT_STATUS_INVALID_PARAMETER;
  for (const HSA_SVM_ATTRIBUTE& attribute : attributes)
    if (is_access(attribute.type) && (attribute.value == 0 || attribute.value >= node_count_))
      return HSAKMT_STATUS_INVALID_NODE_UNIT;
  const std::lock_guard lock(mutex_);
  std::uint32_t any_flags = 0;
  const Attributes found = common(base, base + size, any_flags);
  for (HSA_SVM_ATTRIBUTE& attribute : attributes) {
    switch (attribute.type) {
    case HSA_SVM_ATTR_PREFERRED_LOC:
      attribute.value = found.preferred_node;
      break;
    case HSA_SVM_ATTR_PREFETCH_LOC:
      attribute.value = found.prefetched_node;
      break;
    case HSA_SVM_ATTR_SET_FLAGS:
      attribute.value = found.flags;
      break;
    case HSA_SVM_ATTR_CLR_FLAGS:
      attribute.value = ~any_flags;
      break;
    case HSA_SVM_ATTR_GRANULARITY:
      attribute.value = found.granularity;
      break;
    case HSA_SVM_ATTR_ACCESS:
    case HSA_SVM_ATTR_ACCESS_IN_PLACE:
    case HSA_SVM_ATTR_NO_ACCESS:
      attribute.type = found.access[attribute.value];
      break;
    default:
      return HSAKMT_STATUS_INVALID_PARAMETER;
    }
  }
  return HSAKMT_STATUS_SUCCESS;
}

}  // namespace softgpu::thunk
