// The levels of the memory hierarchy, and how each is read.
#pragma once

#include "options.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

struct Level {
  std::string name;
  fastdispatch::Batch batch;  ///< one dispatch
  double bytes;               ///< that it reads
  /// What the work-item finds as the sum of all words that it read.
  std::function<std::uint32_t(std::uint32_t item)> expected;
};

/// Owns the memory that the levels' kernels read, and the sums that they write.
class Levels {
public:
  Levels(fastdispatch::Agent gpu, const Options& options);

  [[nodiscard]] const std::vector<Level>& all() const { return levels_; }

  /// Forgets all sums.
  void clear();
  /// Of the level whose batch ran last.
  [[nodiscard]] bool are_right(const Level& level) const;

private:
  void add(std::string name, fastdispatch::Batch batch, double bytes,
           std::function<std::uint32_t(std::uint32_t)> expected);
  void add_registers();
  void add_lds();
  void add_scalars();
  /// `reads` of 16 bytes, a power of two; the work-items' next reads are `stride` further on.
  void add_memory(std::string name, const std::uint32_t* words, std::uint32_t reads, std::uint32_t stride);
  [[nodiscard]] fastdispatch::Batch new_batch() const;
  /// How many steps a work-item takes if it reads `bytes` in a step.
  [[nodiscard]] std::uint32_t steps(double bytes) const;

  fastdispatch::Agent gpu_;
  fastdispatch::Module module_;
  fastdispatch::Fences fences_;
  std::uint32_t items_;
  double bytes_;                                          ///< to be read from each level
  fastdispatch::PinnedBuffer<std::uint32_t> host_words_;  ///< each word is its own number
  fastdispatch::DeviceBuffer<std::uint32_t> words_;       ///< the same
  fastdispatch::DeviceBuffer<std::uint32_t> sums_;        ///< of each work-item
  std::vector<Level> levels_;
};
