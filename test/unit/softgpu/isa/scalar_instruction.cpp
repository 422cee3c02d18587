#include "scalar_instruction.hpp"

#include <array>
#include <sstream>

#include "vector_operand.hpp"

namespace softgpu::isa {
namespace {

constexpr unsigned result_sgpr = 16;

/// A register, a special register or a constant.
struct ScalarOperand {
  std::string text;
  bool in_register = false;
  unsigned sgpr = 0;
  std::function<u64(const MachineState&)> read;
};

ScalarOperand scalar_register(Type type, unsigned first) {
  return {.text = registers('s', first, registers_of(type)),
          .in_register = true,
          .sgpr = first,
          .read = [=](const MachineState& state) { return state.scalar_value(first, bytes_of(type)); }};
}
ScalarOperand scalar_constant(const VectorOperand& constant) {
  return {.text = constant.constant_text, .read = [bits = constant.constant](const MachineState&) { return bits; }};
}
ScalarOperand special_register(Type type) {
  if (bytes_of(type) == 8) return {.text = "exec", .read = [](const MachineState& state) { return state.exec; }};
  return {.text = "vcc_hi", .read = [](const MachineState& state) { return state.vcc >> 32; }};
}

class ScalarForms {
public:
  explicit ScalarForms(const ScalarInstruction& instruction)
      : instruction_(instruction), pick_(std::hash<std::string>()(instruction.mnemonic)) {
    for (std::size_t i = 0; i < sources().size(); ++i)
      in_registers_.push_back(scalar_register(sources()[i], 4 + static_cast<unsigned>(2 * i)));
  }

  std::vector<Case> cases() {
    if (instruction_.encoding == ScalarEncoding::sopk) {
      for (const int immediate : {0, 1, -1, 32767, -32768, 0x1234}) add_immediate(immediate);
      return std::move(made_);
    }
    add(in_registers_, result_sgpr);
    if (sources().empty()) return std::move(made_);
    const std::size_t last = sources().size() - 1;
    for (const std::size_t i : last == 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, last}) {
      constexpr std::array<int, 8> integers = {64, -16, 0, -1, 1, 17, 32, 63};
      add_with(i, scalar_constant(inline_integer(sources()[i], integers.at((pick_ + i) % integers.size()))));
      const bool is_half = bytes_of(sources()[i]) == 2;
      add_with(i, scalar_constant(literal(sources()[i], is_half ? 0x1234 : 0x12345678)));
      if (bytes_of(sources()[i]) == 8) add_with(i, scalar_constant(literal(sources()[i], 0x87654321)));
      add_with(i, special_register(sources()[i]));
      if (bytes_of(sources()[i]) <= 4) add_with(i, scalar_constant(inline_float(sources()[i], 0.5)));
    }
    if (operation().writes_value && registers_of(operation().result) == registers_of(sources()[last]))
      add(in_registers_, in_registers_[last].sgpr);  // the result replaces a source
    return std::move(made_);
  }

private:
  [[nodiscard]] const Operation& operation() const { return instruction_.operation; }
  [[nodiscard]] const std::vector<Type>& sources() const { return operation().sources; }

  void add_with(std::size_t source, ScalarOperand operand) {
    std::vector<ScalarOperand> operands = in_registers_;
    operands[source] = std::move(operand);
    add(std::move(operands), result_sgpr);
  }

  void add_immediate(int immediate) {
    std::vector<ScalarOperand> operands = in_registers_;
    const bool has_sign = operation().sources.back() == Type::int32;
    const u64 value = has_sign ? static_cast<u32>(immediate) : static_cast<u32>(immediate) & 0xffff;
    std::ostringstream text;
    text << "0x" << std::hex << (immediate & 0xffff);
    operands.back() = {.text = text.str(), .read = [value](const MachineState&) { return value; }};
    add(std::move(operands), result_sgpr);
  }

  void add(std::vector<ScalarOperand> operands, unsigned result) {
    std::ostringstream text;
    text << instruction_.mnemonic << " ";
    if (operation().writes_value) text << registers('s', result, registers_of(operation().result));
    for (std::size_t i = 0; i < operands.size(); ++i)
      text << (i == 0 && !operation().writes_value ? "" : ", ") << operands[i].text;
    made_.push_back(
        {.assembly = text.str(),
         .prepare = [row = instruction_, operands,
                     result](MachineState& state, Random& random) { prepare(row, operands, result, state, random); },
         .reference = [op = operation(), operands,
                       result](MachineState& state) { execute(op, operands, result, state); }});
  }

  static void prepare(const ScalarInstruction& row, const std::vector<ScalarOperand>& operands, unsigned result,
                      MachineState& state, Random& random) {
    const Type type = row.operation.result;
    state.set_scalar_value(result, bytes_of(type), interesting_value(type, random));
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Type source = row.operation.sources[i];
      const u64 bits = row.constrain(i, interesting_value(source, random));
      if (operands[i].in_register) state.set_scalar_value(operands[i].sgpr, bytes_of(source), bits);
    }
    if (operands.size() == 2 && operands[1].in_register && random() % 4 == 0) {  // equal operands are rare otherwise
      const u64 bits = operands[0].read(state);
      if (operands[0].in_register)
        state.set_scalar_value(operands[1].sgpr, bytes_of(row.operation.sources[1]), row.constrain(1, bits));
    }
  }

  static void execute(const Operation& operation, const std::vector<ScalarOperand>& operands, unsigned result,
                      MachineState& state) {
    Lane values;
    for (std::size_t i = 0; i < operands.size(); ++i) values.source.at(i) = operands[i].read(state);
    values.condition = state.scc != 0;
    values.old = state.scalar_value(result, bytes_of(operation.result));
    const u64 bits = operation.evaluate(values);
    if (operation.writes_value) state.set_scalar_value(result, bytes_of(operation.result), bits);
    if (operation.writes_mask) state.scc = values.mask ? 1 : 0;
  }

  const ScalarInstruction& instruction_;
  std::size_t pick_;
  std::vector<ScalarOperand> in_registers_;
  std::vector<Case> made_;
};

}  // namespace

std::vector<Case> cases_of(const ScalarInstruction& instruction) { return ScalarForms(instruction).cases(); }

}  // namespace softgpu::isa
