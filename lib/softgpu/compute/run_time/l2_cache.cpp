#include "softgpu/compute/run_time/l2_cache.hpp"

#include <cstring>
#include <iterator>

#include "softgpu/compute/run_time/compute_unit_caches.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/interrupt.hpp"
#include "softgpu/compute/run_time/lane_memory.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

/// No interrupt ends the wavefront in here.
class L2Cache::Lock {
public:
  explicit Lock(std::mutex& mutex) : guard_(FaultGuard::suspend()), lock_(mutex) {}
  ~Lock() {
    lock_.unlock();
    FaultGuard::resume(guard_);
    if (guard_ != nullptr && Interruptible::interrupted()) FaultGuard::exit({EarlyExit::Cause::interrupted});
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

private:
  FaultGuard* guard_;
  std::unique_lock<std::mutex> lock_;
};

bool L2Cache::stands_before(std::uint64_t address) const {
  const auto after = ranges_.upper_bound(address);
  return after != ranges_.begin() && address < std::prev(after)->second;
}

void L2Cache::add(std::uint64_t base, std::uint64_t bytes) {
  const Lock lock(mutex_);
  ranges_[base] = base + bytes;
}

void L2Cache::remove(std::uint64_t base) noexcept {
  const Lock lock(mutex_);
  const auto found = ranges_.find(base);
  if (found == ranges_.end()) return;
  std::erase_if(lines_, [&](const auto& line) {
    const std::uint64_t address = line.first * cache_line_bytes;
    return address >= found->first && address < found->second;
  });
  ranges_.erase(found);
}

std::uint64_t L2Cache::read(std::uint64_t address, std::uint32_t bytes) {
  while (true) {
    const std::uint64_t before = write_backs_.load(std::memory_order_acquire);
    std::uint64_t value = runtime::read(address, bytes);  // before the lock: it may fault
    const Lock lock(mutex_);
    if (write_backs_.load(std::memory_order_relaxed) != before) continue;  // memory is newer than what was read
    for_each_line(address, bytes, [&](std::uint64_t number, std::size_t offset, std::uint32_t at, std::uint32_t size) {
      const auto line = lines_.find(number);
      if (line == lines_.end()) return;
      for (std::uint32_t i = 0; i < size; ++i)
        if ((line->second.dirty >> (offset + i) & 1) != 0)
          std::memcpy(reinterpret_cast<std::byte*>(&value) + at + i, &line->second.bytes.at(offset + i), 1);
    });
    return value;
  }
}

void L2Cache::write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
  bool is_kept = false;
  {
    const Lock lock(mutex_);
    is_kept = stands_before(address) && stands_before(address + bytes - 1);
    if (is_kept)
      for_each_line(address, bytes,
                    [&](std::uint64_t number, std::size_t offset, std::uint32_t at, std::uint32_t size) {
                      Line& line = lines_[number];
                      std::memcpy(line.bytes.data() + offset, reinterpret_cast<const std::byte*>(&value) + at, size);
                      line.dirty |= ((std::uint64_t{1} << size) - 1) << offset;
                    });
  }
  if (!is_kept) runtime::write(address, value, bytes);
}

void L2Cache::write_back(std::uint64_t number, const Line& line) noexcept {
  for (std::size_t at = 0; at < cache_line_bytes; ++at)
    if ((line.dirty >> at & 1) != 0)
      runtime::write(number * cache_line_bytes + at, static_cast<std::uint64_t>(line.bytes.at(at)), 1);
}

void L2Cache::write_back() noexcept {
  const Lock lock(mutex_);
  for (const auto& [number, line] : lines_) write_back(number, line);
  lines_.clear();
  write_backs_.fetch_add(1, std::memory_order_release);
}

void L2Cache::write_back(std::uint64_t address, std::uint32_t bytes) noexcept {
  const Lock lock(mutex_);
  for (std::uint64_t number = address / cache_line_bytes; number <= (address + bytes - 1) / cache_line_bytes;
       ++number) {
    const auto found = lines_.find(number);
    if (found == lines_.end()) continue;
    write_back(number, found->second);
    lines_.erase(found);
    write_backs_.fetch_add(1, std::memory_order_release);
  }
}

namespace runtime {

void write_back_l2(WaveState* state) {
  if (state->caches != nullptr && state->caches->l2() != nullptr) state->caches->l2()->write_back();
}

}  // namespace runtime
}  // namespace softgpu::compute
