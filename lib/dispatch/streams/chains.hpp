// A recording's steps as chains, and clusters of chains that share a queue.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dispatch/streams/dependencies.hpp"

namespace fastdispatch::detail {

// A cluster is a set of steps that belong into one queue: a chain of steps that come after one another, and short
// chains that begin or end at it. A short chain is not worth a wait for another queue.
struct Clusters {
  std::vector<std::size_t> of_step;
  std::vector<std::size_t> sizes;  // in steps
};

[[nodiscard]] Clusters clusters_of(const Dependencies& dependencies, std::span<const std::size_t> depths);

// A queue for each cluster, so that all of the `queues` get about as many steps.
[[nodiscard]] std::vector<std::size_t> spread(const Clusters& clusters, std::size_t queues);

}  // namespace fastdispatch::detail
