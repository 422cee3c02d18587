#include "softgpu/compute/instruction_set/instruction.hpp"

#include <algorithm>
#include <charconv>

namespace softgpu::compute {
namespace {

std::int64_t parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

const Modifier* find(const std::vector<Modifier>& modifiers, std::string_view name) {
  const auto found =
      std::find_if(modifiers.begin(), modifiers.end(), [&](const Modifier& m) { return m.name == name; });
  if (found == modifiers.end()) return nullptr;
  found->read = true;
  return &*found;
}

}  // namespace

std::vector<std::int64_t> Modifier::numbers() const {
  std::string_view rest = text;
  if (rest.starts_with('[')) rest = rest.substr(1, rest.size() - 2);
  std::vector<std::int64_t> result;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    result.push_back(parse_number(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return result;
}

bool Instruction::has(std::string_view modifier) const { return find(modifiers, modifier) != nullptr; }

std::int64_t Instruction::number(std::string_view modifier, std::int64_t otherwise) const {
  return element(modifier, 0, otherwise);
}

std::optional<std::string_view> Instruction::word(std::string_view modifier) const {
  const Modifier* found = find(modifiers, modifier);
  if (found == nullptr) return std::nullopt;
  return found->text;
}

std::int64_t Instruction::element(std::string_view modifier, std::size_t index, std::int64_t otherwise) const {
  const Modifier* found = find(modifiers, modifier);
  if (found == nullptr) return otherwise;
  const auto numbers = found->numbers();
  return index < numbers.size() ? numbers[index] : otherwise;
}

std::int64_t Instruction::branch_target(const Operand& words) const {
  return offset + 4 + 4 * std::int64_t{static_cast<std::int16_t>(words.value)};
}

}  // namespace softgpu::compute
