// Half-precision lane functions on values that are held as floats.
#pragma once

#include "softgpu/compute/instructions/vector_instruction.hpp"

namespace softgpu::compute {

/// A float that rounds to the half nearest to the exact S0 * S1 + S2.
llvm::Value* fused_multiply_add_half(Emitter& e, Sources s);

/// S2 and the products of the halves of S0 and S1, which are dwords: a float that was rounded once.
llvm::Value* dot_halves(Emitter& e, Sources s);

/// Adds an instruction of VOP3P that does `function` with the halves of its two sources.
void add_packed_half_operation(HandlerTable& table, const char* mnemonic, LaneFunction function);

}  // namespace softgpu::compute
