#include "softgpu/thunk/resource_check.hpp"

#include <array>
#include <atomic>
#include <system_error>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
/// ROCr takes addresses for all scratch that a GPU may need (GpuAgent::InitScratchPool: 4 GiB), and some more memory.
constexpr std::uint64_t bytes_per_gpu = 4 * gibibyte + gibibyte / 4;
/// ROCr has one for events; HIP has more.
constexpr unsigned threads = 2;

bool is_limited(__rlimit_resource resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool can_map(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

bool can_start_threads() {
  std::array<std::thread, threads> started;
  std::atomic<bool> tried = false;
  bool all = true;
  try {
    for (std::thread& thread : started) thread = std::thread([&] { tried.wait(false); });
  } catch (const std::system_error&) {
    all = false;
  }
  tried = true;
  tried.notify_all();
  for (std::thread& thread : started)
    if (thread.joinable()) thread.join();
  return all;
}

}  // namespace

std::optional<std::string> lacking_resource(std::uint32_t gpus) {
  const std::uint64_t bytes = gpus * bytes_per_gpu;
  if ((is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) && !can_map(bytes))
    return "ROCr needs " + std::to_string(bytes / (gibibyte / 1024)) +
           " MiB of addresses, most of which never become memory: raise or remove the limit on the process's address "
           "space (ulimit -v) or on its data (ulimit -d)";
  if (!can_start_threads())
    return "ROCr cannot start its threads: raise the limit on the user's processes (ulimit -u), or the container's";
  return std::nullopt;
}

}  // namespace softgpu::thunk
