// Emits the loads and stores of vector registers: as vector code where the lanes' addresses allow it.
//
// A run-time check per instruction picks the way: consecutive addresses within each chunk become vector accesses under
// a mask, one address for each chunk a scalar load, everything else gathers or scatters. Lanes that EXEC disables never
// touch memory. Every lane of a load reads before any later instruction writes, since both are whole instructions.
#pragma once

#include <cstdint>

#include "softgpu/compute/emit/lane_addresses.hpp"
#include "softgpu/compute/emit/lane_operands.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"

namespace softgpu::compute {

/// What a load or store moves, and how a byte or short sits in its register.
struct AccessFormat {
  enum class Extension : std::uint8_t { zero, sign };
  enum class Part : std::uint8_t { whole, low_half, high_half };  ///< d16 formats keep the register's other half

  std::uint32_t bytes;
  Extension extension = Extension::zero;
  Part part = Part::whole;

  [[nodiscard]] unsigned dwords() const { return bytes < 4 ? 1 : bytes / 4; }
};

/// Loads `destination`, a register or tuple of the format's width.
void load_lanes(Emitter& e, const Operand& destination, const AccessFormat& format, const LaneAddresses& addresses);
void store_lanes(Emitter& e, const Operand& source, const AccessFormat& format, const LaneAddresses& addresses);
/// The same for a dword a lane that is in no register (<16 x i32>); lanes that are not active read 0.
[[nodiscard]] Chunks load_lanes(Emitter& e, const LaneAddresses& addresses);
void store_lanes(Emitter& e, const Chunks& dwords, const LaneAddresses& addresses);

/// Registers `first`.. of a tuple as an operand of their own.
Operand part_of(const Operand& tuple, unsigned first, unsigned dwords);

/// All dwords of a store's source, from lane_data's `first` on, or of a load's destination.
void put_source(Emitter& e, const Operand& source, const AccessFormat& format, unsigned first = 0);
void take_destination(Emitter& e, const Operand& destination, const AccessFormat& format);
/// What a load of at most a dword leaves in a whole register.
[[nodiscard]] Chunks loaded_dwords(Emitter& e, const AccessFormat& format);

}  // namespace softgpu::compute
