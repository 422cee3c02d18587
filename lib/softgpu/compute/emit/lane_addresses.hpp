// The addresses of the lanes of a load or store, and the code that finds out how they lie to each other.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/compute/emit/emitter.hpp"

namespace softgpu::compute {

/// Where the lanes access memory: at `base` + (their offsets << `shift`), modulo 2^64.
struct LaneAddresses {
  llvm::Value* base = nullptr;         ///< ptr; all lanes add it: accesses that differ in it share their checks
  Chunks offsets = {};                 ///< <16 x i64>, or <16 x i32>
  Chunks active = {};                  ///< <16 x i1>: the lanes that access memory
  unsigned shift = 0;                  ///< at most 4
  bool is_signed = false;              ///< offsets of 32 bits have a sign
  bool in_lds = false;                 ///< offsets have a sign; active lanes' offsets are less than 2^18 from 0
  bool is_sum = false;                 ///< the kernel put the addresses together: the base may be anywhere
  bool out_of_range_is_zero = false;   ///< enabled lanes that are not active read 0
  bool is_consecutive = false;         ///< known at translation: dword after dword within each chunk
  std::optional<RowOfLanes> row = {};  ///< that the offsets are
  llvm::Value* row_in_lds = nullptr;   ///< whether all lanes of the row access LDS (i1), for `in_lds`
};

/// A register of offsets of 32 bits.
struct LaneOffsets {
  Chunks lanes = {};
  std::optional<RowOfLanes> row = {};
};
[[nodiscard]] LaneOffsets lane_offsets(Emitter& e, const Operand& vector);

/// What is known of the alignment of a lane's address.
inline const llvm::Align unaligned(1);

/// An offset's type.
[[nodiscard]] llvm::Type* offset_type(const LaneAddresses& a);
[[nodiscard]] llvm::Value* lane_0_offset(Emitter& e, const LaneAddresses& a, unsigned chunk);
/// The lanes' offsets from lane 0's, before they are shifted.
[[nodiscard]] llvm::Value* distances(Emitter& e, const LaneAddresses& a, unsigned chunk);
/// Lane 0's address.
[[nodiscard]] llvm::Value* first_pointer(Emitter& e, const LaneAddresses& a, unsigned chunk);
/// The same where lanes are active. A chunk without any has no address: one that can be accessed will do. A host
/// suppresses the fault of a vector access that is masked out, but takes hundreds of cycles for it.
[[nodiscard]] llvm::Value* accessible_pointer(Emitter& e, const LaneAddresses& a, unsigned chunk);
/// The lanes' addresses, for a gather or scatter. Hosts add 32-bit offsets themselves, but take them as signed.
[[nodiscard]] llvm::Value* lane_pointers(Emitter& e, const LaneAddresses& a, unsigned chunk,
                                         std::uint64_t displacement);
/// The lanes' addresses as numbers (<16 x i64>).
[[nodiscard]] llvm::Value* address_numbers(Emitter& e, const LaneAddresses& a, unsigned chunk);
[[nodiscard]] llvm::Value* displaced(Emitter& e, llvm::Value* base, std::uint64_t bytes);

// --- Rows: known at translation, but for a base
/// What lanes have of a row.
[[nodiscard]] Chunks lanes_of(Emitter& e, const RowOfLanes& row);
/// Whether each lane lies so many bytes behind the lane before, unless 32 bits wrap around.
[[nodiscard]] bool has_row(const LaneAddresses& a, std::uint32_t step);
/// Whether no offset of the row wraps around, nor is beyond LDS (i1): in_row() holds.
[[nodiscard]] llvm::Value* is_within_row(Emitter& e, const LaneAddresses& a);
/// The same addresses, with offsets that are constants.
[[nodiscard]] LaneAddresses in_row(Emitter& e, const LaneAddresses& a);

// --- Questions, whose answers are i1
/// Whether lanes that lie so many bytes behind lane 0, a multiple of the offsets' unit, have the offsets that this
/// makes: 32 bits may wrap around.
[[nodiscard]] llvm::Value* reaches(Emitter& e, const LaneAddresses& a, std::uint32_t bytes);
/// Whether in each chunk the active lanes' addresses are lane 0's plus `step` a lane.
[[nodiscard]] llvm::Value* follow(Emitter& e, const LaneAddresses& a, std::uint32_t step);
/// Whether all lanes access memory: vector accesses wider than a chunk go without a mask.
[[nodiscard]] llvm::Value* all_active(Emitter& e, const LaneAddresses& a);

/// <16 x i1> as i16.
[[nodiscard]] llvm::Value* mask_bits(Emitter& e, llvm::Value* mask);
/// <16 x i32>
[[nodiscard]] llvm::Value* zeros(Emitter& e);

}  // namespace softgpu::compute
