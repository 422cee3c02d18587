// What the workers of a scheduler share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "softgpu/command_processor/crew.hpp"
#include "softgpu/command_processor/places.hpp"
#include "softgpu/command_processor/running_dispatches.hpp"
#include "softgpu/command_processor/scheduler.hpp"
#include "softgpu/command_processor/set_aside_groups.hpp"
#include "softgpu/command_processor/waiting_groups.hpp"

namespace softgpu::command_processor {

using Queues = std::vector<std::shared_ptr<Queue>>;

/// How many ranges of work-groups a worker has begun.
struct alignas(64) Claims {
  std::atomic<std::uint64_t> value{0};
};

struct Scheduler::State {
  State(std::uint32_t workers, std::shared_ptr<Executions> what_workers_execute)
      : executions(what_workers_execute ? std::move(what_workers_execute)
                                        : std::make_shared<Executions>(workers, std::nullopt)),
        crew(workers, cores(workers)), claims(workers) {}

  const std::shared_ptr<Executions> executions;
  Crew crew;
  Places places;

  // The list of queues is replaced as a whole, so that workers read a list without a lock.
  std::mutex queues_mutex;
  std::shared_ptr<const Queues> queues = std::make_shared<Queues>();
  std::vector<std::shared_ptr<Queues>> spare_lists;  // one a queue, with room for the queues that there were then
  std::atomic<std::uint64_t> queues_version{0};

  RunningDispatches running;
  WaitingGroups waiting;
  SetAsideGroups paused;  // their turn was over: they wait for nothing but a core

  alignas(64) std::atomic<std::uint64_t> finds{0};  // about as many: workers overwrite each other's
  std::vector<Claims> claims;                       // each worker's
};

}  // namespace softgpu::command_processor
