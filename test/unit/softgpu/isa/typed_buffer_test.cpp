// Buffers whose elements have a format: MTBUF, where the instruction says which, and MUBUF, where the descriptor does.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "element_format.hpp"
#include "memory_case.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa::typed_buffer {
namespace {

using Kind = MemoryOperation::Kind;

constexpr u32 base_offset = 256;  // of the buffer's first byte within the memory window
constexpr unsigned descriptor_sgpr = 4;

/// DST_SEL of X, Y, Z and W: 0 and 1 are constants, 4 to 7 components.
using Selection = std::array<u32, 4>;
constexpr Selection in_order = {4, 5, 6, 7};

/// A row of the manual's table of instructions.
struct TypedInstruction {
  const char* name;  ///< without "buffer_" or "tbuffer_"
  unsigned components;
  bool is_half = false;
  bool is_high = false;

  [[nodiscard]] bool is_load() const { return std::string(name).starts_with("load"); }
  [[nodiscard]] unsigned registers() const { return is_half ? (components + 1) / 2 : components; }
};
void PrintTo(const TypedInstruction& instruction, std::ostream* stream) { *stream << instruction.name; }

/// A component's half of a register, or all of it.
class ComponentPlace {
public:
  ComponentPlace(const TypedInstruction& instruction, unsigned component)
      : is_half_(instruction.is_half), index_(is_half_ ? component / 2 : component),
        shift_(is_half_ && (component % 2 == 1 || instruction.is_high) ? 16 : 0) {}

  [[nodiscard]] u32 get(std::span<const u32> registers) const {
    const u32 value = registers[index_] >> shift_;
    return is_half_ ? value & 0xffff : value;
  }
  void set(std::span<u32> registers, u32 value) const {
    const u32 mask = is_half_ ? 0xffffU << shift_ : ~0U;
    registers[index_] = (registers[index_] & ~mask) | (value << shift_ & mask);
  }

private:
  bool is_half_;
  unsigned index_;
  unsigned shift_;
};

MemoryOperation operation_of(const TypedInstruction& instruction, const ElementFormat& format,
                             const Selection& selection) {
  MemoryOperation made{.name = instruction.name,
                       .kind = instruction.is_load() ? Kind::load : Kind::store,
                       .bytes = format.bytes(),
                       .data_registers = instruction.is_load() ? 0 : instruction.registers(),
                       .result_registers = instruction.is_load() ? instruction.registers() : 0,
                       .type = Type::uint32,
                       .execute = {}};
  if (instruction.is_load()) {
    made.execute = [=](std::uint8_t* memory, std::span<const u32> /*data*/, std::span<u32> result) {
      for (unsigned c = 0; c < instruction.components; ++c) {
        const u32 selected = selection.at(c);
        const u32 value = selected >= 4   ? format.load(memory, selected - 4, instruction.is_half)
                          : selected == 1 ? format.one(instruction.is_half)
                                          : 0;
        ComponentPlace(instruction, c).set(result, value);
      }
    };
    return made;
  }
  made.execute = [=](std::uint8_t* memory, std::span<const u32> data, std::span<u32> /*result*/) {
    std::fill_n(memory, format.bytes(), std::uint8_t{0});
    for (unsigned c = 0; c < instruction.components; ++c)
      if (selection.at(c) >= 4)
        format.store(memory, selection.at(c) - 4, ComponentPlace(instruction, c).get(data), instruction.is_half);
  };
  return made;
}

/// Where an instruction has its format: with it, or in the descriptor.
struct Encoding {
  std::string prefix;
  std::string modifier;
  u32 descriptor_format = 0;  ///< the fourth dword's
};

Encoding mtbuf(const ElementFormat& format) {
  return {"tbuffer_", " format:[BUF_DATA_FORMAT_" + format.data_name + ",BUF_NUM_FORMAT_" + format.number_name + "]",
          0x00027000};
}
Encoding mubuf(const ElementFormat& format, const Selection& selection) {
  u32 word = format.number_format << 12 | format.data_format << 15;
  for (unsigned c = 0; c < 4; ++c) word |= selection.at(c) << (3 * c);
  return {"buffer_", "", word};
}

void describe_buffer(MachineState& state, const Encoding& encoding, u64 base, u32 stride, u32 records) {
  state.set_scalar_value(descriptor_sgpr, 8, base | u64{stride} << 48);
  state.scalar[descriptor_sgpr + 2] = records;
  state.scalar[descriptor_sgpr + 3] = encoding.descriptor_format;
}

std::string text(const Encoding& encoding, const MemoryOperation& operation, const std::string& address,
                 const std::string& modifiers) {
  const std::string data = operation.kind == Kind::load ? result_text(operation) : data_text(operation);
  return encoding.prefix + operation.name + " " + data + ", " + address + ", s[4:7], s8" + encoding.modifier +
         modifiers;
}

/// A byte offset in v0, one in s8, and an immediate one.
Addressing by_offset(const Encoding& encoding) {
  return {
      .name = "offen",
      .text = [=](const MemoryOperation& operation,
                  bool) { return text(encoding, operation, "v0", " offen offset:20"); },
      .prepare =
          [=](MachineState& state) {
            state.scalar[8] = 64;
            describe_buffer(state, encoding, state.memory_address + base_offset - 84, 0, memory_bytes);
          },
      .aim = [](MachineState& state, unsigned lane, u32 to) { state.vector[address_vgpr][lane] = to - base_offset; },
      .resolve =
          [](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) {
            return state.at(state.memory_address + base_offset + before.vector[address_vgpr][lane], bytes);
          }};
}

/// The same with many lanes beyond the end of the buffer, as a whole or with a part of their element.
Addressing partly_out_of_range(const Encoding& encoding) {
  constexpr u32 records = 640;
  Addressing made = by_offset(encoding);
  made.prepare = [=](MachineState& state) {
    state.scalar[8] = 64;
    describe_buffer(state, encoding, state.memory_address + base_offset - 84, 0, records + 84);
  };
  made.resolve = [](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) -> std::uint8_t* {
    const u32 offset = before.vector[address_vgpr][lane];
    return offset + bytes <= records ? state.at(state.memory_address + base_offset + offset, bytes) : nullptr;
  };
  return made;
}

/// A record's number in v0, and a byte offset in v1.
Addressing by_index(const Encoding& encoding) {
  constexpr u32 stride = 16;
  constexpr u32 records = 50;
  return {
      .name = "idxen",
      .text = [=](const MemoryOperation& operation,
                  bool) { return text(encoding, operation, "v[0:1]", " idxen offen"); },
      .prepare =
          [=](MachineState& state) {
            state.scalar[8] = 0;
            describe_buffer(state, encoding, state.memory_address + base_offset, stride, records);
          },
      .aim =
          [](MachineState& state, unsigned lane, u32 to) {
            state.vector[address_vgpr][lane] = (to - base_offset) / stride;
            state.vector[address_vgpr + 1][lane] = (to - base_offset) % stride;
          },
      .resolve = [](MachineState& state, const MachineState& before, unsigned lane, unsigned bytes) -> std::uint8_t* {
        const u32 index = before.vector[address_vgpr][lane];
        if (index >= records) return nullptr;
        return state.at(state.memory_address + base_offset + index * stride + before.vector[address_vgpr + 1][lane],
                        bytes);
      }};
}

/// Numbers of which a good part lies where formats end.
u32 interesting_component(bool is_half, Random& random) {
  if (is_half) return static_cast<u32>(interesting_value(Type::packed_float16, random));
  switch (random() % 4) {
  case 0:
    return static_cast<u32>(interesting_value(Type::float32, random));
  case 1:
    return static_cast<u32>(to_bits(static_cast<float>(static_cast<i64>(random() % 3001) - 1500) / 1000));
  case 2:
    return static_cast<u32>(to_bits(static_cast<float>(static_cast<i64>(random() % 200001) - 100000) / 2));
  default:
    return static_cast<u32>(random() % 2 == 0 ? random() : random() % 512 - 256);
  }
}

Case typed_case(const TypedInstruction& instruction, const ElementFormat& format, const Selection& selection,
                const Addressing& addressing) {
  Case made = case_of(operation_of(instruction, format, selection), addressing);
  made.prepare = [=, prepare = made.prepare](MachineState& state, Random& random) {
    prepare(state, random);
    for (unsigned i = 0; i < 4; ++i)
      for (u32& lane : state.vector[data_vgpr + i]) lane = interesting_component(instruction.is_half, random);
  };
  return made;
}

/// Every format; ways of addressing and selections take turns.
class TypedBuffer : public testing::TestWithParam<TypedInstruction> {};

TEST_P(TypedBuffer, FormatsOfTheInstructionMatchTheManual) {
  if (GetParam().is_high) return;  // MTBUF has no such instruction
  std::vector<Case> cases;
  for (const ElementFormat& format : element_formats()) {
    const Encoding encoding = mtbuf(format);
    const Addressing ways[] = {by_offset(encoding), partly_out_of_range(encoding), by_index(encoding)};
    cases.push_back(typed_case(GetParam(), format, in_order, ways[cases.size() % std::size(ways)]));
  }
  expect_match(cases);
}

TEST_P(TypedBuffer, FormatsOfTheDescriptorMatchTheManual) {
  // In stores each component is selected at most once.
  constexpr Selection selections[] = {in_order, {6, 5, 4, 7}, {4, 0, 0, 1}, {1, 7, 6, 4}, {7, 4, 5, 6}};
  std::vector<Case> cases;
  for (const ElementFormat& format : element_formats()) {
    const Selection& selection = selections[cases.size() % std::size(selections)];
    const Encoding encoding = mubuf(format, selection);
    const Addressing ways[] = {by_offset(encoding), partly_out_of_range(encoding), by_index(encoding)};
    cases.push_back(typed_case(GetParam(), format, selection, ways[cases.size() % std::size(ways)]));
  }
  expect_match(cases);
}

INSTANTIATE_TEST_SUITE_P(
    Isa, TypedBuffer,
    testing::Values(TypedInstruction{"load_format_x", 1}, TypedInstruction{"load_format_xy", 2},
                    TypedInstruction{"load_format_xyz", 3}, TypedInstruction{"load_format_xyzw", 4},
                    TypedInstruction{"load_format_d16_x", 1, true}, TypedInstruction{"load_format_d16_xy", 2, true},
                    TypedInstruction{"load_format_d16_xyz", 3, true}, TypedInstruction{"load_format_d16_xyzw", 4, true},
                    TypedInstruction{"load_format_d16_hi_x", 1, true, true}, TypedInstruction{"store_format_x", 1},
                    TypedInstruction{"store_format_xy", 2}, TypedInstruction{"store_format_xyz", 3},
                    TypedInstruction{"store_format_xyzw", 4}, TypedInstruction{"store_format_d16_x", 1, true},
                    TypedInstruction{"store_format_d16_xy", 2, true}, TypedInstruction{"store_format_d16_xyz", 3, true},
                    TypedInstruction{"store_format_d16_xyzw", 4, true},
                    TypedInstruction{"store_format_d16_hi_x", 1, true, true}),
    [](const auto& row) { return std::string(row.param.name); });

/// Records and lanes interleave by the manual's formula; elements are dwords.
TEST(TypedBufferSwizzle, InterleavesElements) {
  constexpr u32 stride = 8;
  constexpr u32 index_stride = 16;
  const auto format = std::ranges::find_if(
      element_formats(), [](const ElementFormat& f) { return f.data_name == "8_8_8_8" && f.number == Number::unorm; });
  const Encoding encoding = mtbuf(*format);
  Addressing swizzled = by_index(encoding);
  swizzled.prepare = [=](MachineState& state) {
    state.scalar[8] = 0;
    describe_buffer(state, encoding, state.memory_address + base_offset, stride, 100);
    state.scalar[descriptor_sgpr + 1] |= 0x80000000;  // SWIZZLE_ENABLE
    state.scalar[descriptor_sgpr + 3] |= 1 << 21;     // INDEX_STRIDE 16
  };
  swizzled.aim = [](MachineState& state, unsigned lane, u32 to) {
    state.vector[address_vgpr][lane] = to / 4 % 128;
    state.vector[address_vgpr + 1][lane] = lane % 2 * 4;
  };
  swizzled.resolve = [](MachineState& state, const MachineState& before, unsigned lane,
                        unsigned bytes) -> std::uint8_t* {
    const u32 index = before.vector[address_vgpr][lane];
    const u32 offset = before.vector[address_vgpr + 1][lane];
    if (index >= 100) return nullptr;
    const u32 place = (index / index_stride * stride + offset) * index_stride + index % index_stride * 4;
    return state.at(state.memory_address + base_offset + place, bytes);
  };
  expect_match({typed_case({"load_format_xyzw", 4}, *format, in_order, swizzled)});
}

/// A descriptor without a format describes no buffer.
TEST(TypedBufferUnbound, ReadsZeroAndIsNotWritten) {
  const ElementFormat& any = element_formats().front();
  Encoding encoding = mubuf(any, in_order);
  encoding.descriptor_format &= ~(15U << 15);
  Addressing nowhere = by_offset(encoding);
  nowhere.resolve = [](MachineState&, const MachineState&, unsigned, unsigned) -> std::uint8_t* { return nullptr; };
  expect_match({typed_case({"load_format_xyzw", 4}, any, in_order, nowhere),
                typed_case({"store_format_xyzw", 4}, any, in_order, nowhere)});
}

TEST(TypedBufferRefusal, NamesFormatsThatDoNotExist) {
  const auto failure =
      refusal("tbuffer_load_format_x v8, v0, s[4:7], 0 format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_FLOAT] offen");
  if (!failure) FAIL() << "ran";
  EXPECT_NE(failure->text.find("format"), std::string::npos) << failure->text;
}

}  // namespace
}  // namespace softgpu::isa::typed_buffer
