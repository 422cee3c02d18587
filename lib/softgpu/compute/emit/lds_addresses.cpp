#include "softgpu/compute/emit/lds_addresses.hpp"

#include <cstddef>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "softgpu/compute/instruction_set/instruction.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;

LaneAddresses lds_addresses(Emitter& e, const LaneOffsets& addresses, std::uint32_t offset, std::uint32_t bytes) {
  Value* lds = e.field(offsetof(WaveState, lds), e.state()->getType());
  LaneAddresses lanes{.base = e.ir.CreateConstGEP1_64(e.ir.getInt8Ty(), lds, offset),
                      .offsets = addresses.lanes,
                      .in_lds = true,
                      .out_of_range_is_zero = true,
                      .row = addresses.row};
  Value* size = e.field(offsetof(WaveState, lds_bytes), e.i32());
  Value* limit = e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, e.ir.getInt32(bytes - 1));
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* place = e.ir.CreateAdd(addresses.lanes[chunk], e.splat(offset));
    lanes.active[chunk] = e.ir.CreateAnd(e.ir.CreateICmpULT(place, e.splat(limit)), e.exec_mask(chunk));
  }
  if (addresses.row) {
    Value* first = e.ir.CreateAdd(addresses.row->start, e.ir.getInt32(offset));
    Value* span = e.ir.getInt32((e.wavefront_size() - 1) * addresses.row->stride);
    lanes.row_in_lds = e.ir.CreateICmpULT(first, e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, limit, span));
  }
  return lanes;
}

namespace {

/// The lanes side by side from M0 + offset on, each with room for so many bytes.
LaneAddresses from_m0(Emitter& e, std::int32_t offset, std::uint32_t mask, std::uint32_t room, std::uint32_t bytes) {
  Value* m0 = e.ir.CreateAnd(e.sgpr(scalar_register::m0), mask);
  Value* base = e.ir.CreateAdd(m0, e.ir.getInt32(static_cast<std::uint32_t>(offset)));
  LaneAddresses lanes = lds_addresses(e, {.lanes = lanes_of(e, {base, room})}, 0, bytes);
  lanes.is_consecutive = room == 4;
  return lanes;
}

}  // namespace

LaneAddresses lane_number_addresses(Emitter& e, std::int32_t offset) { return from_m0(e, offset, 0xffff, 4, 4); }

LaneAddresses transfer_addresses(Emitter& e, std::int32_t offset, std::uint32_t bytes) {
  const bool is_wide = bytes > 4;
  return from_m0(e, offset, e.architecture().lds_transfer_offset, is_wide ? 16 : 4, is_wide ? bytes : 4);
}

}  // namespace softgpu::compute
