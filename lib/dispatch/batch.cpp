#include "fastdispatch/batch.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/batch_image.hpp"
#include "dispatch/copy_engine.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

namespace detail {

constexpr std::size_t kernarg_alignment = 64;  // a cache line each, so that no two dispatches share one

class BatchRecording {
public:
  BatchRecording(Agent on, BatchOptions options) : agent(on), fences(options.fences) {}

  // After every change: submissions in flight keep the image that they were made with.
  void changed() { image = nullptr; }

  [[nodiscard]] std::shared_ptr<const BatchImage> make_image(const hsa_queue_t* queue) const {
    auto result = std::make_shared<BatchImage>();
    result->kernargs = PoolMemory::kernarg(agent, kernargs.size());
    std::copy(kernargs.begin(), kernargs.end(), result->kernargs.data());
    for (const Step& step : steps) {
      const auto* dispatch = std::get_if<DispatchStep>(&step);
      if (dispatch == nullptr || !dispatch->kernel->needs_queue) continue;
      result->queue = queue;
      write_queue_arguments(*dispatch->kernel, queue, result->kernargs.data() + dispatch->kernarg);
    }
    result->stream = encode(steps, fences, result->kernargs.data());
    return result;
  }

  Agent agent;
  Fences fences;
  std::vector<Step> steps;
  std::vector<std::byte> kernargs;  // the blocks of all dispatches
  std::size_t copies = 0;

  std::mutex image_mutex;  // several threads may submit at once
  std::shared_ptr<const BatchImage> image;
};

}  // namespace detail

Batch::Batch(Agent agent, BatchOptions options)
    : recording_(std::make_unique<detail::BatchRecording>(agent, options)) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

std::byte* Batch::record(const detail::KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory) {
  detail::BatchRecording& recording = *recording_;
  detail::check_dispatch(kernel, grid, local_memory, recording.agent);
  const std::size_t alignment = detail::kernarg_alignment;
  const std::size_t start = recording.kernargs.size();
  recording.kernargs.resize(start + (kernel.kernarg_size + alignment - 1) / alignment * alignment);
  recording.steps.emplace_back(
      detail::DispatchStep{.kernel = &kernel, .grid = grid, .local_memory = local_memory, .kernarg = start});
  recording.changed();
  std::byte* kernarg = recording.kernargs.data() + start;
  detail::write_implicit_arguments(kernel, grid, kernarg);
  return kernarg;
}

void Batch::copy(const MemoryView& destination, const MemoryView& source) {
  detail::check_ranges(destination, source);
  detail::check_reachable(destination, source);
  if (source.size == 0) return;
  recording_->steps.emplace_back(detail::CopyStep{.destination = destination, .source = source});
  ++recording_->copies;
  recording_->changed();
}

void Batch::clear() {
  recording_->steps.clear();
  recording_->kernargs.clear();
  recording_->copies = 0;
  recording_->changed();
}

std::size_t Batch::dispatches() const { return recording_->steps.size() - recording_->copies; }
std::size_t Batch::copies() const { return recording_->copies; }
Agent Batch::agent() const { return recording_->agent; }

std::shared_ptr<const detail::BatchImage> Batch::image(const hsa_queue_t* queue) {
  detail::BatchRecording& recording = *recording_;
  const std::scoped_lock lock(recording.image_mutex);
  const bool fits = recording.image && (recording.image->queue == nullptr || recording.image->queue == queue);
  if (!fits) recording.image = recording.make_image(queue);
  return recording.image;
}

}  // namespace fastdispatch
