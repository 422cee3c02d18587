// Programs of steps to encode, chosen or random: over buffers of a few bytes at made-up addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "dispatch/encode/batch_image.hpp"
#include "dispatch/record/access.hpp"

namespace fastdispatch::test {

inline const detail::KernelInfo kernel{.name = "kernel",
                                       .object = 0x1000,
                                       .kernarg_size = 8,
                                       .max_group_size = 1024,
                                       .max_group_segment_size = 65536,
                                       .arguments = {{0, 8}},
                                       .implicit_arguments = {}};

inline constexpr std::uintptr_t buffer_size = 64;
constexpr std::uintptr_t address_of(std::uintptr_t buffer) { return 0x10000 * (buffer + 1); }

inline detail::Access access(std::uintptr_t buffer, AccessMode mode, std::uintptr_t first = 0,
                             std::uintptr_t size = buffer_size, FenceScope scope = FenceScope::agent) {
  return {.begin = address_of(buffer) + first, .end = address_of(buffer) + first + size, .mode = mode, .scope = scope};
}
inline detail::Access read(std::uintptr_t buffer) { return access(buffer, AccessMode::read); }
inline detail::Access write(std::uintptr_t buffer) { return access(buffer, AccessMode::write); }
inline detail::Access read_write(std::uintptr_t buffer) { return access(buffer, AccessMode::read_write); }

inline detail::Step dispatch(std::vector<detail::Access> accesses) {
  return detail::DispatchStep{
      .kernel = &kernel, .grid = grid(64).group(64), .local_memory = 0, .kernarg = 0, .accesses = std::move(accesses)};
}

inline MemoryView view(const detail::Access& access) {
  MemoryView result =
      detail::memory_behind(reinterpret_cast<const void*>(access.begin),  // NOLINT(performance-no-int-to-ptr)
                            access.end - access.begin);
  return result;
}
inline detail::Step copy(const detail::Access& destination, const detail::Access& source) {
  return detail::CopyStep{.destination = view(destination), .source = view(source)};
}

using Steps = std::vector<detail::Step>;

inline Steps operator+(Steps a, const Steps& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// ---- random programs

struct Shape {
  std::size_t most_steps = 12;
  unsigned copies = 20;  // percent of the steps
  bool shared = true;    // some buffers are the host's
  unsigned unknown = 2;  // percent of the accesses
  std::size_t most_accesses = 3;
  std::uintptr_t buffers = 6;  // the last third is shared
};

class RandomProgram {
public:
  RandomProgram(unsigned seed, const Shape& shape) : random_(seed), shape_(shape) {}

  std::vector<detail::Step> operator()() {
    std::vector<detail::Step> steps;
    const std::size_t count = 1 + below(shape_.most_steps);
    while (steps.size() < count) {
      if (below(100) < shape_.copies) {
        const std::uintptr_t size = 1 + below(buffer_size / 2);
        const std::uintptr_t half = shape_.buffers / 2;
        steps.push_back(copy(part(AccessMode::write, size, 0, half), part(AccessMode::read, size, half, half)));
        if (below(2) == 0)
          std::swap(std::get<detail::CopyStep>(steps.back()).source,
                    std::get<detail::CopyStep>(steps.back()).destination);
      } else {
        std::vector<detail::Access> accesses;
        for (std::size_t i = below(shape_.most_accesses + 1); i > 0; --i) accesses.push_back(any());
        steps.push_back(dispatch(std::move(accesses)));
      }
    }
    return steps;
  }

private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  detail::Access part(AccessMode mode, std::uintptr_t size, std::uintptr_t first_buffer, std::uintptr_t buffers) {
    return access(first_buffer + below(buffers), mode, below(buffer_size - size + 1), size);
  }

  detail::Access any() {
    const auto mode = static_cast<AccessMode>(1 + below(3));
    if (below(100) < shape_.unknown) return detail::everywhere(mode);
    detail::Access result = part(mode, below(2) == 0 ? buffer_size : 1 + below(buffer_size), 0, shape_.buffers);
    if (shape_.shared && result.begin >= address_of(shape_.buffers * 2 / 3)) result.scope = FenceScope::system;
    return result;
  }

  std::mt19937 random_;
  Shape shape_;
};

}  // namespace fastdispatch::test
