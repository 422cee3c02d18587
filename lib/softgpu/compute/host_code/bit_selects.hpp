// A fault of LLVM's code generator for AVX-512, seen in LLVM 15, 16 and 19.
#pragma once

namespace llvm {
class Module;
}

namespace softgpu::compute {

/// Of (x & C) | (y & ~C), and of copysign, the code generator makes one instruction, vpternlog. Where a select of lanes
/// takes x or y instead, it gives the instruction a mask and another order of its operands, but not always the truth
/// table that belongs to this order: results are wrong. This hides such values from the selects that take them. To be
/// called last, for code for AVX-512.
void keep_bit_selects_apart(llvm::Module& module);

}  // namespace softgpu::compute
