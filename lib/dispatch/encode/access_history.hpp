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

// A dispatch of a batch, by the index of its packet; or a copy, by the copy's index; or, where no queue keeps the steps
// in order, a step of any kind, by its number.
struct Toucher {
  enum class Kind : std::uint8_t { dispatch, copy, step };
  Kind kind;
  std::size_t index;

  friend bool operator==(const Toucher&, const Toucher&) = default;
};

// An earlier step that a later step must come after.
struct Hazard {
  Toucher earlier;
  // How far the earlier step's writes have to become visible; none if it only read: then the order is enough.
  FenceScope scope = FenceScope::none;

  friend bool operator==(const Hazard&, const Hazard&) = default;
};

// The memory as a map of intervals, each with its last writer and its readers since then. Earlier steps are ordered
// before the writer. Of the dispatches that read, the last two are kept: a barrier bit behind the last reader is behind
// all readers, and with a barrier bit between the two the last reader completes behind all readers. Of copies and
// steps, all readers are kept.
//
// Cost: logarithmic in the number of intervals for each access, and linear in the intervals that it spans.
class AccessHistory {
public:
  // The steps before a step with these accesses: dispatches, then copies, then other steps, each kind in order and
  // without duplicates.
  [[nodiscard]] std::vector<Hazard> hazards(std::span<const Access> accesses);
  // Notes the accesses of a step, which is later than all steps so far.
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
