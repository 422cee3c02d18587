#include "dispatch/device/buffers.hpp"

#include <iterator>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace fastdispatch::detail {
namespace {

/// How far an address may be from a buffer to be told by it.
constexpr std::uint64_t near = std::uint64_t{1} << 20U;

std::uint64_t number_of(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::string text_of(const std::string& name, std::uint64_t bytes) {
  return name.empty() ? fmt::format("a buffer of {} bytes without a name", bytes)
                      : fmt::format("buffer '{}' of {} bytes", name, bytes);
}

}  // namespace

void Buffers::add(const std::byte* address, std::size_t bytes, std::string name) {
  const std::scoped_lock lock(mutex_);
  ranges_.insert_or_assign(number_of(address), Range{.bytes = bytes, .name = std::move(name)});
}

void Buffers::remove(const std::byte* address) noexcept {
  const std::scoped_lock lock(mutex_);
  auto node = ranges_.extract(number_of(address));
  if (node.empty()) return;
  freed_.at(freed_count_++ % freed_.size()) = {.begin = node.key(), .range = std::move(node.mapped())};
}

std::string Buffers::name_of(const std::byte* address) const {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t at = number_of(address);
  if (const auto next = ranges_.upper_bound(at); next != ranges_.begin()) {
    const auto& [begin, range] = *std::prev(next);
    if (at - begin < range.bytes) return range.name;
  }
  const FreedRange* freed = find_freed(at);
  return freed == nullptr ? std::string() : freed->range.name;
}

const Buffers::FreedRange* Buffers::find_freed(std::uint64_t address) const {
  const auto has = [&](const FreedRange& freed) {
    return address >= freed.begin && address - freed.begin < freed.range.bytes;
  };
  for (std::size_t i = 1; i <= freed_.size(); ++i)
    if (const FreedRange& freed = freed_.at((freed_count_ - i) % freed_.size()); has(freed)) return &freed;
  return nullptr;
}

std::string Buffers::place_of(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  const auto next = ranges_.upper_bound(address);
  const bool has_one_below = next != ranges_.begin();
  if (has_one_below) {
    const auto& [begin, range] = *std::prev(next);
    if (address - begin < range.bytes)
      return fmt::format("{} bytes into {}", address - begin, text_of(range.name, range.bytes));
  }
  if (const FreedRange* freed = find_freed(address); freed != nullptr)
    return fmt::format("{} bytes into {}, which was freed", address - freed->begin,
                       text_of(freed->range.name, freed->range.bytes));

  const std::uint64_t before = next == ranges_.end() ? near : next->first - address;
  if (has_one_below) {
    const auto& [begin, range] = *std::prev(next);
    const std::uint64_t behind = address - begin - range.bytes;
    if (behind < near && behind <= before)
      return fmt::format("{} bytes behind the end of {}", behind, text_of(range.name, range.bytes));
  }
  if (before >= near) return {};
  return fmt::format("{} bytes before {}", before, text_of(next->second.name, next->second.bytes));
}

}  // namespace fastdispatch::detail
