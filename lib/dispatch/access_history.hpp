// Who touched which bytes last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dispatch/access.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// Something that an earlier packet did and a later one must come after.
struct Hazard {
  std::size_t packet = 0;
  // How far the earlier one's writes have to become visible; none where it only read: what was read stays read, so the
  // order is enough.
  FenceScope scope = FenceScope::none;
};

// The memory as a map of intervals, each with its last writer and the last reader since. Earlier ones are ordered
// before these: a barrier bit orders all packets before it, so whoever comes after the last comes after all.
//
// Cost: logarithmic in the number of intervals for each access, and linear in those that it spans.
class AccessHistory {
public:
  // Adds what `packet` does, which is later than all packets so far, and returns what it must come after.
  [[nodiscard]] std::vector<Hazard> add(std::size_t packet, std::span<const Access> accesses);

  void clear() { intervals_ = {{0, {}}}; }

private:
  struct Interval {  // from its key up to the next one
    std::optional<Hazard> written;
    std::optional<std::size_t> read;
  };
  using Intervals = std::map<std::uintptr_t, Interval>;

  [[nodiscard]] Intervals::iterator split(std::uintptr_t address);
  template <class Visit>
  void visit(const Access& access, Visit visit);

  Intervals intervals_ = {{0, {}}};
};

}  // namespace fastdispatch::detail
