// The steps that compilers divide with: v_div_scale, v_div_fmas, v_div_fixup, in 32 and 64 bits.
#pragma once

#include "softgpu/compute/instructions/vector_instruction.hpp"

namespace softgpu::compute {

void add_division(HandlerTable& table, const char* type, Lane lane);
/// Makes a refined quotient (S0) of S1, the denominator, and S2, the numerator, right in the special cases.
llvm::Value* division_fixup(Emitter& e, Sources s);

}  // namespace softgpu::compute
