#include "softgpu/kernel_interface/driver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/ioctl.h>

#include "softgpu/command_processor/device_access.hpp"

namespace softgpu::kernel_interface {
namespace {

using command_processor::at_address;

using abi::Command;

constexpr std::uint32_t version_major = 1;
constexpr std::uint32_t version_minor = 16;  // as the thunk's (thunk/topology_entry_points.cpp)

/// Runs `body(Args&)` on an ioctl's argument. The caller's structure may be longer, or shorter: what is missing is
/// zero, what is more is left as it is.
template <class Args, class Body>
int with(unsigned long request, void* data, const Body& body) {
  Args args{};
  const std::size_t bytes = std::min<std::size_t>(_IOC_SIZE(request), sizeof(Args));
  std::memcpy(&args, data, bytes);
  const int error = body(args);
  std::memcpy(data, &args, bytes);
  return error;
}

}  // namespace

Driver::Driver(thunk::SoftGpu& gpu) : gpu_(gpu), file_(gpu.topology.node_count() - 1), memory_(gpu.memory, file_) {}

std::optional<std::uint32_t> Driver::node_of(std::uint32_t gpu_id) const {
  for (std::uint32_t node = 1; node != gpu_.topology.node_count(); ++node)
    if (thunk::Topology::gpu_id(node) == gpu_id) return node;
  return std::nullopt;
}

int Driver::control(unsigned long request, void* data) {
  if (_IOC_TYPE(request) != abi::letter || data == nullptr) return ENOTTY;
  switch (static_cast<Command>(_IOC_NR(request))) {
  case Command::get_version:
    return with<abi::Version>(request, data, [](auto& args) {
      args = {.major = version_major, .minor = version_minor};
      return 0;
    });
  case Command::get_process_apertures:
    return with<abi::ProcessApertures>(request, data, [&](auto& args) { return tell_apertures(args); });
  case Command::get_clock_counters:
    return with<abi::ClockCounters>(request, data, [&](auto& args) { return tell_clocks(args); });
  case Command::available_memory:
    return with<abi::AvailableMemory>(request, data, [&](auto& args) {
      const auto node = node_of(args.gpu_id);
      if (node) args.bytes = gpu_.memory.available(*node);
      return node ? 0 : EINVAL;
    });
  case Command::get_tile_config:
    return with<abi::TileConfig>(request, data, [&](auto& args) {
      const auto node = node_of(args.gpu_id);
      if (!node) return EINVAL;
      args.tile_count = args.macro_tile_count = 0;
      args.gb_addr_config = gpu_.topology.gb_addr_config(*node);
      return 0;
    });

  // Caching, traps' handlers and scratch need nothing here (thunk/refused_entry_points.cpp).
  case Command::acquire_vm:
  case Command::set_memory_policy:
  case Command::set_scratch_backing_va:
  case Command::set_trap_handler:
    return 0;
  case Command::set_xnack_mode:
    return with<abi::XnackMode>(request, data, [](auto& args) {
      if (args.enabled > 0) return EPERM;
      args.enabled = 0;
      return 0;
    });

  case Command::allocate_memory:
    return with<abi::AllocateMemory>(request, data, [&](auto& args) { return allocate(args); });
  case Command::free_memory:
    return with<abi::FreeMemory>(request, data, [&](auto& args) { return memory_.free(args.handle); });
  case Command::map_memory:
  case Command::unmap_memory:
    return with<abi::MapMemory>(request, data,
                                [&](auto& args) { return map(args.handle, args.device_count, args.done); });
  case Command::get_dmabuf_info:
    return with<abi::DmabufInfo>(request, data, [&](auto& args) { return tell_dmabuf(args); });
  case Command::import_dmabuf:
    return with<abi::ImportDmabuf>(request, data, [&](auto& args) { return memory_.import_file(args); });
  case Command::export_dmabuf:
    return with<abi::ExportDmabuf>(request, data,
                                   [&](auto& args) { return memory_.export_file(args.handle, args.descriptor); });
  case Command::export_shared:
    return with<abi::ExportShared>(request, data, [&](auto& args) { return memory_.share(args.handle, args.shared); });
  case Command::import_shared:
    return with<abi::ImportShared>(request, data, [&](auto& args) { return memory_.import_shared(args); });
  case Command::svm:
    return shared_virtual_memory(*static_cast<abi::Svm*>(data));

  case Command::create_queue:
    return with<abi::CreateQueue>(request, data, [&](auto& args) { return create_queue(args); });
  case Command::destroy_queue:
    return with<abi::DestroyQueue>(request, data, [&](auto& args) { return destroy_queue(args.queue_id); });
  case Command::update_queue:
    return with<abi::UpdateQueue>(request, data, [&](auto& args) {
      return gpu_.command_processor.set_active(args.queue_id, args.percentage != 0) ? 0 : EINVAL;
    });
  case Command::set_cu_mask:
    return with<abi::CuMask>(request, data, [&](auto& args) { return set_compute_units(args); });
  case Command::allocate_queue_gws:
    return with<abi::QueueGws>(request, data, [&](auto& args) {
      args.first = 0;
      if (args.count > thunk::global_sync_resources) return ENOSPC;
      return gpu_.command_processor.provide_global_sync(args.queue_id) ? 0 : EINVAL;
    });

  case Command::create_event:
    return with<abi::CreateEvent>(request, data, [&](auto& args) { return create_event(args); });
  case Command::destroy_event:
    return with<abi::EventId>(request, data, [&](auto& args) { return with_event(args.id, &thunk::Events::destroy); });
  case Command::set_event:
    return with<abi::EventId>(request, data, [&](auto& args) { return with_event(args.id, &thunk::Events::raise); });
  case Command::reset_event:
    return with<abi::EventId>(request, data, [&](auto& args) { return with_event(args.id, &thunk::Events::clear); });
  case Command::wait_events:
    return with<abi::WaitEvents>(request, data, [&](auto& args) { return wait(args); });

  default:  // the debugger's interface, samples and counters, checkpoints
    return EINVAL;
  }
}

int Driver::tell_apertures(abi::ProcessApertures& args) const {
  const std::uint32_t gpus = gpu_.topology.node_count() - 1;
  const std::uint32_t told = args.apertures != 0 ? std::min(args.count, gpus) : 0;
  auto* apertures = at_address<abi::Apertures>(args.apertures);
  constexpr std::uint64_t four_gigabytes = std::uint64_t{1} << 32;
  for (std::uint32_t gpu = 0; gpu != told; ++gpu)
    apertures[gpu] = {.lds_base = thunk::shared_aperture,
                      .lds_limit = thunk::shared_aperture + four_gigabytes - 1,
                      .scratch_base = thunk::private_aperture,
                      .scratch_limit = thunk::private_aperture + four_gigabytes - 1,
                      .gpuvm_base = 0x1000,
                      .gpuvm_limit = (std::uint64_t{1} << 47) - 1,  // all that a process has
                      .gpu_id = thunk::Topology::gpu_id(gpu + 1),
                      .pad = 0};
  args.count = gpus;
  return 0;
}

int Driver::tell_clocks(abi::ClockCounters& args) const {
  if (args.gpu_id != 0 && !node_of(args.gpu_id)) return EINVAL;
  const std::uint64_t now = command_processor::gpu_clock();
  args.gpu = args.cpu = args.system = now;
  args.system_frequency = 1'000'000'000;
  return 0;
}

int Driver::allocate(abi::AllocateMemory& args) {
  const auto node = node_of(args.gpu_id);
  return node ? memory_.allocate(args, *node) : EINVAL;
}

int Driver::map(std::uint64_t handle, std::uint32_t devices, std::uint32_t& mapped) {
  const int error = memory_.check(handle);
  if (error == 0) mapped = devices;
  return error;
}

int Driver::tell_dmabuf(abi::DmabufInfo& args) const {
  const auto file = thunk::MemoryFile::import(static_cast<int>(args.descriptor));
  if (!file) return EINVAL;
  const auto [node, flags] = file->origin();
  HsaMemFlags memory_flags{};
  memory_flags.Value = flags;
  args.size = file->bytes();
  args.metadata_size = 0;
  // The exporting process may have more GPUs, and the host has no number.
  args.gpu_id = thunk::Topology::gpu_id(gpu_.topology.is_gpu(node) ? node : 1);
  args.flags = kernel_flags(node, memory_flags);
  return 0;
}

}  // namespace softgpu::kernel_interface
