#include "softgpu/kernel_interface/driver.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include <hsa/amd_hsa_queue.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/command_processor/sdma_packets.hpp"

namespace softgpu::kernel_interface {
namespace {

using command_processor::at_address;

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

thunk::Environment environment() {
  thunk::Environment result;
  result.gpus = 2;
  result.threads = 2;
  result.memory_bytes = std::uint64_t{64} << 20;
  result.host_memory_bytes = std::uint64_t{64} << 20;
  return result;
}

class DriverTest : public testing::Test {
protected:
  template <class Args>
  int call(abi::Command command, Args& args) {
    return driver.control(_IOC(_IOC_READ | _IOC_WRITE, abi::letter, static_cast<unsigned>(command), sizeof(Args)),
                          &args);
  }
  /// Device memory of the first GPU at addresses of its own, as ROCr makes it.
  abi::AllocateMemory allocate(std::uint64_t size) {
    abi::AllocateMemory args{.address = number(gpu.memory.reserve_addresses(size)),
                             .size = size,
                             .handle = 0,
                             .mmap_offset = 0,
                             .gpu_id = thunk::Topology::gpu_id(1),
                             .flags = abi::vram | abi::writable};
    EXPECT_EQ(call(abi::Command::allocate_memory, args), 0);
    return args;
  }

  thunk::SoftGpu gpu{environment(), nullptr};
  Driver driver{gpu};
};

TEST_F(DriverTest, has_a_version_that_rocr_knows) {
  abi::Version version{};
  EXPECT_EQ(call(abi::Command::get_version, version), 0);
  EXPECT_EQ(version.major, 1U);
  EXPECT_GE(version.minor, 14U);
  EXPECT_EQ(driver.control(_IO('K', 0x7f), &version), EINVAL) << "no such command";
  EXPECT_EQ(driver.control(_IO('d', 1), &version), ENOTTY) << "another device's";
}

TEST_F(DriverTest, takes_structures_that_are_shorter_or_longer) {
  struct {
    abi::Version version;
    std::uint64_t later;
  } longer{.version = {}, .later = 77};
  EXPECT_EQ(driver.control(_IOC(_IOC_READ, abi::letter, 1, sizeof longer), &longer), 0);
  EXPECT_EQ(longer.version.major, 1U);
  EXPECT_EQ(longer.later, 77U);
  std::uint32_t shorter[2] = {0, 77};
  EXPECT_EQ(driver.control(_IOC(_IOC_READ, abi::letter, 1, sizeof(std::uint32_t)), shorter), 0);
  EXPECT_EQ(shorter[0], 1U);
  EXPECT_EQ(shorter[1], 77U);
}

TEST_F(DriverTest, tells_apertures_of_as_many_gpus_as_there_is_room_for) {
  abi::Apertures apertures[2] = {};
  abi::ProcessApertures args{.apertures = 0, .count = 0, .pad = 0};
  EXPECT_EQ(call(abi::Command::get_process_apertures, args), 0);
  EXPECT_EQ(args.count, 2U);
  args = {.apertures = number(apertures), .count = 1, .pad = 0};
  EXPECT_EQ(call(abi::Command::get_process_apertures, args), 0);
  EXPECT_EQ(apertures[0].gpu_id, thunk::Topology::gpu_id(1));
  EXPECT_EQ(apertures[0].lds_base, thunk::shared_aperture);
  EXPECT_EQ(apertures[1].gpu_id, 0U);
}

TEST_F(DriverTest, has_memory_at_the_addresses_that_the_process_chose) {
  const abi::AllocateMemory memory = allocate(8192);
  *at_address<char>(memory.address + 8191) = 1;
  std::uint32_t gpus[] = {thunk::Topology::gpu_id(1), thunk::Topology::gpu_id(2)};
  abi::MapMemory map{.handle = memory.handle, .devices = number(gpus), .device_count = 2, .done = 0};
  EXPECT_EQ(call(abi::Command::map_memory, map), 0);
  EXPECT_EQ(map.done, 2U);
  abi::AvailableMemory available{.bytes = 0, .gpu_id = thunk::Topology::gpu_id(1), .pad = 0};
  EXPECT_EQ(call(abi::Command::available_memory, available), 0);
  EXPECT_EQ(available.bytes, environment().memory_bytes - 8192);

  abi::FreeMemory free{.handle = memory.handle};
  EXPECT_EQ(call(abi::Command::free_memory, free), 0);
  EXPECT_EQ(call(abi::Command::free_memory, free), EINVAL);
  EXPECT_EQ(call(abi::Command::map_memory, map), EINVAL);
  abi::AllocateMemory other = memory;
  other.gpu_id = 1;
  EXPECT_EQ(call(abi::Command::allocate_memory, other), EINVAL) << "no such GPU";
}

TEST_F(DriverTest, takes_memory_of_the_process_where_it_is_and_nowhere_else) {
  void* pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  abi::AllocateMemory args{.address = number(pages),
                           .size = 8192,
                           .handle = 0,
                           .mmap_offset = number(pages),
                           .gpu_id = thunk::Topology::gpu_id(1),
                           .flags = abi::user_pointer | abi::writable};
  EXPECT_EQ(call(abi::Command::allocate_memory, args), 0);
  abi::FreeMemory free{.handle = args.handle};
  EXPECT_EQ(call(abi::Command::free_memory, free), 0);
  *static_cast<char*>(pages) = 1;
  args.mmap_offset += 4096;
  EXPECT_EQ(call(abi::Command::allocate_memory, args), EINVAL);
  munmap(pages, 8192);
}

TEST_F(DriverTest, keeps_the_memory_of_a_queue) {
  const abi::AllocateMemory ring = allocate(4096);
  const abi::AllocateMemory indices = allocate(4096);
  const std::uint64_t queue = indices.address + 1024;
  abi::CreateQueue args{};
  args.ring = ring.address;
  args.ring_bytes = 4096;
  args.write_index = queue + offsetof(amd_queue_t, write_dispatch_id);
  args.read_index = queue + offsetof(amd_queue_t, read_dispatch_id);
  args.gpu_id = thunk::Topology::gpu_id(1);
  args.type = abi::aql_queue;
  ASSERT_EQ(call(abi::Command::create_queue, args), 0);
  for (const abi::AllocateMemory& memory : {ring, indices}) {
    abi::FreeMemory free{.handle = memory.handle};
    EXPECT_EQ(call(abi::Command::free_memory, free), EBUSY);
    *at_address<char>(memory.address) = 1;
  }
  abi::DestroyQueue destroy{.queue_id = args.queue_id, .pad = 0};
  EXPECT_EQ(call(abi::Command::destroy_queue, destroy), 0);
  for (const abi::AllocateMemory& memory : {ring, indices}) {
    abi::FreeMemory free{.handle = memory.handle};
    EXPECT_EQ(call(abi::Command::free_memory, free), 0);
  }
}

TEST_F(DriverTest, shares_memory_by_a_file) {
  const abi::AllocateMemory memory = allocate(8192);
  *at_address<char>(memory.address + 5000) = 7;
  abi::ExportDmabuf exported{.handle = memory.handle, .flags = 0, .descriptor = 0};
  ASSERT_EQ(call(abi::Command::export_dmabuf, exported), 0);
  abi::DmabufInfo info{};
  info.descriptor = exported.descriptor;
  EXPECT_EQ(call(abi::Command::get_dmabuf_info, info), 0);
  EXPECT_EQ(info.size, 8192U);
  EXPECT_EQ(info.gpu_id, thunk::Topology::gpu_id(1));
  EXPECT_EQ(info.flags & (abi::vram | abi::gtt), abi::vram);

  abi::ImportDmabuf imported{.address = number(gpu.memory.reserve_addresses(8192)),
                             .handle = 0,
                             .gpu_id = info.gpu_id,
                             .descriptor = exported.descriptor};
  EXPECT_EQ(call(abi::Command::import_dmabuf, imported), 0);
  EXPECT_EQ(*at_address<char>(imported.address + 5000), 7);

  // Without an address it is the same handle's memory: it lives until both are freed.
  abi::ImportDmabuf handles[2];
  for (abi::ImportDmabuf& handle : handles) {
    handle = {.address = 0, .handle = 0, .gpu_id = info.gpu_id, .descriptor = exported.descriptor};
    EXPECT_EQ(call(abi::Command::import_dmabuf, handle), 0);
  }
  EXPECT_NE(handles[0].handle, handles[1].handle);
  for (const abi::ImportDmabuf& handle : handles) {
    abi::ExportDmabuf again{.handle = handle.handle, .flags = 0, .descriptor = 0};
    EXPECT_EQ(call(abi::Command::export_dmabuf, again), 0);
    close(static_cast<int>(again.descriptor));
    abi::FreeMemory free{.handle = handle.handle};
    EXPECT_EQ(call(abi::Command::free_memory, free), 0);
  }
  info.descriptor = static_cast<std::uint32_t>(driver.file().duplicate());
  EXPECT_EQ(call(abi::Command::get_dmabuf_info, info), EINVAL) << "no memory";
  close(static_cast<int>(info.descriptor));
  close(static_cast<int>(exported.descriptor));
}

TEST_F(DriverTest, shares_memory_by_words) {
  const abi::AllocateMemory memory = allocate(8192);
  *at_address<char>(memory.address + 5000) = 7;
  abi::ExportShared exported{};
  exported.handle = memory.handle;
  ASSERT_EQ(call(abi::Command::export_shared, exported), 0);
  abi::ImportShared imported{};
  imported.shared = exported.shared;
  imported.address = number(gpu.memory.reserve_addresses(8192));
  ASSERT_EQ(call(abi::Command::import_shared, imported), 0);
  EXPECT_NE(imported.mmap_offset, 0U);
  EXPECT_EQ(*at_address<char>(imported.address + 5000), 7);
  abi::FreeMemory free{.handle = imported.handle};
  EXPECT_EQ(call(abi::Command::free_memory, free), 0);
  ++imported.shared[2];
  EXPECT_EQ(call(abi::Command::import_shared, imported), EINVAL);
}

TEST_F(DriverTest, has_queues_that_are_rung_by_the_doorbells_of_its_file) {
  alignas(4096) static std::uint32_t ring[1024] = {};
  std::uint64_t read_index = 0;
  std::uint64_t write_index = 0;
  abi::CreateQueue queue{};
  queue.ring = number(ring);
  queue.ring_bytes = sizeof ring;
  queue.read_index = number(&read_index);
  queue.write_index = number(&write_index);
  queue.gpu_id = thunk::Topology::gpu_id(2);
  queue.type = abi::sdma_queue;
  ASSERT_EQ(call(abi::Command::create_queue, queue), 0);

  const int descriptor = driver.file().duplicate();
  constexpr std::uint64_t page = 8192;
  void* pages = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                     static_cast<off_t>(queue.doorbell_offset / page * page));
  ASSERT_NE(pages, MAP_FAILED);
  auto* doorbell = reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(pages) + queue.doorbell_offset % page);

  // One empty packet, and a doorbell.
  __atomic_store_n(&write_index, sizeof(std::uint32_t), __ATOMIC_RELEASE);
  __atomic_store_n(doorbell, sizeof(std::uint32_t), __ATOMIC_RELEASE);
  while (__atomic_load_n(&read_index, __ATOMIC_ACQUIRE) != sizeof(std::uint32_t)) gpu.command_processor.kick();

  abi::UpdateQueue update{};
  update.queue_id = queue.queue_id;
  EXPECT_EQ(call(abi::Command::update_queue, update), 0);
  std::uint32_t bits[4] = {1};
  abi::CuMask mask{.queue_id = queue.queue_id, .bits = 128, .words = number(bits)};
  EXPECT_EQ(call(abi::Command::set_cu_mask, mask), EINVAL) << "it runs no kernels";
  abi::DestroyQueue destroy{.queue_id = queue.queue_id, .pad = 0};
  EXPECT_EQ(call(abi::Command::destroy_queue, destroy), 0);
  EXPECT_EQ(call(abi::Command::destroy_queue, destroy), EINVAL);
  munmap(pages, page);
  close(descriptor);
}

TEST_F(DriverTest, refuses_queues_of_no_gpu_and_of_other_packets) {
  abi::CreateQueue queue{};
  queue.gpu_id = 1;
  queue.type = abi::sdma_queue;
  EXPECT_EQ(call(abi::Command::create_queue, queue), EINVAL);
  queue.gpu_id = thunk::Topology::gpu_id(1);
  queue.type = 0;  // PM4
  EXPECT_EQ(call(abi::Command::create_queue, queue), EINVAL);
}

TEST_F(DriverTest, has_events_that_write_the_page_that_the_process_brought) {
  const abi::AllocateMemory page = allocate(abi::most_events * sizeof(std::uint64_t));
  abi::CreateEvent first{};
  first.page = page.handle;
  ASSERT_EQ(call(abi::Command::create_event, first), 0);
  EXPECT_NE(first.page, 0U);
  abi::CreateEvent second{};
  ASSERT_EQ(call(abi::Command::create_event, second), 0);
  EXPECT_NE(first.id, second.id);

  abi::EventData data[2] = {};
  data[0].id = first.id;
  data[1].id = second.id;
  abi::WaitEvents wait{.events = number(data), .count = 2, .for_all = 0, .milliseconds = 0, .result = 7};
  EXPECT_EQ(call(abi::Command::wait_events, wait), 0);
  EXPECT_EQ(wait.result, abi::wait_timed_out);

  // As a kernel does it.
  at_address<std::uint64_t>(page.address)[second.slot] = second.trigger;
  gpu.events.raise_signalled(second.trigger);
  wait.milliseconds = ~0U;
  EXPECT_EQ(call(abi::Command::wait_events, wait), 0);
  EXPECT_EQ(wait.result, abi::wait_complete);

  abi::EventId id{.id = second.id, .pad = 0};
  EXPECT_EQ(call(abi::Command::reset_event, id), 0);
  EXPECT_EQ(call(abi::Command::set_event, id), 0);
  EXPECT_EQ(call(abi::Command::destroy_event, id), 0);
  EXPECT_EQ(call(abi::Command::set_event, id), EINVAL);
  EXPECT_EQ(call(abi::Command::wait_events, wait), EINVAL);
}

TEST_F(DriverTest, tells_a_memory_fault_by_its_event) {
  abi::CreateEvent event{};
  event.type = HSA_EVENTTYPE_MEMORY;
  ASSERT_EQ(call(abi::Command::create_event, event), 0);
  ASSERT_TRUE(gpu.host.report_memory_fault({.gpu = 1, .address = 0x1234000, .is_read_only = true}));
  abi::EventData data{};
  data.id = event.id;
  abi::WaitEvents wait{.events = number(&data), .count = 1, .for_all = 0, .milliseconds = ~0U, .result = 7};
  EXPECT_EQ(call(abi::Command::wait_events, wait), 0);
  EXPECT_EQ(data.exception.address, 0x1234000U);
  EXPECT_EQ(data.exception.gpu_id, thunk::Topology::gpu_id(2));
  EXPECT_EQ(data.exception.read_only, 1U);
  EXPECT_EQ(data.exception.not_present, 0U);
}

TEST_F(DriverTest, knows_gpus_by_their_numbers_in_shared_virtual_memory) {
  void* pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct {
    abi::Svm svm;
    abi::SvmAttribute attribute;
  } args{.svm = {.address = number(pages), .size = 8192, .operation = abi::svm_set, .count = 1},
         .attribute = {.type = HSA_SVM_ATTR_ACCESS_IN_PLACE, .value = thunk::Topology::gpu_id(2)}};
  EXPECT_EQ(call(abi::Command::svm, args), 0);
  args.svm.operation = 1;
  args.attribute.type = HSA_SVM_ATTR_ACCESS;
  EXPECT_EQ(call(abi::Command::svm, args), 0);
  EXPECT_EQ(args.attribute.type, static_cast<std::uint32_t>(HSA_SVM_ATTR_ACCESS_IN_PLACE));
  EXPECT_EQ(args.attribute.value, thunk::Topology::gpu_id(2));
  args.attribute = {.type = HSA_SVM_ATTR_PREFERRED_LOC, .value = 0};
  EXPECT_EQ(call(abi::Command::svm, args), 0);
  EXPECT_EQ(args.attribute.value, abi::svm_nowhere);
  args.svm.operation = abi::svm_set;
  args.attribute = {.type = HSA_SVM_ATTR_PREFERRED_LOC, .value = 2};
  EXPECT_EQ(call(abi::Command::svm, args), EINVAL) << "a node, and no GPU's number";
  munmap(pages, 8192);
}

}  // namespace
}  // namespace softgpu::kernel_interface
