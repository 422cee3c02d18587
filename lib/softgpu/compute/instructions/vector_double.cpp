// VALU double-precision instructions.
#include "softgpu/compute/instructions/division.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/run_time/trigonometric_reduction.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using enum Lane;

/// Rare, and table look-ups bit by bit: done in C++.
Value* trigonometric_preop(Emitter& e, Sources s) {
  const auto slot = [&](llvm::Type* type) { return e.entry_slot(type); };
  Value* angles = slot(s[0]->getType());
  Value* segments = slot(s[1]->getType());
  Value* results = slot(s[0]->getType());
  e.ir.CreateStore(s[0], angles);
  e.ir.CreateStore(s[1], segments);
  e.call(reinterpret_cast<const void*>(&softgpu::compute::trigonometric_preop), e.ir.getVoidTy(),
         {angles, segments, results});
  return e.ir.CreateLoad(s[0]->getType(), results);
}

}  // namespace

void add_vector_double(HandlerTable& table) {
  add_vector_operation(table, "v_trig_preop_f64", {f64, {f64, u32}}, trigonometric_preop);
  add_division(table, "f64", f64);
}

}  // namespace softgpu::compute
