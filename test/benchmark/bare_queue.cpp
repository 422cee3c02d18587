#include "bare_queue.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace fd = fastdispatch;

namespace {

constexpr std::uint32_t ring_size = 4096;
constexpr std::size_t kernarg_stride = 128;
constexpr std::uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                                 1 << HSA_PACKET_HEADER_BARRIER |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
constexpr std::uint16_t setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;

template <class Function>
void look_up_hsa(void* library, const char* name, Function& function) {
  void* const symbol = ::dlsym(library, name);
  if (symbol == nullptr) throw std::runtime_error(std::string("the HSA runtime has no ") + name);
  std::memcpy(&function, &symbol, sizeof symbol);
}

}  // namespace

BareQueue::BareQueue(const fd::Runtime& runtime, fd::Agent gpu, const Kernel& kernel)
    : gpu_(gpu), kernel_(kernel.info()), completion_(gpu), kernargs_(gpu, ring_size * kernarg_stride) {
  if (kernel.kernarg_size() > kernarg_stride) throw std::runtime_error("the kernel's arguments are too large");
  const std::unique_ptr<void, int (*)(void*)> library(
      ::dlopen(std::string(runtime.library_path()).c_str(), RTLD_NOW | RTLD_NOLOAD), &::dlclose);
  if (!library) throw std::runtime_error("the HSA runtime is not loaded");
#define LOOK_UP(name) look_up_hsa(library.get(), "hsa_" #name, hsa_.name)
  LOOK_UP(queue_create);
  LOOK_UP(queue_destroy);
  LOOK_UP(queue_add_write_index_relaxed);
  LOOK_UP(queue_load_read_index_relaxed);
  LOOK_UP(signal_create);
  LOOK_UP(signal_destroy);
  LOOK_UP(signal_store_relaxed);
  LOOK_UP(signal_store_screlease);
  LOOK_UP(signal_wait_scacquire);
  LOOK_UP(amd_memory_pool_allocate);
  LOOK_UP(amd_memory_pool_free);
  LOOK_UP(amd_agents_allow_access);
#undef LOOK_UP
  if (hsa_.queue_create(gpu.handle(), ring_size, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, UINT32_MAX, UINT32_MAX,
                        &queue_) != HSA_STATUS_SUCCESS) {
    throw std::runtime_error("hsa_queue_create failed");
  }
}

BareQueue::~BareQueue() { hsa_.queue_destroy(queue_); }

void BareQueue::dispatch(std::size_t count) {
  hsa_.signal_store_relaxed(completion_.handle(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t index = reserve();
    publish(index, kernargs_.bytes().data() + index % ring_size * kernarg_stride, static_cast<std::uint32_t>(i),
            i + 1 == count ? completion_.handle() : hsa_signal_t{0});
  }
}

void BareQueue::wait() const { wait_for(completion_.handle()); }

void BareQueue::dispatch_and_wait(std::size_t count) {
  const auto check = [](hsa_status_t status, const char* call) {
    if (status != HSA_STATUS_SUCCESS) throw std::runtime_error(std::string(call) + " failed");
  };
  const hsa_agent_t agent = gpu_.handle();
  for (std::size_t i = 0; i < count; ++i) {
    hsa_signal_t completion{};
    check(hsa_.signal_create(1, 0, nullptr, &completion), "hsa_signal_create");
    void* kernarg = nullptr;
    check(hsa_.amd_memory_pool_allocate(gpu_.pools().kernarg, kernarg_stride, 0, &kernarg),
          "hsa_amd_memory_pool_allocate");
    check(hsa_.amd_agents_allow_access(1, &agent, nullptr, kernarg), "hsa_amd_agents_allow_access");
    publish(reserve(), kernarg, static_cast<std::uint32_t>(i), completion);
    wait_for(completion);
    check(hsa_.amd_memory_pool_free(kernarg), "hsa_amd_memory_pool_free");
    check(hsa_.signal_destroy(completion), "hsa_signal_destroy");
  }
}

std::uint64_t BareQueue::reserve() {
  const std::uint64_t index = hsa_.queue_add_write_index_relaxed(queue_, 1);
  while (index - hsa_.queue_load_read_index_relaxed(queue_) >= ring_size) {
  }
  return index;
}

void BareQueue::publish(std::uint64_t index, void* kernarg, std::uint32_t stage, hsa_signal_t completion) {
  const struct {
    void* data;
    std::uint32_t stage, step, order;
  } arguments = {nullptr, stage, 0, 1};
  std::memcpy(kernarg, &arguments, sizeof arguments);

  auto& packet = static_cast<hsa_kernel_dispatch_packet_t*>(queue_->base_address)[index % ring_size];
  packet.workgroup_size_x = 64;
  packet.workgroup_size_y = 1;
  packet.workgroup_size_z = 1;
  packet.grid_size_x = 64;
  packet.grid_size_y = 1;
  packet.grid_size_z = 1;
  packet.private_segment_size = kernel_.private_segment_size;
  packet.group_segment_size = kernel_.group_segment_size;
  packet.kernel_object = kernel_.object;
  packet.kernarg_address = kernarg;
  packet.completion_signal = completion;
  // Header and setup are the packet's first 32 bits; storing them together publishes the packet.
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(&packet))
      .store(header | std::uint32_t{setup} << 16U, std::memory_order_release);
  hsa_.signal_store_screlease(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

void BareQueue::wait_for(hsa_signal_t completion) const {
  hsa_.signal_wait_scacquire(completion, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE);
}
