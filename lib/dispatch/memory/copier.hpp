// Copies that the host waits for.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "dispatch/device/wait.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/pool_memory.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/memory_view.hpp"
#include "fastdispatch/signal.hpp"

namespace fastdispatch::detail {

// Owns the resources of an agent's copies: signals, and two pinned blocks for pageable memory. While the device copies
// one block, the host fills or empties the other.
//
// A copy cannot be taken back. When the time is up, TimeoutError leaves it to itself; the next copy waits for it first.
//
// Thread safety: every member may be called from any thread; copies through the blocks take turns.
class Copier {
public:
  explicit Copier(Agent agent);
  // Waits for the copies whose time was up, but no longer than copies_may_take: what the device still uses then is not
  // given back.
  ~Copier();
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  // A copy between two sides that the device reaches.
  void copy(const MemoryView& destination, const MemoryView& source, const Deadline& deadline);
  // Copies between the device and pageable memory.
  void upload(const MemoryView& destination, const std::byte* source, const Deadline& deadline);
  void download(std::byte* destination, const MemoryView& source, const Deadline& deadline);

private:
  // Measured by `./dev bench copies`: smaller ones cost hand-overs, larger ones gain nothing.
  static constexpr std::size_t block_size = std::size_t{512} * 1024;

  struct Block {
    explicit Block(OwnAgent agent) : memory(PoolMemory::pinned(agent, block_size)), copied(agent, 0) {}
    PoolMemory memory;
    Signal copied;             // 1 while the device copies
    MemoryView destination{};  // of that copy
    MemoryView source{};
  };

  // What the device may use after the time was up.
  struct InUse {
    std::array<Block, 2> blocks;
    std::vector<PooledSignal> unfinished;
  };

  [[nodiscard]] Block& block_at(std::size_t offset) {
    return in_use_->blocks[offset / block_size % in_use_->blocks.size()];
  }
  void start(const MemoryView& destination, const MemoryView& source, Block& block);
  void wait_for(Block& block, const Deadline& deadline);
  // Makes `copies` through the blocks. All of them have ended when it returns or throws, but for TimeoutError.
  template <class Copies>
  void take_turn(const Deadline& deadline, Copies copies);
  // Waits for the copies whose time was up.
  void wait_for_unfinished(const Deadline& deadline);
  void leave(PooledSignal copied);
  [[nodiscard]] std::optional<PooledSignal> take_left();

  Agent agent_;
  SignalPool signals_;
  std::mutex turn_;              // for the blocks
  std::mutex waiting_;           // of the one thread that waits for unfinished copies
  std::mutex unfinished_mutex_;  // for the list of them; never held while waiting
  std::unique_ptr<InUse> in_use_;
};

// The agent's; made at the first copy.
[[nodiscard]] Copier& copier_of(Agent agent);

}  // namespace fastdispatch::detail
