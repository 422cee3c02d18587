#include "variants.hpp"

#include <fibonacci_code_object.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace fd = fastdispatch;

namespace {

// The kernels of kernels/fibonacci.hip.
using OneGroup = void(double* numbers, std::uint32_t count, std::uint32_t repetitions);
using AnyNumber = void(double* numbers, std::uint32_t count, std::uint32_t repetitions, std::uint32_t stride);
using ByTable = void(double* numbers, const double* table, std::uint32_t count, std::uint32_t repetitions,
                     std::uint32_t stride);

std::string items(std::uint32_t number) {
  return std::to_string(number) + (number == 1 ? " work-item" : " work-items");
}

}  // namespace

Variants::Variants(fd::Queue& queue, const Options& options)
    : queue_(queue), module_(fd::Module::load(queue.agent(), code_objects::fibonacci(), "fibonacci")),
      fences_(options.fences), count_(static_cast<std::uint32_t>(options.count)),
      repetitions_(static_cast<std::uint32_t>(options.repetitions)),
      host_(queue.agent(), options.count * options.repetitions), device_(queue.agent(), host_.size()),
      table_(queue.agent(), options.work_items + 1) {
  const std::vector<long double> sequence = fibonacci_numbers(table_.size());
  const std::vector<double> table(sequence.begin(), sequence.end());
  fd::copy(table_, std::span(table));

  const Way way = options.destination == Destination::device ? Way::to_device : Way::to_host;
  const auto by_one_group = [this](const char* kernel, const fd::Grid& grid) {
    return [this, kernel, grid](Way to) { return one_group(kernel, grid, to); };
  };
  add({.name = "one work-item"}, way, by_one_group("serial", fd::grid(1)));
  add({.name = "without writing", .written = Written::last_number}, way, by_one_group("without_writing", fd::grid(1)));
  add({.name = "without computing", .written = Written::ones}, way, by_one_group("without_computing", fd::grid(1)));
  add({.name = "through LDS"}, way, by_one_group("through_lds", fd::grid(queue.agent().wavefront_size())));
  if (way == Way::to_host)
    add({.name = "in device memory, copied"}, Way::through_device, by_one_group("serial", fd::grid(1)));

  const std::uint32_t k = options.work_items;
  const std::uint32_t last = options.sweep ? most_work_items : k;
  for (std::uint32_t n = options.sweep ? 1 : k; n <= last; n *= 2) {
    add({.name = "look-ahead, " + items(n), .work_items = n, .drawn = Drawn::as_point}, way,
        [this, n](Way to) { return look_ahead(n, to); });
  }
  add({.name = "look-ahead by a table, " + items(k), .work_items = k, .drawn = Drawn::not_at_all}, way,
      [this, k](Way to) { return look_ahead_by_table(k, to); });
}

void Variants::clear() {
  std::fill(host_.begin(), host_.end(), std::numeric_limits<double>::quiet_NaN());
  fd::copy(device_, host_);
}

void Variants::add(Variant variant, Way way, const std::function<Submit(Way)>& prepare) {
  variant.submit = prepare(way);
  if (way == Way::to_device) variant.submit_with_copy = prepare(Way::through_device);
  variants_.push_back(std::move(variant));
}

Submit Variants::one_group(const char* kernel, const fd::Grid& grid, Way way) {
  fd::Batch& batch = batches_.emplace_back(new_batch());
  batch.dispatch(module_.kernel<OneGroup>(kernel), grid, memory(way), count_, repetitions_);
  record_copy(way, batch);
  return [this, &batch] { return queue_.submit(batch); };
}

Submit Variants::look_ahead(std::uint32_t work_items, Way way) {
  if (!look_aheads_.contains(way)) look_aheads_.emplace(way, record_look_ahead(way));
  const LookAhead& recorded = look_aheads_.at(way);
  return [this, &recorded, work_items] {
    return queue_.submit(recorded.batch, fd::set(recorded.grid, fd::grid(work_items)),
                         fd::set(recorded.stride, work_items));
  };
}

Variants::LookAhead Variants::record_look_ahead(Way way) {
  fd::Batch batch = new_batch();
  const auto grid = batch.parameter<fd::Grid>("grid");
  const auto stride = batch.parameter<std::uint32_t>("stride");
  batch.dispatch(module_.kernel<AnyNumber>("look_ahead"), grid, memory(way), count_, repetitions_, stride);
  record_copy(way, batch);
  return {std::move(batch), grid, stride};
}

Submit Variants::look_ahead_by_table(std::uint32_t work_items, Way way) {
  fd::Batch& batch = batches_.emplace_back(new_batch());
  batch.dispatch(module_.kernel<ByTable>("look_ahead_by_table"), fd::grid(work_items), memory(way), table_, count_,
                 repetitions_, work_items);
  record_copy(way, batch);
  return [this, &batch] { return queue_.submit(batch); };
}

fd::Batch Variants::new_batch() const { return fd::Batch(queue_.agent(), {.fences = fences_}); }

void Variants::record_copy(Way way, fd::Batch& batch) const {
  if (way == Way::through_device) batch.copy(host_, device_);
}
