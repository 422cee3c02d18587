#include "memory_model.hpp"

#include <array>
#include <cstddef>

#include "tested_target.hpp"

namespace softgpu::litmus {
namespace {

/// What an architecture does about its caches, by scope: wavefront, work-group, agent, system.
struct CacheControl {
  std::array<const char*, 4> load_hints;
  std::array<const char*, 4> store_hints;
  std::array<const char*, 4> write_back;
  std::array<const char*, 4> invalidate;
  std::array<const char*, 4> wait;
};

// clang-format off
constexpr const char* wait_gfx9  = "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
constexpr const char* wait_gfx10 = "  s_waitcnt vmcnt(0) lgkmcnt(0)\n  s_waitcnt_vscnt null, 0x0\n";
constexpr const char* invalidate_l1_l0 = "  buffer_gl1_inv\n  buffer_gl0_inv\n";

constexpr CacheControl gfx90a = {
    .load_hints  = {"", "", " glc", " glc"},
    .store_hints = {"", "", "", ""},
    .write_back  = {"", "", "", "  buffer_wbl2\n"},
    .invalidate  = {"", "", "  buffer_wbinvl1_vol\n", "  buffer_invl2\n  buffer_wbinvl1_vol\n"},
    .wait        = {"", "  s_waitcnt lgkmcnt(0)\n", wait_gfx9, wait_gfx9},
};
constexpr CacheControl gfx942 = {
    .load_hints  = {"", " sc0", " sc1", " sc0 sc1"},
    .store_hints = {"", " sc0", " sc1", " sc0 sc1"},
    .write_back  = {"", "", "  buffer_wbl2 sc1\n", "  buffer_wbl2 sc0 sc1\n"},
    .invalidate  = {"", "", "  buffer_inv sc1\n", "  buffer_inv sc0 sc1\n"},
    .wait        = {"", "  s_waitcnt lgkmcnt(0)\n", wait_gfx9, wait_gfx9},
};
constexpr CacheControl gfx10 = {
    .load_hints  = {"", " glc", " glc dlc", " glc dlc"},
    .store_hints = {"", "", "", ""},
    .write_back  = {"", "", "", ""},
    .invalidate  = {"", "  buffer_gl0_inv\n", invalidate_l1_l0, invalidate_l1_l0},
    .wait        = {"", wait_gfx10, wait_gfx10, wait_gfx10},
};
constexpr CacheControl gfx11 = {
    .load_hints  = {"", " glc", " glc", " glc"},
    .store_hints = {"", "", "", ""},
    .write_back  = {"", "", "", ""},
    .invalidate  = {"", "  buffer_gl0_inv\n", invalidate_l1_l0, invalidate_l1_l0},
    .wait        = {"", wait_gfx10, wait_gfx10, wait_gfx10},
};
// clang-format on

const CacheControl& control() {
  switch (isa::tested_target().architecture->major) {
  case 9:
    return isa::tests_gfx90a() ? gfx90a : gfx942;
  case 10:
    return gfx10;
  default:
    return gfx11;
  }
}

const char* at(const std::array<const char*, 4>& by_scope, Scope scope) {
  return by_scope[static_cast<std::size_t>(scope)];
}

bool acquires(Order order) { return order == Order::acquire || order == Order::sequential; }
bool releases(Order order) { return order == Order::release || order == Order::sequential; }

/// Before a store that releases; the wait is also for the write-back.
std::string release_code(Scope scope) {
  return std::string(at(control().write_back, scope)) + at(control().wait, scope);
}

}  // namespace

Sequence load_sequence(Memory memory, Order order, Scope scope) {
  Sequence result;
  if (memory != Memory::lds) result.hints = at(control().load_hints, scope);
  if (order == Order::sequential) result.before = at(control().wait, scope);
  if (acquires(order)) {
    // The load itself is waited for wherever there is a wait at all, and stores are not.
    if (*at(control().wait, scope) != 0) result.after = wait_for_loads();
    result.after += at(control().invalidate, scope);
  }
  return result;
}

Sequence store_sequence(Memory memory, Order order, Scope scope) {
  Sequence result;
  if (memory != Memory::lds) result.hints = at(control().store_hints, scope);
  if (releases(order)) result.before = release_code(scope);
  return result;
}

std::string fence_sequence(Order order, Scope scope) {
  std::string text = releases(order) ? release_code(scope) : at(control().wait, scope);
  if (acquires(order)) text += at(control().invalidate, scope);
  return text;
}

std::string wait_for_loads() { return "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"; }

}  // namespace softgpu::litmus
