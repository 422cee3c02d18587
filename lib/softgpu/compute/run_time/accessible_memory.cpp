#include "softgpu/compute/run_time/accessible_memory.hpp"

#include <mutex>

namespace softgpu::compute {
namespace {

constexpr std::uint64_t page_bytes = 4096;

std::uint64_t page_of(std::uint64_t address) { return address / page_bytes * page_bytes; }

AccessibleMemory::Range whole_pages(std::uint64_t base, std::uint64_t bytes) {
  return {page_of(base), page_of(base + bytes + page_bytes - 1)};
}

}  // namespace

void AccessibleMemory::add(std::uint64_t base, std::uint64_t bytes) {
  const Range range = whole_pages(base, bytes);
  const std::unique_lock lock(mutex_);
  ranges_.emplace(range.begin, range.end);
}

void AccessibleMemory::remove(std::uint64_t base, std::uint64_t bytes) noexcept {
  const Range range = whole_pages(base, bytes);
  const std::unique_lock lock(mutex_);
  const auto [first, last] = ranges_.equal_range(range.begin);
  for (auto candidate = first; candidate != last; ++candidate) {
    if (candidate->second != range.end) continue;
    ranges_.erase(candidate);
    return;
  }
}

AccessibleMemory::Range AccessibleMemory::range_of(std::uint64_t address) const noexcept {
  if (window_.contains(address)) return {window_.base & window_.mask, (window_.base | ~window_.mask)};
  const std::shared_lock lock(mutex_);
  for (auto after = ranges_.upper_bound(address); after != ranges_.begin();) {
    --after;
    if (address < after->second) return {after->first, after->second};
  }
  return {};
}

}  // namespace softgpu::compute
