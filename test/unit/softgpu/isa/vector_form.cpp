#include "vector_form.hpp"

#include <sstream>

#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

u64 clamped(Type type, u64 bits) {
  if (is_nan(type, bits)) return 0;  // DX10_CLAMP is set
  const auto limit = [](auto value) {
    using T = decltype(value);
    if constexpr (std::is_same_v<T, Half>)
      return Half(std::fmin(std::fmax(static_cast<double>(value), 0.0), 1.0));
    else
      return std::fmin(std::fmax(value, T{0}), T{1});
  };
  switch (type) {
  case Type::float16:
    return (bits & 0x8000) != 0 ? 0 : to_bits(limit(from_bits<Half>(bits)));
  case Type::float32:
    return (bits & sign_bit(type)) != 0 ? 0 : to_bits(limit(from_bits<float>(bits)));
  case Type::float64:
    return (bits & sign_bit(type)) != 0 ? 0 : to_bits(limit(from_bits<double>(bits)));
  default:
    return bits;
  }
}

/// RDNA's v_cmpx names no destination, and writes nothing but EXEC.
bool names_mask(const VectorInstruction& instruction) {
  return instruction.operation.writes_mask &&
         (!instruction.writes_exec || !tested_target().architecture->compares_write_only_exec);
}

/// The whole of the destination register after a result of 16 or 32 bits.
u64 merged(const VectorInstruction& instruction, const VectorForm& form, u64 old, u64 value) {
  const Operation& operation = instruction.operation;
  if (form.suffix == "_sdwa") {
    const u32 word = bytes_of(operation.result) == 2 ? static_cast<u32>(value & 0xffff) : static_cast<u32>(value);
    return insert(form.select, form.unused, static_cast<u32>(old), word);
  }
  if (bytes_of(operation.result) != 2) return value;
  if (form.result_in_high_half) return (old & 0xffff) | value << 16;
  return operation.preserves_high || tested_target().architecture->keeps_upper_halves ? (old & 0xffff0000) | value
                                                                                      : value;
}

void execute(const VectorInstruction& instruction, const VectorForm& form, MachineState& state) {
  const Operation& operation = instruction.operation;
  const MachineState before = state;
  const unsigned result_bytes = bytes_of(operation.result);
  const u64 mask_in = form.mask_in_vcc ? before.vcc : before.scalar_value(mask_in_sgpr, 8);
  u64 mask = 0;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (!before.active(lane)) continue;
    Lane values;
    const auto is_high = [&](std::size_t i) { return !form.high_halves.empty() && form.high_halves[i]; };
    for (std::size_t i = 0; i < form.sources.size(); ++i) {
      values.source.at(i) = form.sources[i].read(before, lane);
      if (is_high(i)) values.source.at(i) >>= 16;
    }
    if (form.dpp) {
      if (!form.dpp->enables(lane)) continue;
      const std::optional<unsigned> from = form.dpp->control.source_lane(lane);
      const bool valid = from && before.active(*from);
      if (!valid && !form.dpp->bound_control) continue;
      values.source[0] = valid ? form.sources[0].read(before, *from) : form.sources[0].modify(0);
      if (is_high(0)) values.source[0] >>= 16;
    }
    const u64 old = operation.writes_value ? before.vector_value(form.result, lane, result_bytes) : 0;
    values.old = form.result_in_high_half ? old >> 16 : old;
    values.condition = (mask_in >> lane & 1) != 0;
    u64 value = operation.evaluate(values);
    if (form.clamp) value = clamped(operation.result, value);
    mask |= u64{values.mask} << lane;
    if (operation.writes_value)
      state.set_vector_value(form.result, lane, result_bytes, merged(instruction, form, old, value));
  }
  if (!operation.writes_mask) return;
  if (names_mask(instruction)) {
    if (form.mask_out_vcc)
      state.vcc = tests_wave32() ? (state.vcc & ~u64{0xffffffff}) | mask : mask;
    else
      state.set_scalar_value(mask_out_sgpr, tests_wave32() ? 4 : 8, mask);
  }
  if (instruction.writes_exec) state.exec = mask;
}

void prepare(const VectorInstruction& instruction, const VectorForm& form, MachineState& state, Random& random) {
  const Type result = instruction.operation.result;
  if (instruction.operation.reads_old)
    for (unsigned lane = 0; lane < lane_count; ++lane)
      state.set_vector_value(form.result, lane, bytes_of(result),
                             instruction.constrain(form.sources.size(), interesting_value(result, random)));
  for (std::size_t i = 0; i < form.sources.size(); ++i) {
    const VectorOperand& source = form.sources[i];
    const auto value = [&] {
      const u64 bits = instruction.constrain(i, interesting_value(source.type, random));
      const bool high = (!form.high_halves.empty() && form.high_halves[i]) || source.select == Select::word_1;
      return high && bytes_of(source.type) == 2 ? (bits & 0xffff) << 16 | bits >> 16 : bits;
    };
    if (source.kind == VectorOperand::Kind::sgpr) state.set_scalar_value(source.first, bytes_of(source.type), value());
    if (source.kind != VectorOperand::Kind::vgpr) continue;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      state.set_vector_value(source.first, lane, bytes_of(source.type), value());
  }
}

std::vector<FloatResult> float_results(const VectorInstruction& instruction, const VectorForm& form) {
  Type type = instruction.operation.result;
  if (!instruction.operation.writes_value) return {};
  const bool loose = instruction.tolerance.high_half_is_undefined && !form.result_in_high_half;
  if (!loose && !is_float(type) && type != Type::packed_float16 && type != Type::packed_float32) return {};
  if (type == Type::float16 && (form.select != Select::dword || form.result_in_high_half)) type = Type::packed_float16;
  return {{.vgpr = form.result, .type = type, .tolerance = instruction.tolerance}};
}

}  // namespace

std::string assembly_of(const VectorInstruction& instruction, const VectorForm& form) {
  const Operation& operation = instruction.operation;
  const bool sdwa = form.suffix == "_sdwa";
  std::ostringstream text;
  text << instruction.mnemonic << form.suffix << " ";
  if (operation.writes_value) text << registers('v', form.result, registers_of(operation.result)) << ", ";
  if (names_mask(instruction)) text << (form.mask_out_vcc ? vcc_text() : mask_registers(mask_out_sgpr)) << ", ";
  for (std::size_t i = 0; i < form.sources.size(); ++i) text << (i == 0 ? "" : ", ") << form.sources[i].text();
  if (operation.reads_condition && !instruction.implicit_vcc)
    text << ", " << (form.mask_in_vcc ? vcc_text() : mask_registers(mask_in_sgpr));
  if (!form.high_halves.empty()) {
    text << " op_sel:[";
    for (const bool high : form.high_halves) text << high << ",";
    text << form.result_in_high_half << "]";
  }
  if (form.clamp) text << " clamp";
  if (sdwa && operation.writes_value)
    text << " dst_sel:" << text_of(form.select) << " dst_unused:" << text_of(form.unused);
  for (std::size_t i = 0; sdwa && i < form.sources.size(); ++i)
    text << " src" << i << "_sel:" << text_of(form.sources[i].select);
  if (form.dpp) text << " " << form.dpp->text();
  if (!instruction.suffix.empty()) text << " " << instruction.suffix;
  return text.str();
}

Case case_of(const VectorInstruction& instruction, const VectorForm& form) {
  return {.assembly = assembly_of(instruction, form),
          .prepare = [=](MachineState& state, Random& random) { prepare(instruction, form, state, random); },
          .reference = [=](MachineState& state) { execute(instruction, form, state); },
          .float_results = float_results(instruction, form)};
}

VectorForm multiply_add_form(Type type, const VectorOperand& constant, bool last) {
  const VectorOperand a = vgpr(type, 0);
  const VectorOperand b = vgpr(type, 2);
  return {.sources = last ? std::vector{a, b, constant} : std::vector{a, constant, b}};
}

}  // namespace softgpu::isa
