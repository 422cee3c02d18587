#include "fastdispatch/batch.hpp"

#include <algorithm>
#include <atomic>
#include <forward_list>
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
  using Image = std::shared_ptr<const BatchImage>;

  BatchRecording(Agent on, BatchOptions options) : agent(on), fences(options.fences) {}

  // After every change: submissions in flight keep the image that they were made with.
  void changed() {
    latest_ = nullptr;
    images_.clear();
  }

  // Several threads may submit at once. A replay takes no lock and counts no reference: images stay until a change.
  [[nodiscard]] const Image& image(const hsa_queue_t* queue) {
    const auto fits = [queue](const Image& image) { return image->queue == nullptr || image->queue == queue; };
    if (const Image* latest = latest_.load(std::memory_order_acquire); latest != nullptr && fits(*latest))
      return *latest;
    const std::scoped_lock lock(image_mutex_);
    const auto made = std::find_if(images_.begin(), images_.end(), fits);
    const Image& image = made != images_.end() ? *made : images_.emplace_front(make_image(queue));
    latest_.store(&image, std::memory_order_release);
    return image;
  }

  Agent agent;
  Fences fences;
  std::vector<Step> steps;
  std::vector<std::byte> kernargs;  // the blocks of all dispatches
  std::size_t copies = 0;

private:
  [[nodiscard]] Image make_image(const hsa_queue_t* queue) const {
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

  std::mutex image_mutex_;
  std::forward_list<Image> images_;  // one for any queue, or one for each that it was submitted to
  std::atomic<const Image*> latest_ = nullptr;
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

const std::shared_ptr<const detail::BatchImage>& Batch::image(const hsa_queue_t* queue) {
  return recording_->image(queue);
}

}  // namespace fastdispatch
