// The code that a kernel's wavefronts may run: its own, and functions that are known only once a wavefront calls them
// through a pointer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <variant>
#include <vector>

#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/program/program.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

/// Code that was translated as one function.
struct CodeRegion {
  std::int64_t start = 0;  ///< where it was begun to read, as an offset from the kernel's entry
  WaveCode wave;
  std::shared_ptr<const void> code;    ///< keeps the host code
  std::set<std::int64_t> entries;      ///< where an indirect branch may enter, as offsets from the kernel's entry
  std::vector<Program::Piece> pieces;  ///< the translated code
};

/// Thread safety: every member may be called from any thread; code that several ask for is translated once.
class CodeRegions {
public:
  using Translated = std::variant<CodeRegion, Failure>;
  using Translate = std::function<Translated(std::int64_t offset)>;

  CodeRegions(CodeRegion first, Translate translate) : translate_(std::move(translate)) { add(std::move(first)); }

  /// The function that the code at `offset` is in, translated now if it has not been yet.
  [[nodiscard]] std::variant<WaveCode, Failure> at(std::int64_t offset);

  /// The one whose host code `host_address` is in; empty if there is none.
  [[nodiscard]] std::optional<CodeRegion> around(std::uint64_t host_address) const;

  /// Whether `predicate` holds for any piece of code that has been translated.
  [[nodiscard]] bool any(const std::function<bool(const Program::Piece&)>& predicate) const;

private:
  void add(CodeRegion region);
  [[nodiscard]] WaveCode find(std::int64_t offset) const;

  Translate translate_;
  std::mutex translation_mutex_;  // taken before the engine's mutexes, the other one after them
  mutable std::shared_mutex regions_mutex_;
  std::vector<CodeRegion> regions_;
  std::map<std::int64_t, WaveCode> entries_;
};

}  // namespace softgpu::compute
