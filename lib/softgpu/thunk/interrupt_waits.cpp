#include "softgpu/thunk/interrupt_waits.hpp"

#include <algorithm>
#include <cstdint>

#include <link.h>

#include "softgpu/command_processor/device_access.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::byte on{1};
constexpr std::byte off{0};

struct Search {
  std::uint64_t code;
  std::vector<std::span<std::byte>> data;
};

/// Adds the object's data, without what is read-only after relocation, if the code lies in it.
int visit(dl_phdr_info* object, std::size_t /*size*/, void* own) {
  auto& search = *static_cast<Search*>(own);
  const std::span<const ElfW(Phdr)> segments(object->dlpi_phdr, object->dlpi_phnum);
  const auto begin = [&](const ElfW(Phdr) & segment) { return object->dlpi_addr + segment.p_vaddr; };
  const auto end = [&](const ElfW(Phdr) & segment) { return begin(segment) + segment.p_memsz; };
  if (std::ranges::none_of(segments, [&](const ElfW(Phdr) & segment) {
        return segment.p_type == PT_LOAD && search.code >= begin(segment) && search.code < end(segment);
      }))
    return 0;
  std::uint64_t relocated = 0;
  for (const ElfW(Phdr) & segment : segments)
    if (segment.p_type == PT_GNU_RELRO) relocated = end(segment);
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const bool has_relocated = relocated > begin(segment) && relocated <= end(segment);
    const std::uint64_t from = has_relocated ? relocated : begin(segment);
    search.data.emplace_back(command_processor::at_address<std::byte>(from), end(segment) - from);
  }
  return 1;
}

}  // namespace

std::vector<std::span<std::byte>> writable_data(const void* code) {
  Search search{.code = reinterpret_cast<std::uint64_t>(code), .data = {}};
  dl_iterate_phdr(visit, &search);
  return search.data;
}

void InterruptWaits::before(const void* code) {
  const std::lock_guard lock(mutex_);
  if (variable_ != nullptr) return;
  data_.clear();
  for (const std::span<std::byte> now : writable_data(code)) data_.push_back({now, {now.begin(), now.end()}});
}

void InterruptWaits::after() {
  const std::lock_guard lock(mutex_);
  if (variable_ != nullptr) {
    if (*variable_ == off) *variable_ = on;
    return;
  }
  std::vector<std::byte*> cleared;
  for (const auto& [now, before] : data_)
    for (std::size_t i = 0; i < now.size(); ++i)
      if (before[i] == on && now[i] == off) cleared.push_back(&now[i]);
  data_.clear();
  if (cleared.size() != 1) return;
  variable_ = cleared.front();
  *variable_ = on;
}

}  // namespace softgpu::thunk
