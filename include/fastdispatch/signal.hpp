// HSA signals: 64-bit values that the GPU decrements and the host waits for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <hsa/hsa.h>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/detail/owner.hpp"
#include "fastdispatch/detail/runtime_share.hpp"
#include "fastdispatch/wait.hpp"

namespace fastdispatch {

namespace detail {
struct SignalPoolState;

/// Whether completing a signal wakes a thread that is blocked on it. One that does takes an event of the driver's, of
/// which there are few, and each completion costs an interrupt.
enum class Interrupts { yes, no };
}  // namespace detail

/// Owns a signal. It must outlive every packet and copy that decrements it or waits for it, and every thread that waits
/// for it. A signal that was moved from may be destroyed and assigned to; all else throws Error.
///
/// Thread safety: load, store and wait may be called from any thread.
class FASTDISPATCH_EXPORT Signal {
public:
  /// Throws Error when HSA can't make a signal: each takes an interrupt event, and a process has few of them.
  explicit Signal(Agent agent, hsa_signal_value_t initial = 1);
  explicit Signal(detail::OwnAgent agent, hsa_signal_value_t initial,
                  detail::Interrupts interrupts = detail::Interrupts::yes);
  ~Signal();
  Signal(Signal&& other) noexcept;
  Signal& operator=(Signal&& other) noexcept;

  [[nodiscard]] hsa_signal_value_t load() const;  ///< acquires
  void store(hsa_signal_value_t value);           ///< releases

  /// Waits until the value is below `threshold`: with the defaults, until a packet that carries the signal completed.
  /// Throws TimeoutError. Throws Error when the value can't get there any more: a queue with a packet that was to
  /// complete the signal failed, or the agent had a memory fault after the value was set.
  void wait(WaitOptions options = {}, hsa_signal_value_t threshold = 1) const;

  [[nodiscard]] hsa_signal_t handle() const {
    detail::check_not_forked();
    if (handle_.handle == 0) [[unlikely]]
      detail::throw_moved_from("signal");
    return handle_;
  }

private:
  Signal(Agent agent, hsa_signal_value_t initial, detail::RuntimeShare runtime, detail::Interrupts interrupts);

  detail::RuntimeShare runtime_;
  Agent agent_;
  hsa_signal_t handle_{};
  std::atomic<std::uint32_t>
      faults_seen_;  ///< of the agent, before the value was set: later ones may have cost its completion
};

/// Owns a signal on loan from a SignalPool and gives it back when destroyed.
///
/// It may be given back before the packet or copy that decrements it completed: the pool lends it again only after its
/// value has come to 0. The pool, or a signal that it lent, must live until then. One that was moved from may be
/// destroyed; all else throws Error.
class FASTDISPATCH_EXPORT PooledSignal {
public:
  ~PooledSignal();
  PooledSignal(PooledSignal&& other) noexcept = default;
  PooledSignal& operator=(PooledSignal&&) = delete;

  [[nodiscard]] Signal& operator*() {
    if (signal_ == nullptr) [[unlikely]]
      detail::throw_moved_from("pooled signal");
    return *signal_;
  }
  [[nodiscard]] Signal* operator->() { return &**this; }

private:
  friend class SignalPool;
  PooledSignal(std::shared_ptr<detail::SignalPoolState> pool, std::unique_ptr<Signal> signal) noexcept
      : pool_(std::move(pool)), signal_(std::move(signal)) {}

  std::shared_ptr<detail::SignalPoolState> pool_;
  std::unique_ptr<Signal> signal_;
};

/// Owns signals for reuse: creating a signal costs a call into HSA and an interrupt event, and a process has few of
/// them. A signal may come back with a value above 0, because a packet or copy is still to decrement it. It is lent
/// again after that.
///
/// Thread safety: every member may be called from any thread.
class FASTDISPATCH_EXPORT SignalPool {
public:
  /// Throws as Signal does.
  explicit SignalPool(Agent agent, std::size_t preallocated = 0);
  SignalPool(detail::OwnAgent agent, detail::Interrupts interrupts);
  ~SignalPool();
  SignalPool(const SignalPool&) = delete;
  SignalPool& operator=(const SignalPool&) = delete;

  /// A signal with the value `initial`; a new signal if all are on loan. Throws as Signal does.
  [[nodiscard]] PooledSignal acquire(hsa_signal_value_t initial = 1);
  /// How many signals the pool made, on loan or not.
  [[nodiscard]] std::size_t size() const;

private:
  std::shared_ptr<detail::SignalPoolState> state_;
};

}  // namespace fastdispatch
