#include "softgpu/thunk/drm_device.hpp"

#include <mutex>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace softgpu::thunk {
namespace {

constexpr std::size_t most_gpus = 16;
std::array<DrmDevice, most_gpus> devices;

/// An empty file for each GPU, from its first use to the process's end.
struct RenderNodes {
  std::mutex mutex;
  std::array<int, most_gpus> descriptors = [] {
    std::array<int, most_gpus> none{};
    none.fill(-1);
    return none;
  }();
};

RenderNodes& render_nodes() {
  static RenderNodes& nodes = *new RenderNodes;
  return nodes;
}

}  // namespace

DrmDevice* drm_device(std::uint32_t node) noexcept { return &devices.at(node - 1); }

std::optional<std::uint32_t> node_of_device(const void* handle) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  const auto first = reinterpret_cast<std::uintptr_t>(devices.data());
  if (address < first || address - first >= sizeof(devices)) return std::nullopt;
  return static_cast<std::uint32_t>((address - first) / sizeof(DrmDevice)) + 1;
}

int open_render_node(std::uint32_t node) {
  RenderNodes& nodes = render_nodes();
  const std::lock_guard lock(nodes.mutex);
  int& descriptor = nodes.descriptors.at(node - 1);
  if (descriptor < 0) descriptor = memfd_create("softgpu-render-node", MFD_CLOEXEC);
  return descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

std::optional<std::uint32_t> node_of_render_node(int descriptor) {
  struct stat wanted {};
  if (fstat(descriptor, &wanted) != 0) return std::nullopt;
  RenderNodes& nodes = render_nodes();
  const std::lock_guard lock(nodes.mutex);
  for (std::uint32_t node = 1; node <= most_gpus; ++node) {
    struct stat file {};
    const int known = nodes.descriptors[node - 1];
    if (known >= 0 && fstat(known, &file) == 0 && file.st_ino == wanted.st_ino && file.st_dev == wanted.st_dev)
      return node;
  }
  return std::nullopt;
}

}  // namespace softgpu::thunk
