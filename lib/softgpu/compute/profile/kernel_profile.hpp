// What the wavefronts of a profiled kernel did, counted for each instruction.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softgpu::compute::profile {

/// The memory that an access is to. What is private lies interleaved, so that its addresses have no shape.
enum class Space : std::uint8_t { global, lds, scratch };
inline constexpr std::size_t space_count = 3;

/// How the active lanes' addresses lie to each other, in the order of the lanes.
enum class Shape : std::uint8_t {
  consecutive,  ///< element after element
  uniform,      ///< one address, or one active lane
  strided,      ///< with another distance from lane to lane, always the same
  scattered,
};
inline constexpr std::size_t shape_count = 4;

/// What an instruction does, as far as the report tells it apart.
enum class Category : std::uint8_t { vector, memory, lds, scalar, scalar_memory, barrier, branch, other };
[[nodiscard]] Category category_of(std::string_view mnemonic);

enum class Direction : std::uint8_t { load, store, atomic };
[[nodiscard]] Direction direction_of(std::string_view mnemonic);

using Count = std::atomic<std::uint64_t>;

/// One instruction of a kernel, and what translated code counts of it: of wavefronts, not of lanes, unless it says so.
struct InstructionCounts {
  std::int64_t offset = 0;  ///< from the kernel's entry
  std::string text;
  std::string line;  ///< "saxpy.hip:12"; empty if it is not known
  Category category = Category::other;
  Direction direction = Direction::load;
  std::atomic<std::uint32_t> bytes = 0;  ///< of one access of a lane; 0: it accesses no memory

  Count executions = 0;
  Count active_lanes = 0;
  std::array<std::array<Count, shape_count>, space_count> accesses{};  ///< of scratch, all are under `consecutive`
  Count lds_passes = 0;     ///< that LDS takes at least, for the lanes that were active
  Count lds_conflicts = 0;  ///< the passes that bank conflicts add
};

/// Thread safety: every member may be called from any thread.
class KernelProfile {
public:
  KernelProfile(std::string name, std::string architecture, std::uint32_t lanes)
      : name_(std::move(name)), architecture_(std::move(architecture)), lanes_(lanes) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& architecture() const noexcept { return architecture_; }
  [[nodiscard]] std::uint32_t lanes() const noexcept { return lanes_; }

  /// The instruction there, which is new if there was none of that text. Its address stays. `describe` fills a new one.
  template <class Describe>
  InstructionCounts& instruction(std::int64_t offset, const std::string& text, Describe&& describe) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<InstructionCounts>& found = instructions_[{offset, text}];
    if (found != nullptr) return *found;
    found = std::make_unique<InstructionCounts>();
    found->offset = offset;
    found->text = text;
    describe(*found);
    return *found;
  }
  InstructionCounts& instruction(std::int64_t offset, const std::string& text) {
    return instruction(offset, text, [](InstructionCounts&) {});
  }
  /// In the order of their offsets.
  [[nodiscard]] std::vector<const InstructionCounts*> instructions() const;

private:
  std::string name_;
  std::string architecture_;
  std::uint32_t lanes_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::int64_t, std::string>, std::unique_ptr<InstructionCounts>> instructions_;
};

/// The kernels of a process. They stay, also when their code objects go.
///
/// Thread safety: every member may be called from any thread.
class Profile {
public:
  KernelProfile& kernel(const std::string& name, std::string_view architecture, std::uint32_t lanes);
  /// In the order in which they were translated first.
  [[nodiscard]] std::vector<const KernelProfile*> kernels() const;

private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<KernelProfile>> kernels_;
};

}  // namespace softgpu::compute::profile
