#include "softgpu/command_processor/aql_queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/command_processor/packet_trace.hpp"
#include "softgpu/command_processor/queue_errors.hpp"
#include "softgpu/command_processor/signals.hpp"
#include "softgpu/compute/execution/recycling_allocator.hpp"
#include "softgpu/compute/program/kernel_name.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/l2_cache.hpp"

namespace softgpu::command_processor {
namespace {

/// A doorbell that was answered. ROCr rings with packet indices, which never get here.
constexpr std::uint64_t silent = ~std::uint64_t{0};

/// How long a shuffled queue waits for more packets before it starts what it holds, and how many it holds at most.
constexpr std::uint64_t hold_nanoseconds = 100'000;
constexpr std::size_t most_held = 32;

/// A kernel that is expected to take less runs on the worker that found it. Telling another worker takes about as long.
constexpr std::uint64_t short_nanoseconds = 2'000;

/// For kernels that cannot be interrupted: they must not keep the program from destroying their queue.
constexpr auto drain_limit = std::chrono::seconds(2);

std::uint64_t scratch_bytes(const amd_queue_t& queue) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, reinterpret_cast<const std::byte*>(&queue) + scratch_bytes_offset, sizeof(bytes));
  return bytes;
}

}  // namespace

AqlQueue::AqlQueue(const Setup& setup, GridSource& grids, Host& host)
    : setup_(setup), queue_(setup.memory.queue), slot_mask_(setup.memory.ring_bytes / packet_bytes - 1), grids_(grids),
      host_(host), trace_(host.trace()), inactive_signal_(*queue_, host), resident_waves_(setup.resident_waves),
      compute_units_(setup.compute_units), random_(setup.shuffle_seed.value_or(0) + setup.id) {
  *setup_.doorbell = silent;
}

void AqlQueue::take_doorbell() noexcept {
  if (__atomic_load_n(setup_.doorbell, __ATOMIC_RELAXED) == silent) return;
  // Doorbells of several producers arrive in any order and overwrite one another. Any ring therefore stands for
  // everything that was reserved by then. At a packet that is not published yet, its header stops the queue.
  __atomic_exchange_n(setup_.doorbell, silent, __ATOMIC_ACQ_REL);
  limit_ = __atomic_load_n(&queue_->write_dispatch_id, __ATOMIC_ACQUIRE);
}

AqlQueue::Backlog AqlQueue::backlog() const noexcept {
  if (closed()) return Backlog::none;
  const std::uint64_t next = __atomic_load_n(&queue_->read_dispatch_id, __ATOMIC_RELAXED);
  if (__atomic_load_n(&queue_->write_dispatch_id, __ATOMIC_RELAXED) == next) return Backlog::none;
  const std::byte* slot = setup_.memory.ring + (next & slot_mask_) * packet_bytes;
  const PacketHeader header{__atomic_load_n(reinterpret_cast<const std::uint16_t*>(slot), __ATOMIC_RELAXED)};
  if (header.type() == HSA_PACKET_TYPE_INVALID) return Backlog::none;  // reserved, but not written
  return header.barrier() ? Backlog::blocked : Backlog::launchable;
}

void AqlQueue::fetch(Progress& progress, Lookout& lookout) {
  take_doorbell();
  if (waits_for_runtime()) {
    release_held(progress, true);
    return;
  }
  while (next_ != limit_ && releasable_ == 0) {
    std::byte* slot = setup_.memory.ring + (next_ & slot_mask_) * packet_bytes;
    const std::uint32_t first = __atomic_load_n(reinterpret_cast<std::uint32_t*>(slot), __ATOMIC_ACQUIRE);
    const PacketHeader header{static_cast<std::uint16_t>(first)};
    if (header.type() == HSA_PACKET_TYPE_INVALID) break;
    if (trace_ != nullptr && waits_since_ == 0) waits_since_ = gpu_clock();
    if (header.barrier() && in_flight_.load(std::memory_order_acquire) != 0) {
      release_held(progress, true);
      return;
    }
    const Outcome outcome = carry_out(header, slot, progress, lookout);
    if (outcome == Outcome::blocked) break;
    progress.moved = true;
    if (outcome == Outcome::launched) return;
    if (stopped()) break;
    if (next_ == limit_) take_doorbell();
  }
  release_held(progress, false);
}

AqlQueue::Outcome AqlQueue::carry_out(PacketHeader header, std::byte* slot, Progress& progress, Lookout& lookout) {
  Packet packet;
  std::copy_n(slot, packet_bytes, reinterpret_cast<std::byte*>(&packet));
  Outcome outcome = Outcome::blocked;
  if (header.type() == HSA_PACKET_TYPE_KERNEL_DISPATCH && header.acquires()) acquire();
  switch (header.type()) {
  case HSA_PACKET_TYPE_KERNEL_DISPATCH:
    outcome = launch(packet, progress, lookout);
    break;
  case HSA_PACKET_TYPE_BARRIER_AND:
    outcome = wait_for_all(packet);
    break;
  case HSA_PACKET_TYPE_BARRIER_OR:
    outcome = wait_for_any(packet);
    break;
  case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
    outcome = vendor(packet);
    break;
  default:
    stop_with(queue_error::packet_format, next_,
              "a GPU queue takes no packets of type " + std::to_string(header.type()));
  }
  if (outcome == Outcome::blocked) return outcome;
  if (header.type() != HSA_PACKET_TYPE_KERNEL_DISPATCH && header.acquires()) acquire();
  free_slot(header, slot);
  return outcome;
}

/// A dispatch acquires before its work-groups begin, others when they waited for their signals.
void AqlQueue::acquire() noexcept {
  if (setup_.acquires == nullptr) return;
  if (setup_.l2s != nullptr && setup_.l2s->are_several()) setup_.l2s->invalidate();
  setup_.acquires->fetch_add(1, std::memory_order_release);
}

/// Before a packet's completion.
void AqlQueue::release(hsa_fence_scope_t scope) noexcept {
  if (setup_.l2s == nullptr || scope == HSA_FENCE_SCOPE_NONE) return;
  if (scope == HSA_FENCE_SCOPE_SYSTEM || setup_.l2s->are_several()) setup_.l2s->write_back();
}

void AqlQueue::free_slot(PacketHeader header, std::byte* slot) noexcept {
  __atomic_store_n(reinterpret_cast<std::uint16_t*>(slot), std::uint16_t{HSA_PACKET_TYPE_INVALID}, __ATOMIC_RELAXED);
  ++next_;
  waits_since_ = 0;
  // ROCr waits for its own PM4 packets by the read index.
  const std::uint64_t step = (slot_mask_ + 1) / 4;
  if (!setup_.strict || next_ % step == 0 || header.type() == HSA_PACKET_TYPE_VENDOR_SPECIFIC) publish_read_index();
}

void AqlQueue::publish_read_index() noexcept { __atomic_store_n(&queue_->read_dispatch_id, next_, __ATOMIC_RELEASE); }

AqlQueue::Outcome AqlQueue::launch(const Packet& packet, Progress& progress, Lookout& lookout) {
  const hsa_kernel_dispatch_packet_t& request = packet.dispatch;
  __builtin_prefetch(request.kernarg_address);
  __builtin_prefetch(setup_.memory.ring + ((next_ + 1) & slot_mask_) * packet_bytes);

  compute::QueueView queue_view = view();
  queue_view.dispatch_id = next_;
  std::shared_ptr<Dispatch> dispatch = std::move(lookout.spare);
  std::shared_ptr<Grid> grid = dispatch ? dispatch->take_grid() : nullptr;
  if (const auto failure = prepare(grid, request, queue_view, lookout)) {
    stop_with(*failure, next_, request.kernel_object);
    return Outcome::blocked;
  }
  // After all other checks, and only for a kernel that uses private memory: ROCr asserts that the packet of a queue
  // that asks for scratch is in order.
  if (grid->private_segment_bytes() != 0 && request.private_segment_size > queue_view.scratch_bytes_per_lane)
    return request_scratch();
  if (grid->private_segment_bytes() > queue_view.scratch_bytes_per_lane) {
    stop_with(queue_error::packet_format, next_,
              "the kernel needs " + std::to_string(grid->private_segment_bytes()) +
                  " bytes of private memory a work-item, the packet's private_segment_size says " +
                  std::to_string(request.private_segment_size));
    return Outcome::blocked;
  }

  Dispatch::Properties properties;
  properties.packet_index = next_;
  properties.kernel_object = request.kernel_object;
  properties.completion_signal = request.completion_signal;
  properties.profiled = profiled();
  properties.traced = trace_ != nullptr;
  properties.release_scope = PacketHeader{request.header}.release_scope();
  if (setup_.shuffle_seed) properties.order = IndexPermutation(grid->group_count(), random_);
  if (grid->private_segment_bytes() != 0) {
    properties.worker_limit = worker_limit(packet, queue_view);
    scratch_is_single_use_ = (queue_->queue_properties & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE) != 0;
  }
  properties.is_short = !setup_.shuffle_seed && grid->waits_for() < compute::WaitsFor::anyone &&
                        paces_.expected(request.kernel_object, grid->group_count()) < short_nanoseconds;
  if (trace_ != nullptr) trace_->learn_name(request.kernel_object);
  if (host_.logs_packets()) log(next_, "kernel dispatch, " + std::to_string(grid->group_count()) + " work-groups");

  in_flight_.fetch_add(1, std::memory_order_relaxed);
  if (dispatch)
    dispatch->renew(*this, std::move(grid), properties, setup_.cores);
  else
    dispatch = std::allocate_shared<Dispatch>(compute::RecyclingAllocator<Dispatch>(), shared_from_this(),
                                              std::move(grid), properties, setup_.cores);
  if (setup_.shuffle_seed) {
    hold(std::move(dispatch));
    return Outcome::done;
  }
  progress.dispatch = std::move(dispatch);
  return Outcome::launched;
}

std::optional<compute::Failure> AqlQueue::prepare(std::shared_ptr<Grid>& grid,
                                                  const hsa_kernel_dispatch_packet_t& request,
                                                  const compute::QueueView& view, Lookout& lookout) {
  /// Before this worker leaves for a translation, it notes which kernels other workers can translate meanwhile.
  struct Leaving final : Lookout {
    Leaving(AqlQueue& its_queue, Lookout& its_worker) : queue(its_queue), worker(its_worker) {}
    void leave() override {
      queue.note_coming_kernels();
      worker.leave();
    }
    AqlQueue& queue;
    Lookout& worker;
  };
  Leaving leaving(*this, lookout);
  return grids_.prepare(grid, request, view, leaving);
}

void AqlQueue::note_coming_kernels() {
  take_doorbell();
  coming_kernels_.note(setup_.memory.ring, slot_mask_, next_ + 1, limit_);
}

bool AqlQueue::assist(Lookout& lookout) {
  const auto packet = coming_kernels_.take();
  if (!packet) return false;
  lookout.leave();
  grids_.translate_ahead(*packet);
  return true;
}

AqlQueue::Outcome AqlQueue::wait_for_all(const Packet& packet) {
  for (const hsa_signal_t dependency : packet.barrier.dep_signal)
    if (dependency.handle != 0 && (!can_load(dependency) || load_signal(dependency) != 0)) return Outcome::blocked;
  if (host_.logs_packets()) log(next_, "barrier-AND");
  return complete({packet.barrier.header}, packet.barrier.completion_signal);
}

AqlQueue::Outcome AqlQueue::wait_for_any(const Packet& packet) {
  bool has_dependency = false;
  bool met = false;
  for (const hsa_signal_t dependency : packet.barrier.dep_signal) {
    if (dependency.handle == 0) continue;
    has_dependency = true;
    if (!met && !can_load(dependency)) return Outcome::blocked;
    met = met || load_signal(dependency) == 0;
  }
  if (has_dependency && !met) return Outcome::blocked;
  if (host_.logs_packets()) log(next_, "barrier-OR");
  return complete({packet.barrier.header}, packet.barrier.completion_signal);
}

AqlQueue::Outcome AqlQueue::vendor(const Packet& packet) {
  const auto& value_packet = packet.barrier_value;
  switch (static_cast<VendorFormat>(value_packet.header.AmdFormat)) {
  case VendorFormat::barrier_value: {
    if (setup_.strict && !setup_.knows_barrier_values) {
      stop_with(queue_error::vendor_packet_format, next_,
                "a barrier-value packet, which AMD's runtimes never send to this GPU");
      return Outcome::blocked;
    }
    const hsa_signal_t dependency = value_packet.signal;
    const auto numbers = setup_.strict ? Numbers::without_sign : Numbers::with_sign;
    if (dependency.handle != 0 && (!can_load(dependency) || !is_met(load_signal(dependency) & value_packet.mask,
                                                                    value_packet.cond, value_packet.value, numbers)))
      return Outcome::blocked;
    if (host_.logs_packets()) log(next_, "barrier-value");
    return complete({value_packet.header.header}, value_packet.completion_signal);
  }
  case VendorFormat::pm4:
    bool is_maintenance = false;
    compute::FaultGuard guard;
    if (const auto exit = guard.run([&] { is_maintenance = is_cache_maintenance(packet.pm4); })) {
      stop_with({compute::Failure::Kind::memory_fault, exit->address, "the packet's PM4 commands are not in memory"},
                next_);
      return Outcome::blocked;
    }
    if (is_maintenance) {
      acquire();
      release(HSA_FENCE_SCOPE_SYSTEM);
      if (host_.logs_packets()) log(next_, "PM4 cache maintenance");
      return complete({packet.pm4.header}, packet.pm4.completion_signal);
    }
    stop_with(queue_error::vendor_packet_format, next_, "a PM4 command other than cache maintenance");
    return Outcome::blocked;
  }
  stop_with(queue_error::vendor_packet_format, next_,
            "AMD's vendor packets have no format " + std::to_string(value_packet.header.AmdFormat));
  return Outcome::blocked;
}

bool AqlQueue::waits_for_runtime() {
  if (scratch_is_single_use_ && may_ask_runtime()) {
    scratch_is_single_use_ = false;
    inactive_signal_.ask(queue_error::scratch_returned);
  }
  return inactive_signal_.waits_for_answer() || scratch_is_single_use_;
}

AqlQueue::Outcome AqlQueue::request_scratch() {
  if (may_ask_runtime()) {
    publish_read_index();  // ROCr looks there for the packet that wants scratch
    inactive_signal_.ask(queue_error::scratch_wanted);
  } else {
    releasable_ = held_.size();
  }
  return Outcome::blocked;
}

// The runtime takes the old scratch memory away first, so nothing may use it any more. And if the last dispatch failed,
// the signal has the error, which the runtime may not have read yet.
bool AqlQueue::may_ask_runtime() const noexcept {
  return in_flight_.load(std::memory_order_acquire) == 0 && !stopped();
}

std::uint32_t AqlQueue::worker_limit(const Packet& packet, const compute::QueueView& queue_view) const noexcept {
  // A worker's wave slots start at its index times the largest work-group's waves.
  const auto& request = packet.dispatch;
  const std::uint64_t wave_bytes = std::uint64_t{queue_view.scratch_bytes_per_lane} * compute::wavefront_size;
  const std::uint64_t slots = queue_view.scratch_bytes / std::max<std::uint64_t>(wave_bytes, 1);
  const std::uint64_t items =
      std::uint64_t{request.workgroup_size_x} * request.workgroup_size_y * request.workgroup_size_z;
  const std::uint64_t waves = (items + compute::wavefront_size - 1) / compute::wavefront_size;
  if (slots < waves) return 1;
  return static_cast<std::uint32_t>((slots - waves) / compute::max_waves_per_group + 1);
}

void AqlQueue::hold(std::shared_ptr<Dispatch> dispatch) {
  held_.push_back(std::move(dispatch));
  held_since_ = gpu_clock();
}

void AqlQueue::release_held(Progress& progress, bool now) {
  if (held_.empty()) return;
  if (releasable_ == 0 && (now || held_.size() >= most_held || gpu_clock() - held_since_ > hold_nanoseconds)) {
    std::shuffle(held_.begin(), held_.end(), random_);
    releasable_ = held_.size();
  }
  if (releasable_ == 0) return;
  --releasable_;
  progress.dispatch = std::move(held_.front());
  progress.moved = true;
  held_.pop_front();
}

compute::QueueView AqlQueue::view() const noexcept {
  compute::QueueView result;
  result.queue_address = reinterpret_cast<std::uint64_t>(queue_);
  std::copy_n(queue_->scratch_resource_descriptor, 4, result.scratch_descriptor);
  result.scratch_base = queue_->scratch_backing_memory_location;
  result.scratch_bytes = scratch_bytes(*queue_);
  result.scratch_bytes_per_lane = queue_->scratch_wave64_lane_byte_size;
  result.shared_aperture_high = queue_->group_segment_aperture_base_hi;
  result.private_aperture_high = queue_->private_segment_aperture_base_hi;
  result.interrupts = &host_;
  result.compute_units = &compute_units_;
  result.memory = setup_.accessible;
  result.acquires = setup_.acquires;
  result.l2s = setup_.l2s;
  result.global_sync = global_sync_.load(std::memory_order_acquire);
  return result;
}

bool AqlQueue::profiled() const noexcept {
  return (queue_->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING) != 0;
}

bool AqlQueue::enable_compute_units(std::span<const std::uint32_t> mask) {
  compute_units_.enable(mask);
  return true;
}

bool AqlQueue::provide_global_sync() {
  global_sync_.store(&global_sync_resources_, std::memory_order_release);
  return true;
}

bool AqlQueue::is_in(std::uint64_t base, std::size_t size) const noexcept {
  return is_within(setup_.memory.ring, base, size) || is_within(queue_, base, size);
}

/// If not, the queue has stopped.
bool AqlQueue::can_load(hsa_signal_t signal) {
  const auto failure = check_signal(signal, SignalAccess::load);
  if (failure) stop_with(*failure, next_);
  return !failure;
}

AqlQueue::Outcome AqlQueue::complete(PacketHeader header, hsa_signal_t signal) {
  if (const auto failure = check_signal(signal, SignalAccess::update)) {
    stop_with(*failure, next_);
    return Outcome::blocked;
  }
  release(header.release_scope());
  if (trace_ != nullptr) trace_barrier(header);
  // Packets that run nothing take no time, but profilers read when they were carried out.
  const std::uint64_t now = profiled() ? gpu_clock() : 0;
  const Timestamps times{.start = now, .end = now};
  complete_signal(signal, now != 0 ? &times : nullptr, host_);
  return Outcome::done;
}

void AqlQueue::completed(const Dispatch& dispatch) {
  const hsa_signal_t signal = dispatch.properties().completion_signal;
  if (closed()) {
    // nobody waits for it any more
  } else if (const auto failure = check_signal(signal, SignalAccess::update)) {
    stop_with(*failure, dispatch.properties().packet_index);
  } else {
    release(dispatch.properties().release_scope);
    if (trace_ != nullptr) trace_kernel(dispatch, "");
    const Timestamps times{.start = dispatch.start_time(), .end = dispatch.properties().profiled ? gpu_clock() : 0};
    complete_signal(signal, dispatch.properties().profiled ? &times : nullptr, host_);
  }
  in_flight_.fetch_sub(1, std::memory_order_release);
}

void AqlQueue::failed(const Dispatch& dispatch, const compute::Failure& failure) {
  if (trace_ != nullptr) trace_kernel(dispatch, failure.text);
  if (!closed()) stop_with(failure, dispatch.properties().packet_index, dispatch.properties().kernel_object);
  in_flight_.fetch_sub(1, std::memory_order_release);
}

void AqlQueue::stop_with(const compute::Failure& failure, std::uint64_t packet_index, std::uint64_t kernel_object) {
  if (!stop()) return;
  const std::string kernel = compute::kernel_name(kernel_object);
  const std::string place = kernel_object == 0 ? "" : grids_.place_of(kernel_object, failure);
  report(packet_index,
         (kernel.empty() ? "" : "kernel " + kernel + ": ") + failure.text + (place.empty() ? "" : ", at " + place));
  if (failure.kind == compute::Failure::Kind::memory_fault &&
      host_.report_memory_fault({.gpu = setup_.memory.gpu,
                                 .address = failure.address,
                                 .is_imprecise = failure.is_imprecise,
                                 .is_read_only = failure.is_read_only}))
    return;
  inactive_signal_.stop(queue_error::of(failure.kind));
}

void AqlQueue::stop_with(std::int64_t error_bits, std::uint64_t packet_index, std::string_view reason) {
  if (!stop()) return;
  report(packet_index, reason);
  inactive_signal_.stop(error_bits);
}

void AqlQueue::report(std::uint64_t packet_index, std::string_view reason) {
  host_.report_error("queue " + std::to_string(setup_.id) + ", packet " + std::to_string(packet_index) + ": " +
                     std::string(reason));
}

void AqlQueue::log(std::uint64_t packet_index, std::string_view what) {
  host_.log_packet("queue " + std::to_string(setup_.id) + ", packet " + std::to_string(packet_index) + ": " +
                   std::string(what));
}

void AqlQueue::trace_kernel(const Dispatch& dispatch, std::string_view failure) {
  const auto& properties = dispatch.properties();
  trace_->add_kernel({.gpu = setup_.memory.gpu, .queue = setup_.id, .packet = properties.packet_index},
                     {.object = properties.kernel_object, .groups = dispatch.group_count(), .failure = failure},
                     {.begin = dispatch.start_time(), .end = gpu_clock()});
}

/// From when the queue came to the packet.
void AqlQueue::trace_barrier(PacketHeader header) {
  const auto type = [&]() -> std::string_view {
    switch (header.type()) {
    case HSA_PACKET_TYPE_BARRIER_AND:
      return "barrier-AND";
    case HSA_PACKET_TYPE_BARRIER_OR:
      return "barrier-OR";
    default:
      return "vendor-specific";
    }
  }();
  trace_->add_barrier({.gpu = setup_.memory.gpu, .queue = setup_.id, .packet = next_}, type,
                      {.begin = waits_since_, .end = gpu_clock()});
}

void AqlQueue::drain() {
  in_flight_.fetch_sub(held_.size(), std::memory_order_relaxed);
  held_.clear();
  releasable_ = 0;
  const auto deadline = std::chrono::steady_clock::now() + drain_limit;
  while (in_flight_.load(std::memory_order_acquire) != 0 && std::chrono::steady_clock::now() < deadline) {
    if (setup_.executions != nullptr) setup_.executions->interrupt(*this);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace softgpu::command_processor
