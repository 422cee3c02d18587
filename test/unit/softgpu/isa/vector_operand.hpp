// One operand of a vector instruction: where its bits come from, and what SDWA and the VOP3 modifiers do to them.
#pragma once

#include <string>

#include "machine_state.hpp"
#include "values.hpp"

namespace softgpu::isa {

/// SDWA's selection of a part of a register.
enum class Select { byte_0, byte_1, byte_2, byte_3, word_0, word_1, dword };
enum class Unused { pad, sign_extend, preserve };

[[nodiscard]] std::string text_of(Select select);
[[nodiscard]] std::string text_of(Unused unused);
[[nodiscard]] u32 extract(Select select, u32 word, bool sign_extend);
[[nodiscard]] u32 insert(Select select, Unused unused, u32 old, u32 value);

struct VectorOperand {
  enum class Kind { vgpr, sgpr, constant };
  Kind kind = Kind::vgpr;
  Type type = Type::uint32;
  unsigned first = 0;  ///< register number
  u64 constant = 0;    ///< as the operand's type encodes it
  std::string constant_text = {};
  bool negate = false;
  bool absolute = false;
  Select select = Select::dword;
  bool sign_extend = false;

  /// As the assembler spells it, with modifiers.
  [[nodiscard]] std::string text() const;
  /// The operand's bits in `lane`, modifiers applied.
  [[nodiscard]] u64 read(const MachineState& state, unsigned lane) const { return modify(raw(state, lane)); }
  [[nodiscard]] u64 modify(u64 bits) const;

private:
  [[nodiscard]] u64 raw(const MachineState& state, unsigned lane) const;
};

[[nodiscard]] VectorOperand vgpr(Type type, unsigned first);
[[nodiscard]] VectorOperand sgpr(Type type, unsigned first);
[[nodiscard]] VectorOperand inline_integer(Type type, int value);
/// `value` is one of the inline constants 0.5, 1.0, 2.0, 4.0 and their negatives.
[[nodiscard]] VectorOperand inline_float(Type type, double value);
[[nodiscard]] VectorOperand literal(Type type, u32 value);

/// "v3", "v[2:3]"
[[nodiscard]] std::string registers(char file, unsigned first, unsigned count);

}  // namespace softgpu::isa
