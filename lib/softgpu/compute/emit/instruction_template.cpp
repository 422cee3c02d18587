#include "softgpu/compute/emit/instruction_template.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace softgpu::compute {
namespace {

enum class File : std::uint8_t { scalar, vgpr, agpr };

/// Nothing for registers with a role of their own, such as VCC, EXEC and M0: these stay what they are.
std::optional<File> file_of(const Operand& operand) {
  if (operand.is_scalar() && operand.index + operand.dwords <= scalar_register::flat_scratch) return File::scalar;
  if (operand.is_vector()) return operand.index < first_agpr ? File::vgpr : File::agpr;
  return std::nullopt;
}

struct Range {
  File file;
  unsigned first;
  unsigned end;
};

/// In the order in which the instruction names them. Pairs of scalar registers stay pairs.
void add(std::vector<Range>& ranges, const Operand& operand) {
  const auto file = file_of(operand);
  if (!file) return;
  Range range{*file, operand.index, operand.index + std::max(1U, operand.dwords)};
  if (range.file == File::scalar) range = {range.file, range.first & ~1U, (range.end + 1) & ~1U};
  // Ranges that overlap become one.
  for (auto other = ranges.begin(); other != ranges.end();) {
    if (other->file != range.file || other->end <= range.first || range.end <= other->first) {
      ++other;
      continue;
    }
    range = {range.file, std::min(range.first, other->first), std::max(range.end, other->end)};
    other = ranges.erase(other);
  }
  ranges.push_back(range);
}

template <class Use>
void for_each_operand(Instruction& instruction, Use&& use) {
  for (Operand& operand : instruction.operands) use(operand);
  for (Instruction& half : instruction.halves) for_each_operand(half, use);
}

/// Whether all sources are of 32 bits: a constant is the same dword then as in a scalar register.
bool has_dword_sources(const Instruction& instruction) {
  constexpr std::array<std::string_view, 6> ends = {"_u32", "_i32", "_b32", "_f32", "_u24", "_i24"};
  // Sources are of other widths than the last letters say.
  constexpr std::array<std::string_view, 6> others = {"64", "_pk_", "dot", "mix", "mfma", "wmma"};
  const std::string_view mnemonic = instruction.mnemonic;
  if (instruction.encoding == Encoding::sdwa || instruction.encoding == Encoding::dpp) return false;
  return mnemonic.starts_with("v_") &&
         std::ranges::any_of(ends, [&](std::string_view end) { return mnemonic.ends_with(end); }) &&
         std::ranges::none_of(others, [&](std::string_view other) { return mnemonic.find(other) != mnemonic.npos; });
}

std::optional<std::uint32_t> dword_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::integer) return static_cast<std::uint32_t>(operand.value);
  if (operand.kind == Operand::Kind::real) return std::bit_cast<std::uint32_t>(static_cast<float>(operand.real));
  return std::nullopt;
}

/// Makes constants scalar registers, from `next` on.
void replace_constants(Instruction& instruction, unsigned& next, std::vector<InstructionTemplate::Registers>& made) {
  for (Instruction& half : instruction.halves) replace_constants(half, next, made);
  if (!has_dword_sources(instruction)) return;
  for (Operand& operand : instruction.operands) {
    const auto constant = dword_of(operand);
    if (!constant) continue;
    made.push_back({.are_vectors = false, .first = next, .count = 2, .constant = constant});
    operand = {.kind = Operand::Kind::scalar,
               .index = next,
               .negated = operand.negated,
               .absolute = operand.absolute,
               .text = {}};
    next += 2;
  }
}

class KeyText {
public:
  KeyText& operator<<(std::string_view text) {
    text_.append(std::to_string(text.size())).append(":").append(text);
    return *this;
  }
  KeyText& operator<<(std::uint64_t number) {
    text_.append(std::to_string(number)).append(",");
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  std::string text_;
};

/// Their fields are symbols in the text: an offset or a format.
bool reads_encoding(std::string_view mnemonic) {
  return mnemonic == "ds_swizzle_b32" || mnemonic.starts_with("tbuffer_");
}

void add(KeyText& key, const Instruction& instruction) {
  key << instruction.mnemonic << static_cast<std::uint64_t>(instruction.encoding);
  if (reads_encoding(instruction.mnemonic)) key << instruction.first_dword;
  key << instruction.operands.size();
  for (const Operand& operand : instruction.operands) {
    const bool is_register = operand.is_scalar() || operand.is_vector();
    key << static_cast<std::uint64_t>(operand.kind) << operand.index << operand.dwords
        << static_cast<std::uint64_t>(operand.value) << std::bit_cast<std::uint64_t>(operand.real)
        << (operand.is_literal | operand.negated << 1U | operand.absolute << 2U | operand.sign_extend << 3U)
        << (is_register ? std::string_view() : operand.text);
  }
  key << instruction.modifiers.size();
  for (const Modifier& modifier : instruction.modifiers) key << modifier.name << modifier.text;
  key << instruction.halves.size();
  for (const Instruction& half : instruction.halves) add(key, half);
}

}  // namespace

bool may_be_template(const Instruction& instruction) {
  constexpr std::array<std::string_view, 12> beginnings = {"v_",      "ds_",      "buffer_",        "tbuffer_",
                                                           "flat_",   "global_",  "scratch_",       "image_",
                                                           "s_load_", "s_store_", "s_buffer_load_", "s_buffer_store_"};
  const std::string_view mnemonic = instruction.mnemonic;
  // They reach registers that they do not name, or may stop their wavefront; or they take one lane.
  constexpr std::array<std::string_view, 5> others = {"v_movrel", "ds_gws_", "v_readlane_", "v_writelane_",
                                                      "v_readfirstlane_"};
  if (std::ranges::any_of(others, [&](std::string_view other) { return mnemonic.starts_with(other); })) return false;
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return mnemonic.starts_with(beginning); });
}

InstructionTemplate template_of(const Instruction& instruction) {
  InstructionTemplate result{.instruction = instruction, .registers = {}, .key = {}};
  std::vector<Range> ranges;
  for_each_operand(result.instruction, [&](const Operand& operand) { add(ranges, operand); });

  std::array<unsigned, 3> next = {0, 0, first_agpr};
  for (const Range& range : ranges) {
    unsigned& first = next.at(static_cast<std::size_t>(range.file));
    result.registers.push_back({.are_vectors = range.file != File::scalar,
                                .first = first,
                                .count = range.end - range.first,
                                .place = range.first});
    first += range.end - range.first;
  }
  for_each_operand(result.instruction, [&](Operand& operand) {
    const auto file = file_of(operand);
    if (!file) return;
    for (std::size_t n = 0; n < ranges.size(); ++n)
      if (ranges[n].file == *file && operand.index >= ranges[n].first && operand.index < ranges[n].end) {
        operand.index = result.registers[n].first + (operand.index - ranges[n].first);
        return;
      }
  });
  replace_constants(result.instruction, next.front(), result.registers);
  // A constant's place among them is not a scalar register's.
  std::ranges::sort(result.registers, {}, [](const auto& run) { return std::pair(run.are_vectors, run.first); });
  KeyText key;
  add(key, result.instruction);
  for (const auto& run : result.registers) key << std::uint64_t{run.are_vectors} << run.first << run.count;
  result.key = key.take();
  return result;
}

}  // namespace softgpu::compute
