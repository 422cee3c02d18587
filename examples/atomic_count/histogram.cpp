#include "histogram.hpp"

#include <atomic_count_code_object.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace fd = fastdispatch;

namespace {

// The kernels of kernels/atomic_count.hip, but for the one in LDS.
using InMemory = void(std::uint32_t* counters, std::uint32_t bins, std::uint32_t items);
using InOwn = void(std::uint32_t* counters, std::uint32_t* own, std::uint32_t bins, std::uint32_t items,
                   std::uint32_t grid_size);

constexpr std::uint32_t group_size = 256;

constexpr std::uint32_t groups_for(std::uint32_t work_items) { return (work_items + group_size - 1) / group_size; }

// Whole groups: surplus work-items do nothing in the kernels.
fd::Grid grid_of(std::uint32_t groups, std::uint32_t windows = 1) {
  return fd::grid(groups * group_size, windows).group(group_size);
}

// Clearing a work-group's counters and adding them to memory costs the same for one increment a work-item as for many.
// So there are only enough groups to keep every compute unit busy, with several increments for each work-item.
std::uint32_t few_groups_for(std::uint32_t work_items, fd::Agent gpu) {
  constexpr std::uint32_t increments_each = 16;
  return std::min(groups_for(work_items / increments_each + 1), gpu.compute_units());
}

}  // namespace

Histogram::Histogram(fd::Agent gpu, const Options& options)
    : gpu_(gpu), module_(fd::Module::load(gpu, code_objects::atomic_count(), "atomic_count")), queue_(gpu),
      bins_(options.bins), items_(options.work_items), fences_(options.fences),
      few_groups_(few_groups_for(items_, gpu)), counters_(gpu, bins_),
      own_(gpu, std::size_t{groups_with_own(gpu.wavefront_size())} * bins_) {
  const Counters zeros(own_.size());
  fd::copy(own_, std::span(zeros));
}

std::uint32_t Histogram::groups_with_own(std::uint32_t size) const {
  constexpr std::uint32_t room = 1U << 22U;  // counters: 16 MiB
  return std::clamp(room / bins_, 1U, few_groups_ * group_size / size);
}

std::vector<Variant> Histogram::variants() {
  // Half of a compute unit's LDS, so that the unit holds two groups: one counts while the other waits. If the bins do
  // not fit, several groups count, each group one window of the bins.
  const auto room = static_cast<std::uint32_t>(gpu_.properties().lds_bytes / 2 / sizeof(std::uint32_t));
  const std::uint32_t width = std::min(bins_, room);

  // With as many copies of each counter as LDS has banks, no two lanes of a wavefront meet in one bank.
  constexpr std::uint32_t bank_bits = 5;
  const std::uint32_t copy_bits = std::min(bank_bits, static_cast<std::uint32_t>(std::bit_width(room / width)) - 1);

  std::vector<Variant> variants;
  variants.push_back({"no atomics", true, in_memory("count_without_atomics")});
  variants.push_back({"atomics in memory", false, in_memory("count_in_memory")});
  variants.push_back({"+ system scope", false, in_memory("count_at_system_scope")});
  variants.push_back({"+ together in a wavefront", false, in_memory("count_by_wavefronts")});
  variants.push_back({"a wavefront's own, wavefront scope", false,
                      in_own_counters("count_at_wavefront_scope", gpu_.wavefront_size())});
  variants.push_back({"a group's own, group scope", false, in_own_counters("count_at_group_scope", group_size)});
  variants.push_back({"atomics in LDS", false, in_lds(groups_for(items_), {width, 0})});
  variants.push_back({"+ fewer groups", false, in_lds(few_groups_, {width, 0})});
  variants.push_back(
      {"+ copies in LDS: " + std::to_string(1U << copy_bits), false, in_lds(few_groups_, {width, copy_bits})});
  return variants;
}

fd::Batch Histogram::new_batch() const { return fd::Batch(gpu_, {.fences = fences_}); }

fd::Batch Histogram::in_memory(const char* kernel) {
  fd::Batch batch = new_batch();
  batch.dispatch(module_.kernel<InMemory>(kernel), grid_of(groups_for(items_)), counters_, bins_, items_);
  return batch;
}

fd::Batch Histogram::in_own_counters(const char* kernel, std::uint32_t size) {
  const fd::Grid grid = fd::grid(groups_with_own(size) * size).group(size);
  fd::Batch batch = new_batch();
  batch.dispatch(module_.kernel<InOwn>(kernel), grid, counters_, own_, bins_, items_, grid.size[0]);
  return batch;
}

fd::Batch Histogram::in_lds(std::uint32_t groups, Window window) {
  const auto kernel =
      module_.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t, Window)>("count_in_lds");
  const std::uint32_t windows = (bins_ + window.width - 1) / window.width;
  const std::uint32_t lds_bytes = (window.width << window.copy_bits) * std::uint32_t{sizeof(std::uint32_t)};
  const fd::Grid grid = grid_of(groups, windows).dynamic_lds(lds_bytes);
  fd::Batch batch = new_batch();
  batch.dispatch(kernel, grid, counters_, bins_, items_, grid.size[0], window);
  return batch;
}

void Histogram::clear() { fd::copy(counters_, std::span<const std::uint32_t>(Counters(bins_))); }

Counters Histogram::read() const {
  Counters counters(bins_);
  fd::copy(std::span(counters), counters_);
  return counters;
}
