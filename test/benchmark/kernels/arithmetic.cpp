#include "problem.hpp"
#include "values.hpp"

#include <bit>
#include <cmath>

namespace kernel_problems {
namespace {

Problem black_scholes() {
  constexpr std::uint32_t count = 1U << 19;
  const auto prices = RandomNumbers(28).between(count, 5, 30), strikes = RandomNumbers(29).between(count, 1, 100),
             years = RandomNumbers(30).between(count, 0.25F, 10);
  Problem problem{.source = "black_scholes"};
  const auto in_prices = problem.add(prices);
  const auto in_strikes = problem.add(strikes);
  const auto in_years = problem.add(years);
  const auto calls = problem.add(std::vector<float>(count));
  const auto puts = problem.add(std::vector<float>(count));
  problem.launches = {{"black_scholes", {count, 1}, {256, 1}, {in_prices, in_strikes, in_years, calls, puts}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<double> of_calls(count), of_puts(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double price = prices[i], strike = strikes[i], time = years[i], root = 0.3 * std::sqrt(time);
      const double d1 = (std::log(price / strike) + (0.02 + 0.045) * time) / root, d2 = d1 - root;
      const double discounted = strike * std::exp(-0.02 * time);
      const auto normal = [](double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); };
      of_calls[i] = price * normal(d1) - discounted * normal(d2);
      of_puts[i] = discounted * normal(-d2) - price * normal(-d1);
    }
    require_near(buffers[calls.number].as<float>(), of_calls, 1e-5);
    require_near(buffers[puts.number].as<float>(), of_puts, 1e-5);
  };
  return problem;
}

/// Looks at every 61st body.
Problem n_body() {
  constexpr std::uint32_t count = 4096;
  const auto places = RandomNumbers(31).between(std::size_t{count} * 3, -1, 1);
  Problem problem{.source = "n_body"};
  const auto in = problem.add(places);
  const auto out = problem.add(std::vector<float>(places.size()));
  problem.launches = {{"n_body", {count, 1}, {256, 1}, {in, out, count}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    const auto found = buffers[out.number].as<float>();
    std::vector<float> of_some;
    std::vector<double> expected;
    for (std::size_t body = 0; body < count; body += 61) {
      std::array<double, 3> sum{};
      for (std::size_t other = 0; other < count; ++other) {
        std::array<double, 3> distance{};
        double square = 0.01;
        for (std::size_t d = 0; d < 3; ++d) {
          distance.at(d) = static_cast<double>(places[d * count + other]) - places[d * count + body];
          square += distance.at(d) * distance.at(d);
        }
        for (std::size_t d = 0; d < 3; ++d) sum.at(d) += distance.at(d) / (square * std::sqrt(square));
      }
      for (std::size_t d = 0; d < 3; ++d) {
        expected.push_back(sum.at(d));
        of_some.push_back(found[d * count + body]);
      }
    }
    require_near(of_some, expected, 1e-4);
  };
  return problem;
}

Problem mandelbrot() {
  constexpr int size = 768;
  constexpr std::uint32_t limit = 256;
  Problem problem{.source = "mandelbrot"};
  const auto out = problem.add(std::vector<std::uint32_t>(std::size_t{size} * size));
  problem.launches = {{"mandelbrot", {size, size}, {64, 4}, {out, size, limit}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint32_t> expected(buffers[out.number].as<std::uint32_t>().size());
    for (int py = 0; py < size; ++py)
      for (int px = 0; px < size; ++px) {
        const int cx = px * 12288 / size - 8192, cy = py * 8192 / size - 4096;
        int x = 0, y = 0;
        std::uint32_t count = 0;
        for (; count < limit && x * x / 4096 + y * y / 4096 < 16384; ++count) {
          const int next = x * x / 4096 - y * y / 4096 + cx;
          y = x * y / 2048 + cy;
          x = next;
        }
        expected[place(py, px, size)] = count;
      }
    require_equal(buffers[out.number].as<std::uint32_t>(), expected);
  };
  return problem;
}

Problem julia() {
  constexpr int size = 1024;
  Problem problem{.source = "julia"};
  const auto out = problem.add(std::vector<float>(std::size_t{size} * size));
  problem.launches = {{"julia", {size, size}, {64, 4}, {out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> expected;
    for (int py = 0; py < size; ++py)
      for (int px = 0; px < size; ++px) {
        float x = static_cast<float>(2 * px - size) / size * 0.5F, y = static_cast<float>(2 * py - size) / size * 0.5F;
        for (int i = 0; i < 64; ++i) {
          const float next = x * x - y * y - 0.1F;
          y = 2 * x * y + 0.1F;
          x = next;
        }
        expected.push_back(x + y);
      }
    require_near(buffers[out.number].as<float>(), expected, 1e-4);
  };
  return problem;
}

Problem waves() {
  constexpr std::uint32_t size = 512;
  Problem problem{.source = "waves"};
  const auto out = problem.add(std::vector<float>(std::size_t{size} * size));
  problem.launches = {{"waves", {size, size}, {64, 4}, {out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<double> expected;
    for (std::uint32_t row = 0; row < size; ++row)
      for (std::uint32_t column = 0; column < size; ++column) {
        const double x = column * 0.01, y = row * 0.01;
        double height = 0;
        for (int i = 1; i <= 8; ++i) height += std::sin(x * i + y) * std::cos(y * i - x) / i;
        expected.push_back(height);
      }
    require_near(buffers[out.number].as<float>(), expected, 1e-4);
  };
  return problem;
}

Problem hash() {
  constexpr std::uint32_t count = 1U << 21;
  const auto keys = RandomNumbers(32).whole(count);
  Problem problem{.source = "hash"};
  const auto in = problem.add(keys);
  const auto out = problem.add(std::vector<std::uint32_t>(count));
  problem.launches = {{"hash", {count, 1}, {256, 1}, {in, out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint32_t> expected(keys);
    for (std::uint32_t& h : expected)
      for (std::uint32_t round = 0; round < 16; ++round) {
        h ^= h >> 16;
        h *= 0x85ebca6bU;
        h ^= h >> 13;
        h *= 0xc2b2ae35U;
        h ^= h >> 16;
        h += round;
      }
    require_equal(buffers[out.number].as<std::uint32_t>(), expected);
  };
  return problem;
}

Problem circle() {
  constexpr std::uint32_t items = 1U << 16;
  Problem problem{.source = "circle"};
  const auto out = problem.add(std::vector<std::uint32_t>(items));
  problem.launches = {{"circle", {items, 1}, {256, 1}, {out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint32_t> expected(items);
    for (std::uint32_t item = 0; item < items; ++item) {
      std::uint32_t state = item * 747796405U + 1;
      for (int i = 0; i < 256; ++i) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        const std::uint32_t x = state & 0xffff, y = state >> 16;
        if (((x * x) >> 1) + ((y * y) >> 1) < 0x7fffffffU) ++expected[item];
      }
    }
    require_equal(buffers[out.number].as<std::uint32_t>(), expected);
  };
  return problem;
}

Problem integer_mix() {
  constexpr std::uint32_t items = 1024 * 64;
  Problem problem{.source = "integer_mix"};
  const auto out = problem.add(std::vector<std::uint32_t>(items));
  problem.launches = {{"integer_mix", {items, 1}, {64, 1}, {out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t item = 0; item < items; ++item) {
      std::uint32_t a = item, b = a * 2654435761U, c = ~a;
      for (std::uint32_t round = 0; round < 512; ++round) {
        a += b ^ (c >> 3);
        b = std::rotl(b, 7) + a * 5;
        c ^= a + round;
      }
      expected.push_back(a ^ b ^ c);
    }
    require_equal(buffers[out.number].as<std::uint32_t>(), expected);
  };
  return problem;
}

}  // namespace

std::vector<NamedProblem> arithmetic() {
  return {{"Black-Scholes prices", black_scholes},
          {"n-body in tiles in LDS", n_body},
          {"Mandelbrot set, whole numbers", mandelbrot},
          {"Julia set, floats", julia},
          {"sines and cosines", waves},
          {"hash of whole numbers", hash},
          {"random points in a circle", circle},
          {"mix of whole numbers", integer_mix},
          {"n-body, -O0", n_body, Compiled::not_optimized}};
}

}  // namespace kernel_problems
