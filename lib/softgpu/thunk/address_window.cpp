#include "softgpu/thunk/address_window.hpp"

#include <algorithm>
#include <iterator>

#include <sys/mman.h>
#include <sys/resource.h>

#include "softgpu/command_processor/device_access.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t largest = std::uint64_t{512} << 30;
constexpr std::uint64_t smallest = std::uint64_t{16} << 30;
constexpr std::uint64_t guard = compute::AccessibleMemory::guard_bytes;

constexpr int reservation = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

bool is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

AddressWindow::AddressWindow() {
  if (is_limited()) return;
  for (std::uint64_t size = largest; size >= smallest; size /= 2) {
    const std::uint64_t wanted = 2 * size + 2 * guard;
    void* reserved = mmap(nullptr, wanted, PROT_NONE, reservation, -1, 0);
    if (reserved == MAP_FAILED) continue;
    reserved_ = reinterpret_cast<std::uint64_t>(reserved);
    reserved_bytes_ = wanted;
    base_ = round_up(reserved_ + guard, size);
    bytes_ = size;
    next_ = base_;
    return;
  }
}

AddressWindow::~AddressWindow() {
  if (bytes_ == 0) return;
  const auto release = [](std::uint64_t from, std::uint64_t to) {
    if (from != to) munmap(command_processor::at_address<void>(from), to - from);
  };
  std::uint64_t from = reserved_;
  for (const auto& [address, size] : taken_) {
    release(from, address);
    from = address + size;
  }
  release(from, reserved_ + reserved_bytes_);
}

compute::AccessibleMemory::Window AddressWindow::addresses() const noexcept {
  if (bytes_ == 0) return {.base = ~std::uint64_t{0}, .mask = ~std::uint64_t{0}};
  return {.base = base_, .mask = ~(bytes_ - 1)};
}

bool AddressWindow::contains(std::uint64_t address) const noexcept {
  return address >= base_ && address - base_ < bytes_;
}

std::uint64_t AddressWindow::find_gap(std::uint64_t from, std::uint64_t to, std::uint64_t size,
                                      std::uint64_t alignment) const {
  auto next = taken_.lower_bound(from);
  if (next != taken_.begin()) from = std::max(from, std::prev(next)->first + std::prev(next)->second);
  for (; from < to; ++next) {
    const std::uint64_t end = next == taken_.end() ? to : std::min(next->first, to);
    const std::uint64_t address = round_up(from, alignment);
    if (address < end && size <= end - address) return address;
    if (next == taken_.end()) break;
    from = next->first + next->second;
  }
  return 0;
}

void* AddressWindow::take(std::uint64_t address, std::uint64_t size, Pages pages) {
  void* memory = command_processor::at_address<void>(address);
  if (pages == Pages::zeroed &&
      mmap(memory, size, PROT_READ | PROT_WRITE, reservation | MAP_FIXED, -1, 0) == MAP_FAILED)
    return nullptr;
  taken_[address] = size;
  return memory;
}

void* AddressWindow::allocate(std::uint64_t size, std::uint64_t alignment, Pages pages) {
  if (bytes_ == 0) return nullptr;
  std::uint64_t address = find_gap(next_, end(), size, alignment);
  if (address == 0) address = find_gap(base_, next_, size, alignment);
  void* memory = address == 0 ? nullptr : take(address, size, pages);
  if (memory != nullptr) next_ = address + size;
  return memory;
}

void* AddressWindow::allocate_at(void* memory, std::uint64_t size, Pages pages) {
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  if (address < base_ || address >= end() || size > end() - address) return nullptr;
  const auto after = taken_.lower_bound(address);
  if (after != taken_.end() && after->first < address + size) return nullptr;
  if (after != taken_.begin() && std::prev(after)->first + std::prev(after)->second > address) return nullptr;
  return take(address, size, pages);
}

void AddressWindow::free(void* memory) noexcept {
  const auto found = taken_.find(reinterpret_cast<std::uint64_t>(memory));
  if (found == taken_.end()) return;
  // Where the system refuses, the memory stays taken: nobody else may get addresses of the window.
  if (mmap(memory, found->second, PROT_NONE, reservation | MAP_FIXED, -1, 0) == MAP_FAILED) return;
  taken_.erase(found);
}

AddressWindow::Taken::const_iterator AddressWindow::find_taken(std::uint64_t address,
                                                               std::uint64_t size) const noexcept {
  const auto after = taken_.upper_bound(address);
  if (after == taken_.begin()) return taken_.end();
  const auto found = std::prev(after);
  const std::uint64_t offset = address - found->first;
  return offset < found->second && size <= found->second - offset ? found : taken_.end();
}

bool AddressWindow::is_taken(std::uint64_t address, std::uint64_t size) const noexcept {
  return find_taken(address, size) != taken_.end();
}

bool AddressWindow::free_part(void* memory, std::uint64_t size) {
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const auto found = find_taken(address, size);
  if (found == taken_.end()) return false;
  if (mmap(memory, size, PROT_NONE, reservation | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
  const auto [begin, bytes] = *found;
  const std::uint64_t rest = begin + bytes - (address + size);
  if (rest != 0) taken_[address + size] = rest;
  if (address != begin)
    taken_[begin] = address - begin;
  else
    taken_.erase(begin);
  return true;
}

}  // namespace softgpu::thunk
