#include "softgpu/thunk/events.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace softgpu::thunk {
namespace {

constexpr std::size_t mailbox_bytes = Events::most * sizeof(std::uint64_t);

}  // namespace

/// One blocked thread.
struct Waiter {
  std::condition_variable wake;
  std::vector<Event*> joined;   ///< the events that list this waiter
  std::vector<Event*> pending;  ///< the events that it still waits for
  std::thread::id thread = std::this_thread::get_id();
  WaitFor mode = WaitFor::any;
  bool released = false;

  void event_set(Event& event) {
    std::erase(pending, &event);
    if (mode == WaitFor::all && !pending.empty()) return;
    released = true;
    wake.notify_one();
  }
};

Events::Events(std::uint32_t limit) : limit_(limit), events_(1) {
  void* pages =
      mmap(nullptr, mailbox_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  mailboxes_ = own_mailboxes_ = static_cast<std::uint64_t*>(pages);
}

std::span<const std::uint64_t> Events::mailboxes() const noexcept { return {own_mailboxes_, most}; }

Events::~Events() { munmap(own_mailboxes_, mailbox_bytes); }

void Events::use_mailboxes(std::span<std::uint64_t> mailboxes) {
  const std::lock_guard lock(mutex_);
  mailboxes_ = mailboxes.data();
  limit_ = std::min(limit_, static_cast<std::uint32_t>(mailboxes.size()));
}

HsaEvent* Events::find(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  return id < events_.size() && events_[id] ? &events_[id]->handle : nullptr;
}

HsaEvent* Events::create(const HsaEventDescriptor& descriptor, Reset reset, bool set) {
  const std::lock_guard lock(mutex_);
  std::uint32_t id = 0;
  if (!free_ids_.empty()) {
    id = free_ids_.back();
    free_ids_.pop_back();
  } else {
    id = static_cast<std::uint32_t>(events_.size());
    if (id >= limit_) return nullptr;
    events_.emplace_back();
    free_ids_.reserve(events_.capacity());
  }
  auto event = std::make_unique<Event>();
  event->reset = reset;
  event->set = set;
  event->handle.EventId = id;
  event->handle.EventData.EventType = descriptor.EventType;
  event->handle.EventData.EventData.SyncVar = descriptor.SyncVar;
  event->handle.EventData.HWData1 = id;
  event->handle.EventData.HWData2 = reinterpret_cast<std::uint64_t>(mailboxes_ + id);
  event->handle.EventData.HWData3 = id;
  events_[id] = std::move(event);
  return &events_[id]->handle;
}

void Events::destroy(HsaEvent* event) {
  const std::lock_guard lock(mutex_);
  if (!exists(Event::of(event))) return;
  const std::uint32_t id = event->EventId;
  for (Waiter* waiter : events_[id]->waiters) std::erase(waiter->joined, events_[id].get());
  destroyed_[destroyed_count_++ % destroyed_.size()] = std::move(events_[id]);
  free_ids_.push_back(id);
}

bool Events::exists(const Event& event) const noexcept { return events_[event.handle.EventId].get() == &event; }

void Events::set_locked(Event& event) {
  event.set = true;
  event.released.clear();
  for (Waiter* waiter : event.waiters) {
    waiter->event_set(event);
    event.released.push_back(waiter->thread);
  }
}

void Events::raise(HsaEvent* event) {
  const std::lock_guard lock(mutex_);
  if (exists(Event::of(event))) set_locked(Event::of(event));
}

void Events::raise(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  if (id >= events_.size() || !events_[id]) return;
  static_cast<void>(empty_mailbox(id));
  set_locked(*events_[id]);
}

void Events::raise_signalled(std::uint32_t partial_id) {
  const std::lock_guard lock(mutex_);
  if (partial_id < events_.size() && events_[partial_id] && empty_mailbox(partial_id))
    return set_locked(*events_[partial_id]);
  for (std::uint32_t id = 0; id != events_.size(); ++id)
    if (events_[id] && empty_mailbox(id)) set_locked(*events_[id]);
}

bool Events::empty_mailbox(std::uint32_t id) noexcept {
  return __atomic_exchange_n(mailboxes_ + id, std::uint64_t{0}, __ATOMIC_ACQ_REL) != 0;
}

void Events::clear(HsaEvent* event) {
  const std::lock_guard lock(mutex_);
  Event::of(event).set = false;
}

bool Events::report_memory_fault(const HsaMemoryAccessFault& fault) {
  const std::lock_guard lock(mutex_);
  bool reported = false;
  for (const auto& event : events_) {
    if (!event || event->handle.EventData.EventType != HSA_EVENTTYPE_MEMORY || event->fault_reported) continue;
    event->handle.EventData.EventData.MemoryAccessFault = fault;
    event->fault_reported = true;
    set_locked(*event);
    reported = true;
  }
  return reported;
}

HsaMemoryAccessFault Events::memory_fault(const HsaEvent* event) {
  const std::lock_guard lock(mutex_);
  return event->EventData.EventData.MemoryAccessFault;
}

bool Events::wait(std::span<HsaEvent* const> events, WaitFor mode, std::optional<std::chrono::milliseconds> limit) {
  std::unique_lock lock(mutex_);
  Waiter waiter;
  waiter.mode = mode;

  // Events that are set already count at once; automatic ones are consumed by it, as far as this thread goes.
  for (HsaEvent* handle : events) {
    Event& event = Event::of(handle);
    const auto has_released_it = std::find(event.released.begin(), event.released.end(), waiter.thread);
    if (!event.set || (event.reset == Reset::automatic && has_released_it != event.released.end()))
      waiter.pending.push_back(&event);
    else if (event.reset == Reset::automatic)
      event.released.push_back(waiter.thread);
  }
  const bool met = mode == WaitFor::all ? waiter.pending.empty() : waiter.pending.size() < events.size();
  if (met) return true;

  waiter.joined = waiter.pending;
  for (Event* event : waiter.joined) event->waiters.push_back(&waiter);
  const auto released = [&] { return waiter.released; };
  if (limit)
    waiter.wake.wait_for(lock, *limit, released);
  else
    waiter.wake.wait(lock, released);
  for (Event* event : waiter.joined) std::erase(event->waiters, &waiter);
  return waiter.released;
}

}  // namespace softgpu::thunk
