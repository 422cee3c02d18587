// DS: LDS loads, stores and atomics, and the lane exchanges that go through LDS hardware without touching it.
#include <cstddef>
#include <string>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/emit/lds_addresses.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/profile/emit_counting.hpp"
#include "softgpu/compute/run_time/memory_atomics.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using runtime::AtomicOperation;

Chunks vector_chunks(Emitter& e, const Operand& operand) {
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) values[chunk] = e.vector(operand, chunk);
  return values;
}

std::uint32_t instruction_offset(const Instruction& i, const char* name = "offset") {
  return static_cast<std::uint32_t>(i.number(name));
}

void load_lds(Emitter& e, const Instruction& i, const AccessFormat& format) {
  const LaneOffsets addresses = lane_offsets(e, i.operands.at(1));
  profile::count_lds_access(e, addresses.lanes, instruction_offset(i), format.bytes);
  load_lanes(e, i.operands.at(0), format, lds_addresses(e, addresses, instruction_offset(i), format.bytes));
}

void store_lds(Emitter& e, const Instruction& i, const AccessFormat& format) {
  const LaneOffsets addresses = lane_offsets(e, i.operands.at(0));
  profile::count_lds_access(e, addresses.lanes, instruction_offset(i), format.bytes);
  store_lanes(e, i.operands.at(1), format, lds_addresses(e, addresses, instruction_offset(i), format.bytes));
}

/// Two elements a lane, whose offsets count in elements or in 64 of them.
struct PairFormat {
  std::uint32_t bytes;
  std::uint32_t scale;
};

void load_pair(Emitter& e, const Instruction& i, const PairFormat& pair) {
  const AccessFormat format{pair.bytes};
  const Operand& destination = i.operands.at(0);
  if (destination.dwords != 2 * format.dwords()) e.unsupported("destination");
  // Read before the first element is written: the destination may hold the addresses.
  const LaneOffsets addresses = lane_offsets(e, i.operands.at(1));
  const auto load_element = [&](const char* offset, unsigned first) {
    profile::count_lds_access(e, addresses.lanes, instruction_offset(i, offset) * pair.scale, pair.bytes);
    load_lanes(e, part_of(destination, first, format.dwords()), format,
               lds_addresses(e, addresses, instruction_offset(i, offset) * pair.scale, pair.bytes));
  };
  load_element("offset0", 0);
  load_element("offset1", format.dwords());
}

void store_pair(Emitter& e, const Instruction& i, const PairFormat& pair) {
  const LaneOffsets addresses = lane_offsets(e, i.operands.at(0));
  const auto store_element = [&](const char* offset, const Operand& source) {
    profile::count_lds_access(e, addresses.lanes, instruction_offset(i, offset) * pair.scale, pair.bytes);
    store_lanes(e, source, {pair.bytes},
                lds_addresses(e, addresses, instruction_offset(i, offset) * pair.scale, pair.bytes));
  };
  store_element("offset0", i.operands.at(1));
  store_element("offset1", i.operands.at(2));
}

// --- Atomics

struct LdsAtomic {
  const char* name;  ///< without ds_ and without the rtn that asks for the former value
  const char* rtn_name;
  AtomicOperation operation;
  unsigned bits;
  unsigned sources;
};

// clang-format off
constexpr LdsAtomic lds_atomics[] = {
    {"add_u32",   "add_rtn_u32",     AtomicOperation::add,                32, 1},
    {"sub_u32",   "sub_rtn_u32",     AtomicOperation::subtract,           32, 1},
    {"rsub_u32",  "rsub_rtn_u32",    AtomicOperation::reverse_subtract,   32, 1},
    {"inc_u32",   "inc_rtn_u32",     AtomicOperation::increment,          32, 1},
    {"dec_u32",   "dec_rtn_u32",     AtomicOperation::decrement,          32, 1},
    {"min_i32",   "min_rtn_i32",     AtomicOperation::signed_min,         32, 1},
    {"max_i32",   "max_rtn_i32",     AtomicOperation::signed_max,         32, 1},
    {"min_u32",   "min_rtn_u32",     AtomicOperation::unsigned_min,       32, 1},
    {"max_u32",   "max_rtn_u32",     AtomicOperation::unsigned_max,       32, 1},
    {"and_b32",   "and_rtn_b32",     AtomicOperation::bit_and,            32, 1},
    {"or_b32",    "or_rtn_b32",      AtomicOperation::bit_or,             32, 1},
    {"xor_b32",   "xor_rtn_b32",     AtomicOperation::bit_xor,            32, 1},
    {"mskor_b32", "mskor_rtn_b32",   AtomicOperation::masked_or,          32, 2},
    {"cmpst_b32", "cmpst_rtn_b32",   AtomicOperation::compare_swap,       32, 2},
    {"cmpst_f32", "cmpst_rtn_f32",   AtomicOperation::compare_swap_float, 32, 2},
    {"min_f32",   "min_rtn_f32",     AtomicOperation::min_float,          32, 1},
    {"max_f32",   "max_rtn_f32",     AtomicOperation::max_float,          32, 1},
    {"add_f32",   "add_rtn_f32",     AtomicOperation::add_float,          32, 1},
    {"pk_add_f16", "pk_add_rtn_f16",   AtomicOperation::add_packed_half,   32, 1},
    {"pk_add_bf16", "pk_add_rtn_bf16", AtomicOperation::add_packed_bfloat, 32, 1},
    {"cmpstore_b32", "cmpstore_rtn_b32", AtomicOperation::compare_swap,   32, 2},
    {"cmpstore_f32", "cmpstore_rtn_f32", AtomicOperation::compare_swap_float, 32, 2},
    {"cmpstore_b64", "cmpstore_rtn_b64", AtomicOperation::compare_swap,   64, 2},
    {"cmpstore_f64", "cmpstore_rtn_f64", AtomicOperation::compare_swap_float, 64, 2},
    {nullptr,     "wrxchg_rtn_b32",  AtomicOperation::swap,               32, 1},
    {nullptr,     "wrap_rtn_b32",    AtomicOperation::wrap,               32, 2},
    {"add_u64",   "add_rtn_u64",     AtomicOperation::add,                64, 1},
    {"sub_u64",   "sub_rtn_u64",     AtomicOperation::subtract,           64, 1},
    {"rsub_u64",  "rsub_rtn_u64",    AtomicOperation::reverse_subtract,   64, 1},
    {"inc_u64",   "inc_rtn_u64",     AtomicOperation::increment,          64, 1},
    {"dec_u64",   "dec_rtn_u64",     AtomicOperation::decrement,          64, 1},
    {"min_i64",   "min_rtn_i64",     AtomicOperation::signed_min,         64, 1},
    {"max_i64",   "max_rtn_i64",     AtomicOperation::signed_max,         64, 1},
    {"min_u64",   "min_rtn_u64",     AtomicOperation::unsigned_min,       64, 1},
    {"max_u64",   "max_rtn_u64",     AtomicOperation::unsigned_max,       64, 1},
    {"and_b64",   "and_rtn_b64",     AtomicOperation::bit_and,            64, 1},
    {"or_b64",    "or_rtn_b64",      AtomicOperation::bit_or,             64, 1},
    {"xor_b64",   "xor_rtn_b64",     AtomicOperation::bit_xor,            64, 1},
    {"mskor_b64", "mskor_rtn_b64",   AtomicOperation::masked_or,          64, 2},
    {"cmpst_b64", "cmpst_rtn_b64",   AtomicOperation::compare_swap,       64, 2},
    {"cmpst_f64", "cmpst_rtn_f64",   AtomicOperation::compare_swap_float, 64, 2},
    {"min_f64",   "min_rtn_f64",     AtomicOperation::min_float,          64, 1},
    {"max_f64",   "max_rtn_f64",     AtomicOperation::max_float,          64, 1},
    {"add_f64",   "add_rtn_f64",     AtomicOperation::add_float,          64, 1},
    {nullptr,     "wrxchg_rtn_b64",  AtomicOperation::swap,               64, 1},
    {"min_num_f32", "min_num_rtn_f32", AtomicOperation::min_number,       32, 1},
    {"max_num_f32", "max_num_rtn_f32", AtomicOperation::max_number,       32, 1},
    {"min_num_f64", "min_num_rtn_f64", AtomicOperation::min_number,       64, 1},
    {"max_num_f64", "max_num_rtn_f64", AtomicOperation::max_number,       64, 1},
    {"cond_sub_u32", "cond_sub_rtn_u32", AtomicOperation::conditional_subtract, 32, 1},
    {"sub_clamp_u32", "sub_clamp_rtn_u32", AtomicOperation::subtract_clamped, 32, 1},
};
// clang-format on

enum class Returns { nothing, former_value };

void put_lds_addresses(Emitter& e, const Chunks& addresses, std::uint32_t offset) {
  Chunks places;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* place = e.ir.CreateAdd(addresses[chunk], e.splat(offset));
    places[chunk] = e.ir.CreateZExt(place, Emitter::lanes(e.i64()));
  }
  put_lane_addresses(e, places);
}

void call_atomic(Emitter& e, AtomicOperation operation, unsigned bits, Value* lanes) {
  profile::count_put_access(e, lanes, profile::Space::lds, bits / 8);
  e.call(reinterpret_cast<const void*>(runtime::atomic_functions(operation, bits).in_lds), e.ir.getVoidTy(),
         {e.state(), lanes});
}

/// RDNA's manuals compare: a NaN is never less, nor greater.
AtomicOperation of_architecture(Emitter& e, AtomicOperation operation) {
  if (e.architecture().is_rdna()) return operation;
  if (operation == AtomicOperation::min_float) return AtomicOperation::min_in_order;
  return operation == AtomicOperation::max_float ? AtomicOperation::max_in_order : operation;
}

void atomic(Emitter& e, const Instruction& i, const LdsAtomic& named, Returns returns) {
  const std::size_t address = returns == Returns::former_value ? 1 : 0;
  const bool compares =
      named.operation == AtomicOperation::compare_swap || named.operation == AtomicOperation::compare_swap_float;
  const AccessFormat format{named.bits / 8};
  put_lds_addresses(e, vector_chunks(e, i.operands.at(address)), instruction_offset(i));
  for (unsigned source = 0; source < named.sources; ++source) {
    // ds_cmpst names the value to compare with first, ds_cmpstore second.
    const unsigned place = compares && !i.mnemonic.starts_with("ds_cmpstore") ? 1 - source : source;
    put_source(e, i.operands.at(address + 1 + source), format, place * format.dwords());
  }
  call_atomic(e, of_architecture(e, named.operation), named.bits, e.exec());
  if (returns == Returns::former_value) take_destination(e, i.operands.at(0), format);
}

/// Swaps two elements a lane.
void exchange_pair(Emitter& e, const Instruction& i, const PairFormat& pair) {
  const AccessFormat format{pair.bytes};
  const unsigned dwords = format.dwords();
  const Chunks addresses = vector_chunks(e, i.operands.at(1));
  // Both sources are read before anything is written; the first result makes room for the second one.
  put_source(e, i.operands.at(2), format);
  put_source(e, i.operands.at(3), format, dwords);
  std::vector<Chunks> second(dwords);
  for (unsigned d = 0; d < dwords; ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) second[d][chunk] = lane_data(e, chunk, dwords + d);

  put_lds_addresses(e, addresses, instruction_offset(i, "offset0") * pair.scale);
  call_atomic(e, AtomicOperation::swap, 8 * pair.bytes, e.exec());
  take_destination(e, part_of(i.operands.at(0), 0, dwords), format);

  put_lds_addresses(e, addresses, instruction_offset(i, "offset1") * pair.scale);
  for (unsigned d = 0; d < dwords; ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) put_lane_data(e, chunk, d, second[d][chunk]);
  call_atomic(e, AtomicOperation::swap, 8 * pair.bytes, e.exec());
  take_destination(e, part_of(i.operands.at(0), dwords, dwords), format);
}

/// ds_append and ds_consume: one counter a wavefront, at M0 + offset, moved by the number of enabled lanes.
void count_lanes(Emitter& e, const Instruction& i, AtomicOperation operation) {
  Value* place =
      e.ir.CreateAdd(e.ir.CreateAnd(e.sgpr(scalar_register::m0), 0xffff), e.ir.getInt32(instruction_offset(i)));
  Value* count = e.ir.CreateTrunc(e.ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, e.exec()), e.i32());
  Chunks places;
  places.fill(e.ir.CreateZExt(e.splat(place), Emitter::lanes(e.i64())));
  put_lane_addresses(e, places);
  put_lane_data(e, 0, 0, e.splat(count));
  call_atomic(e, operation, 32, e.ir.CreateZExt(e.ir.CreateIsNotNull(e.exec()), e.i64()));
  Value* before = e.ir.CreateExtractElement(lane_data(e, 0, 0), std::uint64_t{0});
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) e.set_vector(i.operands.at(0), chunk, e.splat(before));
}

/// ds_condxchg32: each of two dwords is written where the data's highest bit says so, without that bit.
void conditional_exchange(Emitter& e, const Instruction& i) {
  Chunks places;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* place = e.ir.CreateAdd(e.vector(i.operands.at(1), chunk), e.splat(instruction_offset(i)));
    places[chunk] = e.ir.CreateZExt(e.ir.CreateAnd(place, e.splat(0xfff8U)), Emitter::lanes(e.i64()));
  }
  put_lane_addresses(e, places);
  put_source(e, i.operands.at(2), {8});
  call_atomic(e, AtomicOperation::conditional_exchange, 64, e.exec());
  take_destination(e, i.operands.at(0), {8});
}

// --- Lane exchanges

/// What other lanes see of a register: 0 where EXEC disables the lane.
Value* visible(Emitter& e, const Operand& source, unsigned chunk) {
  Value* zero = llvm::Constant::getNullValue(Emitter::lanes(e.i32()));
  return e.ir.CreateSelect(e.exec_mask(chunk), e.vector(source, chunk), zero);
}

/// The lane that a byte address names, times 4 (<16 x i32>): one of the wavefront, or of the half that the chunk is in.
Value* exchanged_lane(Emitter& e, const Instruction& i, unsigned chunk) {
  Value* address = e.ir.CreateAdd(e.vector(i.operands.at(1), chunk), e.splat(instruction_offset(i)));
  if (!e.architecture().exchanges_within_32_lanes)
    return e.ir.CreateAnd(address, e.splat((e.wavefront_size() - 1) * 4));
  return e.ir.CreateOr(e.ir.CreateAnd(address, e.splat(31U * 4)), e.splat(chunk < 2 ? 0U : 32U * 4));
}

/// Each lane fetches from another one.
void backward_permute(Emitter& e, const Instruction& i) {
  const bool fetches_inactive = i.mnemonic == "ds_bpermute_fi_b32";
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    const Operand& source = i.operands.at(2);
    put_lane_data(e, chunk, 0, fetches_inactive ? e.vector(source, chunk) : visible(e, source, chunk));
  }
  Value* data = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), offsetof(WaveState, lane_data));
  llvm::Type* type = Emitter::lanes(e.i32());
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* pointers = e.ir.CreateGEP(e.ir.getInt8Ty(), data, exchanged_lane(e, i, chunk));
    Value* all = llvm::Constant::getAllOnesValue(Emitter::lanes(e.i1()));
    Value* fetched = e.ir.CreateMaskedGather(type, pointers, llvm::Align(4), all, llvm::Constant::getNullValue(type));
    e.set_vector(i.operands.at(0), chunk, fetched);
  }
}

/// Each lane sends to another one.
void forward_permute(Emitter& e, const Instruction& i) {
  Chunks targets;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    targets[chunk] = e.ir.CreateZExt(exchanged_lane(e, i, chunk), Emitter::lanes(e.i64()));
    put_lane_data(e, chunk, 0, e.vector(i.operands.at(2), chunk));
  }
  put_lane_addresses(e, targets);
  e.call(reinterpret_cast<const void*>(&runtime::permute), e.ir.getVoidTy(), {e.state(), e.exec()});
  take_destination(e, i.operands.at(0), {4});
}

/// A constant permutation within 4 lanes, or within 32 by bit masks on the lane's number.
void swizzle(Emitter& e, const Instruction& i) {
  static_cast<void>(i.has("offset"));  // printed as symbols where it can be
  const unsigned pattern = i.first_dword & 0xffff;
  const bool is_quad = (pattern & 0xff00) == 0x8000;
  if (!is_quad && (pattern & 0x8000) != 0) e.unsupported("rotating and FFT swizzles");
  const auto source_lane = [&](unsigned lane) {
    if (is_quad) return (lane & ~3U) | (pattern >> (2 * (lane & 3)) & 3);
    const unsigned within = (((lane & 31) & pattern) | pattern >> 5) ^ pattern >> 10;
    return (lane & ~31U) | (within & 31);
  };
  for (unsigned half = 0; half < e.chunks(); half += 2) {
    Value* low = visible(e, i.operands.at(1), half);
    Value* high = visible(e, i.operands.at(1), half + 1);
    for (unsigned chunk = half; chunk < half + 2; ++chunk) {
      std::vector<int> sources;
      for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
        sources.push_back(static_cast<int>(source_lane(lanes_per_chunk * (chunk - half) + lane)));
      e.set_vector(i.operands.at(0), chunk, e.ir.CreateShuffleVector(low, high, sources));
    }
  }
}

void add_loads_and_stores(HandlerTable& table) {
  struct Row {
    const char* mnemonic;
    AccessFormat format;
  };
  using enum AccessFormat::Extension;
  using enum AccessFormat::Part;
  // clang-format off
  constexpr Row loads[] = {
      {"ds_read_u8",         {1}},
      {"ds_read_i8",         {1, sign}},
      {"ds_read_u16",        {2}},
      {"ds_read_i16",        {2, sign}},
      {"ds_read_u8_d16",     {1, zero, low_half}},
      {"ds_read_u8_d16_hi",  {1, zero, high_half}},
      {"ds_read_i8_d16",     {1, sign, low_half}},
      {"ds_read_i8_d16_hi",  {1, sign, high_half}},
      {"ds_read_u16_d16",    {2, zero, low_half}},
      {"ds_read_u16_d16_hi", {2, zero, high_half}},
      {"ds_read_b32",        {4}},
      {"ds_read_b64",        {8}},
      {"ds_read_b96",        {12}},
      {"ds_read_b128",       {16}},
  };
  constexpr Row stores[] = {
      {"ds_write_b8",         {1}},
      {"ds_write_b16",        {2}},
      {"ds_write_b8_d16_hi",  {1, zero, high_half}},
      {"ds_write_b16_d16_hi", {2, zero, high_half}},
      {"ds_write_b32",        {4}},
      {"ds_write_b64",        {8}},
      {"ds_write_b96",        {12}},
      {"ds_write_b128",       {16}},
  };
  struct PairRow {
    const char* count;
    const char* type;
    PairFormat format;
  };
  constexpr PairRow pairs[] = {
      {"2", "_b32", {4, 4}}, {"2st64", "_b32", {4, 4 * 64}}, {"2", "_b64", {8, 8}}, {"2st64", "_b64", {8, 8 * 64}},
  };
  // clang-format on
  for (const Row& row : loads) table.add(row.mnemonic, [f = row.format](auto& e, auto& i) { load_lds(e, i, f); });
  for (const Row& row : stores) table.add(row.mnemonic, [f = row.format](auto& e, auto& i) { store_lds(e, i, f); });
  for (const auto& [count, type, format] : pairs) {
    const std::string suffix = std::string(count) + type;
    table.add("ds_read" + suffix, [f = format](auto& e, auto& i) { load_pair(e, i, f); });
    table.add("ds_write" + suffix, [f = format](auto& e, auto& i) { store_pair(e, i, f); });
    table.add(std::string("ds_wrxchg") + count + "_rtn" + type,
              [f = format](auto& e, auto& i) { exchange_pair(e, i, f); });
  }
}

}  // namespace

void add_lds_memory(HandlerTable& table) {
  add_loads_and_stores(table);
  for (const LdsAtomic& named : lds_atomics) {
    if (named.name != nullptr)
      table.add(std::string("ds_") + named.name, [named](auto& e, auto& i) { atomic(e, i, named, Returns::nothing); });
    table.add(std::string("ds_") + named.rtn_name,
              [named](auto& e, auto& i) { atomic(e, i, named, Returns::former_value); });
  }
  table.add("ds_append", [](auto& e, auto& i) { count_lanes(e, i, AtomicOperation::add); });
  table.add("ds_consume", [](auto& e, auto& i) { count_lanes(e, i, AtomicOperation::subtract); });
  table.add("ds_condxchg32_rtn_b64", conditional_exchange);
  table.add("ds_read_addtid_b32", [](auto& e, auto& i) {
    load_lanes(e, i.operands.at(0), {4}, lane_number_addresses(e, static_cast<std::int32_t>(instruction_offset(i))));
  });
  table.add("ds_write_addtid_b32", [](auto& e, auto& i) {
    store_lanes(e, i.operands.at(0), {4}, lane_number_addresses(e, static_cast<std::int32_t>(instruction_offset(i))));
  });
  table.add("ds_bpermute_b32", backward_permute);
  table.add("ds_bpermute_fi_b32", backward_permute);
  table.add("ds_permute_b32", forward_permute);
  table.add("ds_swizzle_b32", swizzle);
  table.add("ds_nop", [](auto&, auto&) {});
}

}  // namespace softgpu::compute
