#include "softgpu/compute/emit/row_prefetch.hpp"

#include <llvm/IR/Intrinsics.h>

namespace softgpu::compute {

void prefetch_ahead(Emitter& e, const LaneAddresses& a, Prefetch purpose, llvm::Value* from, unsigned chunk_bytes) {
  if (a.in_lds) return;
  constexpr unsigned wavefronts_ahead = 4, line_bytes = 64, closest_cache = 3, data = 1;
  const unsigned distance = wavefronts_ahead * e.chunks() * chunk_bytes;
  for (unsigned line = 0; line < chunk_bytes; line += line_bytes) {
    llvm::Value* place = e.ir.CreateConstGEP1_64(e.ir.getInt8Ty(), from, distance + line);
    e.ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {place->getType()},
                         {place, e.ir.getInt32(purpose == Prefetch::for_store ? 1 : 0), e.ir.getInt32(closest_cache),
                          e.ir.getInt32(data)});
  }
}

}  // namespace softgpu::compute
