// What an ioctl of /dev/kfd passes: the numbers and structures of the kernel's include/uapi/linux/kfd_ioctl.h, as far
// as they are used here. Its own header is not: that of the system at hand may be older than the ROCr that calls. A
// test compares them where it is there.
#pragma once

#include <array>
#include <cstdint>

namespace softgpu::kernel_interface::abi {

/// The letter of all of the driver's ioctls.
inline constexpr unsigned letter = 'K';

/// The number of an ioctl.
enum class Command : unsigned {
  get_version = 0x01,
  create_queue = 0x02,
  destroy_queue = 0x03,
  set_memory_policy = 0x04,
  get_clock_counters = 0x05,
  update_queue = 0x07,
  create_event = 0x08,
  destroy_event = 0x09,
  set_event = 0x0a,
  reset_event = 0x0b,
  wait_events = 0x0c,
  set_scratch_backing_va = 0x11,
  get_tile_config = 0x12,
  set_trap_handler = 0x13,
  get_process_apertures = 0x14,
  acquire_vm = 0x15,
  allocate_memory = 0x16,
  free_memory = 0x17,
  map_memory = 0x18,
  unmap_memory = 0x19,
  set_cu_mask = 0x1a,
  get_dmabuf_info = 0x1c,
  import_dmabuf = 0x1d,
  allocate_queue_gws = 0x1e,
  svm = 0x20,
  set_xnack_mode = 0x21,
  available_memory = 0x23,
  export_dmabuf = 0x24,
  // Of AMD's own builds of the driver:
  import_shared = 0x80,
  export_shared = 0x81,
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct ClockCounters {
  std::uint64_t gpu;
  std::uint64_t cpu;
  std::uint64_t system;
  std::uint64_t system_frequency;
  std::uint32_t gpu_id;
  std::uint32_t pad;
};

struct Apertures {
  std::uint64_t lds_base;
  std::uint64_t lds_limit;
  std::uint64_t scratch_base;
  std::uint64_t scratch_limit;
  std::uint64_t gpuvm_base;
  std::uint64_t gpuvm_limit;
  std::uint32_t gpu_id;
  std::uint32_t pad;
};
struct ProcessApertures {
  std::uint64_t apertures;  ///< an array, or 0
  std::uint32_t count;      ///< its length; then that of all there are
  std::uint32_t pad;
};

struct TileConfig {
  std::uint64_t tiles;
  std::uint64_t macro_tiles;
  std::uint32_t tile_count;
  std::uint32_t macro_tile_count;
  std::uint32_t gpu_id;
  std::uint32_t gb_addr_config;
  std::uint32_t banks;
  std::uint32_t ranks;
};

struct XnackMode {
  std::int32_t enabled;  ///< negative: asks
};

struct AvailableMemory {
  std::uint64_t bytes;
  std::uint32_t gpu_id;
  std::uint32_t pad;
};

struct AllocateMemory {
  std::uint64_t address;  ///< 0: memory without one
  std::uint64_t size;
  std::uint64_t handle;
  std::uint64_t mmap_offset;  ///< of memory of the program's: where that is
  std::uint32_t gpu_id;
  std::uint32_t flags;
};
/// Of AllocateMemory::flags.
inline constexpr std::uint32_t vram = 1U << 0;
inline constexpr std::uint32_t gtt = 1U << 1;
inline constexpr std::uint32_t user_pointer = 1U << 2;
inline constexpr std::uint32_t doorbells = 1U << 3;
inline constexpr std::uint32_t registers = 1U << 4;
inline constexpr std::uint32_t uncached = 1U << 25;
inline constexpr std::uint32_t coherent = 1U << 26;
inline constexpr std::uint32_t host_visible = 1U << 29;
inline constexpr std::uint32_t executable = 1U << 30;
inline constexpr std::uint32_t writable = 1U << 31;

struct FreeMemory {
  std::uint64_t handle;
};

struct MapMemory {
  std::uint64_t handle;
  std::uint64_t devices;  ///< an array of GPUs' numbers
  std::uint32_t device_count;
  std::uint32_t done;
};

struct DmabufInfo {
  std::uint64_t size;
  std::uint64_t metadata;
  std::uint32_t metadata_size;
  std::uint32_t gpu_id;
  std::uint32_t flags;
  std::uint32_t descriptor;
};

struct ImportDmabuf {
  std::uint64_t address;  ///< 0: memory without one
  std::uint64_t handle;
  std::uint32_t gpu_id;
  std::uint32_t descriptor;
};

struct ExportDmabuf {
  std::uint64_t handle;
  std::uint32_t flags;
  std::uint32_t descriptor;
};

struct ImportShared {
  std::uint64_t handle;
  std::uint64_t address;
  std::uint64_t mmap_offset;  ///< 0: it cannot be mapped
  std::array<std::uint32_t, 4> shared;
  std::uint32_t gpu_id;
  std::uint32_t flags;
};

struct ExportShared {
  std::uint64_t handle;
  std::array<std::uint32_t, 4> shared;
  std::uint32_t gpu_id;
  std::uint32_t flags;
};

struct SvmAttribute {
  std::uint32_t type;
  std::uint32_t value;
};
/// An array of `count` attributes follows.
struct Svm {
  std::uint64_t address;
  std::uint64_t size;
  std::uint32_t operation;
  std::uint32_t count;
};
inline constexpr std::uint32_t svm_set = 0;
inline constexpr std::uint32_t svm_host = 0;
inline constexpr std::uint32_t svm_nowhere = 0xffffffff;

struct CreateQueue {
  std::uint64_t ring;
  std::uint64_t write_index;
  std::uint64_t read_index;
  std::uint64_t doorbell_offset;
  std::uint32_t ring_bytes;
  std::uint32_t gpu_id;
  std::uint32_t type;
  std::uint32_t percentage;
  std::uint32_t priority;
  std::uint32_t queue_id;
};
/// Of CreateQueue::type.
inline constexpr std::uint32_t sdma_queue = 1;
inline constexpr std::uint32_t aql_queue = 2;
inline constexpr std::uint32_t sdma_xgmi_queue = 3;
inline constexpr std::uint32_t sdma_queue_by_engine = 4;

struct DestroyQueue {
  std::uint32_t queue_id;
  std::uint32_t pad;
};

struct UpdateQueue {
  std::uint64_t ring;
  std::uint32_t queue_id;
  std::uint32_t ring_bytes;
  std::uint32_t percentage;
  std::uint32_t priority;
};

struct CuMask {
  std::uint32_t queue_id;
  std::uint32_t bits;
  std::uint64_t words;
};

struct QueueGws {
  std::uint32_t queue_id;
  std::uint32_t count;
  std::uint32_t first;
  std::uint32_t pad;
};

struct CreateEvent {
  std::uint64_t page;  ///< to the driver: the handle of memory, or 0
  std::uint32_t trigger;
  std::uint32_t type;
  std::uint32_t is_automatic;
  std::uint32_t node;
  std::uint32_t id;
  std::uint32_t slot;
};
inline constexpr std::uint32_t most_events = 4096;

struct EventId {
  std::uint32_t id;
  std::uint32_t pad;
};

/// What a memory event tells; it shares its place with what others tell.
struct MemoryException {
  std::uint32_t not_present;
  std::uint32_t read_only;
  std::uint32_t no_execute;
  std::uint32_t imprecise;
  std::uint64_t address;
  std::uint32_t gpu_id;
  std::uint32_t error_type;
};
struct EventData {
  MemoryException exception;
  std::uint64_t extension;
  std::uint32_t id;
  std::uint32_t pad;
};
struct WaitEvents {
  std::uint64_t events;  ///< an array of EventData
  std::uint32_t count;
  std::uint32_t for_all;
  std::uint32_t milliseconds;
  std::uint32_t result;
};
inline constexpr std::uint32_t wait_complete = 0;
inline constexpr std::uint32_t wait_timed_out = 1;

}  // namespace softgpu::kernel_interface::abi
