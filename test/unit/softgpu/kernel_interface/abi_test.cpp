// The structures and numbers against those of the kernel's header, where the system has it. What an older header lacks
// is not compared.
#include "softgpu/kernel_interface/abi.hpp"

#if __has_include(<linux/kfd_ioctl.h>)
#include <cstddef>

#include <linux/kfd_ioctl.h>
#include <sys/ioctl.h>

namespace softgpu::kernel_interface::abi {
namespace {

constexpr unsigned number(Command command) { return static_cast<unsigned>(command); }

#define SAME(command, kernel_command, ours, theirs)                                                                    \
  static_assert(number(Command::command) == _IOC_NR(kernel_command) && letter == _IOC_TYPE(kernel_command));           \
  static_assert(sizeof(ours) == sizeof(theirs))
#define SAME_FIELD(ours, our_field, theirs, their_field)                                                               \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) &&                                          \
                sizeof(ours::our_field) == sizeof(theirs::their_field))

SAME(get_version, AMDKFD_IOC_GET_VERSION, Version, kfd_ioctl_get_version_args);
SAME(get_clock_counters, AMDKFD_IOC_GET_CLOCK_COUNTERS, ClockCounters, kfd_ioctl_get_clock_counters_args);
SAME_FIELD(ClockCounters, gpu, kfd_ioctl_get_clock_counters_args, gpu_clock_counter);
SAME_FIELD(ClockCounters, system_frequency, kfd_ioctl_get_clock_counters_args, system_clock_freq);
SAME_FIELD(ClockCounters, gpu_id, kfd_ioctl_get_clock_counters_args, gpu_id);
SAME(get_process_apertures, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, ProcessApertures,
     kfd_ioctl_get_process_apertures_new_args);
SAME_FIELD(ProcessApertures, count, kfd_ioctl_get_process_apertures_new_args, num_of_nodes);
static_assert(sizeof(Apertures) == sizeof(kfd_process_device_apertures));
SAME_FIELD(Apertures, scratch_limit, kfd_process_device_apertures, scratch_limit);
SAME_FIELD(Apertures, gpuvm_limit, kfd_process_device_apertures, gpuvm_limit);
SAME_FIELD(Apertures, gpu_id, kfd_process_device_apertures, gpu_id);
SAME(get_tile_config, AMDKFD_IOC_GET_TILE_CONFIG, TileConfig, kfd_ioctl_get_tile_config_args);
SAME_FIELD(TileConfig, tile_count, kfd_ioctl_get_tile_config_args, num_tile_configs);
SAME_FIELD(TileConfig, macro_tile_count, kfd_ioctl_get_tile_config_args, num_macro_tile_configs);
SAME(set_xnack_mode, AMDKFD_IOC_SET_XNACK_MODE, XnackMode, kfd_ioctl_set_xnack_mode_args);
#ifdef AMDKFD_IOC_AVAILABLE_MEMORY
SAME(available_memory, AMDKFD_IOC_AVAILABLE_MEMORY, AvailableMemory, kfd_ioctl_get_available_memory_args);
SAME_FIELD(AvailableMemory, bytes, kfd_ioctl_get_available_memory_args, available);
SAME_FIELD(AvailableMemory, gpu_id, kfd_ioctl_get_available_memory_args, gpu_id);
#endif

SAME(allocate_memory, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, AllocateMemory, kfd_ioctl_alloc_memory_of_gpu_args);
SAME_FIELD(AllocateMemory, address, kfd_ioctl_alloc_memory_of_gpu_args, va_addr);
SAME_FIELD(AllocateMemory, handle, kfd_ioctl_alloc_memory_of_gpu_args, handle);
SAME_FIELD(AllocateMemory, mmap_offset, kfd_ioctl_alloc_memory_of_gpu_args, mmap_offset);
SAME_FIELD(AllocateMemory, gpu_id, kfd_ioctl_alloc_memory_of_gpu_args, gpu_id);
static_assert(vram == KFD_IOC_ALLOC_MEM_FLAGS_VRAM && gtt == KFD_IOC_ALLOC_MEM_FLAGS_GTT);
static_assert(user_pointer == KFD_IOC_ALLOC_MEM_FLAGS_USERPTR && doorbells == KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL);
static_assert(registers == KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP && uncached == KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED);
static_assert(coherent == KFD_IOC_ALLOC_MEM_FLAGS_COHERENT && host_visible == KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC);
static_assert(executable == KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE);
SAME(free_memory, AMDKFD_IOC_FREE_MEMORY_OF_GPU, FreeMemory, kfd_ioctl_free_memory_of_gpu_args);
SAME(map_memory, AMDKFD_IOC_MAP_MEMORY_TO_GPU, MapMemory, kfd_ioctl_map_memory_to_gpu_args);
SAME_FIELD(MapMemory, device_count, kfd_ioctl_map_memory_to_gpu_args, n_devices);
SAME_FIELD(MapMemory, done, kfd_ioctl_map_memory_to_gpu_args, n_success);
SAME(unmap_memory, AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, MapMemory, kfd_ioctl_unmap_memory_from_gpu_args);
SAME(get_dmabuf_info, AMDKFD_IOC_GET_DMABUF_INFO, DmabufInfo, kfd_ioctl_get_dmabuf_info_args);
SAME_FIELD(DmabufInfo, metadata_size, kfd_ioctl_get_dmabuf_info_args, metadata_size);
SAME_FIELD(DmabufInfo, gpu_id, kfd_ioctl_get_dmabuf_info_args, gpu_id);
SAME_FIELD(DmabufInfo, descriptor, kfd_ioctl_get_dmabuf_info_args, dmabuf_fd);
SAME(import_dmabuf, AMDKFD_IOC_IMPORT_DMABUF, ImportDmabuf, kfd_ioctl_import_dmabuf_args);
SAME_FIELD(ImportDmabuf, handle, kfd_ioctl_import_dmabuf_args, handle);
SAME_FIELD(ImportDmabuf, descriptor, kfd_ioctl_import_dmabuf_args, dmabuf_fd);
#ifdef AMDKFD_IOC_EXPORT_DMABUF
SAME(export_dmabuf, AMDKFD_IOC_EXPORT_DMABUF, ExportDmabuf, kfd_ioctl_export_dmabuf_args);
SAME_FIELD(ExportDmabuf, descriptor, kfd_ioctl_export_dmabuf_args, dmabuf_fd);
#endif
SAME(svm, AMDKFD_IOC_SVM, Svm, kfd_ioctl_svm_args);
SAME_FIELD(Svm, operation, kfd_ioctl_svm_args, op);
SAME_FIELD(Svm, count, kfd_ioctl_svm_args, nattr);
static_assert(sizeof(SvmAttribute) == sizeof(kfd_ioctl_svm_attribute));
static_assert(svm_set == KFD_IOCTL_SVM_OP_SET_ATTR && svm_host == KFD_IOCTL_SVM_LOCATION_SYSMEM &&
              svm_nowhere == KFD_IOCTL_SVM_LOCATION_UNDEFINED);

// Later headers have more fields.
static_assert(number(Command::create_queue) == _IOC_NR(AMDKFD_IOC_CREATE_QUEUE));
static_assert(sizeof(CreateQueue) <= sizeof(kfd_ioctl_create_queue_args));
SAME_FIELD(CreateQueue, write_index, kfd_ioctl_create_queue_args, write_pointer_address);
SAME_FIELD(CreateQueue, read_index, kfd_ioctl_create_queue_args, read_pointer_address);
SAME_FIELD(CreateQueue, doorbell_offset, kfd_ioctl_create_queue_args, doorbell_offset);
SAME_FIELD(CreateQueue, ring_bytes, kfd_ioctl_create_queue_args, ring_size);
SAME_FIELD(CreateQueue, type, kfd_ioctl_create_queue_args, queue_type);
SAME_FIELD(CreateQueue, queue_id, kfd_ioctl_create_queue_args, queue_id);
static_assert(sdma_queue == KFD_IOC_QUEUE_TYPE_SDMA && aql_queue == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL &&
              sdma_xgmi_queue == KFD_IOC_QUEUE_TYPE_SDMA_XGMI);
SAME(destroy_queue, AMDKFD_IOC_DESTROY_QUEUE, DestroyQueue, kfd_ioctl_destroy_queue_args);
SAME(update_queue, AMDKFD_IOC_UPDATE_QUEUE, UpdateQueue, kfd_ioctl_update_queue_args);
SAME_FIELD(UpdateQueue, queue_id, kfd_ioctl_update_queue_args, queue_id);
SAME_FIELD(UpdateQueue, percentage, kfd_ioctl_update_queue_args, queue_percentage);
SAME(set_cu_mask, AMDKFD_IOC_SET_CU_MASK, CuMask, kfd_ioctl_set_cu_mask_args);
SAME_FIELD(CuMask, bits, kfd_ioctl_set_cu_mask_args, num_cu_mask);
SAME_FIELD(CuMask, words, kfd_ioctl_set_cu_mask_args, cu_mask_ptr);
SAME(allocate_queue_gws, AMDKFD_IOC_ALLOC_QUEUE_GWS, QueueGws, kfd_ioctl_alloc_queue_gws_args);
SAME_FIELD(QueueGws, first, kfd_ioctl_alloc_queue_gws_args, first_gws);

SAME(create_event, AMDKFD_IOC_CREATE_EVENT, CreateEvent, kfd_ioctl_create_event_args);
SAME_FIELD(CreateEvent, trigger, kfd_ioctl_create_event_args, event_trigger_data);
SAME_FIELD(CreateEvent, is_automatic, kfd_ioctl_create_event_args, auto_reset);
SAME_FIELD(CreateEvent, id, kfd_ioctl_create_event_args, event_id);
SAME_FIELD(CreateEvent, slot, kfd_ioctl_create_event_args, event_slot_index);
static_assert(most_events == KFD_SIGNAL_EVENT_LIMIT);
SAME(destroy_event, AMDKFD_IOC_DESTROY_EVENT, EventId, kfd_ioctl_destroy_event_args);
SAME(set_event, AMDKFD_IOC_SET_EVENT, EventId, kfd_ioctl_set_event_args);
SAME(reset_event, AMDKFD_IOC_RESET_EVENT, EventId, kfd_ioctl_reset_event_args);
SAME(wait_events, AMDKFD_IOC_WAIT_EVENTS, WaitEvents, kfd_ioctl_wait_events_args);
SAME_FIELD(WaitEvents, for_all, kfd_ioctl_wait_events_args, wait_for_all);
SAME_FIELD(WaitEvents, milliseconds, kfd_ioctl_wait_events_args, timeout);
SAME_FIELD(WaitEvents, result, kfd_ioctl_wait_events_args, wait_result);
static_assert(wait_complete == KFD_IOC_WAIT_RESULT_COMPLETE && wait_timed_out == KFD_IOC_WAIT_RESULT_TIMEOUT);
static_assert(sizeof(EventData) == sizeof(kfd_event_data));
SAME_FIELD(EventData, exception, kfd_event_data, memory_exception_data);
SAME_FIELD(EventData, id, kfd_event_data, event_id);
SAME_FIELD(MemoryException, address, kfd_hsa_memory_exception_data, va);
SAME_FIELD(MemoryException, gpu_id, kfd_hsa_memory_exception_data, gpu_id);

// These pass nothing that is looked at.
static_assert(number(Command::set_memory_policy) == _IOC_NR(AMDKFD_IOC_SET_MEMORY_POLICY));
static_assert(number(Command::set_scratch_backing_va) == _IOC_NR(AMDKFD_IOC_SET_SCRATCH_BACKING_VA));
static_assert(number(Command::set_trap_handler) == _IOC_NR(AMDKFD_IOC_SET_TRAP_HANDLER));
static_assert(number(Command::acquire_vm) == _IOC_NR(AMDKFD_IOC_ACQUIRE_VM));

#undef SAME
#undef SAME_FIELD

}  // namespace
}  // namespace softgpu::kernel_interface::abi
#endif
