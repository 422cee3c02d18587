// ROCr on the soft GPU, opened at run time, with as little around it as a test needs.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

namespace softgpu_test {

/// One of ROCr's functions, by its name.
template <class Function>
class RocrFunction {
public:
  explicit RocrFunction(const char* name) : name_(name) {}
  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name_))(arguments...);
  }

private:
  const char* name_;
};

#define ROCR(name) (::softgpu_test::RocrFunction<decltype(::name)>(#name))

inline void check(hsa_status_t status, const char* what) {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) return;
  throw std::runtime_error(std::string(what) + " answered " + std::to_string(status));
}
#define CHECKED(name, ...) ::softgpu_test::check(ROCR(name)(__VA_ARGS__), #name)

/// Binds the process to the soft GPU's thunk and ROCr to it.
void open_rocr();

/// A counted hsa_init, and what it found.
class Rocr {
public:
  Rocr();
  ~Rocr();
  Rocr(const Rocr&) = delete;
  Rocr& operator=(const Rocr&) = delete;

  hsa_agent_t host{};
  std::vector<hsa_agent_t> gpus;
  hsa_amd_memory_pool_t system{};  ///< fine-grained host memory
  hsa_amd_memory_pool_t kernarg{};
  hsa_amd_memory_pool_t device{};  ///< of the first GPU
};

/// A block of a pool that every GPU may access.
template <class T>
class Buffer {
public:
  Buffer(const Rocr& rocr, hsa_amd_memory_pool_t pool, std::size_t count) : count_(count) {
    CHECKED(hsa_amd_memory_pool_allocate, pool, count * sizeof(T), 0U, &data_);
    CHECKED(hsa_amd_agents_allow_access, static_cast<std::uint32_t>(rocr.gpus.size()), rocr.gpus.data(), nullptr,
            static_cast<const void*>(data_));
  }
  ~Buffer() { ROCR(hsa_amd_memory_pool_free)(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }
  T& operator[](std::size_t i) const { return data()[i]; }

private:
  void* data_ = nullptr;
  std::size_t count_;
};

class Signal {
public:
  explicit Signal(hsa_signal_value_t value = 1) { CHECKED(hsa_signal_create, value, 0U, nullptr, &signal_); }
  ~Signal() { ROCR(hsa_signal_destroy)(signal_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  [[nodiscard]] hsa_signal_t get() const { return signal_; }
  [[nodiscard]] hsa_signal_value_t load() const { return ROCR(hsa_signal_load_scacquire)(signal_); }
  void store(hsa_signal_value_t value) const { ROCR(hsa_signal_store_screlease)(signal_, value); }
  /// True once the signal is 0; false after a time that no healthy machine needs.
  [[nodiscard]] bool completes(hsa_wait_state_t how = HSA_WAIT_STATE_BLOCKED) const;

private:
  hsa_signal_t signal_{};
};

/// The test kernels, loaded for one GPU.
class Kernels {
public:
  Kernels(const Rocr& rocr, hsa_agent_t gpu);
  explicit Kernels(const Rocr& rocr) : Kernels(rocr, rocr.gpus.at(0)) {}
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  struct Kernel {
    std::uint64_t object = 0;
    std::uint32_t private_bytes = 0;
    std::uint32_t group_bytes = 0;
  };
  [[nodiscard]] Kernel operator[](const std::string& name) const;

private:
  hsa_agent_t gpu_;
  hsa_code_object_reader_t reader_{};
  hsa_executable_t executable_{};
};

inline constexpr std::uint16_t system_fences = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                               HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
inline constexpr std::uint16_t barrier_bit = 1U << HSA_PACKET_HEADER_BARRIER;

/// A queue that remembers the error that stopped it.
class Queue {
public:
  explicit Queue(const Rocr& rocr, std::uint32_t slots = 256);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  struct Launch {
    std::uint32_t groups = 1;
    std::uint32_t group_size = 64;
    std::uint16_t flags = 0;
    const Signal* completion = nullptr;
    std::uint32_t extra_group_bytes = 0;
  };
  /// `arguments` are laid out one after the other, 8 bytes each; smaller kernels' arguments come last.
  void dispatch(const Kernels::Kernel& kernel, const std::vector<std::uint64_t>& arguments, const Launch& launch);
  void barrier(hsa_packet_type_t type, const std::vector<const Signal*>& dependencies, const Signal& completion);
  void submit(const void* packet_body, std::uint16_t header, std::uint16_t setup);

  [[nodiscard]] hsa_queue_t* get() const { return queue_; }
  [[nodiscard]] const amd_queue_t& amd() const { return *reinterpret_cast<const amd_queue_t*>(queue_); }
  /// Waits for the queue's error; HSA_STATUS_SUCCESS when none comes.
  [[nodiscard]] hsa_status_t error() const;

private:
  const Rocr& rocr_;
  hsa_queue_t* queue_ = nullptr;
  Buffer<std::uint64_t> kernargs_;
  std::size_t next_kernarg_ = 0;
  mutable std::uint32_t error_ = HSA_STATUS_SUCCESS;
};

template <class T>
std::uint64_t argument(T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

/// True once `condition` holds; false when it does not within a time that no healthy machine needs.
bool eventually(const std::function<bool()>& condition);

}  // namespace softgpu_test
