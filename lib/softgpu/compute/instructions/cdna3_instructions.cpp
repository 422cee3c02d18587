// What CDNA3 (gfx942) has that gfx90a has not. Its loads, stores, atomics and matrix instructions stand in their
// families' tables.
#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/emit/memory_order.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/instructions/vector_instruction.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using enum Lane;

Value* shift_and_add(Emitter& e, Sources s) {
  Value* places = e.ir.CreateAnd(e.ir.CreateZExt(s[1], s[0]->getType()), e.splat64(7));
  return e.ir.CreateAdd(e.ir.CreateShl(s[0], places), s[2]);
}

}  // namespace

void add_cdna3_instructions(HandlerTable& table) {
  add_vector_operation(table, "v_mov_b64", {u64, {u64}}, [](Emitter&, Sources s) { return s[0]; });
  add_vector_operation(table, "v_lshl_add_u64", {u64, {u64, u32, u64}}, shift_and_add);
  for (const char* mnemonic : {"v_fmamk_f32", "v_fmaak_f32"})
    add_vector_operation(table, mnemonic, {f32, {f32, f32, f32}}, fused_multiply_add);
  table.add("buffer_inv", maintain_caches);
}

}  // namespace softgpu::compute
