// A problem that kernels solve: the same for the soft GPU and for OpenCL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace kernel_problems {

/// Memory that kernels read and write, with what is in it before the first launch.
struct Buffer {
  enum class Element { float32, uint32, uint8 } element;
  std::vector<std::byte> bytes;

  template <class T>
  [[nodiscard]] std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

struct BufferNumber {
  std::size_t number;
};
using Argument = std::variant<BufferNumber, std::int32_t, std::uint32_t, float>;

struct Launch {
  std::string kernel;
  std::array<std::uint32_t, 2> size;  ///< work-items; a multiple of `group`
  std::array<std::uint32_t, 2> group;
  std::vector<Argument> arguments;
};

struct Problem {
  std::string source;  ///< the file's name without ".cl"
  std::vector<Buffer> buffers{};
  std::vector<Launch> launches{};  ///< one after the other
  /// Throws std::runtime_error if the buffers do not have the solution, once it was launched a single time.
  std::function<void(std::span<const Buffer>)> check{};

  BufferNumber add(std::span<const float> values) { return add(Buffer::Element::float32, std::as_bytes(values)); }
  BufferNumber add(std::span<const std::uint32_t> values) {
    return add(Buffer::Element::uint32, std::as_bytes(values));
  }
  BufferNumber add(std::span<const std::uint8_t> values) { return add(Buffer::Element::uint8, std::as_bytes(values)); }

private:
  BufferNumber add(Buffer::Element element, std::span<const std::byte> bytes) {
    buffers.push_back({element, {bytes.begin(), bytes.end()}});
    return {buffers.size() - 1};
  }
};

/// How the soft GPU's kernels are compiled; OpenCL compiles the first two in its own way, and has no third one.
enum class Compiled { optimized, not_optimized, for_gfx950 };

struct NamedProblem {
  std::string name;
  std::function<Problem()> make;
  Compiled compiled = Compiled::optimized;
};

[[nodiscard]] const std::vector<NamedProblem>& all_problems();
/// Of all_problems(), and the product of 8-bit floats. Throws std::runtime_error if there is none of that name.
[[nodiscard]] const NamedProblem& problem(const std::string& name);

// The problems by field.
[[nodiscard]] std::vector<NamedProblem> sums_and_scans();
[[nodiscard]] std::vector<NamedProblem> sorts_and_counts();
[[nodiscard]] std::vector<NamedProblem> grids_and_images();
[[nodiscard]] std::vector<NamedProblem> linear_algebra();
[[nodiscard]] std::vector<NamedProblem> arithmetic();
[[nodiscard]] NamedProblem fp8_product();

}  // namespace kernel_problems
