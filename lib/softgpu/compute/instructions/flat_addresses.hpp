// Where the lanes of FLAT, GLOBAL and SCRATCH instructions access memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "softgpu/compute/emit/lane_access.hpp"

namespace softgpu::compute {

/// A vector operand, and of GLOBAL and SCRATCH instructions a scalar one behind all others.
struct AddressOperands {
  const Operand& vector;
  const Operand* scalar;
  std::int64_t offset;

  [[nodiscard]] bool has_base() const { return scalar != nullptr && scalar->is_scalar(); }
};

/// `vector` is the vector operand's number.
[[nodiscard]] AddressOperands address_operands(const Instruction& i, runtime::Segment segment, std::size_t vector);

/// A register's offset within scratch, of one lane or of lanes, as 64 bits (`type`).
[[nodiscard]] llvm::Value* scratch_offset(Emitter& e, llvm::Value* offset, llvm::Type* type);

/// What all lanes add to an offset within scratch, or to a flat address (i64).
[[nodiscard]] llvm::Value* base_offset(Emitter& e, const AddressOperands& operands);

/// Host addresses, flat addresses without their offset, or offsets within scratch (<16 x i64>).
[[nodiscard]] Chunks lane_addresses(Emitter& e, runtime::Segment segment, const AddressOperands& operands);

/// Addresses of which the kernel added up the parts.
struct AddressesByParts {
  LaneAddresses lanes;
  llvm::Value* hold;  ///< whether they are the addresses (i1); null: they are
};

/// Nothing if the parts are not known.
[[nodiscard]] std::optional<AddressesByParts> addresses_by_parts(Emitter& e, const AddressOperands& operands);

/// Of lanes that access memory that is neither LDS nor private.
[[nodiscard]] LaneAddresses host_addresses(Emitter& e, const AddressOperands& operands);

/// The upper half of the addresses in an aperture (i32), which is a field of the wavefront's.
[[nodiscard]] llvm::Value* aperture_high(Emitter& e, std::size_t field);

/// Whether an enabled lane's flat address lies in the shared or the private aperture (i1).
[[nodiscard]] llvm::Value* is_any_in_aperture(Emitter& e, const AddressOperands& operands);

/// Whether the enabled lanes' flat addresses are all in the aperture of LDS (i1).
[[nodiscard]] llvm::Value* are_in_lds(Emitter& e, const AddressOperands& operands);
/// Where they are in LDS then.
[[nodiscard]] LaneAddresses flat_addresses_in_lds(Emitter& e, const AddressOperands& operands,
                                                  const AccessFormat& format);

}  // namespace softgpu::compute
