// Shared virtual memory (hsa_amd_svm_*, HIP's managed memory): which of the program's own memory the GPUs may access,
// and what the program has said of it.
//
// Here all memory is the host's, and nothing migrates: a preferred location and a prefetch are kept and told, no more.
// The driver forgets a range that the program unmaps. The soft GPU is not told of that; the range lasts until its
// attributes are set anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include <hsakmt.h>

#include "softgpu/thunk/memory.hpp"

namespace softgpu::thunk {

/// Thread safety: every member may be called from any thread.
class SvmRanges {
public:
  /// `memory` outlives it.
  SvmRanges(Memory& memory, std::uint32_t node_count) : memory_(memory), node_count_(node_count) {}

  /// As hsaKmtSVMSetAttr: whole pages, all of them mapped. All attributes are set, or none.
  HSAKMT_STATUS set(std::uint64_t base, std::uint64_t size, std::span<const HSA_SVM_ATTRIBUTE> attributes);
  /// As hsaKmtSVMGetAttr, which fills in what all of the range has in common. Parts without attributes do not count.
  HSAKMT_STATUS get(std::uint64_t base, std::uint64_t size, std::span<HSA_SVM_ATTRIBUTE> attributes);

private:
  /// What a range has before anything is said of it is what the driver says (kfd_svm.c).
  struct Attributes {
    std::uint32_t preferred_node = INVALID_NODEID;
    std::uint32_t prefetched_node = INVALID_NODEID;
    std::uint32_t granularity = 9;  ///< log2 of pages
    std::uint32_t flags = HSA_SVM_FLAG_HOST_ACCESS | HSA_SVM_FLAG_COHERENT;
    std::vector<HSA_SVM_ATTR_TYPE> access{};  ///< by node

    [[nodiscard]] bool is_accessible() const noexcept;
  };
  struct Range {
    std::uint64_t end = 0;
    Attributes attributes;
  };
  using Ranges = std::map<std::uint64_t, Range>;

  [[nodiscard]] HSAKMT_STATUS check(std::span<const HSA_SVM_ATTRIBUTE> attributes) const;
  void split_at(std::uint64_t address);
  void apply(std::span<const HSA_SVM_ATTRIBUTE> attributes, std::uint64_t begin, Range& range);
  [[nodiscard]] Attributes defaults() const;
  [[nodiscard]] Attributes common(std::uint64_t begin, std::uint64_t end, std::uint32_t& any_flags) const;

  Memory& memory_;
  const std::uint32_t node_count_;
  std::mutex mutex_;
  Ranges ranges_;  ///< by their begin; they do not overlap
};

}  // namespace softgpu::thunk
