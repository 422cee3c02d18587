#include "levels.hpp"

#include "memory_levels.hpp"

#include <memory_levels_code_object.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace fd = fastdispatch;

namespace {

constexpr std::uint32_t group_size = 256;
constexpr std::uint32_t words_a_read = 4;
constexpr double bytes_a_read = words_a_read * sizeof(std::uint32_t);
constexpr std::uint32_t reads_a_kib = 64;
constexpr std::uint32_t near_reads = 8 * reads_a_kib;  // an L1 cache has room for them

// Four words from 4 * read on, of words that are their own numbers.
std::uint32_t sum_of(std::uint32_t read) { return 16 * read + 6; }

// As read_lds and read_memory of kernels/memory_levels.hip do it.
std::uint32_t sum_of_strides(std::uint32_t item, std::uint32_t reads, std::uint32_t steps, std::uint32_t stride) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0, read = item; i < steps * step_reads; ++i, read += stride) sum += sum_of(read & (reads - 1));
  return sum;
}

// As read_registers does it for work-item 1: all that it computes is linear in the item's number.
std::uint32_t sum_in_registers(std::uint32_t steps) {
  std::array<std::uint32_t, register_words> words{};
  std::iota(words.begin(), words.end(), 1U);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t i = 0; i < register_words; ++i) words[i] += words[(i + 1) % register_words];
  }
  return words[0];
}

}  // namespace

Levels::Levels(fd::Agent gpu, const Options& options)
    : gpu_(gpu), module_(fd::Module::load(gpu, code_objects::memory_levels(), "memory_levels")),
      fences_(options.fences),
      items_(gpu.compute_units() * 4 * group_size),  // keeps a compute unit busy while some wavefronts wait
      bytes_(std::ldexp(options.reads, 20)),
      host_words_(gpu, std::size_t{options.memory} * 1024 * reads_a_kib * words_a_read),
      words_(gpu, host_words_.size()), sums_(gpu, items_) {
  std::iota(host_words_.begin(), host_words_.end(), 0U);
  fd::copy(words_, host_words_);

  const std::uint32_t all_reads = options.memory * 1024 * reads_a_kib;
  const std::string mib = std::to_string(options.memory) + " MiB";
  add_registers();
  add_lds();
  add_scalars();
  add_memory("L1 cache, 8 KiB", words_.data(), near_reads, group_size);
  add_memory("L2 cache, 512 KiB", words_.data(), 512 * reads_a_kib, items_);
  add_memory("device memory, " + mib, words_.data(), all_reads, items_);
  add_memory("host memory, " + mib, host_words_.data(), all_reads, items_);
}

void Levels::add(std::string name, fd::Batch batch, double bytes,
                 std::function<std::uint32_t(std::uint32_t)> expected) {
  levels_.push_back(
      {.name = std::move(name), .batch = std::move(batch), .bytes = bytes, .expected = std::move(expected)});
}

void Levels::add_registers() {
  constexpr double bytes_a_step = 2.0 * register_words * sizeof(std::uint32_t);
  const std::uint32_t count = steps(bytes_a_step);
  fd::Batch batch = new_batch();
  batch.dispatch(module_.kernel<void(std::uint32_t*, std::uint32_t)>("read_registers"), fd::grid(items_), sums_, count);
  add("registers, 64 bytes", std::move(batch), count * bytes_a_step * items_,
      [of_one = sum_in_registers(count)](std::uint32_t item) { return item * of_one; });
}

void Levels::add_lds() {
  constexpr double bytes_a_step = step_reads * bytes_a_read;
  const std::uint32_t count = steps(bytes_a_step);
  fd::Batch batch = new_batch();
  batch.dispatch(module_.kernel<void(std::uint32_t*, const std::uint32_t*, std::uint32_t, std::uint32_t)>("read_lds"),
                 fd::grid(items_), sums_, words_, count, group_size);
  add("LDS, 8 KiB", std::move(batch), count * bytes_a_step * items_,
      [count](std::uint32_t item) { return sum_of_strides(item, lds_reads, count, group_size); });
}

void Levels::add_scalars() {
  // A load serves a whole wavefront.
  const double bytes_a_step = scalar_reads * bytes_a_read / gpu_.wavefront_size();
  const std::uint32_t count = steps(bytes_a_step);
  fd::Batch batch = new_batch();
  batch.dispatch(
      module_.kernel<void(std::uint32_t*, const std::uint32_t*, std::uint32_t, std::uint32_t)>("read_scalars"),
      fd::grid(items_), sums_, words_, near_reads, count);
  std::uint32_t sum = 0;
  for (std::uint32_t read = 0; read < count * scalar_reads; ++read) sum += sum_of(read & (near_reads - 1));
  add("scalar cache, 8 KiB", std::move(batch), count * bytes_a_step * items_, [sum](std::uint32_t) { return sum; });
}

void Levels::add_memory(std::string name, const std::uint32_t* words, std::uint32_t reads, std::uint32_t stride) {
  constexpr double bytes_a_step = step_reads * bytes_a_read;
  const std::uint32_t count = steps(bytes_a_step);
  fd::Batch batch = new_batch();
  batch.dispatch(
      module_.kernel<void(std::uint32_t*, const std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>(
          "read_memory"),
      fd::grid(items_), sums_, words, reads, count, stride);
  add(std::move(name), std::move(batch), count * bytes_a_step * items_,
      [=](std::uint32_t item) { return sum_of_strides(item, reads, count, stride); });
}

fd::Batch Levels::new_batch() const { return fd::Batch(gpu_, {.fences = fences_}); }

std::uint32_t Levels::steps(double bytes) const {
  return static_cast<std::uint32_t>(std::max(bytes_ / (bytes * items_), 1.0));
}

void Levels::clear() {
  const std::vector<std::uint32_t> nothing(items_);
  fd::copy(sums_, std::span(nothing));
}

bool Levels::are_right(const Level& level) const {
  std::vector<std::uint32_t> sums(items_);
  fd::copy(std::span(sums), sums_);
  for (std::uint32_t item = 0; item < items_; ++item) {
    if (sums[item] != level.expected(item)) return false;
  }
  return true;
}
