#include "mock_hsa.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "dispatch/hsa/amd_signal.hpp"

namespace fastdispatch::test {

namespace {

MockHsa* current = nullptr;

std::atomic_ref<std::int64_t> value_of(hsa_signal_t signal) {
  return std::atomic_ref(const_cast<std::int64_t&>(reinterpret_cast<amd_signal_t*>(signal.handle)->value));
}

template <class Value>
void answer(void* out, const Value& value) {
  std::memcpy(out, &value, sizeof(value));
}

}  // namespace

// HSA's functions, by their names without prefix.
struct Functions {
  static hsa_status_t init() { return current->record("init"); }
  static hsa_status_t shut_down() { return current->record("shut_down"); }

  static hsa_status_t status_string(hsa_status_t status, const char** text) {
    if (status != HSA_STATUS_ERROR_OUT_OF_RESOURCES && status != HSA_STATUS_ERROR_INVALID_ALLOCATION)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *text = status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? "OUT_OF_RESOURCES: text of the mock"
                                                        : "INVALID_ALLOCATION: text of the mock";
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t system_get_info(hsa_system_info_t attribute, void* value) {
    if (const hsa_status_t status = current->record("system_get_info"); status != HSA_STATUS_SUCCESS) return status;
    if (attribute == HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)
      answer(value, std::uint64_t{1'000'000'000});
    else if (attribute == HSA_SYSTEM_INFO_TIMESTAMP)
      answer(value, std::uint64_t{2000});  // a moment at which every kernel and copy runs
    else
      answer(value, std::uint16_t{1});
    return HSA_STATUS_SUCCESS;
  }

  // Agent 1 is the host, agent 2 a GPU; 4, 5, ... are further NUMA nodes of the host.
  static hsa_status_t iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void*), void* data) {
    if (const hsa_status_t status = current->record("iterate_agents"); status != HSA_STATUS_SUCCESS) return status;
    std::vector<std::uint64_t> handles = {1, 2};
    for (std::size_t node = 1; node < current->distances_.size(); ++node) handles.push_back(3 + node);
    for (const std::uint64_t handle : handles)
      if (const hsa_status_t status = callback({handle}, data); status != HSA_STATUS_SUCCESS) return status;
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
    if (const hsa_status_t status = current->record("agent_get_info"); status != HSA_STATUS_SUCCESS) return status;
    const bool gpu = agent.handle == 2;
    switch (static_cast<int>(attribute)) {
    case HSA_AGENT_INFO_NAME:
      std::strcpy(static_cast<char*>(value), gpu ? "gfx90a" : "host");
      break;
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      std::strcpy(static_cast<char*>(value), "Mock");
      break;
    case HSA_AGENT_INFO_DEVICE:
      answer(value, gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
      break;
    case HSA_AGENT_INFO_FEATURE:
      answer(value, std::uint32_t{HSA_AGENT_FEATURE_KERNEL_DISPATCH});
      break;
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
      answer(value, std::array<std::uint16_t, 3>{1024, 1024, 1024});
      break;
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      answer(value, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
      break;
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
      answer(value, std::uint32_t{32});
      break;
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
      answer(value, std::uint32_t{64});
      break;
    default:
      answer(value, std::uint32_t{1024});
      break;
    }
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t agent_iterate_isas(hsa_agent_t, hsa_status_t (*callback)(hsa_isa_t, void*), void* data) {
    return callback({7}, data);
  }

  static hsa_status_t isa_get_info_alt(hsa_isa_t, hsa_isa_info_t attribute, void* value) {
    static constexpr char name[] = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
    if (attribute == HSA_ISA_INFO_NAME_LENGTH)
      answer(value, std::uint32_t{sizeof(name)});
    else
      std::memcpy(value, name, sizeof(name));
    return HSA_STATUS_SUCCESS;
  }

  // Pools 11 to 13 (41 to 43, ...) are the host's, fine-grained, kernarg and coarse-grained, 21 and 22 the GPU's own
  // memory and its LDS.
  static hsa_status_t amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                     hsa_status_t (*callback)(hsa_amd_memory_pool_t, void*),
                                                     void* data) {
    for (const std::uint64_t pool : {1, 2}) callback({agent.handle * 10 + pool}, data);
    if (agent.handle == 1) callback({13}, data);
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute,
                                               void* value) {
    switch (attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
      answer(value, pool.handle == 22 ? HSA_AMD_SEGMENT_GROUP : HSA_AMD_SEGMENT_GLOBAL);
      break;
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
      answer(value, pool.handle == 21 || pool.handle % 10 == 3
                        ? std::uint32_t{HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED}
                    : pool.handle % 10 == 2 ? std::uint32_t{HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
                                                            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT}
                                            : std::uint32_t{HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED});
      break;
    default:
      answer(value, std::size_t{65536});
      break;
    }
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool,
                                                     hsa_amd_agent_memory_pool_info_t which, void* value) {
    // From the GPU to a node of the host as far as the test says; the other ways are XGMI.
    const std::uint64_t owner = pool.handle / 10;
    const std::vector<std::uint32_t> way = agent.handle == 2 && owner != 2
                                               ? current->distances_[owner < 4 ? 0 : owner - 3]
                                               : std::vector<std::uint32_t>{13};
    if (which == HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS) {
      answer(value, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    } else if (which == HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS) {
      answer(value, static_cast<std::uint32_t>(way.size()));
    } else {
      auto* links = static_cast<hsa_amd_memory_pool_link_info_t*>(value);
      for (const std::uint32_t distance : way) {
        hsa_amd_memory_pool_link_info_t link{};
        link.link_type = HSA_AMD_LINK_INFO_TYPE_XGMI;
        link.numa_distance = distance;
        *links++ = link;
      }
    }
    return current->record("amd_agent_memory_pool_get_info");
  }

  static hsa_status_t amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, std::size_t bytes, std::uint32_t,
                                               void** memory) {
    if (const hsa_status_t status = current->record("amd_memory_pool_allocate"); status != HSA_STATUS_SUCCESS)
      return status;
    *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    const std::scoped_lock lock(current->mutex_);
    current->allocations_.push_back(*memory);
    current->last_allocation_ = {pool, *memory};
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t amd_memory_pool_free(void* memory) {
    std::free(memory);
    const std::scoped_lock lock(current->mutex_);
    std::erase(current->allocations_, memory);
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t amd_pointer_info(const void* pointer, hsa_amd_pointer_info_t* info, void* (*)(std::size_t),
                                       std::uint32_t*, hsa_agent_t**) {
    const auto is_in = [&](const void* base, std::size_t size) {
      return base <= pointer && pointer < static_cast<const std::byte*>(base) + size;
    };
    info->type = HSA_EXT_POINTER_TYPE_UNKNOWN;
    {
      const std::scoped_lock lock(current->mutex_);
      for (const hsa_amd_pointer_info_t& known : current->pointers_) {
        if (is_in(known.agentBaseAddress, known.sizeInBytes) || is_in(known.hostBaseAddress, known.sizeInBytes))
          *info = known;
      }
    }
    return current->record("amd_pointer_info");
  }

  static hsa_status_t amd_profiling_set_profiler_enabled(hsa_queue_t*, int) {
    return current->record("amd_profiling_set_profiler_enabled");
  }

  // Each kernel ran from tick 1000 to tick 3000.
  static hsa_status_t amd_profiling_get_dispatch_time(hsa_agent_t, hsa_signal_t,
                                                      hsa_amd_profiling_dispatch_time_t* time) {
    *time = {.start = 1000, .end = 3000};
    return current->record("amd_profiling_get_dispatch_time");
  }

  static hsa_status_t amd_profiling_async_copy_enable(bool) {
    return current->record("amd_profiling_async_copy_enable");
  }

  // As kernels do.
  static hsa_status_t amd_profiling_get_async_copy_time(hsa_signal_t, hsa_amd_profiling_async_copy_time_t* time) {
    *time = {.start = 1000, .end = 3000};
    return current->record("amd_profiling_get_async_copy_time");
  }

  static hsa_status_t amd_agents_allow_access(std::uint32_t count, const hsa_agent_t* agents, const std::uint32_t*,
                                              const void*) {
    current->allowed_agents_.clear();
    for (std::uint32_t i = 0; i < count; ++i) current->allowed_agents_.push_back(agents[i].handle);
    return current->record("amd_agents_allow_access");
  }

  // Copies nothing: the test looks at what was asked for.
  static hsa_status_t amd_memory_async_copy(void* destination, hsa_agent_t, const void* source, hsa_agent_t,
                                            std::size_t bytes, std::uint32_t count, const hsa_signal_t* depends_on,
                                            hsa_signal_t completion) {
    if (const hsa_status_t status = current->record("amd_memory_async_copy"); status != HSA_STATUS_SUCCESS)
      return status;
    const std::scoped_lock lock(current->mutex_);
    current->copies_.push_back({.destination = destination,
                                .source = source,
                                .bytes = bytes,
                                .depends_on = {depends_on, depends_on + count},
                                .completion = completion});
    if (!current->ended_copies_.empty()) {
      value_of(completion).store(current->ended_copies_.front(), std::memory_order_release);
      current->copies_.back().ended = true;
      current->ended_copies_.pop_front();
    }
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t amd_memory_lock(void* memory, std::size_t bytes, hsa_agent_t*, int, void** agent_address) {
    if (const hsa_status_t status = current->record("amd_memory_lock"); status != HSA_STATUS_SUCCESS) return status;
    *agent_address = memory;
    hsa_amd_pointer_info_t locked{};
    locked.type = HSA_EXT_POINTER_TYPE_LOCKED;
    locked.agentBaseAddress = locked.hostBaseAddress = memory;
    locked.sizeInBytes = bytes;
    const std::scoped_lock lock(current->mutex_);
    current->pointers_.push_back(locked);
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t amd_memory_unlock(void* memory) {
    const std::scoped_lock lock(current->mutex_);
    const auto locked = std::find_if(current->pointers_.begin(), current->pointers_.end(), [&](const auto& known) {
      return known.type == HSA_EXT_POINTER_TYPE_LOCKED && known.hostBaseAddress == memory;
    });
    if (locked == current->pointers_.end()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    current->pointers_.erase(locked);
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t signal_create(hsa_signal_value_t initial, std::uint32_t, const hsa_agent_t*,
                                    hsa_signal_t* signal) {
    return make_signal("signal_create", initial, signal);
  }

  static hsa_status_t amd_signal_create(hsa_signal_value_t initial, std::uint32_t, const hsa_agent_t*, std::uint64_t,
                                        hsa_signal_t* signal) {
    return make_signal("amd_signal_create", initial, signal);
  }

  static hsa_status_t make_signal(const char* function, hsa_signal_value_t initial, hsa_signal_t* signal) {
    if (const hsa_status_t status = current->record(function); status != HSA_STATUS_SUCCESS) return status;
    auto made = std::make_unique<amd_signal_t>();
    made->kind = AMD_SIGNAL_KIND_USER;
    made->value = initial;
    signal->handle = reinterpret_cast<std::uintptr_t>(made.get());
    const std::scoped_lock lock(current->mutex_);
    current->signals_.push_back(std::move(made));
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t signal_destroy(hsa_signal_t signal) {
    const std::scoped_lock lock(current->mutex_);
    current->end_ready_copies();
    current->forget_copies_of(signal);
    std::erase_if(current->signals_,
                  [&](const auto& made) { return reinterpret_cast<std::uintptr_t>(made.get()) == signal.handle; });
    return HSA_STATUS_SUCCESS;
  }

  static void signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
    const amd_signal_t& written = detail::amd_signal(signal);
    if (written.kind != AMD_SIGNAL_KIND_LEGACY_DOORBELL) {
      value_of(signal).store(value, std::memory_order_release);
      if (value != 0) return;
      const std::scoped_lock lock(current->mutex_);
      return current->end_ready_copies();
    }
    current->rings_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(const_cast<std::uint64_t&>(*written.hardware_doorbell_ptr))
        .store(static_cast<std::uint64_t>(value), std::memory_order_release);
  }

  /// A thread that waits for some signals.
  class InHsa {
  public:
    explicit InHsa(std::span<const hsa_signal_t> signals) : signals_(signals) {
      const std::scoped_lock lock(current->mutex_);
      for (const hsa_signal_t signal : signals_) {
        MockHsa::Waiters& waiters = current->waiters_[signal.handle];
        waiters.most = std::max(waiters.most, ++waiters.now);
      }
    }
    ~InHsa() {
      const std::scoped_lock lock(current->mutex_);
      for (const hsa_signal_t signal : signals_) --current->waiters_[signal.handle].now;
    }
    InHsa(const InHsa&) = delete;
    InHsa& operator=(const InHsa&) = delete;

  private:
    std::span<const hsa_signal_t> signals_;
  };

  /// Looks until `look()` returns something, or so many nanoseconds passed.
  template <class Look>
  static auto look_for(std::uint64_t ticks, Look look) {
    const auto start = std::chrono::steady_clock::now();
    while (true) {
      const auto found = look();
      const auto waited = std::chrono::steady_clock::now() - start;
      if (found || static_cast<std::uint64_t>(waited / std::chrono::nanoseconds(1)) >= ticks) return found;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  static hsa_signal_value_t signal_wait_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                                  hsa_signal_value_t threshold, std::uint64_t ticks, hsa_wait_state_t) {
    static_cast<void>(current->record("signal_wait_scacquire"));
    const InHsa waiting(std::span(&signal, 1));
    hsa_signal_value_t value = 0;
    look_for(ticks, [&] {
      value = value_of(signal).load(std::memory_order_acquire);
      return condition == HSA_SIGNAL_CONDITION_NE ? value != threshold : value < threshold;
    });
    return value;
  }

  static std::uint32_t amd_signal_wait_any(std::uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t*,
                                           hsa_signal_value_t* thresholds, std::uint64_t ticks, hsa_wait_state_t,
                                           hsa_signal_value_t*) {
    static_cast<void>(current->record("amd_signal_wait_any"));
    const InHsa waiting(std::span(signals, count));
    const auto first = look_for(ticks, [&]() -> std::optional<std::uint32_t> {
      for (std::uint32_t i = 0; i != count; ++i)
        if (value_of(signals[i]).load(std::memory_order_acquire) < thresholds[i]) return i;
      return std::nullopt;
    });
    return first.value_or(UINT32_MAX);
  }

  static hsa_status_t queue_create(hsa_agent_t, std::uint32_t size, hsa_queue_type32_t type,
                                   void (*on_error)(hsa_status_t, hsa_queue_t*, void*), void* data, std::uint32_t,
                                   std::uint32_t, hsa_queue_t** queue) {
    if (const hsa_status_t status = current->record("queue_create"); status != HSA_STATUS_SUCCESS) return status;
    auto made = std::make_unique<MockHsa::MadeQueue>();
    made->ring.resize(size);
    for (Packet& packet : made->ring) packet.words[0] = HSA_PACKET_TYPE_INVALID;
    made->type = type;
    made->on_error = on_error;
    made->on_error_data = data;
    made->doorbell.kind = current->counts_rings_ ? AMD_SIGNAL_KIND_LEGACY_DOORBELL : AMD_SIGNAL_KIND_DOORBELL;
    made->doorbell.hardware_doorbell_ptr = &made->doorbell_value;
    made->amd.hsa_queue.base_address = made->ring.data();
    made->amd.hsa_queue.size = size;
    made->amd.hsa_queue.doorbell_signal.handle = reinterpret_cast<std::uintptr_t>(&made->doorbell);
    *queue = &made->amd.hsa_queue;
    const std::scoped_lock lock(current->mutex_);
    current->queues_.push_back(std::move(made));
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t queue_destroy(hsa_queue_t* queue) {
    const std::scoped_lock lock(current->mutex_);
    current->end_ready_copies();
    current->allocations_of_last_queue_ = current->allocations_.size();
    std::erase_if(current->queues_, [&](const auto& made) { return &made->amd.hsa_queue == queue; });
    return HSA_STATUS_SUCCESS;
  }

  static hsa_status_t amd_queue_set_priority(hsa_queue_t*, hsa_amd_queue_priority_t) {
    return current->record("amd_queue_set_priority");
  }

  static hsa_status_t amd_queue_cu_set_mask(const hsa_queue_t*, std::uint32_t, const std::uint32_t*) {
    return current->record("amd_queue_cu_set_mask");
  }
};

// A function whose calls are counted before they are made.
template <auto function>
struct Counted;
template <class Result, class... Parameters, Result (*function)(Parameters...)>
struct Counted<function> {
  static Result call(Parameters... parameters) {
    current->all_calls_.fetch_add(1, std::memory_order_relaxed);
    return function(parameters...);
  }
};

MockHsa::MockHsa() {
  current = this;
#define MOCK(name) api_.name = Counted<Functions::name>::call
  MOCK(init);
  MOCK(shut_down);
  MOCK(status_string);
  MOCK(system_get_info);
  MOCK(iterate_agents);
  MOCK(agent_get_info);
  MOCK(agent_iterate_isas);
  MOCK(isa_get_info_alt);
  MOCK(amd_agent_iterate_memory_pools);
  MOCK(amd_memory_pool_get_info);
  MOCK(amd_agent_memory_pool_get_info);
  MOCK(amd_memory_pool_allocate);
  MOCK(amd_memory_pool_free);
  MOCK(amd_pointer_info);
  MOCK(amd_agents_allow_access);
  MOCK(amd_profiling_set_profiler_enabled);
  MOCK(amd_profiling_get_dispatch_time);
  MOCK(amd_profiling_async_copy_enable);
  MOCK(amd_profiling_get_async_copy_time);
  MOCK(amd_memory_async_copy);
  MOCK(amd_memory_lock);
  MOCK(amd_memory_unlock);
  MOCK(signal_create);
  MOCK(amd_signal_create);
  MOCK(signal_destroy);
  MOCK(signal_store_screlease);
  MOCK(signal_wait_scacquire);
  MOCK(amd_signal_wait_any);
  MOCK(queue_create);
  MOCK(queue_destroy);
  MOCK(amd_queue_set_priority);
  MOCK(amd_queue_cu_set_mask);
#undef MOCK
  gpu_.api = &api_;
  gpu_.handle = {2};
  gpu_.host = &gpu_;
  gpu_.gpus = {gpu_.handle};
  gpu_.pools = {.fine_grained = {11}, .coarse_grained = {21}, .kernarg = {12}, .host_coarse_grained = {13}};
  gpu_.properties = {.name = "gfx90a",
                     .product_name = "Mock",
                     .isa = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
                     .wavefront_size = 64,
                     .compute_units = 104,
                     .queue_size_min = 64,
                     .queue_size_max = 131072,
                     .queues_max = 128,
                     .work_group_size_max = 1024,
                     .work_group_extent_max = {1024, 1024, 1024},
                     .grid_extent_max = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                     .grid_size_max = UINT32_MAX,
                     .lds_bytes = 65536,
                     .host_visible_memory = true,
                     .xgmi_to_host = true,
                     .barrier_value_packets = true};
}

MockHsa::~MockHsa() {
  gpu_.close();
  current = nullptr;
}

void MockHsa::fail(const std::string& function, hsa_status_t status) {
  const std::scoped_lock lock(mutex_);
  failures_[function] = status;
}

int MockHsa::calls(const std::string& function) const {
  const std::scoped_lock lock(mutex_);
  const auto found = calls_.find(function);
  return found == calls_.end() ? 0 : found->second;
}

hsa_status_t MockHsa::record(const std::string& function) {
  const std::scoped_lock lock(mutex_);
  ++calls_[function];
  const auto found = failures_.find(function);
  return found == failures_.end() ? HSA_STATUS_SUCCESS : found->second;
}

RingView MockHsa::MadeQueue::view() {
  return {ring, &doorbell_value, const_cast<std::uint64_t*>(&amd.read_dispatch_id)};
}

std::size_t MockHsa::complete(MadeQueue& queue, std::size_t count) {
  const RingView view = queue.view();
  const auto on_packet = [&queue](const Packet& packet) {
    if (queue.on_packet) queue.on_packet(packet);
  };
  std::size_t completed = 0;
  while (completed < count && read_packet(view, on_packet)) ++completed;
  return completed;
}

void MockHsa::report_error(MadeQueue& queue, hsa_status_t status) {
  queue.on_error(status, &queue.amd.hsa_queue, queue.on_error_data);
}

void MockHsa::end_ready_copies() {
  for (StartedCopy& copy : copies_) {
    const auto is_zero = [](hsa_signal_t signal) { return detail::load_acquire(signal) == 0; };
    if (copy.ended || copy.depends_on.empty() || !std::ranges::all_of(copy.depends_on, is_zero)) continue;
    copy.ended = true;
    if (detail::load_acquire(copy.completion) > 0) value_of(copy.completion).store(0, std::memory_order_release);
  }
}

void MockHsa::forget_copies_of(hsa_signal_t signal) {
  const auto is_it = [&](hsa_signal_t one) { return one.handle == signal.handle; };
  for (StartedCopy& copy : copies_)
    if (is_it(copy.completion) || std::ranges::any_of(copy.depends_on, is_it)) copy.ended = true;
}

int MockHsa::most_waiters(hsa_signal_t signal) const {
  const std::scoped_lock lock(mutex_);
  const auto found = waiters_.find(signal.handle);
  return found == waiters_.end() ? 0 : found->second.most;
}

std::size_t MockHsa::signals() const {
  const std::scoped_lock lock(mutex_);
  return signals_.size();
}

std::size_t MockHsa::started_copies() const {
  const std::scoped_lock lock(mutex_);
  return copies_.size();
}

std::size_t MockHsa::locks() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      pointers_.begin(), pointers_.end(), [](const auto& known) { return known.type == HSA_EXT_POINTER_TYPE_LOCKED; }));
}

std::size_t MockHsa::allocations() const {
  const std::scoped_lock lock(mutex_);
  return allocations_.size();
}

}  // namespace fastdispatch::test
