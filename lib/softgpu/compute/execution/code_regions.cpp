#include "softgpu/compute/execution/code_regions.hpp"

#include <algorithm>
#include <utility>

namespace softgpu::compute {

void CodeRegions::add(CodeRegion region) {
  const std::unique_lock lock(regions_mutex_);
  for (const std::int64_t entry : region.entries) entries_.emplace(entry, region.wave);
  regions_.push_back(std::move(region));
}

WaveCode CodeRegions::find(std::int64_t offset) const {
  const std::shared_lock lock(regions_mutex_);
  const auto found = entries_.find(offset);
  return found == entries_.end() ? WaveCode() : found->second;
}

std::variant<WaveCode, Failure> CodeRegions::at(std::int64_t offset) {
  if (const WaveCode known = find(offset); known.run != nullptr) return known;
  const std::lock_guard lock(translation_mutex_);
  if (const WaveCode known = find(offset); known.run != nullptr) return known;  // another thread was faster
  Translated translated = translate_(offset);
  if (auto* failure = std::get_if<Failure>(&translated)) return std::move(*failure);
  add(std::get<CodeRegion>(std::move(translated)));
  return find(offset);
}

std::optional<CodeRegion> CodeRegions::around(std::uint64_t host_address) const {
  const std::shared_lock lock(regions_mutex_);
  const auto found =
      std::ranges::find_if(regions_, [&](const CodeRegion& region) { return region.wave.contains(host_address); });
  return found == regions_.end() ? std::nullopt : std::optional(*found);
}

bool CodeRegions::any(const std::function<bool(const Program::Piece&)>& predicate) const {
  const std::shared_lock lock(regions_mutex_);
  return std::ranges::any_of(regions_,
                             [&](const CodeRegion& region) { return std::ranges::any_of(region.pieces, predicate); });
}

}  // namespace softgpu::compute
