// SMEM: scalar loads and stores, clocks, and cache control.
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>

#include "handler_table.hpp"
#include "lane_access.hpp"
#include "memory_runtime.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

/// The byte offset: a constant, a scalar register, or both (i64). Scalar memory is addressed in dwords.
Value* byte_offset(Emitter& e, const Instruction& i) {
  const Operand& operand = i.operands.at(2);
  Value* offset = e.ir.getInt64(static_cast<std::uint64_t>(i.number("offset")));
  if (operand.is_scalar()) return e.ir.CreateAdd(e.ir.CreateZExt(e.scalar(operand), e.i64()), offset);
  if (operand.kind != Operand::Kind::integer) e.unsupported("offset " + operand.text);
  return e.ir.CreateAdd(e.ir.getInt64(static_cast<std::uint64_t>(operand.value)), offset);
}

Value* dword_pointer(Emitter& e, Value* base, Value* offset) {
  Value* address = e.ir.CreateAnd(e.ir.CreateAdd(base, offset), ~std::uint64_t{3});
  return e.ir.CreateIntToPtr(address, e.ir.getPtrTy());
}

void check_register(Emitter& e, const Operand& data, unsigned dwords) {
  if (!data.is_scalar() || data.dwords != dwords) e.unsupported("operand " + data.text);
}

void load(Emitter& e, const Instruction& i, unsigned dwords) {
  honour_cache_hints(e, i);
  const Operand& destination = i.operands.at(0);
  check_register(e, destination, dwords);
  Value* pointer = dword_pointer(e, e.scalar64(i.operands.at(1)), byte_offset(e, i));
  // All are read before the first is written: the destination may overlap the base.
  std::vector<Value*> values;
  llvm::Type* type = dwords == 1 ? e.i32() : e.i64();
  for (unsigned d = 0; d < dwords; d += 2) {
    Value* place = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), pointer, std::uint64_t{4} * d);
    values.push_back(e.ir.CreateAlignedLoad(type, place, llvm::Align(4)));
  }
  if (dwords == 1) return e.set_sgpr(destination.index, values[0]);
  for (unsigned d = 0; d < dwords; d += 2) e.set_sgpr_pair(destination.index + d, values[d / 2]);
}

/// Dwords out of the buffer's range read 0. A mask says so to a vector load.
void buffer_load(Emitter& e, const Instruction& i, unsigned dwords) {
  honour_cache_hints(e, i);
  const Operand& destination = i.operands.at(0);
  const Operand& resource = i.operands.at(1);
  check_register(e, destination, dwords);
  check_register(e, resource, 4);
  Value* low = e.sgpr_pair(resource.index);
  Value* records = e.ir.CreateZExt(e.sgpr(resource.index + 2), e.i64());
  Value* stride = e.ir.CreateAnd(e.ir.CreateLShr(low, 48), 0x3fff);
  Value* bytes = e.ir.CreateSelect(e.ir.CreateIsNull(stride), records, e.ir.CreateMul(records, stride));
  Value* offset = e.ir.CreateAnd(byte_offset(e, i), ~std::uint64_t{3});
  Value* pointer = dword_pointer(e, e.ir.CreateAnd(low, 0xffffffffffff), offset);

  std::vector<llvm::Constant*> ends;
  for (unsigned d = 0; d < dwords; ++d) ends.push_back(e.ir.getInt64(std::uint64_t{4} * d + 4));
  Value* end = e.ir.CreateAdd(e.ir.CreateVectorSplat(dwords, offset), llvm::ConstantVector::get(ends));
  Value* inside = e.ir.CreateICmpULE(end, e.ir.CreateVectorSplat(dwords, bytes));
  auto* type = llvm::FixedVectorType::get(e.i32(), dwords);
  Value* loaded = e.ir.CreateMaskedLoad(type, pointer, llvm::Align(4), inside, llvm::Constant::getNullValue(type));
  for (unsigned d = 0; d < dwords; ++d)
    e.set_sgpr(destination.index + d, e.ir.CreateExtractElement(loaded, std::uint64_t{d}));
}

void store(Emitter& e, const Instruction& i, unsigned dwords) {
  ignore_cache_hints(i);
  const Operand& source = i.operands.at(0);
  check_register(e, source, dwords);
  Value* pointer = dword_pointer(e, e.scalar64(i.operands.at(1)), byte_offset(e, i));
  for (unsigned d = 0; d < dwords; ++d)
    e.ir.CreateAlignedStore(e.sgpr(source.index + d),
                            e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), pointer, std::uint64_t{4} * d),
                            llvm::Align(4));
}

void clock(Emitter& e, const Instruction& i, std::uint64_t (*function)()) {
  e.set_scalar(i.operands.at(0), e.call(reinterpret_cast<const void*>(function), e.i64(), {}));
}

/// Host memory is coherent; what an invalidation orders must stay ordered in the translated code.
void order_accesses(Emitter& e, const Instruction&) {
  e.ir.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

}  // namespace

void add_scalar_memory(HandlerTable& table) {
  for (const unsigned dwords : {1U, 2U, 4U, 8U, 16U}) {
    const std::string size = dwords == 1 ? "dword" : "dwordx" + std::to_string(dwords);
    table.add("s_load_" + size, [dwords](auto& e, auto& i) { load(e, i, dwords); });
    table.add("s_buffer_load_" + size, [dwords](auto& e, auto& i) { buffer_load(e, i, dwords); });
    if (dwords <= 4) table.add("s_store_" + size, [dwords](auto& e, auto& i) { store(e, i, dwords); });
  }
  table.add("s_memtime", [](auto& e, auto& i) { clock(e, i, runtime::shader_clock); });
  table.add("s_memrealtime", [](auto& e, auto& i) { clock(e, i, runtime::real_time); });
  for (const char* mnemonic : {"s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol"})
    table.add(mnemonic, order_accesses);
}

}  // namespace softgpu::compute
