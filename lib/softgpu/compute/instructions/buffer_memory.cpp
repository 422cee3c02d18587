// MUBUF: memory through a buffer resource descriptor, which is how gfx90a reaches private memory. MTBUF: the same with
// a format of the instruction's.
//
// The descriptor is a run-time value. One of the form that the runtime gives a queue's scratch is addressed here, where
// the dwords of the lanes lie side by side; any other goes to the runtime, lane by lane. So do elements with a format.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/emit/lds_addresses.hpp"
#include "softgpu/compute/emit/memory_order.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/memory_formats.hpp"
#include "softgpu/compute/profile/emit_counting.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"
#include "softgpu/compute/run_time/private_memory.hpp"
#include "softgpu/compute/run_time/typed_buffers.hpp"
#include "softgpu/compute/run_time/untyped_buffers.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

/// The address part of an instruction, read before anything is emitted in a block of its own.
struct BufferAccess {
  Value* low;  ///< i64 halves of the descriptor
  Value* high;
  Value* scalar_offset;  ///< i32
  Chunks indices;        ///< <16 x i32>
  Chunks offsets;        ///< <16 x i32>, with the instruction's offset
  bool has_index;
  bool is_uniform;  ///< no lane has an offset of its own
};

std::uint32_t offset_of(const Instruction& i) { return static_cast<std::uint32_t>(i.number("offset")); }

/// `descriptor` is its number among the operands: before it comes the lanes' address, behind it the scalar offset.
BufferAccess buffer_access(Emitter& e, const Instruction& i, std::size_t descriptor) {
  const Operand& resource = i.operands.at(descriptor);
  if (!resource.is_scalar() || resource.dwords != 4) e.unsupported("descriptor");
  const bool has_index = i.has("idxen");
  const bool has_offset = i.has("offen");
  const unsigned wanted = (has_index ? 1U : 0U) + (has_offset ? 1U : 0U);
  const Operand* vector = wanted == 0 ? nullptr : &i.operands.at(descriptor - 1);
  if (vector != nullptr && (!vector->is_vector() || vector->dwords != wanted)) e.unsupported("address");

  BufferAccess access{e.sgpr_pair(resource.index),
                      e.sgpr_pair(resource.index + 2),
                      e.scalar(i.operands.at(descriptor + 1)),
                      {},
                      {},
                      has_index,
                      !has_offset};
  const std::uint32_t offset = offset_of(i);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    access.indices[chunk] = has_index ? e.vector(*vector, chunk, 0) : e.splat(0U);
    access.offsets[chunk] = e.splat(offset);
    if (has_offset) access.offsets[chunk] = e.ir.CreateAdd(e.vector(*vector, chunk, wanted - 1), access.offsets[chunk]);
  }
  return access;
}

/// Whether the buffer is swizzled, has the dwords of a wavefront's lanes side by side, and adds the lane's number (i1):
/// ROCr makes such buffers for scratch.
Value* is_scratch(Emitter& e, const BufferAccess& access) {
  if (access.has_index) return e.ir.getFalse();
  // Stride 0 and SWIZZLE_ENABLE, by dwords (CACHE_SWIZZLE is of no concern); INDEX_STRIDE 64 or 32 and ADD_TID_ENABLE.
  const unsigned index_stride = e.wavefront_size() == 64 ? 3 : 2;
  const bool has_swizzle_number = e.architecture().buffer_descriptors == runtime::BufferDescriptors::gfx11;
  Value* upper = e.ir.CreateLShr(access.low, 48);
  Value* swizzled = has_swizzle_number ? e.ir.CreateICmpEQ(upper, e.ir.getInt64(0x4000))
                                       : e.ir.CreateICmpEQ(e.ir.CreateAnd(upper, 0xbfff), e.ir.getInt64(0x8000));
  Value* interleaved =
      e.ir.CreateICmpEQ(e.ir.CreateAnd(e.ir.CreateLShr(access.high, 53), 7), e.ir.getInt64(4 | index_stride));
  return e.ir.CreateAnd(swizzled, interleaved);
}

/// Where the lanes' dword `dword` is in scratch. Rows beyond the descriptor's size read 0 and are not written.
LaneAddresses scratch_addresses(Emitter& e, const BufferAccess& access, unsigned dword) {
  llvm::Type* wide = Emitter::lanes(e.i64());
  Value* records = e.ir.CreateTrunc(access.high, e.i32());
  const unsigned row_shift = e.wavefront_size() == 64 ? 8 : 7;  // a row is a dword a lane
  Value* rows =
      e.ir.CreateLShr(e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, records, access.scalar_offset), row_shift);
  Value* base =
      e.ir.CreateAdd(e.ir.CreateAnd(access.low, 0xffffffffffff), e.ir.CreateZExt(access.scalar_offset, e.i64()));

  // An offset that all lanes share picks a row, in which they are side by side.
  LaneAddresses lanes{.base = e.ir.CreateIntToPtr(base, e.ir.getPtrTy()),
                      .out_of_range_is_zero = true,
                      .is_consecutive = access.is_uniform};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    std::vector<llvm::Constant*> columns;
    for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
      columns.push_back(e.ir.getInt64(4 * (std::uint64_t{chunk} * lanes_per_chunk + lane)));
    Value* offset = e.ir.CreateAdd(access.offsets[chunk], e.splat(4 * dword));
    Value* row = e.ir.CreateLShr(offset, 2);
    Value* place = e.ir.CreateOr(e.ir.CreateShl(e.ir.CreateZExt(row, wide), row_shift),
                                 e.ir.CreateZExt(e.ir.CreateAnd(offset, e.splat(3U)), wide));
    lanes.offsets[chunk] = e.ir.CreateAdd(place, llvm::ConstantVector::get(columns));
    lanes.active[chunk] = e.ir.CreateAnd(e.ir.CreateICmpULT(row, e.splat(rows)), e.exec_mask(chunk));
  }
  return lanes;
}

/// Whether scratch is the wavefront's own (i1): compilers add the wavefront's offset to the base.
Value* is_own_scratch(Emitter& e, const BufferAccess& access) {
  Value* wave_base = e.field(offsetof(WaveState, scratch_wave_base), e.i64());
  return e.ir.CreateICmpEQ(e.ir.CreateAnd(access.low, 0xffffffffffff), wave_base);
}

/// Ends the wavefront if a lane accesses what is beyond its private memory, where other wavefronts have theirs.
void refuse_overrun(Emitter& e, const Instruction& i, const BufferAccess& access, std::uint32_t bytes) {
  const unsigned wavefront_shift = e.wavefront_size() == 64 ? 6 : 5;
  Value* lane_bytes = e.field(offsetof(WaveState, scratch_bytes_per_lane), e.i32());
  Value* left = e.ir.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, lane_bytes,
                                           e.ir.CreateLShr(access.scalar_offset, wavefront_shift));
  Chunks beyond;
  Value* any = nullptr;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* last = e.ir.CreateAdd(access.offsets[chunk], e.splat(bytes - 1));
    beyond[chunk] = e.ir.CreateAnd(e.ir.CreateICmpUGE(last, e.splat(left)), e.exec_mask(chunk));
    any = chunk == 0 ? beyond[chunk] : e.ir.CreateOr(any, beyond[chunk]);
  }
  any = e.ir.CreateIsNotNull(e.ir.CreateBitCast(any, e.ir.getInt16Ty()));
  llvm::BasicBlock* overrun = e.new_block("overrun");
  llvm::BasicBlock* within = e.new_block("within");
  e.ir.CreateCondBr(e.ir.CreateAnd(is_own_scratch(e, access), any), overrun, within);
  e.ir.SetInsertPoint(overrun);
  e.call(reinterpret_cast<const void*>(&runtime::leave_after_overrun), e.ir.getVoidTy(),
         {e.state(), e.mask_from_chunks(beyond), e.offset_of(i)});
  e.ir.CreateUnreachable();
  e.ir.SetInsertPoint(within);
}

/// Whether a lane's bytes reach into the next row (i1), or null where they cannot. A lane's next dword lies a row
/// further on, so that the bytes are then not side by side. Compilers access private memory at any alignment.
Value* crosses_rows(Emitter& e, const BufferAccess& access, std::uint32_t bytes) {
  const std::uint32_t part = std::min(bytes, 4U);
  if (part == 1) return nullptr;
  Chunks crossing;
  Value* any = nullptr;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    crossing[chunk] = e.ir.CreateICmpUGT(e.ir.CreateAnd(access.offsets[chunk], e.splat(3U)), e.splat(4 - part));
    if (!access.is_uniform) crossing[chunk] = e.ir.CreateAnd(crossing[chunk], e.exec_mask(chunk));
    any = chunk == 0 ? crossing[chunk] : e.ir.CreateOr(any, crossing[chunk]);
  }
  any = e.ir.CreateIsNotNull(e.ir.CreateBitCast(any, e.ir.getInt16Ty()));
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(any);
  return known != nullptr && known->isZero() ? nullptr : any;
}

/// The runtime takes index and offset of a lane in one number.
void put_places(Emitter& e, const BufferAccess& access) {
  Chunks places;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    places[chunk] = e.combine(access.offsets[chunk], access.indices[chunk]);
  put_lane_addresses(e, places);
}

template <class Function>
Value* call_runtime(Emitter& e, Function* function, llvm::Type* result, const BufferAccess& access, std::uint32_t what,
                    Value* lanes) {
  return e.call(reinterpret_cast<const void*>(function), result,
                {e.state(), lanes, access.low, access.high, access.scalar_offset, e.ir.getInt32(what)});
}
template <class Function>
Value* call_runtime(Emitter& e, Function* function, llvm::Type* result, const BufferAccess& access,
                    std::uint32_t what) {
  return call_runtime(e, function, result, access, what, e.exec());
}

/// As the runtime's functions for elements without a format take it.
std::uint32_t untyped(Emitter& e, const BufferAccess& access, std::uint32_t bytes) {
  return runtime::UntypedAccess{bytes, e.architecture().buffer_descriptors, access.has_index}.packed();
}

void count_buffer_access(Emitter& e, const BufferAccess& access, std::uint32_t bytes) {
  if (e.profile() == nullptr) return;
  put_places(e, access);
  profile::count_put_access(e, call_runtime(e, runtime::buffer_addresses, e.i64(), access, untyped(e, access, bytes)),
                            profile::Space::global, bytes);
}

/// Calls the runtime for scratch of the wavefront's own, byte by byte where a lane's bytes cross rows.
template <class Function>
void call_across_rows(Emitter& e, Function* function, const BufferAccess& access, std::uint32_t bytes) {
  Chunks offsets;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    offsets[chunk] = e.ir.CreateZExt(access.offsets[chunk], Emitter::lanes(e.i64()));
  put_lane_addresses(e, offsets);
  Value* base =
      e.ir.CreateAdd(e.ir.CreateAnd(access.low, 0xffffffffffff), e.ir.CreateZExt(access.scalar_offset, e.i64()));
  e.call(reinterpret_cast<const void*>(function), e.ir.getVoidTy(),
         {e.state(), e.exec(), base, e.ir.getInt32(static_cast<std::uint32_t>(runtime::Segment::scratch)),
          e.ir.getInt64(0), e.ir.getInt32(bytes)});
}

/// What an access emits for each of the places that its bytes may be in.
template <class InRows, class AcrossRows, class InBuffer>
struct Ways {
  InRows in_rows;
  AcrossRows across_rows;
  InBuffer in_buffer;
};
template <class InRows, class AcrossRows, class InBuffer>
Ways(InRows, AcrossRows, InBuffer) -> Ways<InRows, AcrossRows, InBuffer>;

template <class InRows, class AcrossRows, class InBuffer>
void branch(Emitter& e, const Instruction& i, const BufferAccess& access, std::uint32_t bytes,
            const Ways<InRows, AcrossRows, InBuffer>& ways) {
  llvm::BasicBlock* scratch = e.new_block("scratch");
  llvm::BasicBlock* buffer = e.new_block("buffer");
  llvm::BasicBlock* done = e.new_block("accessed");
  Value* is_in_scratch = is_scratch(e, access);
  if (e.is_compact()) is_in_scratch = e.ir.CreateAnd(is_in_scratch, is_own_scratch(e, access));
  e.ir.CreateCondBr(is_in_scratch, scratch, buffer);
  e.ir.SetInsertPoint(scratch);
  refuse_overrun(e, i, access, bytes);
  if (e.is_compact()) {
    ways.across_rows();
  } else {
    profile::count_scratch_access(e, bytes);
    if (Value* crossing = crosses_rows(e, access, bytes)) {
      llvm::BasicBlock* across_rows = e.new_block("across_rows");
      llvm::BasicBlock* in_rows = e.new_block("in_rows");
      e.ir.CreateCondBr(e.ir.CreateAnd(crossing, is_own_scratch(e, access)), across_rows, in_rows);
      e.ir.SetInsertPoint(across_rows);
      ways.across_rows();
      e.ir.CreateBr(done);
      e.ir.SetInsertPoint(in_rows);
    }
    ways.in_rows();
  }
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(buffer);
  ways.in_buffer();
  e.ir.CreateBr(done);
  e.ir.SetInsertPoint(done);
}

/// The part of a format that one dword of scratch holds.
AccessFormat dword_of(const AccessFormat& format) {
  AccessFormat part = format;
  if (part.bytes > 4) part.bytes = 4;
  return part;
}

/// A load past the registers (CDNA2 ISA manual, "Memory Buffer Load to LDS"): a dword a lane, also of smaller elements;
/// on CDNA4 also three or four. Lanes whose dwords are beyond the work-group's LDS do not access memory either.
template <class Function, class What>
void load_to_lds(Emitter& e, const Instruction& i, Function* function, What&& what, const AccessFormat& format) {
  honour_cache_hints(e, i);
  const BufferAccess access = buffer_access(e, i, 1);
  const LaneAddresses lds = transfer_addresses(e, static_cast<std::int32_t>(offset_of(i)), format.bytes);
  put_places(e, access);
  call_runtime(e, function, e.ir.getVoidTy(), access, what(access), e.mask_from_chunks(lds.active));
  store_loaded(e, format, lds);
}

void load(Emitter& e, const Instruction& i, const AccessFormat& format) {
  if (has_lds_form(format, e.architecture().lds_transfer_bytes) && i.has("lds"))
    return load_to_lds(
        e, i, runtime::buffer_load, [&](auto& access) { return untyped(e, access, format.bytes); }, format);
  honour_cache_hints(e, i);
  const Operand& destination = i.operands.at(0);
  const BufferAccess access = buffer_access(e, i, 2);
  const auto in_rows = [&] {
    for (unsigned d = 0; d < format.dwords(); ++d)
      load_lanes(e, part_of(destination, d, 1), dword_of(format), scratch_addresses(e, access, d));
  };
  const auto across_rows = [&] {
    call_across_rows(e, runtime::load, access, format.bytes);
    take_destination(e, destination, format);
  };
  const auto in_buffer = [&] {
    count_buffer_access(e, access, format.bytes);
    put_places(e, access);
    call_runtime(e, runtime::buffer_load, e.ir.getVoidTy(), access, untyped(e, access, format.bytes));
    take_destination(e, destination, format);
  };
  branch(e, i, access, format.bytes, Ways{in_rows, across_rows, in_buffer});
}

void store(Emitter& e, const Instruction& i, const AccessFormat& format) {
  honour_store_hints(e, i);
  const Operand& source = i.operands.at(0);
  const BufferAccess access = buffer_access(e, i, 2);
  const auto in_rows = [&] {
    for (unsigned d = 0; d < format.dwords(); ++d)
      store_lanes(e, part_of(source, d, 1), dword_of(format), scratch_addresses(e, access, d));
  };
  const auto across_rows = [&] {
    put_source(e, source, format);
    call_across_rows(e, runtime::store, access, format.bytes);
  };
  const auto in_buffer = [&] {
    count_buffer_access(e, access, format.bytes);
    put_places(e, access);
    put_source(e, source, format);
    call_runtime(e, runtime::buffer_store, e.ir.getVoidTy(), access, untyped(e, access, format.bytes));
  };
  branch(e, i, access, format.bytes, Ways{in_rows, across_rows, in_buffer});
}

/// A dword a lane past the registers. What lies beyond the work-group's LDS is stored as 0, as DS instructions read it.
void store_from_lds(Emitter& e, const Instruction& i) {
  honour_store_hints(e, i);
  static_cast<void>(i.has("lds"));  // as the mnemonic says
  const BufferAccess access = buffer_access(e, i, 0);
  const Chunks dwords = load_lanes(e, transfer_addresses(e, static_cast<std::int32_t>(offset_of(i))));
  put_places(e, access);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) put_lane_data(e, chunk, 0, dwords[chunk]);
  call_runtime(e, runtime::buffer_store, e.ir.getVoidTy(), access, untyped(e, access, 4));
}

void atomic(Emitter& e, const Instruction& i, const NamedAtomic& named) {
  honour_cache_hints(e, i);
  const Operand& data = i.operands.at(0);
  const BufferAccess access = buffer_access(e, i, 2);
  put_places(e, access);
  put_source(e, data, source_format(named));
  Value* lanes = call_runtime(e, runtime::buffer_addresses, e.i64(), access, untyped(e, access, named.bits / 8));
  profile::count_put_access(e, lanes, profile::Space::global, named.bits / 8);
  call_atomic(e, named, lanes, e.ir.getInt64(0), runtime::Segment::global);
  if (!returns_former_value(i)) return;
  const AccessFormat result = result_format(named);
  take_destination(e, part_of(data, 0, result.dwords()), result);
}

/// An instruction for elements with a format: its components, and how they are in registers.
struct TypedInstruction {
  const char* name;
  unsigned components;
  runtime::ComponentWidth width = runtime::ComponentWidth::full;
  bool is_high_half = false;

  [[nodiscard]] bool is_packed() const { return width == runtime::ComponentWidth::half; }
  [[nodiscard]] unsigned registers() const { return is_packed() ? (components + 1) / 2 : components; }
  [[nodiscard]] bool is_high(unsigned component) const { return is_high_half || (is_packed() && component % 2 == 1); }
  [[nodiscard]] unsigned register_of(unsigned component) const { return is_packed() ? component / 2 : component; }
};

// clang-format off
constexpr TypedInstruction typed_instructions[] = {
    {"format_x",        1},
    {"format_xy",       2},
    {"format_xyz",      3},
    {"format_xyzw",     4},
    {"format_d16_x",    1, runtime::ComponentWidth::half},
    {"format_d16_xy",   2, runtime::ComponentWidth::half},
    {"format_d16_xyz",  3, runtime::ComponentWidth::half},
    {"format_d16_xyzw", 4, runtime::ComponentWidth::half},
    {"format_d16_hi_x", 1, runtime::ComponentWidth::half, true},
};
// clang-format on

/// By the descriptor's format.
runtime::TypedAccess typed_access(Emitter& e, const BufferAccess& access, const TypedInstruction& typed) {
  return {typed.components, typed.width, 0, 0, e.architecture().image_descriptors, access.has_index};
}

enum class FormatSource : std::uint8_t { descriptor, instruction };

/// Puts the operands of a typed access into WaveState, and the instruction's formats into their packed form.
std::uint32_t prepare_typed(Emitter& e, const Instruction& i, const BufferAccess& access, const TypedInstruction& typed,
                            FormatSource source) {
  if (!i.operands.at(0).is_vector() || i.operands.at(0).dwords != typed.registers()) e.unsupported("operand");
  put_places(e, access);
  runtime::TypedAccess result = typed_access(e, access, typed);
  static_cast<void>(i.has("format"));  // its names are those of these fields
  if (source == FormatSource::instruction) {
    const bool is_gfx12 = e.architecture().image_descriptors == runtime::ImageDescriptors::gfx12;
    const std::uint32_t format = is_gfx12 ? i.second_dword >> 23 : i.first_dword >> 19;
    result.data_format = format & 15;
    result.number_format = format >> 4 & 7;
    if (!result.format(result.data_format, result.number_format)) e.unsupported("there is no such format");
  }
  return result.packed();
}

/// Halves of registers that get no component stay as they were.
void typed_load(Emitter& e, const Instruction& i, const TypedInstruction& typed, FormatSource source) {
  const bool has_lds_form = i.mnemonic == "buffer_load_format_x";
  if (has_lds_form && i.has("lds")) {
    const auto element = [&](const BufferAccess& access) { return typed_access(e, access, typed).packed(); };
    return load_to_lds(e, i, runtime::typed_buffer_load, element, {4});
  }
  honour_cache_hints(e, i);
  const Operand& destination = i.operands.at(0);
  const BufferAccess access = buffer_access(e, i, 2);
  const std::uint32_t packed = prepare_typed(e, i, access, typed, source);
  call_runtime(e, runtime::typed_buffer_load, e.ir.getVoidTy(), access, packed);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned c = 0; c < typed.components; ++c) {
      Value* value = lane_data(e, chunk, c);
      const unsigned number = typed.register_of(c);
      if (typed.is_packed()) {
        const bool is_high = typed.is_high(c);
        Value* kept = e.ir.CreateAnd(e.vgpr(destination.index + number, chunk), is_high ? 0xffffU : 0xffff0000U);
        value = e.ir.CreateOr(kept, is_high ? e.ir.CreateShl(value, 16) : value);
      }
      e.set_vector(destination, chunk, value, number);
    }
}

void typed_store(Emitter& e, const Instruction& i, const TypedInstruction& typed, FormatSource source) {
  honour_store_hints(e, i);
  const BufferAccess access = buffer_access(e, i, 2);
  const std::uint32_t packed = prepare_typed(e, i, access, typed, source);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned c = 0; c < typed.components; ++c) {
      Value* value = e.vector(i.operands.at(0), chunk, typed.register_of(c));
      put_lane_data(e, chunk, c, typed.is_high(c) ? e.ir.CreateLShr(value, 16) : value);
    }
  call_runtime(e, runtime::typed_buffer_store, e.ir.getVoidTy(), access, packed);
}

}  // namespace

void add_buffer_memory(HandlerTable& table) {
  for (const NamedFormat& named : load_formats)
    table.add(std::string("buffer_") + named.name, [f = named.format](auto& e, auto& i) { load(e, i, f); });
  for (const NamedFormat& named : store_formats)
    table.add(std::string("buffer_") + named.name, [f = named.format](auto& e, auto& i) { store(e, i, f); });
  for (const NamedAtomic& named : atomics)
    table.add(std::string("buffer_") + named.name, [named](auto& e, auto& i) { atomic(e, i, named); });
  constexpr std::pair<const char*, FormatSource> prefixes[] = {{"buffer_", FormatSource::descriptor},
                                                               {"tbuffer_", FormatSource::instruction}};
  for (const auto& [prefix, source] : prefixes)
    for (const TypedInstruction& typed : typed_instructions) {
      table.add(prefix + (std::string("load_") + typed.name),
                [typed, source = source](auto& e, auto& i) { typed_load(e, i, typed, source); });
      table.add(prefix + (std::string("store_") + typed.name),
                [typed, source = source](auto& e, auto& i) { typed_store(e, i, typed, source); });
    }
  table.add("buffer_store_lds_dword", store_from_lds);
  for (const char* mnemonic : {"buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_wbl2", "buffer_invl2"})
    table.add(mnemonic, maintain_caches);
}

}  // namespace softgpu::compute
