#include "softgpu/compute/program/scalar_constants.hpp"

#include <bit>
#include <span>

#include "softgpu/compute/program/program.hpp"

namespace softgpu::compute {

std::optional<std::uint32_t> ScalarConstants::value(const Operand& operand) const {
  if (operand.kind == Operand::Kind::integer) return static_cast<std::uint32_t>(operand.value);
  if (!operand.is_scalar() || operand.dwords != 1) return std::nullopt;
  return values_.at(operand.index);
}

std::optional<std::uint64_t> ScalarConstants::pair(const Operand& operand) const {
  if (!operand.is_scalar() || operand.dwords != 2 || operand.index + 1 >= values_.size()) return std::nullopt;
  const auto low = values_.at(operand.index);
  const auto high = values_.at(operand.index + 1);
  if (!low || !high) return std::nullopt;
  return *low | std::uint64_t{*high} << 32;
}

void ScalarConstants::set(unsigned index, std::optional<std::uint32_t> value) {
  if (index < values_.size()) values_.at(index) = value;
}

void ScalarConstants::set_pair(unsigned index, std::optional<std::uint64_t> value) {
  set(index, value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt);
  set(index + 1, value ? std::optional(static_cast<std::uint32_t>(*value >> 32)) : std::nullopt);
}

void ScalarConstants::add(const Instruction& instruction, std::optional<unsigned> carry_in) {
  const auto a = value(instruction.operands[1]);
  const auto b = value(instruction.operands[2]);
  carry_.reset();
  set(instruction.operands[0].index, std::nullopt);
  if (!a || !b || !carry_in) return;
  const std::uint64_t sum = std::uint64_t{*a} + *b + *carry_in;
  carry_ = static_cast<unsigned>(sum >> 32);
  set(instruction.operands[0].index, static_cast<std::uint32_t>(sum));
}

void ScalarConstants::follow(const Instruction& instruction, std::uint64_t entry) {
  const auto& operands = instruction.operands;
  if (operands.empty() || !operands[0].is_scalar()) return;
  const Operand& destination = operands[0];
  const std::uint64_t next = entry + static_cast<std::uint64_t>(instruction.offset) + instruction.size;
  if (instruction.mnemonic == "s_getpc_b64" || instruction.mnemonic == "s_swappc_b64" ||
      instruction.mnemonic == "s_call_b64")
    return set_pair(destination.index, next);
  if (instruction.mnemonic == "s_add_u32" && operands.size() > 2) return add(instruction, 0);
  if (instruction.mnemonic == "s_addc_u32" && operands.size() > 2) return add(instruction, carry_);
  if (instruction.mnemonic == "s_sext_i32_i16" && operands.size() > 1) {  // of addresses of 48 bits, on RDNA4
    const auto half = value(operands[1]);
    return set(destination.index,
               half ? std::optional(static_cast<std::uint32_t>(static_cast<std::int16_t>(*half))) : std::nullopt);
  }
  if (instruction.mnemonic == "s_mov_b32" && operands.size() > 1) return set(destination.index, value(operands[1]));
  if (instruction.mnemonic == "s_mov_b64" && operands.size() > 1) return set_pair(destination.index, pair(operands[1]));
  if (instruction.mnemonic == "s_load_dwordx2" && operands.size() > 2) {
    const auto base = pair(operands[1]);
    std::optional<std::uint64_t> loaded;
    std::uint64_t bits = 0;
    if (base && operands[2].kind == Operand::Kind::integer &&
        read_memory(*base + static_cast<std::uint64_t>(operands[2].value),
                    std::as_writable_bytes(std::span(&bits, 1))) == sizeof bits)
      loaded = bits;
    return set_pair(destination.index, loaded);
  }
  for (unsigned i = 0; i < destination.dwords; ++i) set(destination.index + i, std::nullopt);
}

}  // namespace softgpu::compute
