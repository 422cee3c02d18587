#include "rocr.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>
#include <thread>

#include "softgpu_test_kernels_code_object.hpp"

namespace softgpu_test {
namespace {

/// The one code object for a GPU in a clang offload bundle: magic, count, then offset, size and target of each entry.
std::span<const std::byte> unbundle(std::span<const std::byte> bundle) {
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, bundle.data() + at, sizeof(value));
    return value;
  };
  std::size_t at = 24;
  std::uint64_t left = number(at);
  for (at += 8; left != 0; --left) {
    const std::uint64_t target_bytes = number(at + 16);
    const std::string target(reinterpret_cast<const char*>(bundle.data() + at + 24), target_bytes);
    if (target.find("gfx90a") != std::string::npos) return bundle.subspan(number(at), number(at + 8));
    at += 24 + target_bytes;
  }
  throw std::runtime_error("no code object for gfx90a");
}

hsa_status_t remember_pool(hsa_amd_memory_pool_t pool, void* data) {
  hsa_amd_segment_t segment{};
  std::uint32_t flags = 0;
  ROCR(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  ROCR(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  auto& rocr = *static_cast<Rocr*>(data);
  if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0)
    rocr.kernarg = pool;
  else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) != 0)
    rocr.system = pool;
  else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0)  // not ROCr 6's extended-scope memory
    rocr.device = pool;
  return HSA_STATUS_SUCCESS;
}

}  // namespace

void open_rocr() {
  const auto open = [](const char* library) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    return handle == nullptr ? throw std::runtime_error(dlerror()) : handle;
  };
  void* thunk = open(SOFTGPU_LIBHSAKMT);
  void* rocr = open("libhsa-runtime64.so.1");
  if (dlsym(rocr, "hsaKmtOpenKFD") == dlsym(thunk, "hsaKmtOpenKFD")) return;
  // A ROCr with a thunk of its own would open the machine's AMD GPU.
  using StandIn = bool(const void*);
  auto* const stand_in = reinterpret_cast<StandIn*>(dlsym(thunk, "softgpu_stand_in_for_kernel"));
  if (!stand_in(dlsym(rocr, "hsa_init"))) throw std::runtime_error("this ROCr cannot be given the soft GPU");
}

Rocr::Rocr() {
  open_rocr();
  CHECKED(hsa_init);
  CHECKED(
      hsa_iterate_agents,
      [](hsa_agent_t agent, void* data) {
        auto& self = *static_cast<Rocr*>(data);
        hsa_device_type_t type{};
        ROCR(hsa_agent_get_info)(agent, HSA_AGENT_INFO_DEVICE, &type);
        if (type == HSA_DEVICE_TYPE_GPU)
          self.gpus.push_back(agent);
        else
          self.host = agent;
        return HSA_STATUS_SUCCESS;
      },
      this);
  CHECKED(hsa_amd_agent_iterate_memory_pools, gpus.at(0), remember_pool, this);
  const hsa_amd_memory_pool_t device_pool = device;
  CHECKED(hsa_amd_agent_iterate_memory_pools, host, remember_pool, this);
  device = device_pool;
}

Rocr::~Rocr() { ROCR(hsa_shut_down)(); }

bool Signal::completes(hsa_wait_state_t how) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  do {
    if (ROCR(hsa_signal_wait_scacquire)(signal_, HSA_SIGNAL_CONDITION_LT, 1, 100'000'000ULL, how) < 1) return true;
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

Kernels::Kernels(const Rocr& /*rocr*/, hsa_agent_t gpu) : gpu_(gpu) {
  const auto code = unbundle(code_objects::softgpu_test_kernels());
  CHECKED(hsa_code_object_reader_create_from_memory, code.data(), code.size(), &reader_);
  CHECKED(hsa_executable_create_alt, HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable_);
  CHECKED(hsa_executable_load_agent_code_object, executable_, gpu_, reader_, nullptr, nullptr);
  CHECKED(hsa_executable_freeze, executable_, nullptr);
}

Kernels::~Kernels() {
  ROCR(hsa_executable_destroy)(executable_);
  ROCR(hsa_code_object_reader_destroy)(reader_);
}

Kernels::Kernel Kernels::operator[](const std::string& name) const {
  hsa_executable_symbol_t symbol{};
  CHECKED(hsa_executable_get_symbol_by_name, executable_, (name + ".kd").c_str(), &gpu_, &symbol);
  Kernel kernel;
  const auto get = ROCR(hsa_executable_symbol_get_info);
  get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object);
  get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &kernel.private_bytes);
  get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group_bytes);
  return kernel;
}

Queue::Queue(const Rocr& rocr, std::uint32_t slots) : rocr_(rocr), kernargs_(rocr, rocr.kernarg, 8 * 1024) {
  const auto on_error = [](hsa_status_t status, hsa_queue_t* /*queue*/, void* data) {
    __atomic_store_n(static_cast<std::uint32_t*>(data), static_cast<std::uint32_t>(status), __ATOMIC_RELEASE);
  };
  CHECKED(hsa_queue_create, rocr_.gpus.at(0), slots, static_cast<hsa_queue_type32_t>(HSA_QUEUE_TYPE_MULTI), on_error,
          static_cast<void*>(&error_), UINT32_MAX, UINT32_MAX, &queue_);
}

Queue::~Queue() { ROCR(hsa_queue_destroy)(queue_); }

void Queue::submit(const void* packet_body, std::uint16_t header, std::uint16_t setup) {
  const std::uint64_t index = ROCR(hsa_queue_add_write_index_relaxed)(queue_, std::uint64_t{1});
  while (index - ROCR(hsa_queue_load_read_index_scacquire)(queue_) >= queue_->size) std::this_thread::yield();
  auto* slot = static_cast<std::byte*>(queue_->base_address) + (index & (queue_->size - 1)) * 64;
  std::memcpy(slot + 4, static_cast<const std::byte*>(packet_body) + 4, 60);
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(slot), std::uint32_t{header} | std::uint32_t{setup} << 16,
                   __ATOMIC_RELEASE);
  ROCR(hsa_signal_store_screlease)(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

void Queue::dispatch(const Kernels::Kernel& kernel, const std::vector<std::uint64_t>& arguments, const Launch& launch) {
  std::uint64_t* kernarg = &kernargs_[next_kernarg_ * 8];
  next_kernarg_ = (next_kernarg_ + 1) % (kernargs_.size() / 8);
  std::copy(arguments.begin(), arguments.end(), kernarg);

  hsa_kernel_dispatch_packet_t packet{};
  packet.workgroup_size_x = static_cast<std::uint16_t>(launch.group_size);
  packet.workgroup_size_y = packet.workgroup_size_z = 1;
  packet.grid_size_x = launch.groups * launch.group_size;
  packet.grid_size_y = packet.grid_size_z = 1;
  packet.private_segment_size = kernel.private_bytes;
  packet.group_segment_size = kernel.group_bytes + launch.extra_group_bytes;
  packet.kernel_object = kernel.object;
  packet.kernarg_address = kernarg;
  if (launch.completion != nullptr) packet.completion_signal = launch.completion->get();
  submit(&packet, static_cast<std::uint16_t>(HSA_PACKET_TYPE_KERNEL_DISPATCH | system_fences | launch.flags), 1);
}

void Queue::barrier(hsa_packet_type_t type, const std::vector<const Signal*>& dependencies, const Signal& completion) {
  hsa_barrier_and_packet_t packet{};
  for (std::size_t i = 0; i != dependencies.size(); ++i) packet.dep_signal[i] = dependencies[i]->get();
  packet.completion_signal = completion.get();
  submit(&packet, static_cast<std::uint16_t>(type | system_fences), 0);
}

hsa_status_t Queue::error() const {
  const auto load = [&] { return __atomic_load_n(&error_, __ATOMIC_ACQUIRE); };
  return eventually([&] { return load() != HSA_STATUS_SUCCESS; }) ? static_cast<hsa_status_t>(load())
                                                                  : HSA_STATUS_SUCCESS;
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

}  // namespace softgpu_test
