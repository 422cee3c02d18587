#include "softgpu/compute/instruction_set/decoder.hpp"

#include "softgpu/compute/instruction_set/disassembler_quirks.hpp"
#include "softgpu/compute/instruction_set/register_halves.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

namespace softgpu::compute {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The length of the part of `text` before the first of `separators` that no bracket encloses.
std::size_t piece_length(std::string_view text, std::string_view separators) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 && separators.find(c) != std::string_view::npos) return i;
  }
  return text.size();
}

bool unwrap(std::string_view& text, std::string_view opening, std::string_view closing) {
  if (!text.starts_with(opening) || !text.ends_with(closing) || text.size() <= opening.size()) return false;
  text = text.substr(opening.size(), text.size() - opening.size() - closing.size());
  return true;
}

bool parse_unsigned(std::string_view text, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// v5, s[2:3], a[0:3]: `number` is the text behind the letter.
bool parse_register(std::string_view number, Operand& operand) {
  if (!unwrap(number, "[", "]")) return parse_unsigned(number, operand.index);
  const std::size_t colon = number.find(':');
  unsigned last = 0;
  if (colon == std::string_view::npos || !parse_unsigned(number.substr(0, colon), operand.index) ||
      !parse_unsigned(number.substr(colon + 1), last) || last < operand.index)
    return false;
  operand.dwords = last - operand.index + 1;
  return true;
}

bool parse_named_scalar(std::string_view text, Operand& operand) {
  struct Named {
    std::string_view name;
    unsigned index, dwords;
  };
  static constexpr Named names[] = {
      {"vcc", 106, 2},
      {"vcc_lo", 106, 1},
      {"vcc_hi", 107, 1},
      {"exec", 126, 2},
      {"exec_lo", 126, 1},
      {"exec_hi", 127, 1},
      {"m0", 124, 1},
      {"flat_scratch", 102, 2},
      {"flat_scratch_lo", 102, 1},
      {"flat_scratch_hi", 103, 1},
      {"xnack_mask", 104, 2},
      {"xnack_mask_lo", 104, 1},
      {"xnack_mask_hi", 105, 1},
  };
  for (const Named& named : names) {
    if (named.name != text) continue;
    operand.kind = Operand::Kind::scalar;
    operand.index = named.index;
    operand.dwords = named.dwords;
    return true;
  }
  return false;
}

bool parse_constant(std::string_view text, Operand& operand) {
  const bool is_marked = unwrap(text, "lit(", ")");  // a literal, for a number that is also an inline one
  const std::string digits(text);
  char* end = nullptr;
  if (text.find('.') != std::string_view::npos) {
    operand.real = std::strtod(digits.c_str(), &end);
    operand.kind = Operand::Kind::real;
  } else {
    operand.is_literal = is_marked || text.starts_with("0x") || text.starts_with("-0x");
    operand.value = text.starts_with('-') ? std::strtoll(digits.c_str(), &end, 0)
                                          : static_cast<std::int64_t>(std::strtoull(digits.c_str(), &end, 0));
    operand.kind = Operand::Kind::integer;
  }
  return !digits.empty() && *end == '\0';
}

Operand parse_operand(std::string_view text) {
  Operand operand;
  operand.text = text;
  operand.sign_extend = unwrap(text, "sext(", ")");
  if (unwrap(text, "neg(", ")")) {
    operand.negated = true;
  } else if (text.size() > 1 && text.front() == '-' && (text[1] < '0' || text[1] > '9')) {
    operand.negated = true;
    text.remove_prefix(1);
  }
  operand.absolute = unwrap(text, "|", "|");

  const bool named = parse_named_scalar(text, operand);
  if (named) return operand;
  if (text == "null") {
    operand.kind = Operand::Kind::null;
    return operand;
  }
  if (text.starts_with('v') && (text.ends_with(".l") || text.ends_with(".h"))) {
    operand.is_upper_half = text.ends_with('h');
    text.remove_suffix(2);
  }
  if (text.starts_with('v') && parse_register(text.substr(1), operand)) {
    operand.kind = Operand::Kind::vector;
  } else if (text.starts_with('a') && parse_register(text.substr(1), operand)) {
    operand.kind = Operand::Kind::vector;
    operand.index += first_agpr;
  } else if (text.starts_with('s') && parse_register(text.substr(1), operand)) {
    operand.kind = Operand::Kind::scalar;
  } else if (!parse_constant(text, operand)) {
    operand.kind = Operand::Kind::symbol;
  }
  return operand;
}

Modifier parse_modifier(std::string_view text) {
  const std::size_t colon = piece_length(text, ":");
  Modifier modifier;
  modifier.name = text.substr(0, colon);
  if (colon < text.size()) modifier.text = text.substr(colon + 1);
  return modifier;
}

/// A list of registers, as image instructions have of addresses, is as many operands: [v3, v7, v[9:10]].
void add_operands(Instruction& instruction, std::string_view text) {
  if (!unwrap(text, "[", "]")) {
    instruction.operands.push_back(parse_operand(text));
    return;
  }
  while (!text.empty()) {
    const std::size_t end = piece_length(text, ",");
    instruction.operands.push_back(parse_operand(trim(text.substr(0, end))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Takes the encodings' suffixes off the mnemonic; v_add_f32_e64_dpp has two of them.
void split_suffix(Instruction& instruction) {
  static constexpr std::pair<std::string_view, Encoding> suffixes[] = {
      {"_e32", Encoding::e32}, {"_e64", Encoding::e64}, {"_sdwa", Encoding::sdwa}, {"_dpp", Encoding::dpp}};
  for (const auto& [suffix, encoding] : suffixes) {
    if (!instruction.mnemonic.ends_with(suffix)) continue;
    instruction.mnemonic.resize(instruction.mnemonic.size() - suffix.size());
    instruction.encoding = encoding;
    if (encoding == Encoding::dpp && instruction.mnemonic.ends_with("_e64"))
      instruction.mnemonic.resize(instruction.mnemonic.size() - 4);
    return;
  }
}

/// v_dual_mov_b32 v0, v1 :: v_dual_add_f32 v3, v4, v5: each half becomes an instruction of its own.
Instruction parse_halves(std::string_view text, std::size_t separator) {
  constexpr std::string_view dual = "v_dual_";
  Instruction both;
  both.text = text;
  both.mnemonic = text.substr(0, text.find_first_of(" \t"));
  for (const std::string_view half : {trim(text.substr(0, separator)), trim(text.substr(separator + 2))}) {
    if (!half.starts_with(dual)) return both;  // no handler knows it
    both.halves.push_back(parse_instruction("v_" + std::string(half.substr(dual.size()))));
  }
  for (Instruction& half : both.halves) {
    half.text = text;
    if (half.mnemonic != "v_cndmask_b32") continue;
    half.operands.push_back(parse_operand("vcc_lo"));  // not printed; VOPD is for wavefronts of 32 lanes
  }
  return both;
}

}  // namespace

Instruction parse_instruction(std::string_view text) {
  text = trim(text);
  if (const std::size_t separator = text.find("::"); separator != std::string_view::npos)
    return parse_halves(text, separator);
  Instruction instruction;
  instruction.text = text;
  const std::size_t mnemonic = piece_length(text, " \t");
  instruction.mnemonic = text.substr(0, mnemonic);
  split_suffix(instruction);

  std::string_view rest = trim(text.substr(mnemonic));
  // What begins with a modifier, as "ds_gws_sema_v offset:3 gds" does, has no operands.
  const std::size_t first = piece_length(rest, ", ");
  bool is_operand = !rest.empty() && piece_length(rest.substr(0, first), ":") == first;
  while (is_operand) {
    const std::size_t end = piece_length(rest, ", ");
    add_operands(instruction, rest.substr(0, end));
    is_operand = end < rest.size() && rest[end] == ',';
    rest = trim(rest.substr(std::min(end + (is_operand ? 1 : 0), rest.size())));
  }
  while (!rest.empty()) {
    const std::size_t end = piece_length(rest, " ");
    instruction.modifiers.push_back(parse_modifier(rest.substr(0, end)));
    rest = trim(rest.substr(end));
  }
  return instruction;
}

Disassembler::Disassembler(const Target& target) : target_(target), context_(nullptr, LLVMDisasmDispose) {
  static const bool initialized = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  static_cast<void>(initialized);
  const std::string processor(target.architecture->llvm_processor);
  const char* features = "";
  if (target.architecture->has_both_wavefront_sizes)
    features = target.wavefront_size == 32 ? "+wavefrontsize32" : "-wavefrontsize32,+wavefrontsize64";
  context_.reset(
      LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", processor.c_str(), features, nullptr, 0, nullptr, nullptr));
  if (!context_) throw std::runtime_error("LLVM has no disassembler for amdgcn-amd-amdhsa " + processor);
}

std::optional<Instruction> Disassembler::decode(std::span<const std::byte> code, std::int64_t offset) const {
  std::array<std::uint8_t, longest> bytes = {};
  const std::size_t available = std::min(code.size(), bytes.size());
  for (std::size_t i = 0; i < available; ++i) bytes[i] = std::to_integer<std::uint8_t>(code[i]);
  if (ends_disassembler(std::span(bytes).first<8>(), target_)) return std::nullopt;
  std::array<std::uint32_t, 2> dwords = {};
  std::memcpy(dwords.data(), bytes.data(), sizeof dwords);
  std::array<char, 512> text = {};
  // LLVM 21 crashes where the code ends in front of a literal. Here zeros are behind it.
  const auto disassemble = [&] {
    const std::size_t size =
        LLVMDisasmInstruction(context_.get(), bytes.data(), bytes.size(), 0, text.data(), text.size());
    return size <= available ? size : 0;
  };
  std::size_t size = disassemble();
  std::optional<std::string_view> replaced;
  if (size == 0 && target_.architecture->names_register_halves) {
    replaced = replace_unknown_move(std::span(bytes).first(available));
    if (replaced) size = disassemble();
  }
  bool is_cmpx = false;
  if (size == 0 && !target_.architecture->compares_write_only_exec) {
    is_cmpx = make_cmp_of_cmpx(std::span(bytes).first(available));
    if (is_cmpx) size = disassemble();
  }
  std::optional<HighRegisters> high;
  if (target_.architecture->names_register_halves &&
      (size == 0 || std::string_view(text.data()).find("/*Invalid register") != std::string_view::npos)) {
    high.emplace(std::span(bytes).first(available));
    size = high->are_there() ? disassemble() : 0;
  }
  if (size == 0) return std::nullopt;
  Instruction instruction = parse_instruction(text.data());
  if (high && !high->restore(instruction)) return std::nullopt;
  const auto rename = [&](std::string name) {
    instruction.text.replace(0, instruction.mnemonic.size(), name);
    instruction.mnemonic = std::move(name);
  };
  if (replaced) rename(std::string(*replaced));
  if (is_cmpx) rename("v_cmpx" + instruction.mnemonic.substr(std::string_view("v_cmp").size()));
  const auto finish = [&](Instruction& each) {
    each.offset = offset;
    each.size = static_cast<std::uint32_t>(size);
    each.first_dword = dwords[0];
    each.second_dword = dwords[1];
    each.mnemonic = target_.architecture->canonical_mnemonic(std::move(each.mnemonic));
  };
  finish(instruction);
  for (Instruction& half : instruction.halves) finish(half);
  correct(instruction, target_);
  return instruction;
}

}  // namespace softgpu::compute
