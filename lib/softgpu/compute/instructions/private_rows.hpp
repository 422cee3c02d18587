// Rows of private memory: the lanes' dwords at one offset, which lie side by side. Compilers keep variables there.
#pragma once

#include <array>
#include <cstdint>

#include "softgpu/compute/instructions/flat_addresses.hpp"

namespace softgpu::compute {

/// An address of an enabled lane, by its 32-bit words: what the others' are compared with.
using AddressWords = std::array<llvm::Value*, 2>;

/// The address operand's words in lane 0 if that is enabled, as it mostly is, else in the enabled lanes if these are
/// equal; of a scratch address one.
[[nodiscard]] AddressWords some_lanes_address(Emitter& e, const Operand& vector);

/// The lanes' offset within private memory (i64), and whether all lanes access dwords there, at that offset (i1).
struct PrivateRow {
  llvm::Value* offset;
  llvm::Value* is_there;
};

/// For accesses of `bytes`. Of flat addresses those that are in the private aperture, as `address` is.
[[nodiscard]] PrivateRow private_row(Emitter& e, runtime::Segment segment, const AddressOperands& operands,
                                     const AddressWords& address, std::uint32_t bytes);

/// Where the lanes' dword `dword` from an offset of private memory on is.
[[nodiscard]] LaneAddresses row_addresses(Emitter& e, llvm::Value* offset, unsigned dword);

}  // namespace softgpu::compute
