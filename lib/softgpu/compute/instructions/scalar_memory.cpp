// SMEM: scalar loads, stores and atomics, clocks, and cache control. They do not look at EXEC.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llvm/IR/Constants.h>

#include "softgpu/compute/emit/access_check.hpp"
#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/emit/memory_order.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/memory_formats.hpp"
#include "softgpu/compute/run_time/clocks.hpp"
#include "softgpu/compute/run_time/compute_unit_caches.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

/// What the register of an offset counts: in scratch, as for the queue's scratch, 64 bytes.
enum class RegisterUnit : std::uint8_t { byte = 1, scratch = 64 };

/// Scalar memory is addressed in dwords.
Value* whole_dwords(Emitter& e, Value* bytes) { return e.ir.CreateAnd(bytes, ~std::uint64_t{3}); }

/// The byte offset: a constant, a scalar register without a sign, or both (i64).
struct ScalarOffset {
  Value* constant;
  Value* variable;  ///< null if there is no variable part

  [[nodiscard]] Value* sum(Emitter& e) const {
    return variable == nullptr ? constant : e.ir.CreateAdd(variable, constant);
  }
};

ScalarOffset scalar_offset(Emitter& e, const Instruction& i, RegisterUnit unit = RegisterUnit::byte) {
  const Operand& operand = i.operands.at(2);
  Value* constant = e.ir.getInt64(static_cast<std::uint64_t>(i.number("offset")));
  if (operand.kind == Operand::Kind::null) return {constant, nullptr};
  if (operand.is_scalar()) {
    Value* units = e.ir.CreateZExt(e.scalar(operand), e.i64());
    return {constant, e.ir.CreateMul(units, e.ir.getInt64(static_cast<std::uint64_t>(unit)))};
  }
  if (operand.kind != Operand::Kind::integer) e.unsupported("offset " + operand.text);
  return {e.ir.CreateAdd(e.ir.getInt64(static_cast<std::uint64_t>(operand.value)), constant), nullptr};
}

/// Base plus offset, checked for an access of so many dwords. The two lowest bits of each part are ignored, not of the
/// sum alone (ISA manuals, "Scalar Memory Addressing": all components are in bytes, but the two LSBs are treated as if
/// they were zero).
Value* dword_pointer(Emitter& e, const Instruction& i, unsigned dwords, RegisterUnit unit = RegisterUnit::byte) {
  const ScalarOffset offset = scalar_offset(e, i, unit);
  Value* base = e.scalar64(i.operands.at(1));
  Value* address = e.ir.CreateAdd(whole_dwords(e, base), whole_dwords(e, offset.constant));
  if (offset.variable != nullptr) address = e.ir.CreateAdd(address, whole_dwords(e, offset.variable));
  if (unit == RegisterUnit::byte) check_access(e, base, address, 4 * dwords);  // scratch is the soft GPU's own memory
  return e.ir.CreateIntToPtr(address, e.ir.getPtrTy());
}

void check_register(Emitter& e, const Operand& data, unsigned dwords) {
  if (!data.is_scalar() || data.dwords != dwords) e.unsupported("operand " + data.text);
}

Value* lane0_data(Emitter& e, unsigned dword) {
  return e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(),
                                         offsetof(WaveState, lane_data) + sizeof(WaveState::lane_data[0]) * dword);
}

/// Loads through the scalar cache the dwords whose bits are set in `mask` (i32), and 0 for the others.
void load_through_cache(Emitter& e, const Operand& destination, Value* pointer, Value* mask, unsigned dwords) {
  e.call(reinterpret_cast<const void*>(&runtime::load_scalars), e.ir.getVoidTy(),
         {e.state(), e.ir.CreatePtrToInt(pointer, e.i64()), mask});
  for (unsigned d = 0; d < dwords; ++d)
    e.set_sgpr(destination.index + d,
               e.ir.CreateLoad(e.i32(), e.ir.CreateConstInBoundsGEP1_64(e.i32(), lane0_data(e, 0), d)));
}

void make_way_in_caches(Emitter& e, Value* pointer, unsigned dwords) {
  if (!e.has_caches()) return;
  e.call(reinterpret_cast<const void*>(&runtime::make_way_for_scalars), e.ir.getVoidTy(),
         {e.state(), e.ir.CreatePtrToInt(pointer, e.i64()), e.ir.getInt32(4 * dwords)});
}

void load(Emitter& e, const Instruction& i, unsigned dwords, RegisterUnit unit) {
  honour_cache_hints(e, i);
  const Operand& destination = i.operands.at(0);
  check_register(e, destination, dwords);
  Value* pointer = dword_pointer(e, i, dwords, unit);
  if (e.has_caches() && unit == RegisterUnit::byte)
    return load_through_cache(e, destination, pointer, e.ir.getInt32((1U << dwords) - 1), dwords);
  // All are read before the first is written: the destination may overlap the base.
  std::vector<Value*> values;
  for (unsigned d = 0; d < dwords; d += 2) {
    Value* place = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), pointer, std::uint64_t{4} * d);
    values.push_back(e.ir.CreateAlignedLoad(d + 1 < dwords ? e.i64() : e.i32(), place, llvm::Align(4)));
  }
  for (unsigned d = 0; d < dwords; d += 2) {
    if (d + 1 < dwords)
      e.set_sgpr_pair(destination.index + d, values[d / 2]);
    else
      e.set_sgpr(destination.index + d, values[d / 2]);
  }
}

/// Where an instruction accesses a buffer.
struct ScalarBuffer {
  Value* pointer;
  Value* offset;  ///< i64, a multiple of 4
  Value* bytes;   ///< i64, the buffer's size

  /// Which of some dwords from there on are within the range (<dwords x i1>).
  [[nodiscard]] Value* contains(Emitter& e, unsigned dwords) const {
    std::vector<llvm::Constant*> ends;
    for (unsigned d = 0; d < dwords; ++d) ends.push_back(e.ir.getInt64(std::uint64_t{4} * d + 4));
    Value* end = e.ir.CreateAdd(e.ir.CreateVectorSplat(dwords, offset), llvm::ConstantVector::get(ends));
    return e.ir.CreateICmpULE(end, e.ir.CreateVectorSplat(dwords, bytes));
  }
};

/// Where a buffer begins and its size (i64).
std::pair<Value*, Value*> buffer_base_and_bytes(Emitter& e, const Operand& resource) {
  Value* low = e.sgpr_pair(resource.index);
  Value* records = e.ir.CreateZExt(e.sgpr(resource.index + 2), e.i64());
  Value* stride = e.ir.CreateAnd(e.ir.CreateLShr(low, 48), 0x3fff);
  Value* bytes = e.ir.CreateSelect(e.ir.CreateIsNull(stride), records, e.ir.CreateMul(records, stride));
  return {e.ir.CreateAnd(low, 0xffffffffffff), bytes};
}

/// RDNA4's loads of 8 or 16 bits, which reach each byte or each pair of bytes.
struct SmallLoad {
  const char* end;
  unsigned bytes;
  bool is_signed;
};
constexpr SmallLoad small_loads[] = {
    {"load_u8", 1, false}, {"load_i8", 1, true}, {"load_u16", 2, false}, {"load_i16", 2, true}};

/// `inside` says whether there is something to load; else the result is 0.
void load_small(Emitter& e, const Operand& destination, Value* address, Value* inside, const SmallLoad& format) {
  check_register(e, destination, 1);
  llvm::Type* type = e.ir.getIntNTy(8 * format.bytes);
  Value* value = nullptr;
  if (e.has_caches()) {
    Value* dword = e.ir.CreateIntToPtr(whole_dwords(e, address), e.ir.getPtrTy());
    load_through_cache(e, destination, dword, e.ir.CreateZExt(inside, e.i32()), 1);
    Value* shift = e.ir.CreateMul(e.ir.CreateAnd(e.ir.CreateTrunc(address, e.i32()), 3), e.ir.getInt32(8));
    value = e.ir.CreateTrunc(e.ir.CreateLShr(e.sgpr(destination.index), shift), type);
  } else {
    auto* vector = llvm::FixedVectorType::get(type, 1);
    Value* loaded =
        e.ir.CreateMaskedLoad(vector, e.ir.CreateIntToPtr(address, e.ir.getPtrTy()), llvm::Align(format.bytes),
                              e.ir.CreateVectorSplat(1, inside), llvm::Constant::getNullValue(vector));
    value = e.ir.CreateExtractElement(loaded, std::uint64_t{0});
  }
  e.set_sgpr(destination.index, format.is_signed ? e.ir.CreateSExt(value, e.i32()) : e.ir.CreateZExt(value, e.i32()));
}

void small_load(Emitter& e, const Instruction& i, const SmallLoad& format) {
  honour_cache_hints(e, i);
  Value* base = e.scalar64(i.operands.at(1));
  Value* address = e.ir.CreateAdd(base, scalar_offset(e, i).sum(e));
  address = e.ir.CreateAnd(address, ~std::uint64_t{format.bytes - 1});
  check_access(e, base, address, format.bytes);
  load_small(e, i.operands.at(0), address, e.ir.getTrue(), format);
}

void small_buffer_load(Emitter& e, const Instruction& i, const SmallLoad& format) {
  honour_cache_hints(e, i);
  const Operand& resource = i.operands.at(1);
  check_register(e, resource, 4);
  const auto [low, bytes] = buffer_base_and_bytes(e, resource);
  Value* offset = e.ir.CreateAnd(scalar_offset(e, i).sum(e), ~std::uint64_t{format.bytes - 1});
  Value* address = e.ir.CreateAdd(low, offset);
  Value* inside = e.ir.CreateICmpULE(e.ir.CreateAdd(offset, e.ir.getInt64(format.bytes)), bytes);
  check_access(e, low, address, format.bytes, inside);
  load_small(e, i.operands.at(0), address, inside, format);
}

ScalarBuffer scalar_buffer(Emitter& e, const Instruction& i) {
  const Operand& resource = i.operands.at(1);
  check_register(e, resource, 4);
  const auto [begin, bytes] = buffer_base_and_bytes(e, resource);
  Value* offset = whole_dwords(e, scalar_offset(e, i).sum(e));
  Value* base = whole_dwords(e, begin);
  Value* address = e.ir.CreateAdd(base, offset);
  check_access(e, base, address, 4, e.ir.CreateICmpULT(offset, bytes));
  return {e.ir.CreateIntToPtr(address, e.ir.getPtrTy()), offset, bytes};
}

/// Dwords out of the buffer's range read 0. A mask says so to a vector load.
void buffer_load(Emitter& e, const Instruction& i, unsigned dwords) {
  honour_cache_hints(e, i);
  const Operand& destination = i.operands.at(0);
  check_register(e, destination, dwords);
  const ScalarBuffer buffer = scalar_buffer(e, i);
  if (e.has_caches()) {
    Value* inside = e.ir.CreateBitCast(buffer.contains(e, dwords), e.ir.getIntNTy(dwords));
    return load_through_cache(e, destination, buffer.pointer, e.ir.CreateZExt(inside, e.i32()), dwords);
  }
  auto* type = llvm::FixedVectorType::get(e.i32(), dwords);
  Value* loaded = e.ir.CreateMaskedLoad(type, buffer.pointer, llvm::Align(4), buffer.contains(e, dwords),
                                        llvm::Constant::getNullValue(type));
  for (unsigned d = 0; d < dwords; ++d)
    e.set_sgpr(destination.index + d, e.ir.CreateExtractElement(loaded, std::uint64_t{d}));
}

void store(Emitter& e, const Instruction& i, unsigned dwords, RegisterUnit unit) {
  ignore_cache_hints(i);
  const Operand& source = i.operands.at(0);
  check_register(e, source, dwords);
  Value* pointer = dword_pointer(e, i, dwords, unit);
  if (unit == RegisterUnit::byte) make_way_in_caches(e, pointer, dwords);
  for (unsigned d = 0; d < dwords; d += 2) {
    Value* value = dwords == 1 ? e.sgpr(source.index) : e.sgpr_pair(source.index + d);
    Value* place = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), pointer, std::uint64_t{4} * d);
    e.ir.CreateAlignedStore(value, place, llvm::Align(4), true);  // volatile: not split
  }
  keep_in_order(e);
}

/// Dwords out of the buffer's range are not written.
void buffer_store(Emitter& e, const Instruction& i, unsigned dwords) {
  ignore_cache_hints(i);
  const Operand& source = i.operands.at(0);
  check_register(e, source, dwords);
  const ScalarBuffer buffer = scalar_buffer(e, i);
  Value* values = llvm::PoisonValue::get(llvm::FixedVectorType::get(e.i32(), dwords));
  for (unsigned d = 0; d < dwords; ++d)
    values = e.ir.CreateInsertElement(values, e.sgpr(source.index + d), std::uint64_t{d});
  make_way_in_caches(e, buffer.pointer, dwords);
  e.ir.CreateMaskedStore(values, buffer.pointer, llvm::Align(4), buffer.contains(e, dwords));
}

// --- Atomics: as the vector instructions, with the operands in lane 0

/// Executes the operation if `active` (i1), or else returns 0.
void atomic(Emitter& e, const Instruction& i, const NamedAtomic& named, Value* pointer, Value* active) {
  const Operand& data = i.operands.at(0);
  const unsigned dwords = source_format(named).dwords();
  check_register(e, data, dwords);
  for (unsigned d = 0; d < dwords; ++d) e.ir.CreateStore(e.sgpr(data.index + d), lane0_data(e, d));
  Value* addresses = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), offsetof(WaveState, lane_addresses));
  e.ir.CreateStore(e.ir.CreatePtrToInt(pointer, e.i64()), addresses);
  make_way_in_caches(e, pointer, result_format(named).dwords());
  call_atomic(e, named, e.ir.CreateZExt(active, e.i64()), e.ir.getInt64(0), runtime::Segment::global);
  if (!i.has("glc")) return;
  for (unsigned d = 0; d < result_format(named).dwords(); ++d) {
    Value* former = e.ir.CreateLoad(e.i32(), lane0_data(e, d));
    e.set_sgpr(data.index + d, e.ir.CreateSelect(active, former, e.ir.getInt32(0)));
  }
}

void memory_atomic(Emitter& e, const Instruction& i, const NamedAtomic& named) {
  honour_cache_hints(e, i);
  atomic(e, i, named, dword_pointer(e, i, source_format(named).dwords()), e.ir.getTrue());
}

void buffer_atomic(Emitter& e, const Instruction& i, const NamedAtomic& named) {
  honour_cache_hints(e, i);
  const ScalarBuffer buffer = scalar_buffer(e, i);
  const unsigned dwords = result_format(named).dwords();
  Value* is_last_inside = e.ir.CreateExtractElement(buffer.contains(e, dwords), std::uint64_t{dwords - 1});
  atomic(e, i, named, buffer.pointer, is_last_inside);
}

bool is_integer(const NamedAtomic& named) {
  using enum runtime::AtomicOperation;
  return named.operation != add_float && named.operation != min_in_order && named.operation != max_in_order &&
         named.operation != min_float && named.operation != max_float && named.operation != add_packed_half;
}

void clock(Emitter& e, const Instruction& i, std::uint64_t (*function)()) {
  e.set_scalar(i.operands.at(0), e.call(reinterpret_cast<const void*>(function), e.i64(), {}));
}

void no_effect(Emitter&, const Instruction& i) {
  ignore_cache_hints(i);
  static_cast<void>(i.has("offset"));
}

}  // namespace

void add_scalar_memory(HandlerTable& table) {
  for (const unsigned dwords : {1U, 2U, 4U, 8U, 16U}) {
    const std::string size = dwords == 1 ? "dword" : "dwordx" + std::to_string(dwords);
    table.add("s_load_" + size, [dwords](auto& e, auto& i) { load(e, i, dwords, RegisterUnit::byte); });
    table.add("s_buffer_load_" + size, [dwords](auto& e, auto& i) { buffer_load(e, i, dwords); });
    if (dwords > 4) continue;
    table.add("s_store_" + size, [dwords](auto& e, auto& i) { store(e, i, dwords, RegisterUnit::byte); });
    table.add("s_buffer_store_" + size, [dwords](auto& e, auto& i) { buffer_store(e, i, dwords); });
    table.add("s_scratch_load_" + size, [dwords](auto& e, auto& i) { load(e, i, dwords, RegisterUnit::scratch); });
    table.add("s_scratch_store_" + size, [dwords](auto& e, auto& i) { store(e, i, dwords, RegisterUnit::scratch); });
  }
  for (const NamedAtomic& named : atomics) {
    if (!is_integer(named)) continue;
    table.add(std::string("s_") + named.name, [named](auto& e, auto& i) { memory_atomic(e, i, named); });
    table.add(std::string("s_buffer_") + named.name, [named](auto& e, auto& i) { buffer_atomic(e, i, named); });
  }
  table.add("s_load_b96", [](auto& e, auto& i) { load(e, i, 3, RegisterUnit::byte); });
  table.add("s_buffer_load_b96", [](auto& e, auto& i) { buffer_load(e, i, 3); });
  for (const SmallLoad& small : small_loads) {
    table.add(std::string("s_") + small.end, [small](auto& e, auto& i) { small_load(e, i, small); });
    table.add(std::string("s_buffer_") + small.end, [small](auto& e, auto& i) { small_buffer_load(e, i, small); });
  }
  table.add("s_memtime", [](auto& e, auto& i) { clock(e, i, runtime::shader_clock); });
  table.add("s_memrealtime", [](auto& e, auto& i) { clock(e, i, runtime::real_time); });
  for (const char* mnemonic : {"s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol"})
    table.add(mnemonic, maintain_caches);
  // A line may be written back before it is discarded: here all are. Probes fetch translations of addresses.
  for (const char* mnemonic : {"s_dcache_discard", "s_dcache_discard_x2", "s_atc_probe", "s_atc_probe_buffer"})
    table.add(mnemonic, no_effect);
}

}  // namespace softgpu::compute
