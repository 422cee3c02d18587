// hsakmt packs its structures: a unary + makes an aligned value of a field, which EXPECT binds a reference to.
#include "softgpu/thunk/topology.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::thunk {
namespace {

Environment environment(std::uint32_t gpus, std::uint32_t compute_units, std::uint32_t threads) {
  Environment result;
  result.gpus = gpus;
  result.compute_units = compute_units;
  result.threads = threads;
  result.memory_bytes = std::uint64_t{1} << 30;
  return result;
}

TEST(Topology, NodeZeroIsTheHostAndTheOthersAreGfx90a) {
  const Topology topology(environment(2, 104, 4));
  ASSERT_EQ(topology.node_count(), 3U);
  EXPECT_GT(topology.node(0).NumCPUCores, 0U);
  EXPECT_EQ(topology.node(0).NumFComputeCores, 0U);
  for (const std::uint32_t node : {1U, 2U}) {
    const HsaNodeProperties gpu = topology.node(node);
    EXPECT_EQ(gpu.NumCPUCores, 0U);
    EXPECT_EQ(gpu.NumFComputeCores / gpu.NumSIMDPerCU, 104U);
    EXPECT_EQ(gpu.EngineId.ui32.Major, 9U);
    EXPECT_EQ(gpu.EngineId.ui32.Minor, 0U);
    EXPECT_EQ(gpu.EngineId.ui32.Stepping, 10U);
  }
  EXPECT_NE(topology.node(1).UniqueID, topology.node(2).UniqueID);
  EXPECT_NE(topology.node(1).LocationId, topology.node(2).LocationId);
}

template <class Properties>
constexpr bool has_fields_of_6 = requires(const Properties& node) { node.NumXcc; };

/// By the names of libhsakmt 6's own header where that is installed, by the offset everywhere.
template <class Properties>
NodePropertiesOf6 fields_of_6(const Properties& node) {
  if constexpr (has_fields_of_6<Properties>) {
    return {.num_xcc = node.NumXcc, .kfd_gpu_id = node.KFDGpuID, .family_id = node.FamilyID};
  } else {
    NodePropertiesOf6 fields{};
    std::memcpy(&fields, reinterpret_cast<const std::byte*>(&node) + node_properties_of_6_offset, sizeof(fields));
    return fields;
  }
}

TEST(Topology, AGpuHasTheFieldsThatRocr6Reads) {
  const Topology topology(environment(2, 104, 4));
  EXPECT_EQ(fields_of_6(topology.node(1)).num_xcc, 1U);
  EXPECT_EQ(fields_of_6(topology.node(1)).family_id, 141U);
  EXPECT_NE(fields_of_6(topology.node(1)).kfd_gpu_id, fields_of_6(topology.node(2)).kfd_gpu_id);
  EXPECT_EQ(fields_of_6(topology.node(0)).num_xcc, 0U);
}

template <class Flags>
bool are_flags_of_6_where_the_header_has_them(Flags flags) {
  if constexpr (requires { flags.ui32.NoAddress; }) {
    flags.Value = memory_without_address;
    const bool is_memory = flags.ui32.NoAddress == 1;
    flags.Value = address_without_memory;
    return is_memory && flags.ui32.OnlyAddress == 1;
  } else {
    return true;
  }
}

TEST(Topology, MemoryFlagsOfLibhsakmt6AreThoseOfItsHeader) {
  EXPECT_TRUE(are_flags_of_6_where_the_header_has_them(HsaMemFlags{}));
}

TEST(Topology, TheGpusAreOfTheArchitectureThatTheEnvironmentNames) {
  Environment rdna2 = environment(1, 40, 4);
  rdna2.architectures = {compute::Architecture::find("gfx1030")};
  const HsaNodeProperties gpu = Topology(rdna2).node(1);
  EXPECT_EQ(gpu.EngineId.ui32.Major, 10U);
  EXPECT_EQ(gpu.EngineId.ui32.Minor, 3U);
  EXPECT_EQ(gpu.EngineId.ui32.Stepping, 0U);
  EXPECT_EQ(gpu.WaveFrontSize, 32U);
  EXPECT_EQ(gpu.NumFComputeCores / gpu.NumSIMDPerCU, 40U);
}

// With newer firmware ROCr 7.2 waits for it to take scratch memory back (topology.cpp), which the soft GPU never does.
TEST(Topology, TheFirmwareIsOlderThanAnyThatTakesScratchMemoryBack) {
  for (const char* name : {"gfx90a", "gfx942", "gfx950", "gfx1100"}) {
    Environment wanted = environment(1, 40, 4);
    wanted.architectures = {compute::Architecture::find(name)};
    if (wanted.architectures[0] == nullptr) continue;  // of a later LLVM
    EXPECT_LT(Topology(wanted).node(1).EngineId.ui32.uCode, 24U) << name;
  }
}

TEST(Topology, EachGpuMayHaveAnArchitectureOfItsOwn) {
  Environment mixed = environment(2, 40, 4);
  mixed.architectures = {compute::Architecture::find("gfx90a"), compute::Architecture::find("gfx1100")};
  const Topology topology(mixed);
  EXPECT_EQ(topology.node(1).EngineId.ui32.Major, 9U);
  EXPECT_EQ(topology.node(1).WaveFrontSize, 64U);
  EXPECT_EQ(topology.node(2).EngineId.ui32.Major, 11U);
  EXPECT_EQ(topology.node(2).WaveFrontSize, 32U);
  std::array<HsaIoLinkProperties, 2> links{};
  topology.links(1, links);
  EXPECT_EQ(links[0].IoLinkType, HSA_IOLINK_TYPE_XGMI) << "to the host";
  EXPECT_EQ(links[1].IoLinkType, HSA_IOLINKTYPE_PCIEXPRESS) << "to the other GPU, which has no XGMI";
}

TEST(Topology, DeviceMemoryIsWhatTheEnvironmentSays) {
  const Topology topology(environment(1, 104, 4));
  std::array<HsaMemoryProperties, 3> banks{};
  topology.memory_banks(1, banks);
  EXPECT_EQ(+banks[0].SizeInBytes, std::uint64_t{1} << 30);
  EXPECT_EQ(banks[1].HeapType, HSA_HEAPTYPE_GPU_LDS);
  EXPECT_EQ(+banks[1].SizeInBytes, 65536U);
  EXPECT_NE(banks[1].VirtualBaseAddress >> 32, 0U);
}

TEST(Topology, DeviceMemoryIsTheHostsToSeeWithALargeBarOnly) {
  Environment wanted = environment(1, 104, 4);
  std::array<HsaMemoryProperties, 3> banks{};
  Topology(wanted).memory_banks(1, banks);
  EXPECT_EQ(banks[0].HeapType, HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC);
  EXPECT_EQ(Topology(wanted).node(0).NumIOLinks, 1U);
  wanted.large_bar = 0;
  Topology(wanted).memory_banks(1, banks);
  EXPECT_EQ(banks[0].HeapType, HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE);
  EXPECT_EQ(Topology(wanted).node(0).NumIOLinks, 0U);
  EXPECT_EQ(Topology(wanted).node(1).NumIOLinks, 1U) << "the GPU sees the host's memory all the same";
}

TEST(Topology, ScratchHasWaveSlotsForEveryWorker) {
  for (const std::uint32_t compute_units : {1U, 3U, 104U})
    for (const std::uint32_t threads : {1U, 4U, 256U}) {
      const HsaNodeProperties gpu = Topology(environment(1, compute_units, threads)).node(1);
      EXPECT_GE(gpu.MaxSlotsScratchCU * compute_units, threads * 16);
    }
}

TEST(Topology, EveryNodeIsLinkedToEveryOther) {
  const Topology topology(environment(3, 104, 4));
  for (std::uint32_t node = 0; node != 4; ++node) {
    std::vector<HsaIoLinkProperties> links(topology.node(node).NumIOLinks);
    topology.links(node, links);
    ASSERT_EQ(links.size(), 3U);
    std::uint32_t sum = 0;
    for (const auto& link : links) {
      EXPECT_EQ(link.NodeFrom, node);
      EXPECT_NE(link.NodeTo, node);
      sum += link.NodeTo;
    }
    EXPECT_EQ(sum + node, 0U + 1U + 2U + 3U);
  }
}

}  // namespace
}  // namespace softgpu::thunk
