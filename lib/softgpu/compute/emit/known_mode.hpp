// The bits of the MODE register that translated code depends on (mode_register.hpp) are known at translation: an
// instruction that is reached in several modes is translated for each of them.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

namespace softgpu::compute {

class KnownMode {
public:
  explicit KnownMode(std::uint32_t initial) : initial_(initial), current_(initial) {}

  /// Where code is emitted.
  [[nodiscard]] std::uint32_t current() const { return current_; }
  void set_current(std::uint32_t mode) { current_ = mode; }
  /// Where the kernel begins.
  [[nodiscard]] std::uint32_t initial() const { return initial_; }
  /// The modes that the program's constants lead to.
  [[nodiscard]] const std::set<std::uint32_t>& possible() const { return possible_; }
  void set_possible(std::set<std::uint32_t> modes) { possible_ = std::move(modes); }

private:
  std::uint32_t initial_;
  std::uint32_t current_;
  std::set<std::uint32_t> possible_;
};

}  // namespace softgpu::compute
