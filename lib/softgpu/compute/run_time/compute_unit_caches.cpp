#include "softgpu/compute/run_time/compute_unit_caches.hpp"

#include <cstring>
#include <utility>

#include "softgpu/compute/run_time/l2_cache.hpp"
#include "softgpu/compute/run_time/lane_memory.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
ReadCache::Line* ReadCache::find(std::uint64_t number) {
  Line& line = place_of(number);
  return line.number == number && line.generation == generation_ ? &line : nullptr;
}

ReadCache::Line& ReadCache::filled(std::uint64_t number) {
  if (Line* found = find(number)) return *found;
  const auto below = [this](std::uint64_t address) {
    return l2_ != nullptr ? l2_->read(address, 8) : runtime::read(address, 8);
  };
  Line& line = place_of(number);
  line.number = nothing;
  for (std::size_t i = 0; i < line.words.size(); ++i) line.words[i] = below(number * cache_line_bytes + 8 * i);
  line.generation = generation_;
  line.number = number;
  return line;
}

std::uint64_t ReadCache::read(std::uint64_t address, std::uint32_t bytes) {
  std::uint64_t value = 0;
  for_each_line(address, bytes, [&](std::uint64_t number, std::size_t offset, std::uint32_t at, std::uint32_t size) {
    std::memcpy(reinterpret_cast<std::byte*>(&value) + at,
                reinterpret_cast<const std::byte*>(filled(number).words.data()) + offset, size);
  });
  return value;
}

void ReadCache::written(std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
  for_each_line(address, bytes, [&](std::uint64_t number, std::size_t offset, std::uint32_t at, std::uint32_t size) {
    if (Line* line = find(number))
      std::memcpy(reinterpret_cast<std::byte*>(line->words.data()) + offset,
                  reinterpret_cast<const std::byte*>(&value) + at, size);
  });
}

void ReadCache::forget(std::uint64_t address, std::uint32_t bytes) {
  for_each_line(address, bytes, [&](std::uint64_t number, std::size_t, std::uint32_t, std::uint32_t) {
    if (Line* line = find(number)) line->number = nothing;
  });
}

void ComputeUnitCaches::write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
  l2_ != nullptr ? l2_->write(address, value, bytes) : runtime::write(address, value, bytes);
  vector.written(address, value, bytes);
}

void ComputeUnitCaches::make_way(std::uint64_t address, std::uint32_t bytes) {
  if (l2_ != nullptr) l2_->write_back(address, bytes);
  vector.forget(address, bytes);
}

void ComputeUnitCaches::invalidate() noexcept {
  vector.invalidate();
  scalar.invalidate();
}

void ComputeUnitCaches::catch_up(std::uint64_t acquires) noexcept {
  if (std::exchange(acquires_, acquires) != acquires) invalidate();
}

namespace runtime {

void invalidate_vector_cache(WaveState* state) {
  if (state->caches != nullptr) state->caches->vector.invalidate();
}

void invalidate_scalar_cache(WaveState* state) {
  if (state->caches != nullptr) state->caches->scalar.invalidate();
}

void load_scalars(WaveState* state, std::uint64_t address, std::uint32_t mask) {
  for (unsigned d = 0; d < 16; ++d) {
    if ((mask >> d & 1) == 0) {
      state->lane_data[0][d] = 0;
      continue;
    }
    const std::uint64_t from = address + std::uint64_t{4} * d;
    ReadCache* cache = state->caches != nullptr && !is_in_packet(*state, from) ? &state->caches->scalar : nullptr;
    if (cache != nullptr && state->wants_current_value != 0) cache->forget(from, 4);
    state->lane_data[0][d] = static_cast<std::uint32_t>(cache != nullptr ? cache->read(from, 4) : read(from, 4));
  }
}

void make_way_for_scalars(WaveState* state, std::uint64_t address, std::uint32_t bytes) {
  if (state->caches == nullptr) return;
  state->caches->make_way(address, bytes);
  state->caches->scalar.forget(address, bytes);
}

}  // namespace runtime
}  // namespace softgpu::compute
