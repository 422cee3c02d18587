#include "plan.hpp"

#include <algorithm>
#include <string_view>

#include "classic_tests.hpp"

namespace softgpu::litmus {
namespace {

struct Product {
  std::vector<std::string_view> tests;  ///< all of them where empty
  std::vector<Memory> memories;
  std::vector<std::uint32_t> bytes;
  std::vector<Scope> scopes;
  std::vector<Side> sides;
};

bool reaches(Scope scope, Side side) {
  switch (side) {
  case Side::lane:
    return true;
  case Side::wavefront:
    return scope >= Scope::work_group;
  case Side::work_group:
    return scope >= Scope::agent;
  case Side::host_last:
  case Side::host_first:
    break;
  }
  return scope == Scope::system;
}

bool makes_sense(const Setup& setup) {
  const LitmusTest& test = *setup.test;
  const bool in_one_group = setup.side == Side::lane || setup.side == Side::wavefront;
  const bool is_for_more = setup.side == Side::wavefront || setup.side == Side::work_group;
  if (!reaches(setup.scope, setup.side)) return false;
  if (test.threads.size() > 2 && !is_for_more) return false;
  if (setup.memory == Memory::lds && (!in_one_group || test.observes_final_values)) return false;
  // A wavefront that runs its threads in turn sees only one outcome; flags suffice for it.
  if (setup.side == Side::lane && test.values != Values::flags) return false;
  if (test.values == Values::counters) return setup.element.bytes >= 4;  // shorter ones come around
  if (test.values == Values::patterns) return setup.element.bytes >= 2;
  return true;
}

void add(std::vector<Setup>& setups, const Product& product) {
  for (const LitmusTest& test : classic_tests()) {
    if (!product.tests.empty() && std::ranges::find(product.tests, test.name) == product.tests.end()) continue;
    for (const Side side : product.sides)
      for (const Memory memory : product.memories)
        for (const Scope scope : product.scopes)
          for (const std::uint32_t bytes : product.bytes) {
            const Setup setup{.test = &test, .memory = memory, .element = {bytes}, .scope = scope, .side = side};
            if (makes_sense(setup)) setups.push_back(setup);
          }
  }
}

// clang-format off
std::vector<Product> brief_products() {
  using enum Memory;
  return {
      {{"MP+counters", "MP+fences", "SB", "SB+fences", "SB+relaxed", "LB", "R", "S", "2+2W", "CoRR+counters", "CoWW"},
       {global}, {4}, {Scope::agent}, {Side::work_group}},
      {{"tearing"}, {global}, {2, 4, 16}, {Scope::agent}, {Side::work_group}},
      {{"tearing"}, {global, flat, buffer}, {8}, {Scope::agent}, {Side::work_group}},
      {{"SB"}, {global}, {8}, {Scope::system}, {Side::work_group}},
      {{"SB"}, {global}, {4}, {Scope::system}, {Side::host_last}},
      {{"MP+counters", "tearing"}, {global_with_base}, {8}, {Scope::system}, {Side::host_last, Side::host_first}},
      {{"MP", "SB"}, {global, lds}, {4}, {Scope::work_group}, {Side::wavefront}},
      {{"tearing"}, {lds}, {8}, {Scope::work_group}, {Side::wavefront}},
      {{"MP"}, {global, lds}, {4}, {Scope::wavefront}, {Side::lane}},
  };
}

std::vector<Product> whole_products() {
  using enum Memory;
  return {
      {{}, {global}, {4, 8}, {Scope::agent}, {Side::work_group}},
      {{"MP", "MP+fences", "WRC", "IRIW", "SB", "SB+fences", "R"}, {global}, {4, 8}, {Scope::system},
       {Side::work_group}},
      {{"MP", "SB", "CoWW", "CoRR", "tearing"}, {global}, {1, 2, 16}, {Scope::agent}, {Side::work_group}},
      {{"MP+counters", "SB", "tearing"}, {global_with_base, flat, buffer}, {4, 8, 16}, {Scope::agent},
       {Side::work_group}},
      {{"tearing"}, {global_with_base, flat, buffer}, {2}, {Scope::agent}, {Side::work_group}},
      {{}, {global}, {8}, {Scope::system}, {Side::host_last, Side::host_first}},
      {{"MP", "SB", "tearing"}, {global}, {1, 2, 4, 16}, {Scope::system}, {Side::host_last, Side::host_first}},
      {{"MP+counters", "SB", "tearing"}, {global_with_base, flat, buffer}, {8}, {Scope::system},
       {Side::host_last, Side::host_first}},
      {{}, {global, lds}, {4}, {Scope::work_group}, {Side::wavefront}},
      {{"MP", "SB", "tearing"}, {global, flat, lds}, {1, 2, 8, 16}, {Scope::work_group}, {Side::wavefront}},
      {{"MP", "SB", "S", "CoWW", "CoWR"}, {global, lds}, {4, 8}, {Scope::wavefront}, {Side::lane}},
  };
}
// clang-format on

}  // namespace

std::vector<Setup> plan(Extent extent) {
  std::vector<Setup> setups;
  for (const Product& product : extent == Extent::brief ? brief_products() : whole_products()) add(setups, product);
  return setups;
}

}  // namespace softgpu::litmus
