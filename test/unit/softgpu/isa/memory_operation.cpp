#include "memory_operation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "float_rules.hpp"

namespace softgpu::isa {

MemoryOperation load_registers(std::string name, unsigned count) {
  return {.name = std::move(name),
          .kind = MemoryOperation::Kind::load,
          .bytes = 4 * count,
          .data_registers = 0,
          .result_registers = count,
          .type = Type::uint32,
          .execute = [](std::uint8_t* memory, std::span<const u32> /*data*/, std::span<u32> result) {
            std::memcpy(result.data(), memory, result.size_bytes());
          }};
}

MemoryOperation store_registers(std::string name, unsigned count) {
  return {.name = std::move(name),
          .kind = MemoryOperation::Kind::store,
          .bytes = 4 * count,
          .data_registers = count,
          .result_registers = 0,
          .type = Type::uint32,
          .execute = [](std::uint8_t* memory, std::span<const u32> data, std::span<u32> /*result*/) {
            std::memcpy(memory, data.data(), data.size_bytes());
          }};
}

MemoryOperation in_lane_order(MemoryOperation operation) {
  operation.any_order = false;
  return operation;
}

std::vector<MemoryOperation> loads_and_stores() {
  using u8 = std::uint8_t;
  using i8 = std::int8_t;
  const auto whole = [](auto part, u32) { return static_cast<u32>(i32{part}); };
  const auto low = [](auto part, u32 old) { return (old & 0xffff0000) | (static_cast<u32>(i32{part}) & 0xffff); };
  const auto high = [](auto part, u32 old) { return (old & 0xffff) | static_cast<u32>(i32{part}) << 16; };
  return {
      load_part<u8>("load_ubyte", whole),    load_part<i8>("load_sbyte", whole),
      load_part<u16>("load_ushort", whole),  load_part<i16>("load_sshort", whole),
      load_part<u8>("load_ubyte_d16", low),  load_part<u8>("load_ubyte_d16_hi", high),
      load_part<i8>("load_sbyte_d16", low),  load_part<i8>("load_sbyte_d16_hi", high),
      load_part<u16>("load_short_d16", low), load_part<u16>("load_short_d16_hi", high),
      load_registers("load_dword", 1),       load_registers("load_dwordx2", 2),
      load_registers("load_dwordx3", 3),     load_registers("load_dwordx4", 4),
      store_part<u8>("store_byte"),          store_part<u8>("store_byte_d16_hi", 16),
      store_part<u16>("store_short"),        store_part<u16>("store_short_d16_hi", 16),
      store_registers("store_dword", 1),     store_registers("store_dwordx2", 2),
      store_registers("store_dwordx3", 3),   store_registers("store_dwordx4", 4),
  };
}

namespace {

/// The integer atomics of 32 bits, or of 64 with names ending in _x2.
template <class Unsigned, class Signed>
void add_atomics(std::vector<MemoryOperation>& table, const std::string& end) {
  using U = Unsigned;
  using I = Signed;
  table.push_back(in_lane_order(atomic<U>("atomic_swap" + end, [](U, U data) { return data; })));
  table.push_back(
      atomic_of_two<U>("atomic_cmpswap" + end, [](U m, U data, U compare) { return m == compare ? data : m; }));
  table.push_back(atomic<U>("atomic_add" + end, [](U m, U data) { return static_cast<U>(m + data); }));
  table.push_back(atomic<U>("atomic_sub" + end, [](U m, U data) { return static_cast<U>(m - data); }));
  table.push_back(atomic<I>("atomic_smin" + end, [](I m, I data) { return std::min(m, data); }));
  table.push_back(atomic<U>("atomic_umin" + end, [](U m, U data) { return std::min(m, data); }));
  table.push_back(atomic<I>("atomic_smax" + end, [](I m, I data) { return std::max(m, data); }));
  table.push_back(atomic<U>("atomic_umax" + end, [](U m, U data) { return std::max(m, data); }));
  table.push_back(atomic<U>("atomic_and" + end, [](U m, U data) { return m & data; }));
  table.push_back(atomic<U>("atomic_or" + end, [](U m, U data) { return m | data; }));
  table.push_back(atomic<U>("atomic_xor" + end, [](U m, U data) { return m ^ data; }));
  table.push_back(in_lane_order(atomic<U>("atomic_inc" + end, wrapping_increment<U>)));
  table.push_back(in_lane_order(atomic<U>("atomic_dec" + end, wrapping_decrement<U>)));
}

}  // namespace

std::vector<MemoryOperation> integer_atomics() {
  std::vector<MemoryOperation> table;
  add_atomics<u32, i32>(table, "");
  add_atomics<u64, i64>(table, "_x2");
  return table;
}

std::vector<MemoryOperation> float_atomics() {
  return {
      in_lane_order(atomic<float>("atomic_add_f32", [](float m, float data) { return m + data; })),
      in_lane_order(atomic<double>("atomic_add_f64", [](double m, double data) { return m + data; })),
      in_lane_order(atomic<PackedHalf>("atomic_pk_add_f16", add_halves)),
      in_lane_order(atomic<double>("atomic_min_f64", [](double m, double data) { return minimum(m, data); })),
      in_lane_order(atomic<double>("atomic_max_f64", [](double m, double data) { return maximum(m, data); })),
  };
}

namespace {

/// The rules as the manuals have them, by the bits.
template <class T, class F>
MemoryOperation extreme_of_bits(const std::string& name, T quiet, bool is_max, const std::vector<F>& numbers) {
  constexpr T sign = T{1} << (8 * sizeof(T) - 1);
  const auto infinity = static_cast<T>(to_bits(std::numeric_limits<F>::infinity()));
  const auto is_nan = [=](T bits) { return (bits & ~sign) > infinity; };
  // From the lowest up; a quiet NaN loses.
  const auto rank = [=](T bits) {
    if (is_nan(bits)) return is_max ? T{0} : ~T{0};
    return (bits & sign) != 0 ? static_cast<T>(~bits) : static_cast<T>(bits | sign);
  };
  MemoryOperation made = in_lane_order(atomic<T>(name, [=](T memory, T data) {
    for (const T source : {memory, data})
      if (is_nan(source) && (source & quiet) == 0) return static_cast<T>(source | quiet);
    const bool takes_data = is_max ? rank(data) > rank(memory) : rank(data) < rank(memory);
    return takes_data ? data : memory;
  }));
  for (const F number : numbers) made.values.push_back(to_bits(number));
  for (const T payload : {quiet, T{1}}) made.values.push_back(infinity | payload);
  return made;
}

}  // namespace

MemoryOperation extreme_in_order(std::string name, Type type, bool is_max) {
  if (type == Type::float64)
    return extreme_of_bits<u64, double>(name, u64{1} << 51, is_max, {0.0, -0.0, 1.0, -1.0, 0x1p-1074});
  return extreme_of_bits<u32, float>(name, u32{1} << 22, is_max, {0.0F, -0.0F, 1.0F, -1.0F, 0x1p-149F});
}

PackedHalf add_halves(PackedHalf memory, PackedHalf data) {
  return {Half(double{memory.low} + double{data.low}), Half(double{memory.high} + double{data.high})};
}

u32 add_bfloats(u32 memory, u32 data) {
  // Infinity stands for the next greater number.
  const auto number = [](u32 bits) {
    const double magnitude = (bits & 0x7fff) == 0x7f80 ? 0x1p128 : double{from_bits<float>(u64{bits & 0x7fff} << 16)};
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  };
  const auto sum = [&](u32 a, u32 b) -> u32 {
    const double exact = double{from_bits<float>(u64{a & 0xffff} << 16)} + from_bits<float>(u64{b & 0xffff} << 16);
    if (std::isnan(exact)) return 0x7fc0;
    const auto guess = static_cast<u32>(to_bits(static_cast<float>(exact)) >> 16);
    if (std::isinf(exact) || exact == 0) return guess;
    u32 nearest = guess;
    for (const u32 other : {guess - 1, guess + 1}) {
      const double distance = std::fabs(number(other) - exact);
      const double least = std::fabs(number(nearest) - exact);
      if ((other ^ guess) < 0x8000 && (distance < least || (distance == least && other % 2 == 0))) nearest = other;
    }
    return nearest;
  };
  return sum(memory, data) | sum(memory >> 16, data >> 16) << 16;
}

}  // namespace softgpu::isa
