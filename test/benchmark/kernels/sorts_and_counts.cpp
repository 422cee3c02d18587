#include "problem.hpp"
#include "values.hpp"

#include <algorithm>

namespace kernel_problems {
namespace {

/// The numbers, each `block` of them sorted.
std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> numbers, std::size_t block) {
  for (auto begin = numbers.begin(); begin != numbers.end(); begin += static_cast<std::ptrdiff_t>(block))
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(block));
  return numbers;
}

Problem bitonic_blocks() {
  constexpr std::uint32_t groups = 1024;
  const auto numbers = RandomNumbers(6).whole(groups * 512);
  Problem problem{.source = "bitonic_blocks"};
  const auto data = problem.add(numbers);
  problem.launches = {{"bitonic_blocks", {groups * 256, 1}, {256, 1}, {data}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    require_equal(buffers[data.number].as<std::uint32_t>(), sorted(numbers, 512));
  };
  return problem;
}

Problem bitonic_passes() {
  constexpr std::uint32_t log2_count = 15, count = 1U << log2_count;
  const auto numbers = RandomNumbers(7).whole(count);
  Problem problem{.source = "bitonic_pass"};
  const auto data = problem.add(numbers);
  for (std::uint32_t stage = 0; stage < log2_count; ++stage)
    for (std::uint32_t step = stage + 1; step-- > 0;)
      problem.launches.push_back({"bitonic_pass", {count / 2, 1}, {256, 1}, {data, stage, step}});
  problem.check = [=](std::span<const Buffer> buffers) {
    require_equal(buffers[data.number].as<std::uint32_t>(), sorted(numbers, count));
  };
  return problem;
}

Problem insertion_sort() {
  constexpr std::uint32_t items = 16384;
  const auto numbers = RandomNumbers(8).whole(items * 32);
  Problem problem{.source = "insertion_sort"};
  const auto data = problem.add(numbers);
  problem.launches = {{"insertion_sort", {items, 1}, {256, 1}, {data}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    require_equal(buffers[data.number].as<std::uint32_t>(), sorted(numbers, 32));
  };
  return problem;
}

Problem histogram() {
  constexpr std::uint32_t count = 1U << 23;
  const auto bytes = RandomNumbers(9).bytes(count);
  Problem problem{.source = "histogram"};
  const auto in = problem.add(bytes);
  const auto out = problem.add(std::vector<std::uint32_t>(256));
  problem.launches = {{"histogram", {256 * 256, 1}, {256, 1}, {in, out, count}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint32_t> counts(256);
    for (const std::uint8_t byte : bytes) ++counts[byte];
    require_equal(buffers[out.number].as<std::uint32_t>(), counts);
  };
  return problem;
}

Problem shortest_paths() {
  constexpr std::uint32_t nodes = 256;
  auto lengths = RandomNumbers(10).whole(nodes * nodes);
  for (auto& length : lengths) length %= 10000;
  Problem problem{.source = "shortest_paths"};
  const auto data = problem.add(lengths);
  for (std::uint32_t node = 0; node < nodes; ++node)
    problem.launches.push_back({"paths_by_way_of", {nodes, nodes}, {64, 4}, {data, nodes, node}});
  problem.check = [=](std::span<const Buffer> buffers) {
    auto expected = lengths;
    for (std::uint32_t node = 0; node < nodes; ++node)
      for (std::uint32_t from = 0; from < nodes; ++from)
        for (std::uint32_t to = 0; to < nodes; ++to)
          expected[from * nodes + to] =
              std::min(expected[from * nodes + to], expected[from * nodes + node] + expected[node * nodes + to]);
    require_equal(buffers[data.number].as<std::uint32_t>(), expected);
  };
  return problem;
}

}  // namespace

std::vector<NamedProblem> sorts_and_counts() {
  return {{"bitonic sort in LDS", bitonic_blocks},
          {"bitonic sort, 120 launches", bitonic_passes},
          {"insertion sort, 32 an item", insertion_sort},
          {"histogram of bytes in LDS", histogram},
          {"shortest paths, 256 launches", shortest_paths}};
}

}  // namespace kernel_problems
