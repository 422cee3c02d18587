// Who touched which bytes last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dispatch/record/access.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// One of a batch's dispatches, by the index of its packet, or one of its copies, by its own; or a step of whatever
// kind, by its number, where no queue keeps the steps in order.
struct Toucher {
  enum class Kind : std::uint8_t { dispatch, copy, step };
  Kind kind;
  std::size_t index;

  friend bool operator==(const Toucher&, const Toucher&) = default;
};

// Something that an earlier step did and a later one must come after.
struct Hazard {
  Toucher earlier;
  // How far the earlier one's writes have to become visible; none where it only read: what was read stays read, so the
  // order is enough.
  FenceScope scope = FenceScope::none;

  friend bool operator==(const Hazard&, const Hazard&) = default;
};

// The memory as a map of intervals, each with its last writer and who has read it since. Earlier ones are ordered
// before the writer. Of the dispatches that read, the last two are kept: a barrier bit behind the last is behind all,
// and if one between the two keeps them apart, the last one completes behind all. Of others all are kept.
//
// Cost: logarithmic in the number of intervals for each access, and linear in the intervals that it spans.
class AccessHistory {
public:
  // What a step with these accesses must come after: dispatches, then copies, then steps, each in order; nothing twice.
  [[nodiscard]] std::vector<Hazard> hazards(std::span<const Access> accesses);
  // Notes the accesses of a step, which is later than all so far.
  void add(Toucher step, std::span<const Access> accesses);

private:
  struct Interval {  // from its key up to the next one
    std::optional<Hazard> written;
    std::optional<std::size_t> reading_dispatch;
    std::optional<std::size_t> reading_before;
    std::vector<Toucher> reading_others;
  };
  using Intervals = std::map<std::uintptr_t, Interval>;

  [[nodiscard]] Intervals::iterator split(std::uintptr_t address);
  template <class Visit>
  void visit(const Access& access, Visit visit);

  Intervals intervals_ = {{0, {}}};
};

}  // namespace fastdispatch::detail
