// Emits the loads and stores of vector registers: as vector code where the lanes' addresses allow it.
//
// Per chunk a run-time check picks the way: consecutive addresses become one vector access under a mask, the same
// address for all lanes one scalar load, everything else a gather or a scatter. Lanes that EXEC disables never touch
// memory. Every lane of a load reads before any later instruction writes, since both are whole instructions.
#pragma once

#include <cstdint>

#include "emitter.hpp"
#include "memory_runtime.hpp"

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

/// Where the lanes of one chunk access memory.
struct LaneAddresses {
  llvm::Value* base = nullptr;     ///< ptr aligned to 4 that the offsets start from; without it they are host addresses
  llvm::Value* offsets = nullptr;  ///< <16 x i32> with a base, else <16 x i64>
  llvm::Value* active = nullptr;   ///< <16 x i1>: the lanes that access memory
  bool out_of_range_is_zero = false;  ///< enabled lanes that are not active read 0
};

/// Loads one chunk of `destination`, a register or tuple of the format's width.
void load_chunk(Emitter& e, const Operand& destination, const AccessFormat& format, unsigned chunk,
                const LaneAddresses& addresses);
void store_chunk(Emitter& e, const Operand& source, const AccessFormat& format, unsigned chunk,
                 const LaneAddresses& addresses);

/// What a load writes to the register, given the bytes it read.
llvm::Value* fit(Emitter& e, const AccessFormat& format, llvm::Value* raw, llvm::Value* old);
/// The bytes that a store of `format` takes from a register.
llvm::Value* part_to_store(Emitter& e, const AccessFormat& format, llvm::Value* value);

/// Registers `first`.. of a tuple as an operand of their own.
Operand part_of(const Operand& tuple, unsigned first, unsigned dwords);

// --- Operands of the runtime's functions, in WaveState
void put_lane_addresses(Emitter& e, unsigned chunk, llvm::Value* addresses);         ///< <16 x i64>
void put_lane_data(Emitter& e, unsigned chunk, unsigned dword, llvm::Value* value);  ///< <16 x i32>
llvm::Value* lane_data(Emitter& e, unsigned chunk, unsigned dword);                  ///< <16 x i32>
/// All dwords of a store's source, or of a load's destination.
void put_source(Emitter& e, const Operand& source, const AccessFormat& format);
void take_destination(Emitter& e, const Operand& destination, const AccessFormat& format);

/// Reads the cache modifiers: memory is coherent here, but a load that asks for the current value must not be merged
/// with an earlier one or leave its loop.
void honour_cache_hints(Emitter& e, const Instruction& instruction);

}  // namespace softgpu::compute
