// The operands of one VALU instruction in any of its encodings: source modifiers, sub-dword selection, DPP, output
// modifiers, and the lanes that are written. Families describe only what happens in a lane. A scalar floating-point
// instruction is one whose operands are scalar: its result is that of any lane.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/emit/handler_table.hpp"

namespace softgpu::compute {

/// How a lane's operand is read and written.
enum class Lane : std::uint8_t {
  u32,         ///< <16 x i32>; also signed
  b32,         ///< <16 x i32> whose sign bit takes the floating-point modifiers
  f32,         ///< <16 x float>
  u64,         ///< <16 x i64>
  f64,         ///< <16 x double>
  u16,         ///< <16 x i16>
  b16,         ///< <16 x i16> whose sign bit takes the floating-point modifiers
  f16,         ///< <16 x float> that came from, or is rounded to, a half
  packed_f16,  ///< <16 x i32>: two halves; a constant number is the lower half
};

using Sources = std::span<llvm::Value* const>;
using LaneFunction = llvm::Value* (*)(Emitter&, Sources);

class VectorInstruction {
public:
  /// `first_source` is the operand that the ISA calls S0.
  VectorInstruction(Emitter& emitter, const Instruction& instruction, unsigned first_source = 1);

  /// How many chunks there are to compute.
  [[nodiscard]] unsigned chunks() const { return is_scalar_ ? 1 : e_.chunks(); }

  /// Source `n` (0 is S0) of a chunk, with all its modifiers.
  llvm::Value* source(unsigned n, Lane lane, unsigned chunk);
  /// The destination's old value, of instructions that accumulate.
  llvm::Value* old_destination(Lane lane, unsigned chunk);
  /// A chunk of a source that is a 64-lane mask: the condition of v_cndmask, a carry.
  llvm::Value* mask_source(unsigned n, unsigned chunk);

  enum class UpperHalf : std::uint8_t { zeroed, preserved };
  /// Writes the destination: rounds, applies clamp and output modifiers, selects the lanes.
  void write(Lane lane, Chunks values, UpperHalf upper = UpperHalf::zeroed);
  /// Writes a 64-lane mask with 0 where EXEC is 0.
  void write_mask(const Operand& destination, const Chunks& bits);

private:
  llvm::Value* raw(unsigned n, const Operand& operand, unsigned dword, unsigned chunk);
  llvm::Value* constant(const Operand& operand, Lane lane);
  llvm::Value* select_part(const Operand& operand, unsigned n, llvm::Value* dword);
  llvm::Value* place_part(llvm::Value* value, llvm::Value* old);
  llvm::Value* modify_output(Lane lane, llvm::Value* value);
  llvm::Value* to_lane(const Operand& operand, Lane lane, llvm::Value* bits);
  bool is_foldable(unsigned n, const Operand& operand) const;

  Emitter& e_;
  const Instruction& i_;
  unsigned first_source_;
  bool is_scalar_;
};

/// <16 x i16> that are halves as floats. A signaling NaN stays one.
llvm::Value* half_to_float(Emitter& e, llvm::Value* half);

/// Floats as <16 x half>, rounded as MODE says.
llvm::Value* round_to_half(Emitter& e, llvm::Value* value);
/// The same with `rounding` in place of MODE's two bits.
llvm::Value* round_to_half(Emitter& e, llvm::Value* value, std::uint32_t rounding);

/// `clamp` of floating-point results: to 0 and 1; NaN to 0, or kept, as MODE says.
llvm::Value* clamp_to_one(Emitter& e, llvm::Value* value);

/// Denormals to zeros of their sign: floats, doubles, or halves as they are or as <16 x i16>.
llvm::Value* flush_denormals(Emitter& e, llvm::Value* value);

/// What DPP makes of a register: 0 in the lanes that have no source.
llvm::Value* permute_dpp(Emitter& e, const Instruction& instruction, unsigned register_index, unsigned chunk);
/// The lanes of a chunk that DPP's row and bank masks enable, and where a source is missing without bound_ctrl, not.
llvm::Value* dpp_write_mask(Emitter& e, const Instruction& instruction, unsigned chunk);

struct Signature {
  Lane result;
  std::vector<Lane> sources;
};

struct OperationOptions {
  LaneFunction clamped = nullptr;  ///< for integers: the function with `clamp`
  bool accumulates = false;        ///< the destination is the last source
  VectorInstruction::UpperHalf upper = VectorInstruction::UpperHalf::zeroed;
};

/// Adds one VALU instruction that does `function` in each lane.
void add_vector_operation(HandlerTable& table, std::string mnemonic, const Signature& signature, LaneFunction function,
                          OperationOptions options = {});

}  // namespace softgpu::compute
