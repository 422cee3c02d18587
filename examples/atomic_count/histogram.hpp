// The ways to count on the GPU, and the counters in its memory.
#pragma once

#include "options.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using Counters = std::vector<std::uint32_t>;

struct Variant {
  std::string name;
  bool loses_increments;
  fastdispatch::Batch batch;  ///< one dispatch
};

/// Owns the counters that all variants increment. It must outlive them.
class Histogram {
public:
  Histogram(fastdispatch::Agent gpu, const Options& options);

  [[nodiscard]] std::vector<Variant> variants();
  void count(Variant& variant) { queue_.submit(variant.batch).wait(); }

  void clear();
  [[nodiscard]] Counters read() const;

private:
  /// As in kernels/atomic_count.hip.
  struct Window {
    std::uint32_t width;
    std::uint32_t copy_bits;
  };

  [[nodiscard]] fastdispatch::Batch new_batch() const;
  [[nodiscard]] fastdispatch::Batch in_memory(const char* kernel);
  [[nodiscard]] fastdispatch::Batch in_own_counters(const char* kernel, std::uint32_t group_size);
  [[nodiscard]] fastdispatch::Batch in_lds(std::uint32_t groups, Window window);
  /// Of `group_size` work-items, as many as keep the GPU busy and have room for counters of their own.
  [[nodiscard]] std::uint32_t groups_with_own(std::uint32_t group_size) const;

  fastdispatch::Agent gpu_;
  fastdispatch::Module module_;
  fastdispatch::Queue queue_;
  std::uint32_t bins_;
  std::uint32_t items_;
  fastdispatch::Fences fences_;
  std::uint32_t few_groups_;  ///< as many as keep the GPU busy
  fastdispatch::DeviceBuffer<std::uint32_t> counters_;
  fastdispatch::DeviceBuffer<std::uint32_t> own_;  ///< of the work-groups; zero between the dispatches
};
