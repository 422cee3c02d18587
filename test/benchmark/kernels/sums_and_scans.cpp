#include "problem.hpp"
#include "values.hpp"

namespace kernel_problems {
namespace {

Problem tree_sum() {
  constexpr std::uint32_t groups = 4096, of_group = 1024;
  const auto numbers = RandomNumbers(1).small(std::size_t{groups} * of_group);
  Problem problem{.source = "tree_sum"};
  const auto in = problem.add(numbers);
  const auto out = problem.add(std::vector<float>(groups));
  problem.launches = {{"tree_sum", {groups * 256, 1}, {256, 1}, {in, out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> sums(groups);
    for (std::size_t i = 0; i < numbers.size(); ++i) sums[i / of_group] += numbers[i];
    require_equal(buffers[out.number].as<float>(), sums);
  };
  return problem;
}

Problem row_sums() {
  constexpr std::uint32_t rows = 4096, columns = 4096;
  const auto matrix = RandomNumbers(2).small(std::size_t{rows} * columns);
  Problem problem{.source = "row_sums"};
  const auto in = problem.add(matrix);
  const auto parts = problem.add(std::vector<float>(rows * 16));
  const auto out = problem.add(std::vector<float>(rows));
  problem.launches = {{"sums_of_parts", {rows * columns, 1}, {256, 1}, {in, parts}},
                      {"sums_of_rows", {rows, 1}, {256, 1}, {parts, out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> sums(rows);
    for (std::size_t i = 0; i < matrix.size(); ++i) sums[i / columns] += matrix[i];
    require_equal(buffers[out.number].as<float>(), sums);
  };
  return problem;
}

Problem atomic_sum() {
  constexpr std::uint32_t count = 1U << 23;
  const auto numbers = RandomNumbers(3).whole(count);
  Problem problem{.source = "atomic_sum"};
  const auto in = problem.add(numbers);
  const auto out = problem.add(std::vector<std::uint32_t>(1));
  problem.launches = {{"atomic_sum", {256 * 256, 1}, {256, 1}, {in, out, count}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::uint32_t sum = 0;
    for (const std::uint32_t number : numbers) sum += number;
    require_equal(buffers[out.number].as<std::uint32_t>(), std::vector{sum});
  };
  return problem;
}

Problem inclusive_scan() {
  constexpr std::uint32_t count = 4096 * 256;
  const auto numbers = RandomNumbers(4).small(count);
  Problem problem{.source = "inclusive_scan"};
  const auto in = problem.add(numbers);
  const auto out = problem.add(std::vector<float>(count));
  problem.launches = {{"inclusive_scan", {count, 1}, {256, 1}, {in, out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> sums(numbers);
    for (std::size_t i = 0; i < count; ++i)
      if (i % 256 != 0) sums[i] += sums[i - 1];
    require_equal(buffers[out.number].as<float>(), sums);
  };
  return problem;
}

Problem exclusive_scan() {
  constexpr std::uint32_t blocks = 4096, count = blocks * 512;
  const auto numbers = RandomNumbers(5).whole(count);
  Problem problem{.source = "exclusive_scan"};
  const auto in = problem.add(numbers);
  const auto out = problem.add(std::vector<std::uint32_t>(count));
  const auto of_blocks = problem.add(std::vector<std::uint32_t>(blocks));
  problem.launches = {{"scan_blocks", {blocks * 256, 1}, {256, 1}, {in, out, of_blocks}},
                      {"scan_sums", {256, 1}, {256, 1}, {of_blocks, blocks}},
                      {"add_sums", {count, 1}, {256, 1}, {out, of_blocks}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint32_t> sums(count);
    for (std::size_t i = 1; i < count; ++i) sums[i] = sums[i - 1] + numbers[i - 1];
    require_equal(buffers[out.number].as<std::uint32_t>(), sums);
  };
  return problem;
}

}  // namespace

std::vector<NamedProblem> sums_and_scans() {
  return {{"sums of 1024 floats, tree in LDS", tree_sum},
          {"sums of rows, two launches", row_sums},
          {"sum, atomics", atomic_sum},
          {"inclusive scan, 16 barriers", inclusive_scan},
          {"exclusive scan, three launches", exclusive_scan},
          {"inclusive scan, -O0", inclusive_scan, Compiled::not_optimized}};
}

}  // namespace kernel_problems
