// The loads, stores and atomics that the FLAT, MUBUF and SMEM encodings have in common, by the end of the mnemonic.
#pragma once

#include <vector>

#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/run_time/memory_atomics.hpp"

namespace softgpu::compute {

struct NamedFormat {
  const char* name;
  AccessFormat format;
};

struct NamedAtomic {
  const char* name;
  runtime::AtomicOperation operation;
  unsigned bits;
};

// clang-format off
inline constexpr NamedFormat load_formats[] = {
    {"load_ubyte",         {1}},
    {"load_sbyte",         {1, AccessFormat::Extension::sign}},
    {"load_ushort",        {2}},
    {"load_sshort",        {2, AccessFormat::Extension::sign}},
    {"load_ubyte_d16",     {1, AccessFormat::Extension::zero, AccessFormat::Part::low_half}},
    {"load_ubyte_d16_hi",  {1, AccessFormat::Extension::zero, AccessFormat::Part::high_half}},
    {"load_sbyte_d16",     {1, AccessFormat::Extension::sign, AccessFormat::Part::low_half}},
    {"load_sbyte_d16_hi",  {1, AccessFormat::Extension::sign, AccessFormat::Part::high_half}},
    {"load_short_d16",     {2, AccessFormat::Extension::zero, AccessFormat::Part::low_half}},
    {"load_short_d16_hi",  {2, AccessFormat::Extension::zero, AccessFormat::Part::high_half}},
    {"load_dword",         {4}},
    {"load_dwordx2",       {8}},
    {"load_dwordx3",       {12}},
    {"load_dwordx4",       {16}},
};

inline constexpr NamedFormat store_formats[] = {
    {"store_byte",         {1}},
    {"store_short",        {2}},
    {"store_byte_d16_hi",  {1, AccessFormat::Extension::zero, AccessFormat::Part::high_half}},
    {"store_short_d16_hi", {2, AccessFormat::Extension::zero, AccessFormat::Part::high_half}},
    {"store_dword",        {4}},
    {"store_dwordx2",      {8}},
    {"store_dwordx3",      {12}},
    {"store_dwordx4",      {16}},
};

inline constexpr NamedAtomic atomics[] = {
    {"atomic_swap",        runtime::AtomicOperation::swap,            32},
    {"atomic_cmpswap",     runtime::AtomicOperation::compare_swap,    32},
    {"atomic_add",         runtime::AtomicOperation::add,             32},
    {"atomic_sub",         runtime::AtomicOperation::subtract,        32},
    {"atomic_smin",        runtime::AtomicOperation::signed_min,      32},
    {"atomic_umin",        runtime::AtomicOperation::unsigned_min,    32},
    {"atomic_smax",        runtime::AtomicOperation::signed_max,      32},
    {"atomic_umax",        runtime::AtomicOperation::unsigned_max,    32},
    {"atomic_and",         runtime::AtomicOperation::bit_and,         32},
    {"atomic_or",          runtime::AtomicOperation::bit_or,          32},
    {"atomic_xor",         runtime::AtomicOperation::bit_xor,         32},
    {"atomic_inc",         runtime::AtomicOperation::increment,       32},
    {"atomic_dec",         runtime::AtomicOperation::decrement,       32},
    {"atomic_swap_x2",     runtime::AtomicOperation::swap,            64},
    {"atomic_cmpswap_x2",  runtime::AtomicOperation::compare_swap,    64},
    {"atomic_add_x2",      runtime::AtomicOperation::add,             64},
    {"atomic_sub_x2",      runtime::AtomicOperation::subtract,        64},
    {"atomic_smin_x2",     runtime::AtomicOperation::signed_min,      64},
    {"atomic_umin_x2",     runtime::AtomicOperation::unsigned_min,    64},
    {"atomic_smax_x2",     runtime::AtomicOperation::signed_max,      64},
    {"atomic_umax_x2",     runtime::AtomicOperation::unsigned_max,    64},
    {"atomic_and_x2",      runtime::AtomicOperation::bit_and,         64},
    {"atomic_or_x2",       runtime::AtomicOperation::bit_or,          64},
    {"atomic_xor_x2",      runtime::AtomicOperation::bit_xor,         64},
    {"atomic_inc_x2",      runtime::AtomicOperation::increment,       64},
    {"atomic_dec_x2",      runtime::AtomicOperation::decrement,       64},
    {"atomic_add_f32",     runtime::AtomicOperation::add_float,       32},
    {"atomic_pk_add_f16",  runtime::AtomicOperation::add_packed_half, 32},
    {"atomic_add_f64",     runtime::AtomicOperation::add_float,       64},
    {"atomic_min_f64",     runtime::AtomicOperation::min_in_order,    64},
    {"atomic_max_f64",     runtime::AtomicOperation::max_in_order,    64},
    {"atomic_pk_add_bf16", runtime::AtomicOperation::add_packed_bfloat, 32},  // from here on not gfx90a's
    {"atomic_fmin",        runtime::AtomicOperation::min_float,       32},
    {"atomic_fmax",        runtime::AtomicOperation::max_float,       32},
    {"atomic_fmin_x2",     runtime::AtomicOperation::min_float,       64},
    {"atomic_fmax_x2",     runtime::AtomicOperation::max_float,       64},
    {"atomic_csub",        runtime::AtomicOperation::subtract_clamped, 32},  // RDNA2's and RDNA3's
    {"atomic_csub_u32",    runtime::AtomicOperation::subtract_clamped, 32},
    {"atomic_min_num_f32", runtime::AtomicOperation::min_number,      32},  // from here on RDNA4's
    {"atomic_max_num_f32", runtime::AtomicOperation::max_number,      32},
    {"atomic_cond_sub_u32", runtime::AtomicOperation::conditional_subtract, 32},
    {"atomic_sub_clamp_u32", runtime::AtomicOperation::subtract_clamped, 32},
};
// clang-format on

/// Whether there is a load of this format into LDS, where a lane loads at most so many bytes.
[[nodiscard]] inline bool has_lds_form(const AccessFormat& format, std::uint32_t most_bytes) {
  return format.bytes <= most_bytes && format.bytes != 8 && format.part == AccessFormat::Part::whole;
}

/// Stores what the runtime has loaded: a dword a lane, also of smaller elements, or three or four.
inline void store_loaded(Emitter& e, const AccessFormat& format, LaneAddresses lds) {
  if (format.bytes <= 4) return store_lanes(e, loaded_dwords(e, format), lds);
  std::vector<Chunks> dwords(format.dwords());
  for (unsigned d = 0; d < format.dwords(); ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) dwords[d][chunk] = lane_data(e, chunk, d);
  for (const Chunks& dword : dwords) {
    store_lanes(e, dword, lds);
    lds.base = displaced(e, lds.base, 4);
  }
}

/// Whether an atomic asks for the memory's former value, by glc, on gfx942 by sc0, on RDNA4 by TH_ATOMIC_RETURN and
/// its kin.
[[nodiscard]] inline bool returns_former_value(const Instruction& atomic) {
  return atomic.has("glc") || atomic.has("sc0") || atomic.word("th").value_or("").ends_with("_RETURN");
}

/// Compare and swap takes the new value and the value to compare with from one register tuple.
[[nodiscard]] inline AccessFormat source_format(const NamedAtomic& atomic) {
  const bool compares = atomic.operation == runtime::AtomicOperation::compare_swap;
  return {atomic.bits / 8 * (compares ? 2U : 1U)};
}
[[nodiscard]] inline AccessFormat result_format(const NamedAtomic& atomic) { return {atomic.bits / 8}; }

/// Executes an atomic for `lanes` (i64) on the addresses, plus `offset`, and operands that are in WaveState, where the
/// former values are afterwards.
inline void call_atomic(Emitter& e, const NamedAtomic& atomic, llvm::Value* lanes, llvm::Value* flat_scratch,
                        runtime::Segment segment, std::int64_t offset = 0) {
  using enum runtime::AtomicOperation;
  const bool flushes = atomic.operation == add_float && atomic.bits == 32 && e.architecture().flushes_float_atomics;
  const auto function =
      runtime::atomic_functions(flushes ? add_float_flushing : atomic.operation, atomic.bits).in_memory;
  e.call(reinterpret_cast<const void*>(function), e.ir.getVoidTy(),
         {e.state(), lanes, flat_scratch, e.ir.getInt32(static_cast<std::uint32_t>(segment)),
          e.ir.getInt64(static_cast<std::uint64_t>(offset))});
}

}  // namespace softgpu::compute
