#include "problem.hpp"
#include "values.hpp"

#include <algorithm>
#include <cstdlib>

namespace kernel_problems {
namespace {

Problem stencil() {
  constexpr std::uint32_t size = 2048;
  const auto grid = RandomNumbers(11).small(std::size_t{size} * size);
  Problem problem{.source = "stencil"};
  const auto in = problem.add(grid);
  const auto out = problem.add(std::vector<float>(grid.size()));
  problem.launches = {{"stencil", {size, size}, {64, 4}, {in, out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> expected(grid);
    for (std::size_t y = 1; y < size - 1; ++y)
      for (std::size_t x = 1; x < size - 1; ++x) {
        const std::size_t i = y * size + x;
        expected[i] = 0.5F * grid[i] + 0.125F * (grid[i - 1] + grid[i + 1] + grid[i - size] + grid[i + size]);
      }
    require_near(buffers[out.number].as<float>(), expected, 1e-6);
  };
  return problem;
}

Problem heat() {
  constexpr std::uint32_t size = 128;
  const auto grid = RandomNumbers(12).small(std::size_t{size} * size * size);
  Problem problem{.source = "heat"};
  const auto in = problem.add(grid);
  const auto out = problem.add(grid);
  problem.launches = {{"heat", {size, size}, {64, 4}, {in, out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> expected(grid);
    constexpr std::size_t row = size, plane = std::size_t{size} * size;
    for (std::size_t z = 1; z < size - 1; ++z)
      for (std::size_t y = 1; y < size - 1; ++y)
        for (std::size_t x = 1; x < size - 1; ++x) {
          const std::size_t i = z * plane + y * row + x;
          expected[i] = grid[i] + 0.0625F * (grid[i - plane] + grid[i + plane] + grid[i - 1] + grid[i + 1] +
                                             grid[i - row] + grid[i + row] - 6 * grid[i]);
        }
    require_near(buffers[out.number].as<float>(), expected, 1e-6);
  };
  return problem;
}

Problem convolution() {
  constexpr std::uint32_t size = 1024;
  constexpr int weights = 17;
  const auto numbers = RandomNumbers(13).small(std::size_t{size} * size);
  const auto weight = RandomNumbers(14).small(weights);
  Problem problem{.source = "convolution"};
  const auto in = problem.add(numbers);
  const auto of_weights = problem.add(weight);
  const auto out = problem.add(std::vector<float>(numbers.size()));
  problem.launches = {{"convolution", {size, size}, {256, 1}, {in, of_weights, out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> expected(numbers.size());
    for (std::size_t row = 0; row < size; ++row)
      for (int x = 0; x < static_cast<int>(size); ++x)
        for (int i = 0; i < weights; ++i) {
          const int column = x + i - weights / 2;
          if (column >= 0 && column < static_cast<int>(size))
            expected[row * size + static_cast<std::size_t>(x)] +=
                weight[static_cast<std::size_t>(i)] * numbers[row * size + static_cast<std::size_t>(column)];
        }
    require_equal(buffers[out.number].as<float>(), expected);
  };
  return problem;
}

Problem blur() {
  constexpr int size = 1024;
  const auto pixels = RandomNumbers(15).bytes(std::size_t{size} * size);
  Problem problem{.source = "blur"};
  const auto in = problem.add(pixels);
  const auto out = problem.add(std::vector<std::uint8_t>(pixels.size()));
  problem.launches = {{"blur", {size, size}, {64, 4}, {in, out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint8_t> expected(pixels.size());
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        unsigned sum = 0;
        for (int dy = -2; dy <= 2; ++dy)
          for (int dx = -2; dx <= 2; ++dx)
            sum += pixels[place(std::clamp(y + dy, 0, size - 1), std::clamp(x + dx, 0, size - 1), size)];
        expected[place(y, x, size)] = static_cast<std::uint8_t>((sum + 12) / 25);
      }
    require_equal(buffers[out.number].as<std::uint8_t>(), expected);
  };
  return problem;
}

Problem sobel() {
  constexpr int size = 2048;
  const auto pixels = RandomNumbers(16).bytes(std::size_t{size} * size);
  Problem problem{.source = "sobel"};
  const auto in = problem.add(pixels);
  const auto out = problem.add(std::vector<std::uint8_t>(pixels.size()));
  problem.launches = {{"sobel", {size, size}, {64, 4}, {in, out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint8_t> expected(pixels.size());
    for (int y = 1; y < size - 1; ++y)
      for (int x = 1; x < size - 1; ++x) {
        const auto at = [&](int dx, int dy) { return static_cast<int>(pixels[place(y + dy, x + dx, size)]); };
        const int across = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
        const int down = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
        expected[place(y, x, size)] = static_cast<std::uint8_t>(std::min(std::abs(across) + std::abs(down), 255));
      }
    require_equal(buffers[out.number].as<std::uint8_t>(), expected);
  };
  return problem;
}

Problem luminance() {
  constexpr std::uint32_t count = 2048 * 2048;
  const auto pixels = RandomNumbers(17).bytes(std::size_t{count} * 3);
  Problem problem{.source = "luminance"};
  const auto in = problem.add(pixels);
  const auto out = problem.add(std::vector<std::uint8_t>(count));
  problem.launches = {{"luminance", {count, 1}, {256, 1}, {in, out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint8_t> expected(count);
    for (std::size_t i = 0; i < count; ++i)
      expected[i] =
          static_cast<std::uint8_t>((77 * pixels[3 * i] + 150 * pixels[3 * i + 1] + 29 * pixels[3 * i + 2] + 128) >> 8);
    require_equal(buffers[out.number].as<std::uint8_t>(), expected);
  };
  return problem;
}

Problem game_of_life() {
  constexpr std::uint32_t size = 256, generations = 200;
  auto world = RandomNumbers(18).bytes(std::size_t{size} * size);
  for (auto& cell : world) cell &= 1;
  Problem problem{.source = "game_of_life"};
  const auto one = problem.add(world);
  const auto other = problem.add(world);
  for (std::uint32_t i = 0; i < generations; ++i)
    problem.launches.push_back(
        {"game_of_life", {size, size}, {64, 4}, {i % 2 == 0 ? one : other, i % 2 == 0 ? other : one, size}});
  problem.check = [=](std::span<const Buffer> buffers) {
    auto expected = world;
    for (std::uint32_t i = 0; i < generations; ++i) {
      const auto before = expected;
      for (std::uint32_t y = 0; y < size; ++y)
        for (std::uint32_t x = 0; x < size; ++x) {
          std::uint32_t around = 0;
          for (std::uint32_t dy = size - 1; dy <= size + 1; ++dy)
            for (std::uint32_t dx = size - 1; dx <= size + 1; ++dx)
              if (dx != size || dy != size) around += before[(y + dy) % size * size + (x + dx) % size];
          expected[y * size + x] = static_cast<std::uint8_t>(around == 3 || (around == 2 && before[y * size + x] != 0));
        }
    }
    require_equal(buffers[one.number].as<std::uint8_t>(), expected);  // after an even number of generations
  };
  return problem;
}

}  // namespace

std::vector<NamedProblem> grids_and_images() {
  return {{"stencil of 5 points, floats", stencil},
          {"stencil of 7 points, 128 x 128 x 128", heat},
          {"convolution of rows through LDS", convolution},
          {"blur, 5 x 5 bytes", blur},
          {"edges, 3 x 3 bytes", sobel},
          {"luminance of bytes", luminance},
          {"game of life, 200 launches", game_of_life},
          {"blur, -O0", blur, Compiled::not_optimized}};
}

}  // namespace kernel_problems
