#include "classic_tests.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace softgpu::litmus {
namespace {

using enum Order;

std::vector<LitmusTest> message_passing() {
  return {
      {.name = "MP",
       .threads = {{store(x, 1), store(y, 1, release)}, {load(y, acquire), load(x)}},
       .forbidden = {{1, 0}}},
      {.name = "MP+fences",
       .threads = {{store(x, 1), fence(release), store(y, 1)}, {load(y), fence(acquire), load(x)}},
       .forbidden = {{1, 0}}},
      {.name = "MP+counters",
       .threads = {{store(x, 1), store(y, 1, release)}, {load(y, acquire), load(x)}},
       .values = Values::counters},
      {.name = "MP+counters+fences",
       .threads = {{store(x, 1), fence(release), store(y, 1)}, {load(y), fence(acquire), load(x)}},
       .values = Values::counters},
      {.name = "MP+relaxed", .threads = {{store(x, 1), store(y, 1)}, {load(y), load(x)}}},
      {.name = "WRC",
       .threads = {{store(x, 1, release)}, {load(x, acquire), store(y, 1, release)}, {load(y, acquire), load(x)}},
       .forbidden = {{1, 1, 0}}},
      {.name = "IRIW",
       .threads = {{store(x, 1, sequential)},
                   {store(y, 1, sequential)},
                   {load(x, sequential), load(y, sequential)},
                   {load(y, sequential), load(x, sequential)}},
       .forbidden = {{1, 0, 1, 0}}},
  };
}

std::vector<LitmusTest> reordering() {
  return {
      {.name = "SB",
       .threads = {{store(x, 1, sequential), load(y, sequential)}, {store(y, 1, sequential), load(x, sequential)}},
       .forbidden = {{0, 0}}},
      {.name = "SB+fences",
       .threads = {{store(x, 1), fence(sequential), load(y)}, {store(y, 1), fence(sequential), load(x)}},
       .forbidden = {{0, 0}}},
      {.name = "SB+relaxed", .threads = {{store(x, 1), load(y)}, {store(y, 1), load(x)}}},
      {.name = "LB",
       .threads = {{load(x, acquire), store(y, 1, release)}, {load(y, acquire), store(x, 1, release)}},
       .forbidden = {{1, 1}}},
      {.name = "LB+relaxed", .threads = {{load(x), store(y, 1)}, {load(y), store(x, 1)}}},
      {.name = "R",
       .threads = {{store(x, 1, sequential), store(y, 1, sequential)}, {store(y, 2, sequential), load(x, sequential)}},
       .forbidden = {{0, any, 2}},
       .observes_final_values = true},
      {.name = "R+relaxed",
       .threads = {{store(x, 1), store(y, 1)}, {store(y, 2), load(x)}},
       .observes_final_values = true},
      {.name = "S",
       .threads = {{store(x, 2), store(y, 1, release)}, {load(y, acquire), store(x, 1)}},
       .forbidden = {{1, 2, any}},
       .observes_final_values = true},
      {.name = "2+2W",
       .threads = {{store(x, 1, sequential), store(y, 2, sequential)},
                   {store(y, 1, sequential), store(x, 2, sequential)}},
       .forbidden = {{1, 1}},
       .observes_final_values = true},
  };
}

std::vector<LitmusTest> coherence() {
  return {
      {.name = "CoRR", .threads = {{store(x, 1)}, {load(x), load(x)}}, .forbidden = {{1, 0}}},
      {.name = "CoRR+counters", .threads = {{store(x, 1)}, {load(x), load(x)}}, .values = Values::counters},
      {.name = "CoWW",
       .threads = {{store(x, 1), store(x, 2)}, {load(x), load(x)}},
       .forbidden = {{1, 0, any, any}, {2, 0, any, any}, {2, 1, any, any}, {any, any, 0, any}, {any, any, 1, any}},
       .observes_final_values = true},
      {.name = "CoWR",
       .threads = {{store(x, 1), load(x)}, {store(x, 2)}},
       .forbidden = {{0, any, any}, {2, 1, any}},
       .observes_final_values = true},
      {.name = "CoRW",
       .threads = {{load(x), store(x, 1)}, {store(x, 2)}},
       .forbidden = {{1, any, any}, {2, 2, any}},
       .observes_final_values = true,
       .needs_own_variables = true},
      {.name = "tearing", .threads = {{store(x, 1)}, {load(x)}}, .values = Values::patterns},
  };
}

}  // namespace

std::span<const LitmusTest> classic_tests() {
  static const std::vector<LitmusTest> tests = [] {
    std::vector<LitmusTest> all;
    for (const auto& part : {message_passing(), reordering(), coherence()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return tests;
}

const LitmusTest& classic_test(std::string_view name) {
  const auto found = std::ranges::find(classic_tests(), name, &LitmusTest::name);
  if (found == classic_tests().end()) throw std::runtime_error("there is no litmus test " + std::string(name));
  return *found;
}

}  // namespace softgpu::litmus
