#include "softgpu/command_processor/command_processor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "softgpu/command_processor/aql_queue.hpp"
#include "softgpu/command_processor/compute_grids.hpp"
#include "softgpu/command_processor/executions.hpp"
#include "softgpu/command_processor/packet_trace.hpp"
#include "softgpu/command_processor/scheduler.hpp"
#include "softgpu/command_processor/sdma_queue.hpp"

namespace softgpu::command_processor {
namespace {

/// Doorbells keep their memory when their queue is gone, as the device's page does: a late ring does no harm.
class Doorbells {
public:
  std::uint64_t* take() {
    if (free_.empty()) {
      free_.reserve(doorbells_.size() + 1);  // give_back() allocates nothing
      return &doorbells_.emplace_back().value;
    }
    std::uint64_t* doorbell = free_.back();
    free_.pop_back();
    return doorbell;
  }
  void give_back(std::uint64_t* doorbell) { free_.push_back(doorbell); }

private:
  struct alignas(64) Doorbell {
    std::uint64_t value = 0;
  };
  std::deque<Doorbell> doorbells_;
  std::vector<std::uint64_t*> free_;
};

/// As the topology reports them.
std::uint32_t resident_waves(const Options& options, const compute::Architecture& architecture) {
  return options.compute_units * architecture.compute_unit->simds * architecture.compute_unit->most_waves_per_simd;
}

}  // namespace

struct CommandProcessor::State {
  State(const Options& chosen, Host& above)
      : options(chosen), host(above), executions(std::make_shared<Executions>(chosen.threads, chosen.time_limit)),
        scheduler(chosen.threads, executions) {
    auto runners = std::make_shared<Runners>(options.threads);
    for (const compute::EngineOptions& engine : options.engines)
      grids.emplace_back(runners, engine, options.compute_units);
  }

  struct Entry {
    std::shared_ptr<Queue> queue;
    std::uint64_t* doorbell;
    bool owns_doorbell;
  };

  Entry entry(std::uint64_t* doorbell) {
    return {.queue = nullptr,
            .doorbell = doorbell != nullptr ? doorbell : doorbells.take(),
            .owns_doorbell = doorbell == nullptr};
  }

  Options options;
  Host& host;
  std::deque<ComputeGrids> grids;  // one a GPU
  std::mutex mutex;
  std::map<std::uint64_t, Entry> queues;
  Doorbells doorbells;
  std::uint64_t next_id = 1;
  std::atomic<std::uint64_t> acquires{0};  ///< of all GPUs, whose work-groups run on the same workers
  std::shared_ptr<Executions> executions;
  Scheduler scheduler;  // last: its workers end before what they use
};

CommandProcessor::CommandProcessor(const Options& options, Host& host)
    : state_(std::make_unique<State>(options, host)) {}

CommandProcessor::~CommandProcessor() {
  for (const auto& [id, entry] : state_->queues) entry.queue->close();
}

QueueHandle CommandProcessor::create(const AqlQueueMemory& memory) {
  const std::lock_guard lock(state_->mutex);
  const std::uint64_t id = state_->next_id++;
  State::Entry entry = state_->entry(memory.doorbell);
  const compute::EngineOptions& engine = state_->options.engines[memory.gpu];
  auto queue = std::make_shared<AqlQueue>(
      AqlQueue::Setup{.id = id,
                      .memory = memory,
                      .doorbell = entry.doorbell,
                      .cores = cores(state_->options.threads),
                      .compute_units = state_->options.compute_units,
                      .resident_waves = resident_waves(state_->options, *engine.architecture),
                      .executions = state_->executions,
                      .accessible = state_->options.memory,
                      .shuffle_seed = state_->options.shuffle_seed,
                      .strict = state_->options.strict,
                      .knows_barrier_values = engine.architecture->knows_barrier_values(),
                      .acquires = engine.caches == compute::Caches::kept ? &state_->acquires : nullptr,
                      .l2s = state_->options.l2s},
      state_->grids[memory.gpu], state_->host);
  entry.queue = queue;
  state_->queues[id] = entry;
  state_->scheduler.add(std::move(queue));
  return {.id = id, .doorbell = entry.doorbell, .read_index = nullptr, .write_index = nullptr};
}

QueueHandle CommandProcessor::create(const SdmaQueueMemory& memory) {
  const std::lock_guard lock(state_->mutex);
  const std::uint64_t id = state_->next_id++;
  State::Entry entry = state_->entry(memory.doorbell);
  const bool copies_larger_boxes = state_->options.engines[memory.gpu].architecture->copies_larger_boxes();
  auto queue = std::make_shared<SdmaQueue>(id, memory, copies_larger_boxes ? sdma::gfx12_box_fields : sdma::box_fields,
                                           state_->host);
  const QueueHandle handle{
      .id = id, .doorbell = entry.doorbell, .read_index = queue->read_index(), .write_index = queue->write_index()};
  entry.queue = queue;
  state_->queues[id] = entry;
  state_->scheduler.add(std::move(queue));
  return handle;
}

bool CommandProcessor::destroy(std::uint64_t id) {
  State::Entry entry;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->queues.find(id);
    if (found == state_->queues.end()) return false;
    entry = std::move(found->second);
    state_->queues.erase(found);
  }
  state_->scheduler.remove(*entry.queue);
  entry.queue->wait_for_error_handler();
  entry.queue->close();
  const std::lock_guard lock(state_->mutex);
  if (entry.owns_doorbell) state_->doorbells.give_back(entry.doorbell);
  return true;
}

bool CommandProcessor::set_active(std::uint64_t id, bool active) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->queues.find(id);
  if (found == state_->queues.end()) return false;
  found->second.queue->set_active(active);
  return true;
}

bool CommandProcessor::ring(std::uint64_t id) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->queues.find(id);
  if (found == state_->queues.end()) return false;
  __atomic_store_n(found->second.doorbell, std::uint64_t{0}, __ATOMIC_RELEASE);  // any packet index will do
  return true;
}

bool CommandProcessor::enable_compute_units(std::uint64_t id, std::span<const std::uint32_t> mask) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->queues.find(id);
  return found != state_->queues.end() && found->second.queue->enable_compute_units(mask);
}

bool CommandProcessor::provide_global_sync(std::uint64_t id) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->queues.find(id);
  return found != state_->queues.end() && found->second.queue->provide_global_sync();
}

bool CommandProcessor::has_queue_in(std::uint64_t base, std::size_t size) {
  const std::lock_guard lock(state_->mutex);
  return std::ranges::any_of(state_->queues, [&](const auto& each) { return each.second.queue->is_in(base, size); });
}

void CommandProcessor::forget_code(std::uint64_t base, std::size_t size) {
  for (ComputeGrids& grids : state_->grids) grids.forget_code(base, size);
  if (PacketTrace* trace = state_->host.trace()) trace->forget_names(base, size);
}

void CommandProcessor::kick() { state_->scheduler.kick(); }

void CommandProcessor::stop_translating() {
  for (ComputeGrids& grids : state_->grids) grids.stop_translating();
}

std::uint64_t gpu_clock() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace softgpu::command_processor
