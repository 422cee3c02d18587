// Tracks for spans that may overlap.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/trace_event.hpp"

namespace trace_format {

/// Viewers draw the spans of a track one behind the other. Spans that overlap get tracks of their own, as few as
/// possible if they come in the order of their beginnings.
///
/// Thread safety: none.
class Lanes {
public:
  /// The track for a span. `new_track(lane)` makes one.
  template <class NewTrack>
  [[nodiscard]] Track track_for(TraceTime begin, TraceTime end, NewTrack new_track) {
    for (Lane& lane : lanes_) {
      if (lane.end > begin) continue;
      lane.end = end;
      return lane.track;
    }
    return lanes_.emplace_back(Lane{.track = new_track(lanes_.size()), .end = end}).track;
  }

  /// Forgets all tracks, for another trace.
  void clear() noexcept { lanes_.clear(); }

private:
  struct Lane {
    Track track;
    TraceTime end;
  };

  std::vector<Lane> lanes_;
};

/// "copies", "copies (2)", "copies (3)"
[[nodiscard]] inline std::string lane_name(std::string_view name, std::size_t lane) {
  std::string text(name);
  return lane == 0 ? text : text + " (" + std::to_string(lane + 1) + ")";
}

}  // namespace trace_format
