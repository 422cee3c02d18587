#include "vector_operand.hpp"

#include <array>
#include <iomanip>
#include <sstream>

namespace softgpu::isa {
namespace {

struct Part {
  const char* name;
  unsigned shift;
  u32 mask;
};
constexpr std::array<Part, 7> parts = {{{"BYTE_0", 0, 0xff},
                                        {"BYTE_1", 8, 0xff},
                                        {"BYTE_2", 16, 0xff},
                                        {"BYTE_3", 24, 0xff},
                                        {"WORD_0", 0, 0xffff},
                                        {"WORD_1", 16, 0xffff},
                                        {"DWORD", 0, 0xffffffff}}};
const Part& part(Select select) { return parts.at(static_cast<std::size_t>(select)); }

/// Sign-extends the value that occupies exactly the bits of `mask`, which starts at bit 0.
u32 extended(u32 value, u32 mask) { return (value & (mask ^ mask >> 1)) != 0 ? value | ~mask : value; }

}  // namespace

std::string text_of(Select select) { return part(select).name; }
std::string text_of(Unused unused) {
  constexpr std::array<const char*, 3> names = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  return names.at(static_cast<std::size_t>(unused));
}

u32 extract(Select select, u32 word, bool sign_extend) {
  const u32 value = word >> part(select).shift & part(select).mask;
  return sign_extend ? extended(value, part(select).mask) : value;
}

u32 insert(Select select, Unused unused, u32 old, u32 value) {
  const auto [name, shift, mask] = part(select);
  const u32 field = value & mask;
  switch (unused) {
  case Unused::pad:
    return field << shift;
  case Unused::sign_extend:
    return extended(field, mask) << shift;
  default:
    return (old & ~(mask << shift)) | field << shift;
  }
}

std::string registers(char file, unsigned first, unsigned count) {
  std::ostringstream text;
  text << file;
  if (count == 1)
    text << first;
  else
    text << '[' << first << ':' << first + count - 1 << ']';
  return text.str();
}

std::string VectorOperand::text() const {
  std::string name = constant_text;
  if (kind == Kind::vgpr) name = registers('v', first, registers_of(type));
  if (kind == Kind::sgpr) name = registers('s', first, registers_of(type));
  if (absolute) name = "|" + name + "|";
  if (negate) name = "-" + name;
  return sign_extend ? "sext(" + name + ")" : name;
}

u64 VectorOperand::raw(const MachineState& state, unsigned lane) const {
  switch (kind) {
  case Kind::vgpr:
    return state.vector_value(first, lane, bytes_of(type));
  case Kind::sgpr:
    return state.scalar_value(first, bytes_of(type));
  default:
    return constant;
  }
}

u64 VectorOperand::modify(u64 bits) const {
  if (select != Select::dword || sign_extend) bits = extract(select, static_cast<u32>(bits), sign_extend);
  if (absolute) bits &= ~sign_bit(type);
  if (negate) bits ^= sign_bit(type);
  return bits;
}

VectorOperand vgpr(Type type, unsigned first) {
  return {.kind = VectorOperand::Kind::vgpr, .type = type, .first = first};
}
VectorOperand sgpr(Type type, unsigned first) {
  return {.kind = VectorOperand::Kind::sgpr, .type = type, .first = first};
}

VectorOperand inline_integer(Type type, int value) {
  return {.kind = VectorOperand::Kind::constant,
          .type = type,
          .constant = static_cast<u64>(static_cast<i64>(value)),
          .constant_text = std::to_string(value)};
}

VectorOperand inline_float(Type type, double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << value;
  u64 bits = to_bits(static_cast<float>(value));  // 32-bit integer operands get the bits of the f32
  if (type == Type::float16) bits = to_bits(Half(value));
  if (type == Type::float64) bits = to_bits(value);
  return {.kind = VectorOperand::Kind::constant, .type = type, .constant = bits, .constant_text = text.str()};
}

VectorOperand literal(Type type, u32 value) {
  std::ostringstream text;
  text << "0x" << std::hex << value;
  u64 bits = value;
  if (type == Type::float64) bits = u64{value} << 32;  // the high half
  if (type == Type::int64) bits = static_cast<u64>(i64{static_cast<i32>(value)});
  return {.kind = VectorOperand::Kind::constant, .type = type, .constant = bits, .constant_text = text.str()};
}

}  // namespace softgpu::isa
