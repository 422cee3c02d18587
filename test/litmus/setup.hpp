// The setup of a litmus test: how its variables are accessed, and by which threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "access_text.hpp"
#include "litmus_test.hpp"
#include "memory_model.hpp"

namespace softgpu::litmus {

/// Where the test's threads run. A thread of the test is a wavefront, each lane of which makes a test of its own, or a
/// host thread that does the same work.
enum class Side : std::uint8_t {
  lane,        ///< other lanes of the same wavefront: the threads run in turn
  wavefront,   ///< other wavefronts of the same work-group
  work_group,  ///< other work-groups, each on a host thread of its own
  host_last,   ///< plain C++ atomics on the host are the last of the threads
  host_first,  ///< the same, and the first one
};

struct Setup {
  const LitmusTest* test;
  Memory memory = Memory::global;
  Element element{4};
  Scope scope = Scope::agent;
  Side side = Side::work_group;

  /// How many of the threads are on the device; `first_device_thread` is the first one.
  [[nodiscard]] unsigned device_threads() const;
  [[nodiscard]] unsigned first_device_thread() const { return side == Side::host_first ? 1 : 0; }
  [[nodiscard]] bool is_on_host(unsigned thread) const;
};

[[nodiscard]] unsigned load_count(const Events& events);

[[nodiscard]] std::string name_of(Memory memory);
[[nodiscard]] std::string name_of(Scope scope);
[[nodiscard]] std::string name_of(Side side);
[[nodiscard]] std::string name_of(Element element);

}  // namespace softgpu::litmus
