#include "dispatch/streams/chains.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

namespace fastdispatch::detail {
namespace {

// A wait into a chain and a wait out of it cost as much as two barrier bits that hold up only their own queue.
constexpr std::size_t worth_a_queue = 3;

struct Edge {
  std::size_t from;
  std::size_t to;
  std::size_t path;  // the steps of the longest path through it
};

std::vector<Edge> longest_paths_first(const Dependencies& dependencies, std::span<const std::size_t> depths) {
  const std::size_t steps = depths.size();
  std::vector<std::size_t> heights(steps);  // the length of the longest path behind each step
  for (std::size_t to = steps; to-- > 0;)
    for (const std::size_t from : dependencies[to]) heights[from] = std::max(heights[from], heights[to] + 1);
  std::vector<Edge> edges;
  for (std::size_t to = 0; to < steps; ++to)
    for (const std::size_t from : dependencies[to]) edges.push_back({from, to, depths[from] + heights[to] + 2});
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.path > b.path; });
  return edges;
}

// Disjoint sets of numbers that can be united. Each set is named by one of its members.
class DisjointSets {
public:
  explicit DisjointSets(std::size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), 0); }
  std::size_t find(std::size_t member) {
    while (parents_[member] != member) member = parents_[member] = parents_[parents_[member]];
    return member;
  }
  void unite(std::size_t a, std::size_t b) { parents_[find(b)] = find(a); }

private:
  std::vector<std::size_t> parents_;
};

}  // namespace

Clusters clusters_of(const Dependencies& dependencies, std::span<const std::size_t> depths) {
  const std::size_t steps = depths.size();
  const std::vector<Edge> edges = longest_paths_first(dependencies, depths);

  // In its chain, each step has at most one successor and at most one predecessor.
  DisjointSets chains(steps);
  std::vector<bool> has_next(steps);
  std::vector<bool> has_previous(steps);
  for (const auto& [from, to, path] : edges) {
    if (has_next[from] || has_previous[to]) continue;
    has_next[from] = has_previous[to] = true;
    chains.unite(from, to);
  }

  // A short chain joins a chain that it depends on or that depends on it. Each short chain joins once, so that it never
  // connects two long chains.
  std::vector<std::size_t> lengths(steps);
  for (std::size_t step = 0; step < steps; ++step) ++lengths[chains.find(step)];
  DisjointSets joined = chains;
  std::vector<bool> has_joined(steps);
  const auto join = [&](std::size_t chain, std::size_t other) {
    if (lengths[chain] >= worth_a_queue || has_joined[chain]) return false;
    has_joined[chain] = true;
    joined.unite(other, chain);
    return true;
  };
  for (const auto& [from, to, path] : edges) {
    const std::size_t before = chains.find(from);
    const std::size_t after = chains.find(to);
    if (before != after && !join(before, after)) join(after, before);
  }

  Clusters clusters{std::vector<std::size_t>(steps), {}};
  std::vector<std::optional<std::size_t>> numbers(steps);
  for (std::size_t step = 0; step < steps; ++step) {
    auto& number = numbers[joined.find(step)];
    if (!number) {
      number = clusters.sizes.size();
      clusters.sizes.push_back(0);
    }
    clusters.of_step[step] = *number;
    ++clusters.sizes[*number];
  }
  return clusters;
}

std::vector<std::size_t> spread(const Clusters& clusters, std::size_t queues) {
  std::vector<std::size_t> largest_first(clusters.sizes.size());
  std::iota(largest_first.begin(), largest_first.end(), 0);
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [&](std::size_t a, std::size_t b) { return clusters.sizes[a] > clusters.sizes[b]; });
  std::vector<std::size_t> result(clusters.sizes.size());
  std::vector<std::size_t> loads(queues);
  for (const std::size_t cluster : largest_first) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += clusters.sizes[cluster];
    result[cluster] = static_cast<std::size_t>(least - loads.begin());
  }
  return result;
}

}  // namespace fastdispatch::detail
