// Memory: allocation, registration, mapping, pointer information, shared virtual memory.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <unistd.h>

#include "softgpu/thunk/entry_points.hpp"

using softgpu::thunk::Memory;
using softgpu::thunk::SharedHandle;
using softgpu::thunk::SoftGpu;
using softgpu::thunk::with_driver;

namespace {

std::vector<HSAuint32> every_gpu(const SoftGpu& gpu) {
  std::vector<HSAuint32> nodes;
  for (HSAuint32 node = 1; node < gpu.topology.node_count(); ++node) nodes.push_back(node);
  return nodes;
}

HSAKMT_STATUS map(void* address, HSAuint64* alternate_address, std::vector<HSAuint32> nodes) {
  return with_driver([&](SoftGpu& gpu) {
    const HSAKMT_STATUS status = gpu.memory.map(address, std::move(nodes));
    if (status == HSAKMT_STATUS_SUCCESS && alternate_address != nullptr)
      *alternate_address = reinterpret_cast<HSAuint64>(address);
    return status;
  });
}

}  // namespace

SOFTGPU_ENTRY hsaKmtAllocMemory(HSAuint32 node, HSAuint64 size, HsaMemFlags flags, void** address) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.allocate(node, size, flags, *address); });
}

SOFTGPU_ENTRY hsaKmtFreeMemory(void* address, HSAuint64 /*size*/) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.free(address); });
}

SOFTGPU_ENTRY hsaKmtRegisterMemoryWithFlags(void* address, HSAuint64 size, HsaMemFlags flags) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.register_host(address, size, flags); });
}

SOFTGPU_ENTRY hsaKmtDeregisterMemory(void* address) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.deregister(address); });
}

SOFTGPU_ENTRY hsaKmtMapMemoryToGPU(void* address, HSAuint64 /*size*/, HSAuint64* alternate_address) {
  return with_driver([&](SoftGpu& gpu) { return map(address, alternate_address, every_gpu(gpu)); });
}

SOFTGPU_ENTRY hsaKmtMapMemoryToGPUNodes(void* address, HSAuint64 /*size*/, HSAuint64* alternate_address,
                                        HsaMemMapFlags /*flags*/, HSAuint64 node_count, HSAuint32* nodes) {
  return map(address, alternate_address, std::vector<HSAuint32>(nodes, nodes + node_count));
}

SOFTGPU_ENTRY hsaKmtUnmapMemoryToGPU(void* address) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.map(address, {}); });
}

SOFTGPU_ENTRY hsaKmtQueryPointerInfo(const void* address, HsaPointerInfo* info) {
  *info = {};
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.query(address, *info); });
}

SOFTGPU_ENTRY hsaKmtSetMemoryUserData(const void* address, void* user_data) {
  return with_driver([&](SoftGpu& gpu) { return gpu.memory.set_user_data(address, user_data); });
}

SOFTGPU_ENTRY hsaKmtSVMSetAttr(void* start, HSAuint64 size, unsigned int count, HSA_SVM_ATTRIBUTE* attributes) {
  return with_driver([&](SoftGpu& gpu) {
    return gpu.svm_ranges.set(reinterpret_cast<std::uint64_t>(start), size, std::span(attributes, count));
  });
}

SOFTGPU_ENTRY hsaKmtSVMGetAttr(void* start, HSAuint64 size, unsigned int count, HSA_SVM_ATTRIBUTE* attributes) {
  return with_driver([&](SoftGpu& gpu) {
    return gpu.svm_ranges.get(reinterpret_cast<std::uint64_t>(start), size, std::span(attributes, count));
  });
}

SOFTGPU_ENTRY hsaKmtShareMemory(void* address, HSAuint64 /*size*/, HsaSharedMemoryHandle* handle) {
  return with_driver([&](SoftGpu& gpu) {
    SharedHandle shared{};
    const HSAKMT_STATUS status = gpu.memory.share(address, shared);
    std::ranges::fill(*handle, 0);  // ROCr writes to its end
    std::ranges::copy(shared, *handle);
    return status;
  });
}

SOFTGPU_ENTRY hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle* handle, void** address, HSAuint64* size) {
  return with_driver([&](SoftGpu& gpu) {
    SharedHandle shared{};
    std::copy_n(*handle, shared.size(), shared.begin());
    const int file = softgpu::thunk::open_shared(shared);
    if (file < 0) return HSAKMT_STATUS_INVALID_HANDLE;
    Memory::Imported imported;
    const HSAKMT_STATUS status = gpu.memory.import_file(file, Memory::Import::shared, imported);
    close(file);
    *address = imported.address;
    *size = imported.bytes;
    return status;
  });
}

SOFTGPU_ENTRY hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle* handle, void** address, HSAuint64* size,
                                                HSAuint64 /*node_count*/, HSAuint32* /*nodes*/) {
  return hsaKmtRegisterSharedHandle(handle, address, size);
}
