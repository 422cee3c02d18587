// The ways to compute the numbers on the GPU, and the memory that they write.
#pragma once

#include "options.hpp"
#include "sequence.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

/// Submits a variant's work.
using Submit = std::function<fastdispatch::Submission()>;

/// How the chart of a sweep shows a variant: as a point over its number of work-items, or as a line to compare with.
enum class Drawn { as_point, as_line, not_at_all };

struct Variant {
  std::string name;
  Written written = Written::numbers;
  std::uint32_t work_items = 1;  ///< that compute
  Drawn drawn = Drawn::as_line;
  Submit submit{};
  Submit submit_with_copy{};  ///< and with the copy to the host; empty if the numbers get there without it
};

/// Owns the variants' kernels, batches and memory. Its queue must outlive it.
class Variants {
public:
  Variants(fastdispatch::Queue& queue, const Options& options);
  Variants(const Variants&) = delete;
  Variants& operator=(const Variants&) = delete;

  [[nodiscard]] const std::vector<Variant>& all() const { return variants_; }

  /// The host's memory: a variant's numbers, after `submit_with_copy` where there is one.
  [[nodiscard]] std::span<const double> numbers() const { return host_.span(); }
  /// A number that is not written stays visible.
  void clear();

private:
  /// The way of the numbers: a kernel writes them to the host's memory or to the GPU's, from where they may be copied.
  enum class Way { to_host, to_device, through_device };

  /// Recorded once, for any number of work-items.
  struct LookAhead {
    fastdispatch::Batch batch;
    fastdispatch::BatchParameter<fastdispatch::Grid> grid;
    fastdispatch::BatchParameter<std::uint32_t> stride;
  };

  void add(Variant variant, Way way, const std::function<Submit(Way)>& prepare);
  [[nodiscard]] Submit one_group(const char* kernel, const fastdispatch::Grid& grid, Way way);
  [[nodiscard]] Submit look_ahead(std::uint32_t work_items, Way way);
  [[nodiscard]] LookAhead record_look_ahead(Way way);
  [[nodiscard]] Submit look_ahead_by_table(std::uint32_t work_items, Way way);

  [[nodiscard]] fastdispatch::Batch new_batch() const;
  [[nodiscard]] double* memory(Way way) { return way == Way::to_host ? host_.data() : device_.data(); }
  /// Nothing, unless the way of the numbers is through the GPU's memory.
  void record_copy(Way way, fastdispatch::Batch& batch) const;

  fastdispatch::Queue& queue_;
  fastdispatch::Module module_;
  fastdispatch::Fences fences_;
  std::uint32_t count_;
  std::uint32_t repetitions_;
  fastdispatch::PinnedBuffer<double> host_;
  fastdispatch::DeviceBuffer<double> device_;
  fastdispatch::DeviceBuffer<double> table_;  ///< F(0) to F(work-items)
  std::deque<fastdispatch::Batch> batches_;
  std::map<Way, LookAhead> look_aheads_;
  std::vector<Variant> variants_;
};
