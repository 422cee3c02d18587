#include "dispatch/record/batch_recording.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {
constexpr std::size_t kernarg_alignment = 64;  // a cache line each, so that no two dispatches share one

std::size_t block_size(const KernelInfo& kernel) {
  return (kernel.kernarg_size + kernarg_alignment - 1) / kernarg_alignment * kernarg_alignment;
}
}  // namespace

// Submissions in flight keep the version that they were made with.
void BatchRecording::changed() {
  if (version_.use_count() == 1) return;  // no queue knows it
  auto next = std::make_shared<BatchVersion>();
  version_->outdated.store(true, std::memory_order_release);
  version_ = std::move(next);
}

ParameterId BatchRecording::add_parameter(std::string name) {
  changed();
  return parameters_.add(std::move(name));
}

void BatchRecording::check(const Checked& dispatch) {
  check_dispatch(*dispatch.kernel, dispatch.grid, dispatch.local_memory, agent_);
  last_checked_ = dispatch;
}

std::vector<Access> BatchRecording::resolved(std::span<const StatedAccess> accesses) const {
  std::vector<Access> result;
  if (fences_ != Fences::derived) return result;
  result.reserve(accesses.size());
  for (const StatedAccess& stated : accesses) {
    const Access access = resolve(agent_, stated);
    if (access.mode != AccessMode::none) result.push_back(access);
  }
  return result;
}

std::byte* BatchRecording::add_dispatch(const KernelInfo& kernel, const BatchGrid& grid, std::uint64_t local_memory,
                                        std::span<const ParameterUse> parameters,
                                        std::span<const StatedAccess> accesses) {
  for (const ParameterUse& use : parameters) parameters_.check(use.id);
  if (grid.is_parameter())
    parameters_.check(grid.parameter());
  else if (const Checked dispatch{&kernel, grid.grid(), local_memory}; dispatch != last_checked_)
    check(dispatch);
  std::vector<Access> touched;
  if (!accesses.empty()) touched = resolved(accesses);

  changed();
  const std::size_t start = kernargs_.size();
  kernargs_.resize(start + block_size(kernel));  // to zeros
  for (const ParameterUse& use : parameters) parameters_.add_use(use, dispatches(), start);
  if (grid.is_parameter()) parameters_.add_grid(grid.parameter(), dispatches(), kernel, local_memory, start);
  steps_.emplace_back(DispatchStep{.kernel = &kernel,
                                   .grid = grid.grid(),
                                   .local_memory = local_memory,
                                   .kernarg = start,
                                   .accesses = std::move(touched)});
  std::byte* kernarg = kernargs_.data() + start;
  if (!kernel.implicit_arguments.empty()) write_grid_arguments(kernel, grid.grid(), kernarg);
  return kernarg;
}

void BatchRecording::add_accesses(std::span<const StatedAccess> accesses) {
  auto* dispatch = steps_.empty() ? nullptr : std::get_if<DispatchStep>(&steps_.back());
  if (dispatch == nullptr) throw Error("stating what the last dispatch touches: the last step is none");
  const std::vector<Access> more = resolved(accesses);
  if (more.empty()) return;
  changed();
  dispatch->accesses.insert(dispatch->accesses.end(), more.begin(), more.end());
}

void BatchRecording::add(const CopyStep& copy) {
  changed();
  steps_.emplace_back(copy);
  ++copies_;
}

void BatchRecording::clear() {
  changed();
  steps_.clear();
  kernargs_.clear();
  parameters_.clear();
  copies_ = 0;
  last_checked_ = {};  // its kernel may be gone
}

std::unique_ptr<BatchRecording> BatchRecording::select(std::span<const std::size_t> steps) const {
  std::vector<std::size_t> dispatch_numbers;  // of each step that is a dispatch
  dispatch_numbers.reserve(steps_.size());
  for (std::size_t dispatches = 0; const Step& step : steps_)
    dispatch_numbers.push_back(std::holds_alternative<DispatchStep>(step) ? dispatches++ : dispatches);

  auto result = std::make_unique<BatchRecording>(agent_, BatchOptions{.fences = fences_});
  std::vector<BatchParameters::Moved> moved;
  for (const std::size_t number : steps) {
    Step& step = result->steps_.emplace_back(steps_[number]);
    auto* dispatch = std::get_if<DispatchStep>(&step);
    if (dispatch == nullptr) {
      ++result->copies_;
      continue;
    }
    const std::size_t start = result->kernargs_.size();
    const auto block = kernargs_.begin() + static_cast<std::ptrdiff_t>(dispatch->kernarg);
    result->kernargs_.insert(result->kernargs_.end(), block,
                             block + static_cast<std::ptrdiff_t>(block_size(*dispatch->kernel)));
    moved.push_back({.dispatch = dispatch_numbers[number], .kernarg_in_whole = dispatch->kernarg, .kernarg = start});
    dispatch->kernarg = start;
  }
  result->parameters_ = parameters_.select(moved);
  return result;
}

}  // namespace fastdispatch::detail
