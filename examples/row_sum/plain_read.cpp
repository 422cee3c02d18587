#include "plain_read.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

namespace fd = fastdispatch;

namespace {

const char* name_of(Memory memory) {
  switch (memory) {
  case Memory::device:
    return "plain read, device memory";
  case Memory::pinned:
    return "plain read, pinned";
  case Memory::locked:
    return "plain read, locked";
  }
  return "";
}

// As the kernel adds up: the elements' bits as integers, whose sum is the same in any order.
std::uint32_t sum_of_words(std::span<const float> elements) {
  std::uint32_t sum = 0;
  for (const float element : elements) sum += std::bit_cast<std::uint32_t>(element);
  return sum;
}

class PlainRead {
public:
  PlainRead(Problem& problem, const fd::MemoryView& matrix)
      : problem_(problem), matrix_(matrix), launch_(problem.kernels.plain_read(problem.matrix_on_host.size())),
        sums_(problem.gpu, launch_.grid.size[0]) {
    const std::size_t quads = problem.matrix_on_host.size() / 4;
    const std::size_t quads_a_lane = (quads + sums_.size() - 1) / sums_.size();
    quads_each_ = static_cast<std::uint32_t>(quads_a_lane * problem.gpu.wavefront_size());
  }

  void run() {
    problem_.queue
        .dispatch(launch_.kernel, launch_.grid, fd::read(matrix_), sums_, problem_.matrix_on_host.size(), quads_each_)
        .wait();
  }

  bool has_read_all() {
    std::vector<std::uint32_t> sums(sums_.size(), 1);  // a sum that is not written stays visible
    fd::copy(sums_, std::span(sums));
    run();
    fd::copy(std::span(sums), sums_);
    return std::accumulate(sums.begin(), sums.end(), 0U) == sum_of_words(problem_.matrix().elements);
  }

private:
  Problem& problem_;
  fd::MemoryView matrix_;
  Launch<PlainReadKernel> launch_;
  std::uint32_t quads_each_;              // how many times four elements a wavefront reads
  fd::DeviceBuffer<std::uint32_t> sums_;  // of each work-item
};

}  // namespace

Variant plain_read(Problem& problem, Memory memory, const fd::MemoryView& matrix) {
  const auto read = std::make_shared<PlainRead>(problem, matrix);
  return {.name = name_of(memory),
          .run = [read] { read->run(); },
          .run_with_copies = {},
          .reads = memory,
          .has_read_all = [read] { return read->has_read_all(); }};
}
