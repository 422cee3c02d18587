// The effect of a vector memory instruction on the bytes at one lane's address, for every kind of addressing.
#pragma once

#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "machine_state.hpp"
#include "values.hpp"

namespace softgpu::isa {

struct MemoryOperation {
  enum class Kind { load, store, atomic };
  std::string name;  ///< the mnemonic without what says where: "load_dword", "atomic_add"
  Kind kind;
  unsigned bytes;             ///< touched in memory
  unsigned data_registers;    ///< read, from v4 on
  unsigned result_registers;  ///< written, from v8 on; for atomics only if they return
  Type type;                  ///< of the data
  bool any_order = true;      ///< lanes may come in any order when all have one address, except for what they return
  /// Works on the memory; `result` holds the result registers' old contents.
  std::function<void(std::uint8_t* memory, std::span<const u32> data, std::span<u32> result)> execute;
  std::vector<u64> values = {};  ///< of data and memory; empty: any plain ones
};
inline void PrintTo(const MemoryOperation& operation, std::ostream* stream) { *stream << operation.name; }

/// Of bits as AMD's manuals of CDNA order them ("NaN Handling"): of NaNs, zeros of both signs and numbers.
[[nodiscard]] MemoryOperation extreme_in_order(std::string name, Type type, bool is_max);

/// A load of whole registers, and one of a part whose bits `extend` turns into the register's.
[[nodiscard]] MemoryOperation load_registers(std::string name, unsigned count);
template <class T, class F>
MemoryOperation load_part(const std::string& name, F extend) {
  return {.name = name,
          .kind = MemoryOperation::Kind::load,
          .bytes = sizeof(T),
          .data_registers = 0,
          .result_registers = 1,
          .type = Type::uint32,
          .execute = [extend](std::uint8_t* memory, std::span<const u32> /*data*/, std::span<u32> result) {
            result[0] = extend(read_as<T>(memory), result[0]);
          }};
}

[[nodiscard]] MemoryOperation store_registers(std::string name, unsigned count);
/// A store of the low bits of `data >> shift`.
template <class T>
MemoryOperation store_part(const std::string& name, unsigned shift = 0) {
  return {.name = name,
          .kind = MemoryOperation::Kind::store,
          .bytes = sizeof(T),
          .data_registers = 1,
          .result_registers = 0,
          .type = Type::uint32,
          .execute = [shift](std::uint8_t* memory, std::span<const u32> data, std::span<u32> /*result*/) {
            write_as(memory, static_cast<T>(data[0] >> shift));
          }};
}

template <class T>
T data_value(std::span<const u32> data, std::size_t index = 0) {
  constexpr std::size_t words = sizeof(T) / 4;
  u64 bits = data[index * words];
  if (words == 2) bits |= u64{data[index * words + 1]} << 32;
  return from_bits<T>(bits);
}
template <class T>
void set_result(std::span<u32> result, T value) {
  result[0] = static_cast<u32>(to_bits(value));
  if (sizeof(T) == 8) result[1] = static_cast<u32>(to_bits(value) >> 32);
}

/// Replaces the value in memory by `combine(memory, data)` and returns the old value.
template <class T, class F>
MemoryOperation atomic(const std::string& name, F combine) {
  return {.name = name,
          .kind = MemoryOperation::Kind::atomic,
          .bytes = sizeof(T),
          .data_registers = sizeof(T) / 4,
          .result_registers = sizeof(T) / 4,
          .type = type_of<T>(),
          .execute = [combine](std::uint8_t* memory, std::span<const u32> data, std::span<u32> result) {
            const T old = read_as<T>(memory);
            write_as<T>(memory, combine(old, data_value<T>(data)));
            set_result(result, old);
          }};
}
/// The same with two operands, in the order of their registers.
template <class T, class F>
MemoryOperation atomic_of_two(const std::string& name, F combine) {
  MemoryOperation made = atomic<T>(name, [](T memory, T) { return memory; });
  made.data_registers *= 2;
  made.any_order = false;
  made.execute = [combine](std::uint8_t* memory, std::span<const u32> data, std::span<u32> result) {
    const T old = read_as<T>(memory);
    write_as<T>(memory, combine(old, data_value<T>(data, 0), data_value<T>(data, 1)));
    set_result(result, old);
  };
  return made;
}
[[nodiscard]] MemoryOperation in_lane_order(MemoryOperation operation);

/// The computations of atomics.
template <class T>
T wrapping_increment(T memory, T limit) {
  return memory >= limit ? T{0} : static_cast<T>(memory + 1);
}
template <class T>
T wrapping_decrement(T memory, T limit) {
  return memory == 0 || memory > limit ? limit : static_cast<T>(memory - 1);
}

/// The tables that FLAT, GLOBAL and MUBUF share.
[[nodiscard]] std::vector<MemoryOperation> loads_and_stores();
[[nodiscard]] std::vector<MemoryOperation> integer_atomics();
[[nodiscard]] std::vector<MemoryOperation> float_atomics();

[[nodiscard]] PackedHalf add_halves(PackedHalf memory, PackedHalf data);
/// Two numbers of 8 exponent and 7 fraction bits each. Any NaN is 0x7fc0.
[[nodiscard]] u32 add_bfloats(u32 memory, u32 data);

}  // namespace softgpu::isa
