// Instructions that move values between lanes and scalar registers, and between VGPRs and AGPRs.
#include "softgpu/compute/instructions/lane_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

/// The chunk that holds lane `lane` (i32, 0 to 63), where it is not known at translation.
Value* choose_chunk(Emitter& e, unsigned register_index, Value* lane) {
  const auto bit = [&](unsigned value) { return e.ir.CreateIsNotNull(e.ir.CreateAnd(lane, value)); };
  const auto chunk = [&](unsigned n) { return e.vgpr(register_index, n); };
  Value* lower = e.ir.CreateSelect(bit(16), chunk(1), chunk(0));
  if (e.chunks() == 2) return lower;
  Value* upper = e.ir.CreateSelect(bit(16), chunk(3), chunk(2));
  return e.ir.CreateSelect(bit(32), upper, lower);
}

Value* read_lane(Emitter& e, const Operand& source, Value* lane) {
  if (!source.is_vector()) return e.scalar(source);
  if (Value* place = e.lane_in_memory(source.index, lane)) return e.ir.CreateLoad(e.i32(), place);
  return e.ir.CreateExtractElement(choose_chunk(e, source.index, lane), e.ir.CreateAnd(lane, 15));
}

void read_first_lane(Emitter& e, const Instruction& i) {
  e.set_scalar(i.operands.at(0), first_active_lane(e, i.operands.at(1)));
}

void read_lane(Emitter& e, const Instruction& i) {
  Value* lane = e.ir.CreateAnd(e.scalar(i.operands.at(2)), e.wavefront_size() - 1);
  e.set_scalar(i.operands.at(0), read_lane(e, i.operands.at(1), lane));
}

/// Writes its lane, even if EXEC disables it.
void write_lane(Emitter& e, const Instruction& i) {
  const Operand& destination = i.operands.at(0);
  if (!destination.is_vector()) e.unsupported("destination");
  Value* value = e.scalar(i.operands.at(1));
  Value* lane = e.ir.CreateAnd(e.scalar(i.operands.at(2)), e.wavefront_size() - 1);
  if (Value* place = e.lane_in_memory(destination.index, lane)) {
    e.ir.CreateStore(value, place);
    return;
  }
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    std::vector<llvm::Constant*> numbers;
    for (unsigned n = 0; n < lanes_per_chunk; ++n) numbers.push_back(e.ir.getInt32(chunk * lanes_per_chunk + n));
    Value* is_lane = e.ir.CreateICmpEQ(llvm::ConstantVector::get(numbers), e.splat(lane));
    Value* old = e.vgpr(destination.index, chunk);
    e.set_vgpr_unmasked(destination.index, chunk, e.ir.CreateSelect(is_lane, e.splat(value), old));
  }
}

}  // namespace

Value* first_active_lane(Emitter& e, const Operand& source) {
  Value* exec = e.exec();
  Value* first = e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, exec, e.ir.getFalse());
  return read_lane(e, source, e.ir.CreateAnd(e.ir.CreateTrunc(first, e.i32()), e.wavefront_size() - 1));
}

void add_cross_lane(HandlerTable& table) {
  const LaneFunction copy = [](Emitter&, Sources s) { return s[0]; };
  table.add("v_readfirstlane_b32", read_first_lane);
  table.add("v_readlane_b32", [](Emitter& e, const Instruction& i) { read_lane(e, i); });
  table.add("v_writelane_b32", write_lane);
  for (const char* mnemonic : {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"})
    add_vector_operation(table, mnemonic, {Lane::u32, {Lane::u32}}, copy);
}

}  // namespace softgpu::compute
