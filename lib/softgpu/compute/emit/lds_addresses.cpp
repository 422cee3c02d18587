#include "softgpu/compute/emit/lds_addresses.hpp"

#include <cstddef>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "softgpu/compute/instruction_set/instruction.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;

LaneAddresses lds_addresses(Emitter& e, const Chunks& addresses, std::uint32_t offset, std::uint32_t bytes) {
  Value* lds = e.field(offsetof(WaveState, lds), e.state()->getType());
  LaneAddresses lanes{.base = e.ir.CreateConstGEP1_64(e.ir.getInt8Ty(), lds, offset),
                      .offsets = addresses,
                      .in_lds = true,
                      .out_of_range_is_zero = true};
  Value* size = e.field(offsetof(WaveState, lds_bytes), e.i32());
  Value* limit = e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, e.ir.getInt32(bytes - 1));
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* place = e.ir.CreateAdd(addresses[chunk], e.splat(offset));
    lanes.active[chunk] = e.ir.CreateAnd(e.ir.CreateICmpULT(place, e.splat(limit)), e.exec_mask(chunk));
  }
  return lanes;
}

LaneAddresses lane_number_addresses(Emitter& e, std::int32_t offset) {
  Value* m0 = e.ir.CreateAnd(e.sgpr(scalar_register::m0), 0xffff);
  Value* base = e.splat(e.ir.CreateAdd(m0, e.ir.getInt32(static_cast<std::uint32_t>(offset))));
  Chunks addresses;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    std::vector<llvm::Constant*> columns;
    for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
      columns.push_back(e.ir.getInt32(4 * (chunk * lanes_per_chunk + lane)));
    addresses[chunk] = e.ir.CreateAdd(base, llvm::ConstantVector::get(columns));
  }
  LaneAddresses lanes = lds_addresses(e, addresses, 0, 4);
  lanes.is_consecutive = true;
  return lanes;
}

}  // namespace softgpu::compute
