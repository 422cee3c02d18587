#include "dispatch/record/batch_parameters.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

std::uint64_t next_recording() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

BatchParameters::BatchParameters() : recording_(next_recording()) {}

ParameterId BatchParameters::add(std::string name) {
  names_.push_back(std::move(name));
  return {recording_, static_cast<std::uint32_t>(names_.size() - 1)};
}

void BatchParameters::check(ParameterId id) const {
  if (id.recording == recording_) return;
  throw Error("a parameter of another batch, or of this one before it was cleared: take one from Batch::parameter");
}

void BatchParameters::add_use(const ParameterUse& use, std::size_t dispatch, std::size_t kernarg) {
  arguments_.push_back(
      {.parameter = use.id.index, .size = use.slot.size, .offset = kernarg + use.slot.offset, .dispatch = dispatch});
}

void BatchParameters::add_grid(ParameterId id, std::size_t dispatch, const KernelInfo& kernel,
                               std::uint64_t local_memory, std::size_t kernarg) {
  grids_.push_back({.parameter = id.index,
                    .kernel = &kernel,
                    .local_memory = local_memory,
                    .dispatch = dispatch,
                    .kernarg = kernarg});
}

void BatchParameters::clear() { *this = {}; }

BatchParameters BatchParameters::select(std::span<const Moved> moved) const {
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t number = 0; number < moved.size(); ++number) numbers.emplace(moved[number].dispatch, number);

  BatchParameters result(*this);
  result.arguments_.clear();
  result.grids_.clear();
  for (ArgumentUse use : arguments_) {
    const auto number = numbers.find(use.dispatch);
    if (number == numbers.end()) continue;
    const Moved& block = moved[number->second];
    use.dispatch = number->second;
    use.offset = use.offset - block.kernarg_in_whole + block.kernarg;
    result.arguments_.push_back(use);
  }
  for (GridUse use : grids_) {
    const auto number = numbers.find(use.dispatch);
    if (number == numbers.end()) continue;
    use.dispatch = number->second;
    use.kernarg = moved[number->second].kernarg;
    result.grids_.push_back(use);
  }
  return result;
}

std::string BatchParameters::describe(std::size_t index) const {
  if (names_[index].empty()) return fmt::format("parameter {} of the batch's {}", index + 1, names_.size());
  return fmt::format("the batch's parameter \"{}\"", names_[index]);
}

void BatchParameters::check(std::span<ParameterValue> values, Agent agent) const {
  for (const ParameterValue& value : values) check(value.id);
  std::sort(values.begin(), values.end(),
            [](const ParameterValue& a, const ParameterValue& b) { return a.id.index < b.id.index; });
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].id.index < i) throw Error(fmt::format("{} is set twice", describe(values[i].id.index)));
    if (values[i].id.index > i) break;
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i < values.size() && values[i].id.index == i) continue;
    throw Error(fmt::format("{} is not set: pass fastdispatch::set(parameter, value) to Queue::submit", describe(i)));
  }
  for (const GridUse& use : grids_)
    check_dispatch(*use.kernel, *static_cast<const Grid*>(values[use.parameter].object), use.local_memory, agent);
}

void BatchParameters::apply(std::span<const ParameterValue> values, std::span<Packet> packets,
                            std::span<const std::size_t> dispatches, std::byte* kernargs) const noexcept {
  for (const ArgumentUse& use : arguments_) {
    const void* value = values[use.parameter].object;
    std::byte* argument = kernargs + use.offset;
    // A copy of a known size is a load and a store, any other a call.
    if (use.size == sizeof(std::uint32_t))
      std::memcpy(argument, value, sizeof(std::uint32_t));
    else if (use.size == sizeof(std::uint64_t))
      std::memcpy(argument, value, sizeof(std::uint64_t));
    else
      std::memcpy(argument, value, use.size);
  }
  for (const GridUse& use : grids_) {
    const Grid& grid = *static_cast<const Grid*>(values[use.parameter].object);
    std::byte* kernarg = kernargs + use.kernarg;
    Packet& packet = packets[dispatches[use.dispatch]];
    const hsa_signal_t completion_signal = packet.completion_signal();
    packet = dispatch_packet(*use.kernel, grid, use.local_memory, kernarg, packet.header().ordering);
    packet.set_completion_signal(completion_signal);
    write_grid_arguments(*use.kernel, grid, kernarg);
  }
}

}  // namespace fastdispatch::detail
