#include "dispatch/streams/partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dispatch/streams/chains.hpp"
#include "dispatch/streams/dependencies.hpp"
#include "dispatch/streams/queue_clocks.hpp"
#include "dispatch/streams/run_order.hpp"

namespace fastdispatch::detail {
namespace {

// What is known of the steps for any number of queues.
struct StepGraph {
  explicit StepGraph(std::span<const Step> steps)
      : dependencies(dependencies_of(steps)), depths(detail::depths(dependencies)),
        clusters(clusters_of(dependencies, depths)), order(steps.size()) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return depths[a] < depths[b]; });
  }

  Dependencies dependencies;
  std::vector<std::size_t> depths;
  Clusters clusters;
  // By depth: independent steps launch side by side, and a queue needs no more barrier bits than there are depths.
  std::vector<std::size_t> order;
};

// Cuts the steps of each queue into segments: before a step that waits for another queue, and behind a step that
// another queue waits for.
class Cutter {
public:
  Cutter(const StepGraph& graph, std::size_t queues)
      : graph_(graph), queues_(queues), segment_of_(graph.order.size()), awaited_(graph.order.size()), clocks_(queues),
        open_(queues) {
    const std::vector<std::size_t> queue_of_cluster = spread(graph.clusters, queues);
    for (const std::size_t cluster : graph.clusters.of_step) queue_of_.push_back(queue_of_cluster[cluster]);
    for (std::size_t step = 0; step < queue_of_.size(); ++step)
      for (const std::size_t earlier : graph.dependencies[step])
        if (queue_of_[earlier] != queue_of_[step]) awaited_[earlier] = true;
  }

  Partition operator()() && {
    for (const std::size_t step : graph_.order) add(step);
    return {.queues = queues_, .segments = std::move(segments_)};
  }

private:
  // Steps are added to a segment until it is closed.
  struct Open {
    std::size_t segment;
    std::optional<std::size_t> awaited_depth;  // of a step that another queue waits for
  };

  void add(std::size_t step) {
    const std::size_t queue = queue_of_[step];
    const std::size_t depth = graph_.depths[step];
    std::vector<const Milestone*> needed;
    for (const std::size_t earlier : graph_.dependencies[step])
      if (const Milestone& end = ends_[segment_of_[earlier]]; !clocks_.is_known(queue, end)) needed.push_back(&end);

    std::optional<Open>& open = open_[queue];
    if (open && (!needed.empty() || (open->awaited_depth && *open->awaited_depth < depth))) open.reset();
    if (!open) {
      open = Open{segments_.size(), {}};
      Segment& segment = segments_.emplace_back(Segment{.queue = queue, .steps = {}, .waits = {}});
      clocks_.leave_out_known(queue, needed);
      for (const Milestone* end : needed) {
        clocks_.wait(queue, *end);
        const std::size_t other = end->epoch - 1;
        segment.waits.push_back(other);
        // A segment that another segment waits for is closed: further steps could make a circle of waits.
        std::optional<Open>& awaited = open_[end->queue];
        if (awaited && awaited->segment == other) awaited.reset();
      }
      ends_.push_back(clocks_.start(queue, segments_.size()));
    }
    segments_[open->segment].steps.push_back(step);
    segment_of_[step] = open->segment;
    if (awaited_[step] && !open->awaited_depth) open->awaited_depth = depth;
  }

  const StepGraph& graph_;
  std::size_t queues_;
  std::vector<std::size_t> queue_of_;
  std::vector<std::size_t> segment_of_;
  std::vector<bool> awaited_;  // another queue waits for the step
  QueueClocks clocks_;         // an epoch is a segment's number plus one
  std::vector<std::optional<Open>> open_;
  std::vector<Segment> segments_;
  std::vector<Milestone> ends_;  // of each segment
};

std::size_t count_waits(const Partition& partition, std::span<const Step> steps) {
  RunOrder order(partition.queues);
  SpreadRecording spread(partition, steps, Overlap::where_nothing_conflicts);
  std::uint64_t epoch = 0;
  const auto waits_of_run = [&] {
    std::size_t waits = 0;
    order.run(
        spread, [&](std::size_t, const Milestone&) { ++waits; }, [&](std::size_t) { return ++epoch; },
        [&] { return ++epoch; });
    return waits;
  };
  const std::size_t first = waits_of_run();
  return std::max(first, waits_of_run());
}

Partition cut(const StepGraph& graph, std::span<const Step> steps, std::size_t queues) {
  Partition result = Cutter(graph, queues)();
  result.waits = count_waits(result, steps);
  return result;
}

// The gain of several queues: how many barrier bits hold up only their own queue, in all queues but the busiest.
std::size_t private_barriers(const StepGraph& graph, const Partition& partition) {
  std::vector<std::size_t> barriers(partition.queues);
  for (const Segment& segment : partition.segments) {
    for (std::size_t i = 1; i < segment.steps.size(); ++i)
      if (graph.depths[segment.steps[i]] != graph.depths[segment.steps[i - 1]]) ++barriers[segment.queue];
  }
  return std::accumulate(barriers.begin(), barriers.end(), std::size_t{0}) -
         *std::max_element(barriers.begin(), barriers.end());
}

}  // namespace

Partition spread_over(std::span<const Step> steps, std::size_t queues) {
  const StepGraph graph(steps);
  return cut(graph, steps, std::min(queues, graph.clusters.sizes.size()));
}

Partition partition(std::span<const Step> steps, std::size_t queues) {
  const StepGraph graph(steps);
  Partition best;
  best.segments.push_back({.queue = 0, .steps = graph.order, .waits = {}});
  std::optional<std::size_t> most;
  for (std::size_t count = 2; count <= std::min(queues, graph.clusters.sizes.size()); ++count) {
    Partition candidate = cut(graph, steps, count);
    const std::size_t gain = private_barriers(graph, candidate);
    if (gain == 0 || gain < candidate.waits || (most && gain - candidate.waits <= *most)) continue;
    most = gain - candidate.waits;
    best = std::move(candidate);
  }
  return best;
}

}  // namespace fastdispatch::detail
