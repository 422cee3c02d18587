// Events as the Linux driver gives them to ROCr: a blocked host thread sleeps on them.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <hsakmt.h>

namespace softgpu::thunk {

enum class Reset { automatic, manual };
enum class WaitFor { any, all };

struct Waiter;

/// One event: the structure that ROCr holds, and the threads that wait for it.
struct Event {
  HsaEvent handle{};  ///< first, so that a pointer to it is one to the event
  Reset reset = Reset::automatic;
  bool set = false;
  std::vector<std::thread::id> released;  ///< automatic events: the threads released since the event was set
  bool fault_reported = false;            ///< memory events only
  std::vector<Waiter*> waiters;

  [[nodiscard]] static Event& of(HsaEvent* handle) { return *reinterpret_cast<Event*>(handle); }
};

/// All events of the process.
///
/// Thread safety: every member may be called from any thread.
///
/// An automatic event releases each thread once: every thread that waits for it now, and every thread that waits later.
/// A driver without ages of events keeps the event set only if no thread waits now. Then a thread that has looked at a
/// signal and is about to wait sleeps for ever if another thread takes the event first; ROCr's handler of a queue's
/// errors and the thread that destroys the queue race in this way. One release too many is harmless: a waiter looks at
/// the signal again.
class Events {
public:
  static constexpr std::uint32_t most = 65536;
  static constexpr std::uint32_t few = 128;  ///< for programs that are to show what they do without

  explicit Events(std::uint32_t limit = most);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// Null when there are too many.
  [[nodiscard]] HsaEvent* create(const HsaEventDescriptor& descriptor, Reset reset, bool set);
  /// For a while, raising or clearing a destroyed event has no effect: a thread of ROCr that stores to a signal may be
  /// about to raise the event when another thread has seen the value and destroys both.
  void destroy(HsaEvent* event);
  void raise(HsaEvent* event);
  void clear(HsaEvent* event);
  /// The GPU's interrupt. An id without an event is ignored: the interrupt may be late.
  void raise(std::uint32_t id);
  /// Null where there is no such event.
  [[nodiscard]] HsaEvent* find(std::uint32_t id);
  /// Has kernels write elsewhere from now on, in the caller's memory: a zeroed word an event, as many events as there
  /// can be then. For a driver whose caller brings that memory, before there are events.
  void use_mailboxes(std::span<std::uint64_t> mailboxes);
  /// The memory that kernels write when they raise an event.
  [[nodiscard]] std::span<const std::uint64_t> mailboxes() const noexcept;
  /// The interrupt of a kernel, which may carry the last bits of the event's id only: raises the event if its mailbox
  /// was written, else every event whose mailbox was written.
  void raise_signalled(std::uint32_t partial_id);

  /// Fills the memory events' fault data and raises them. False when there is none, or it was raised before: ROCr
  /// handles one memory fault in the life of a process.
  [[nodiscard]] bool report_memory_fault(const HsaMemoryAccessFault& fault);
  /// What a memory event has; NodeId 0: none yet.
  [[nodiscard]] HsaMemoryAccessFault memory_fault(const HsaEvent* event);

  /// True when the condition was met before the time was up; no time limit waits for ever.
  [[nodiscard]] bool wait(std::span<HsaEvent* const> events, WaitFor mode,
                          std::optional<std::chrono::milliseconds> limit);

private:
  [[nodiscard]] bool exists(const Event& event) const noexcept;
  void set_locked(Event& event);
  [[nodiscard]] bool empty_mailbox(std::uint32_t id) noexcept;

  std::mutex mutex_;
  std::uint32_t limit_;
  std::vector<std::unique_ptr<Event>> events_;         // by id; id 0 is no event
  std::array<std::unique_ptr<Event>, 256> destroyed_;  // the last ones
  std::size_t destroyed_count_ = 0;
  std::vector<std::uint32_t> free_ids_;
  std::uint64_t* own_mailboxes_;
  std::uint64_t* mailboxes_;  // one word an event, where the GPU leaves the id of the event that it raises; else 0
};

}  // namespace softgpu::thunk
