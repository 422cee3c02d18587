#include "softgpu/compute/profile/emit_counting.hpp"

#include "softgpu/compute/emit/lane_operands.hpp"
#include "softgpu/compute/profile/counting.hpp"

namespace softgpu::compute::profile {
namespace {

using llvm::Value;

/// The counters' address is a number in the code: such code is kept by nobody.
Value* address_of(Emitter& e, InstructionCounts& counters) {
  return e.ir.CreateIntToPtr(e.ir.getInt64(reinterpret_cast<std::uintptr_t>(&counters)), e.ir.getPtrTy());
}

/// The counters of the instruction that is emitted.
Value* current(Emitter& e, std::uint32_t bytes) {
  InstructionCounts& counters = e.profile()->instruction(e.instruction().offset, e.instruction().text);
  counters.bytes = bytes;
  return address_of(e, counters);
}

Value* constant(Emitter& e, Space space) { return e.ir.getInt8(static_cast<std::uint8_t>(space)); }

}  // namespace

void count_execution(Emitter& e, const Instruction& instruction) {
  if (e.profile() == nullptr) return;
  InstructionCounts& counters = e.profile()->instruction(instruction.offset, instruction.text);
  e.call(reinterpret_cast<const void*>(&add_execution), e.ir.getVoidTy(), {address_of(e, counters), e.exec()});
}

void count_put_access(Emitter& e, Value* lanes, Space space, std::uint32_t bytes) {
  if (e.profile() == nullptr) return;
  e.call(reinterpret_cast<const void*>(&add_access), e.ir.getVoidTy(),
         {current(e, bytes), e.state(), lanes, constant(e, space)});
}

void count_access(Emitter& e, const LaneAddresses& addresses, std::uint32_t bytes) {
  if (e.profile() == nullptr) return;
  Chunks numbers;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) numbers[chunk] = address_numbers(e, addresses, chunk);
  put_lane_addresses(e, numbers);
  count_put_access(e, e.mask_from_chunks(addresses.active), Space::global, bytes);
}

void count_lds_access(Emitter& e, const Chunks& addresses, std::uint32_t offset, std::uint32_t bytes) {
  if (e.profile() == nullptr) return;
  Chunks numbers;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    numbers[chunk] = e.ir.CreateZExt(e.ir.CreateAdd(addresses[chunk], e.splat(offset)), Emitter::lanes(e.i64()));
  put_lane_addresses(e, numbers);
  count_put_access(e, e.exec(), Space::lds, bytes);
}

void count_flat_access(Emitter& e, const Chunks& addresses, std::int64_t offset, std::uint32_t bytes) {
  if (e.profile() == nullptr) return;
  put_lane_addresses(e, addresses);
  e.call(reinterpret_cast<const void*>(&add_flat_access), e.ir.getVoidTy(),
         {current(e, bytes), e.state(), e.exec(), e.ir.getInt64(static_cast<std::uint64_t>(offset))});
}

void count_scratch_access(Emitter& e, std::uint32_t bytes) { count_put_access(e, e.exec(), Space::scratch, bytes); }

}  // namespace softgpu::compute::profile
