#include "softgpu/compute/instructions/lane_functions.hpp"

namespace softgpu::compute {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

Value* dot(Emitter& e, Sources s, unsigned bits, DotSigns signs, bool saturates) {
  llvm::Type* wide = Emitter::lanes(e.i64());
  const auto widen = [&](Value* v) { return signs.sum ? e.ir.CreateSExt(v, wide) : e.ir.CreateZExt(v, wide); };
  const auto part = [&](Value* v, bool is_signed, unsigned shift) {
    Value* top = e.ir.CreateShl(v, 32 - bits - shift);
    return is_signed ? e.ir.CreateAShr(top, 32 - bits) : e.ir.CreateLShr(top, 32 - bits);
  };
  Value* sum = widen(s[2]);
  for (unsigned shift = 0; shift < 32; shift += bits)
    sum = e.ir.CreateAdd(sum, widen(e.ir.CreateMul(part(s[0], signs.first, shift), part(s[1], signs.second, shift))));
  if (saturates && signs.sum) {
    sum = e.ir.CreateBinaryIntrinsic(Intrinsic::smin, sum, e.splat64(0x7fffffff));
    sum = e.ir.CreateBinaryIntrinsic(Intrinsic::smax, sum, e.splat64(~0x7fffffffULL));
  } else if (saturates) {
    sum = e.ir.CreateBinaryIntrinsic(Intrinsic::umin, sum, e.splat64(0xffffffff));
  }
  return e.low_half(sum);
}

}  // namespace softgpu::compute
