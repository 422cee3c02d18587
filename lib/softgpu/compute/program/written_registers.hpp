// Which registers an instruction writes, told from its operands alone.
//
// Facts about registers (lane_sums.hpp) die by it. It may name a register that keeps its value. The emitter refuses an
// instruction that writes a register that is not named here.
#pragma once

#include <array>
#include <cstdint>

#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

class WrittenRegisters {
public:
  struct Range {
    unsigned first = 0;
    unsigned count = 0;

    [[nodiscard]] bool contains(unsigned index) const { return index - first < count; }
  };

  explicit WrittenRegisters(const Instruction& instruction);

  [[nodiscard]] const std::array<Range, 2>& vectors() const { return vectors_; }
  [[nodiscard]] const std::array<Range, 2>& scalars() const { return scalars_; }
  [[nodiscard]] bool exec() const { return exec_; }

  [[nodiscard]] bool has_vector(unsigned index) const;
  [[nodiscard]] bool has_scalar(unsigned index) const;

private:
  void add(const Operand& operand);

  std::array<Range, 2> vectors_ = {};
  std::array<Range, 2> scalars_ = {};
  bool exec_ = false;
};

}  // namespace softgpu::compute
