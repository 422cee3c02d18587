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

void L2Cache::Line::put(std::size_t offset, const std::byte* from, std::uint32_t size) {
  std::memcpy(bytes.data() + offset, from, size);
  const std::uint64_t bits = ((std::uint64_t{1} << size) - 1) << offset;
  valid |= bits;
  dirty |= bits;
}

bool L2Cache::contains(const Ranges& in, std::uint64_t address) {
  const auto after = in.upper_bound(address);
  return after != in.begin() && address < std::prev(after)->second;
}

bool L2Cache::stands_before(std::uint64_t address, std::uint32_t bytes) const {
  return contains(ranges_, address) && contains(ranges_, address + bytes - 1);
}

bool L2Cache::drops_float_atomics(std::uint64_t address) {
  const Lock lock(mutex_);
  return contains(without_float_atomics_, address);
}

void L2Cache::add(std::uint64_t base, std::uint64_t bytes) {
  const Lock lock(mutex_);
  ranges_[base] = base + bytes;
}

void L2Cache::drop_float_atomics(std::uint64_t base, std::uint64_t bytes) {
  const Lock lock(mutex_);
  without_float_atomics_[base] = base + bytes;
}

void L2Cache::remove(std::uint64_t base) noexcept {
  const Lock lock(mutex_);
  without_float_atomics_.erase(base);
  const auto found = ranges_.find(base);
  if (found == ranges_.end()) return;
  std::erase_if(lines_, [&](const auto& line) {
    const std::uint64_t address = line.first * cache_line_bytes;
    return address >= found->first && address < found->second;
  });
  ranges_.erase(found);
  changes_.fetch_add(1, std::memory_order_release);
}

void L2Cache::keep_line(std::uint64_t number) {
  const std::uint64_t begin = number * cache_line_bytes;
  {
    const Lock lock(mutex_);
    const auto found = lines_.find(number);
    if (!contains(ranges_, begin) || (found != lines_.end() && found->second.valid == ~std::uint64_t{0})) return;
  }
  while (true) {
    const std::uint64_t before = changes_.load(std::memory_order_acquire);
    std::array<std::uint64_t, cache_line_bytes / 8> words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = runtime::read(begin + 8 * i, 8);
    const Lock lock(mutex_);
    if (changes_.load(std::memory_order_relaxed) != before) continue;
    Line& line = lines_[number];
    const auto* from = reinterpret_cast<const std::byte*>(words.data());
    for (std::size_t i = 0; i < cache_line_bytes; ++i)
      if ((line.valid >> i & 1) == 0) line.bytes.at(i) = from[i];
    line.valid = ~std::uint64_t{0};
    return;
  }
}

std::uint64_t L2Cache::read(std::uint64_t address, std::uint32_t bytes) {
  if (keeps_reads_)
    for_each_line(address, bytes,
                  [this](std::uint64_t number, std::size_t, std::uint32_t, std::uint32_t) { keep_line(number); });
  while (true) {
    const std::uint64_t before = changes_.load(std::memory_order_acquire);
    std::uint64_t value = runtime::read(address, bytes);  // before the lock: it may fault
    const Lock lock(mutex_);
    if (changes_.load(std::memory_order_relaxed) != before) continue;  // memory is newer than what was read
    for_each_line(address, bytes, [&](std::uint64_t number, std::size_t offset, std::uint32_t at, std::uint32_t size) {
      const auto line = lines_.find(number);
      if (line == lines_.end()) return;
      for (std::uint32_t i = 0; i < size; ++i)
        if ((line->second.valid >> (offset + i) & 1) != 0)
          std::memcpy(reinterpret_cast<std::byte*>(&value) + at + i, &line->second.bytes.at(offset + i), 1);
    });
    return value;
  }
}

void L2Cache::write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
  bool is_kept = false;
  {
    const Lock lock(mutex_);
    is_kept = stands_before(address, bytes);
    if (is_kept)
      for_each_line(address, bytes,
                    [&](std::uint64_t number, std::size_t offset, std::uint32_t at, std::uint32_t size) {
                      lines_[number].put(offset, reinterpret_cast<const std::byte*>(&value) + at, size);
                    });
  }
  if (!is_kept) runtime::write(address, value, bytes);
}

void L2Cache::write_back(std::uint64_t number, Line& line) noexcept {
  for (std::size_t at = 0; at < cache_line_bytes; ++at)
    if ((line.dirty >> at & 1) != 0)
      runtime::write(number * cache_line_bytes + at, static_cast<std::uint64_t>(line.bytes.at(at)), 1);
  line.dirty = 0;
}

void L2Cache::write_back() noexcept {
  const Lock lock(mutex_);
  for (auto& [number, line] : lines_) write_back(number, line);
  if (!keeps_reads_) lines_.clear();
  changes_.fetch_add(1, std::memory_order_release);
}

void L2Cache::invalidate() noexcept {
  const Lock lock(mutex_);
  for (auto line = lines_.begin(); line != lines_.end();) {
    line->second.valid = line->second.dirty;
    line = line->second.valid == 0 ? lines_.erase(line) : std::next(line);
  }
  changes_.fetch_add(1, std::memory_order_release);
}

void L2Cache::make_way(std::uint64_t address, std::uint32_t bytes) noexcept {
  const Lock lock(mutex_);
  for_each_line(address, bytes, [this](std::uint64_t number, std::size_t, std::uint32_t, std::uint32_t) {
    const auto found = lines_.find(number);
    if (found == lines_.end()) return;
    write_back(number, found->second);
    lines_.erase(found);
    changes_.fetch_add(1, std::memory_order_release);
  });
}

L2Caches::L2Caches(unsigned count, bool drops_float_atomics) : drops_float_atomics_(drops_float_atomics) {
  for (unsigned i = 0; i < count; ++i) caches_.emplace_back(count > 1);
}

void L2Caches::add(std::uint64_t base, std::uint64_t bytes) {
  for (L2Cache& cache : caches_) cache.add(base, bytes);
}

void L2Caches::add_fine_grained(std::uint64_t base, std::uint64_t bytes) {
  if (!drops_float_atomics_) return;
  for (L2Cache& cache : caches_) cache.drop_float_atomics(base, bytes);
}

void L2Caches::remove(std::uint64_t base) noexcept {
  for (L2Cache& cache : caches_) cache.remove(base);
}

void L2Caches::write_back() noexcept {
  for (L2Cache& cache : caches_) cache.write_back();
}

void L2Caches::invalidate() noexcept {
  for (L2Cache& cache : caches_) cache.invalidate();
}

void L2Caches::make_way(std::uint64_t address, std::uint32_t bytes) noexcept {
  for (L2Cache& cache : caches_) cache.make_way(address, bytes);
}

namespace runtime {

void write_back_l2(WaveState* state) {
  if (state->caches != nullptr && state->caches->l2() != nullptr) state->caches->l2()->write_back();
}

void invalidate_l2(WaveState* state) {
  if (state->caches != nullptr && state->caches->l2() != nullptr) state->caches->l2()->invalidate();
}

}  // namespace runtime
}  // namespace softgpu::compute
