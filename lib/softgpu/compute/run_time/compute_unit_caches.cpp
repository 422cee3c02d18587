#include "softgpu/compute/run_time/compute_unit_caches.hpp"

#include <cstring>
#include <utility>

#include "softgpu/compute/run_time/l2_cache.hpp"
#include "softgpu/compute/run_time/lane_memory.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

std::uint64_t ReadCache::Source::read(std::uint64_t address, std::uint32_t bytes) const {
  if (cache != nullptr) return cache->read(address, bytes);
  return l2 != nullptr ? l2->read(address, bytes) : runtime::read(address, bytes);
}

ReadCache::Line* ReadCache::find(std::uint64_t number) {
  Line& line = place_of(number);
  return line.number == number && line.generation == generation_ ? &line : nullptr;
}

ReadCache::Line& ReadCache::filled(std::uint64_t number) {
  if (Line* found = find(number)) return *found;
  Line& line = place_of(number);
  line.number = nothing;
  for (std::size_t i = 0; i < line.words.size(); ++i)
    line.words[i] = source_.read(number * cache_line_bytes + 8 * i, 8);
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

ComputeUnitCaches::ComputeUnitCaches(std::uint32_t compute_unit, L2Caches* l2s, bool has_shader_array_cache)
    : l2s_(l2s), l2_(l2s != nullptr ? &l2s->of_compute_unit(compute_unit) : nullptr),
      shader_array_(has_shader_array_cache ? shader_array_lines : 1, {.l2 = l2_}),
      has_shader_array_cache_(has_shader_array_cache), vector_{ReadCache(vector_lines, source()),
                                                               ReadCache(vector_lines, source())},
      scalar_(scalar_lines, source()) {}

ReadCache::Source ComputeUnitCaches::source() noexcept {
  return {.cache = has_shader_array_cache_ ? &shader_array_ : nullptr, .l2 = l2_};
}

void ComputeUnitCaches::forget_past(GoesPast caches, std::uint64_t address, std::uint32_t bytes) {
  if (caches != GoesPast::all) return;
  if (has_shader_array_cache_) shader_array_.forget(address, bytes);
  if (l2s_ != nullptr && l2s_->are_several()) l2_->make_way(address, bytes);
}

std::uint64_t ComputeUnitCaches::read(unsigned cache, std::uint64_t address, std::uint32_t bytes, GoesPast caches) {
  if (caches != GoesPast::nothing) vector_.at(cache).forget(address, bytes);
  forget_past(caches, address, bytes);
  return vector_.at(cache).read(address, bytes);
}

void ComputeUnitCaches::write(unsigned cache, std::uint64_t address, std::uint64_t value, std::uint32_t bytes,
                              GoesPast caches) {
  const bool reaches_memory = l2s_ == nullptr || (caches == GoesPast::all && l2s_->are_several());
  if (reaches_memory && l2_ != nullptr) l2_->make_way(address, bytes);
  reaches_memory ? runtime::write(address, value, bytes) : l2_->write(address, value, bytes);
  if (has_shader_array_cache_) shader_array_.written(address, value, bytes);
  vector_.at(cache).written(address, value, bytes);
}

std::uint32_t ComputeUnitCaches::read_scalar(std::uint64_t address, GoesPast caches) {
  if (caches != GoesPast::nothing) scalar_.forget(address, 4);
  forget_past(caches, address, 4);
  return static_cast<std::uint32_t>(scalar_.read(address, 4));
}

void ComputeUnitCaches::make_way(std::uint64_t address, std::uint32_t bytes) {
  if (l2s_ != nullptr) l2s_->make_way(address, bytes);
  for (ReadCache& cache : vector_) cache.forget(address, bytes);
  shader_array_.forget(address, bytes);
}

void ComputeUnitCaches::make_way_for_scalars(std::uint64_t address, std::uint32_t bytes) {
  make_way(address, bytes);
  scalar_.forget(address, bytes);
}

void ComputeUnitCaches::invalidate() noexcept {
  for (ReadCache& cache : vector_) cache.invalidate();
  shader_array_.invalidate();
  scalar_.invalidate();
}

void ComputeUnitCaches::catch_up(std::uint64_t acquires) noexcept {
  if (std::exchange(acquires_, acquires) != acquires) invalidate();
}

void ComputeUnitCaches::leave() noexcept {
  if (l2s_ != nullptr && l2s_->are_several()) l2_->write_back();
}

void ComputeUnitCaches::take_over() noexcept {
  if (l2s_ != nullptr && l2s_->are_several()) l2_->invalidate();
  invalidate();
}

namespace runtime {

void invalidate_vector_cache(WaveState* state) {
  if (state->caches != nullptr) state->caches->invalidate_vector(state->vector_cache);
}

void invalidate_shader_array_cache(WaveState* state) {
  if (state->caches != nullptr) state->caches->invalidate_shader_array();
}

void invalidate_scalar_cache(WaveState* state) {
  if (state->caches != nullptr) state->caches->invalidate_scalar();
}

void load_scalars(WaveState* state, std::uint64_t address, std::uint32_t mask) {
  for (unsigned d = 0; d < 16; ++d) {
    if ((mask >> d & 1) == 0) {
      state->lane_data[0][d] = 0;
      continue;
    }
    const std::uint64_t from = address + std::uint64_t{4} * d;
    state->lane_data[0][d] = state->caches != nullptr && !is_in_packet(*state, from)
                                 ? state->caches->read_scalar(from, state->goes_past)
                                 : static_cast<std::uint32_t>(read(from, 4));
  }
}

void make_way_for_scalars(WaveState* state, std::uint64_t address, std::uint32_t bytes) {
  if (state->caches != nullptr) state->caches->make_way_for_scalars(address, bytes);
}

}  // namespace runtime
}  // namespace softgpu::compute
