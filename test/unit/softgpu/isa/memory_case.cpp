#include "memory_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tested_target.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa {
namespace {

using Kind = MemoryOperation::Kind;

constexpr u32 window_begin = 512;  // of the middle, in bytes from the window's start
constexpr u32 window_bytes = 1024;

/// 16 of 32, in order.
std::array<u32, 16> ascending_slots(Random& random) {
  std::array<u32, 32> all = {};
  std::iota(all.begin(), all.end(), 0U);
  std::array<u32, 16> some = {};
  std::sample(all.begin(), all.end(), some.begin(), some.size(), random);
  return some;
}

/// Offsets of the lanes: consecutive, reversed, strided, in every 16 bytes, ascending with gaps that are the same for
/// each 16 lanes, all the same, or scattered; some of them unaligned.
std::array<u32, lane_count> pattern(const MemoryOperation& operation, const Addressing& addressing, bool lanes_may_meet,
                                    Random& random) {
  std::array<u32, lane_count> slot = {};
  std::iota(slot.begin(), slot.end(), 0U);
  const u32 slots = window_bytes / operation.bytes;
  const u64 choice = random() % 8;
  switch (choice) {
  case 0:
    break;
  case 1:
    std::reverse(slot.begin(), slot.end());
    break;
  case 2:
    if (slots >= 2 * lane_count)
      for (u32& s : slot) s *= 2;
    break;
  case 3:
    if (lanes_may_meet) slot.fill(static_cast<u32>(random() % slots));
    break;
  case 4:
    if (operation.kind == Kind::load)
      for (u32& s : slot) s = static_cast<u32>(random() % slots);
    else
      std::shuffle(slot.begin(), slot.end(), random);
    break;
  case 5:
    if (slots >= 2 * lane_count) {
      const std::array<u32, 16> some = ascending_slots(random);
      for (u32 lane = 0; lane != lane_count; ++lane) slot[lane] = lane / 16 * 32 + some[lane % 16];
    }
    break;
  case 6:
    for (u32& s : slot) s = window_begin + 16 * s;
    return slot;
  default:
    std::shuffle(slot.begin(), slot.end(), random);
    break;
  }
  const u32 alignment = operation.kind == Kind::atomic ? operation.bytes : addressing.aligned_to;
  const u32 shift = random() % 4 == 0 ? static_cast<u32>(random() % 16 / alignment * alignment) : 0;
  for (u32& s : slot) s = window_begin + s * operation.bytes + shift % std::max(operation.bytes, alignment);
  return slot;
}

/// Like interesting_value, but floating-point numbers are neither NaN, infinite nor denormal: what atomics do with
/// these differs, and operations that are about it name values.
u64 plain_value(Type type, Random& random) {
  const auto plain = [](double value) {
    return (value == 0 && !std::signbit(value)) || (std::fabs(value) >= 0x1p-14 && std::fabs(value) < 0x1p100);
  };
  for (;;) {
    const u64 bits = interesting_value(type, random);
    if (type == Type::float32 && !plain(from_bits<float>(bits))) continue;
    if (type == Type::float64 && !plain(from_bits<double>(bits))) continue;
    if (type == Type::packed_float16 &&
        !(plain(from_bits<PackedHalf>(bits).low) && plain(from_bits<PackedHalf>(bits).high)))
      continue;
    return bits;
  }
}

u64 value_for(const MemoryOperation& operation, Random& random) {
  if (operation.values.empty()) return plain_value(operation.type, random);
  return operation.values.at(random() % operation.values.size());
}

void prepare(const MemoryOperation& operation, const Addressing& addressing, bool returns, MachineState& state,
             Random& random) {
  for (unsigned i = 0; i < 4; i += registers_of(operation.type))
    for (unsigned lane = 0; lane < lane_count; ++lane)
      state.set_vector_value(data_vgpr + i, lane, bytes_of(operation.type), value_for(operation, random));
  // Memory holds values of the data's type too, and some that a compare-and-swap will find equal to its operands.
  const unsigned second_operand =
      operation.data_registers == 2 * operation.result_registers ? operation.result_registers : 0;
  for (u32 offset = 0; operation.kind == Kind::atomic && offset < lds_bytes; offset += operation.bytes) {
    const u64 bits = random() % 2 == 0 ? value_for(operation, random)
                                       : state.vector_value(data_vgpr + second_operand,
                                                            offset / operation.bytes % lane_count, operation.bytes);
    std::memcpy(state.memory.data() + offset, &bits, operation.bytes);
    std::memcpy(state.lds.data() + offset, &bits, operation.bytes);
  }
  if (addressing.prepare) addressing.prepare(state);
  const bool lanes_may_meet =
      operation.kind == Kind::load || (operation.kind == Kind::atomic && operation.any_order && !returns);
  const std::array<u32, lane_count> offsets = pattern(operation, addressing, lanes_may_meet, random);
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (state.active(lane))
      addressing.aim(state, lane, offsets[lane]);
    else
      state.set_vector_value(address_vgpr, lane, 8, random() % 4096);  // an access here would fault
  }
}

void execute(const MemoryOperation& operation, const Addressing& addressing, bool returns, MachineState& state) {
  const MachineState before = state;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!before.active(lane)) continue;
    std::array<u32, 4> data = {};
    std::array<u32, 4> result = {};
    const unsigned first_result =
        addressing.returns_in_data && operation.kind == Kind::atomic ? data_vgpr : result_vgpr_of_memory;
    for (unsigned i = 0; i < 4; ++i) {
      data.at(i) = before.vector[data_vgpr + i][lane];
      result.at(i) = before.vector[first_result + i][lane];
    }
    const std::span<u32> results = std::span(result).first(operation.result_registers);
    if (std::uint8_t* bytes = addressing.resolve(state, before, lane, operation.bytes)) {
      operation.execute(bytes, std::span(data).first(operation.data_registers), results);
    } else {
      std::array<std::uint8_t, 16> nowhere = {};  // out of range: loads read zero, stores and atomics do nothing
      operation.execute(nowhere.data(), data, results);
    }
    if (operation.kind == Kind::store || (operation.kind == Kind::atomic && !returns)) continue;
    for (unsigned i = 0; i < operation.result_registers; ++i) state.vector[first_result + i][lane] = result.at(i);
  }
}

}  // namespace

u32 gfx9_range(u32 stride) {
  if (tested_target().architecture->buffer_descriptors == compute::runtime::BufferDescriptors::gfx9) return 0;
  enum : u32 { structured = 1, raw = 3 };
  return (stride == 0 ? raw : structured) << 28;
}

std::string data_text(const MemoryOperation& operation) { return registers('v', data_vgpr, operation.data_registers); }
std::string result_text(const MemoryOperation& operation) {
  return registers('v', result_vgpr_of_memory, operation.result_registers);
}

Case case_of(const MemoryOperation& operation, const Addressing& addressing, Returning returning) {
  const bool returns = returning == Returning::yes;
  return {
      .assembly = addressing.text(operation, returns) + "\ns_waitcnt vmcnt(0) lgkmcnt(0)",
      .prepare = [=](MachineState& state, Random& random) { prepare(operation, addressing, returns, state, random); },
      .reference = [=](MachineState& state) { execute(operation, addressing, returns, state); }};
}

std::array<u32, lane_count> lane_places(Random& random, bool lanes_may_meet) {
  std::array<u32, lane_count> places = {};
  std::iota(places.begin(), places.end(), 0U);
  switch (random() % 6) {
  case 0:
    if (lanes_may_meet) places.fill(static_cast<u32>(random() % lane_count));
    break;
  case 1:
    std::reverse(places.begin(), places.end());
    break;
  case 2:
    for (u32& place : places) place *= 2;
    break;
  case 3:
    std::shuffle(places.begin(), places.end(), random);
    break;
  default:
    break;
  }
  return places;
}

}  // namespace softgpu::isa
