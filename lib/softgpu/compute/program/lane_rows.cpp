#include "softgpu/compute/program/lane_rows.hpp"

#include <algorithm>
#include <string_view>

namespace softgpu::compute {
namespace {

constexpr unsigned id_bits = 10;

}  // namespace

bool is_constant(const Operand& operand) { return operand.kind == Operand::Kind::integer; }

bool are_vector_registers(const Operand& operand, unsigned dwords) {
  return operand.is_vector() && operand.dwords == dwords && operand.index + dwords <= LaneRows::register_count;
}

std::optional<unsigned> constant_shift(const Operand& operand, unsigned most) {
  if (!is_constant(operand) || operand.value < 0 || operand.value > most) return std::nullopt;
  return static_cast<unsigned>(operand.value);
}

void LaneRows::begin_with_ids(unsigned count) {
  for (unsigned n = 0; n < count; ++n) rows_.at(n) = LaneRow{};
  rows_[0] = LaneRow{.stride = 1, .is_packed_ids = count == 1};
}

std::optional<LaneRow> LaneRows::row(const Operand& operand) const {
  if (are_vector_registers(operand, 1)) return rows_.at(operand.index);
  if (is_constant(operand) || (operand.is_scalar() && operand.dwords == 1)) return LaneRow{};
  return std::nullopt;
}

LaneWord LaneRows::word(const Operand& operand) {
  return operand.is_vector() ? LaneWord{.vector = operand.index} : LaneWord{.operand = &operand};
}

// --- Instructions

std::optional<LaneRows::Made> LaneRows::sum(const Operand& to, std::initializer_list<Summand> summands) const {
  Made made{.to = to.index};
  std::uint32_t stride = 0;
  auto term = made.step.terms.begin();
  for (const Summand& summand : summands) {
    const auto row = this->row(summand.operand);
    if (!row) return std::nullopt;
    stride += row->stride * summand.factor;
    *term++ = LaneTerm{word(summand.operand), summand.factor};
    // A copy of the ids is their row, too.
    made.row.is_packed_ids = row->is_packed_ids && summands.size() == 1 && summand.factor == 1;
  }
  if (stride > most_stride) return std::nullopt;
  made.row.stride = static_cast<std::uint8_t>(stride);
  return made;
}

std::optional<LaneRows::Made> LaneRows::short_product(const Operand& to, const Operand& a, const Operand& b) const {
  const auto first = row(a);
  const auto second = row(b);
  if (!first || !second || !first->is_uniform() || !second->is_uniform()) return std::nullopt;
  return Made{.step = {.factors = {{word(a), word(b)}}, .factor_bits = 24}, .to = to.index};
}

std::optional<LaneRows::Made> LaneRows::product(const Operand& to, const Operand& a, const Operand& b) const {
  if (is_constant(a)) return sum(to, {{b, static_cast<std::uint32_t>(a.value)}});
  if (is_constant(b)) return sum(to, {{a, static_cast<std::uint32_t>(b.value)}});
  auto made = short_product(to, a, b);
  if (made) made->step.factor_bits = 32;
  return made;
}

std::optional<LaneRows::Made> LaneRows::plus(std::optional<Made> made, const std::optional<LaneRow>& row,
                                             const LaneWord& word) {
  if (!made || !row || made->row.stride + row->stride > most_stride) return std::nullopt;
  made->row.stride = static_cast<std::uint8_t>(made->row.stride + row->stride);
  made->row.is_packed_ids = false;
  *std::ranges::find_if(made->step.terms, [](const auto& term) { return !term; }) = LaneTerm{word};
  return made;
}

/// No lane's x carries into y: x is less than 2^10 in all of a row.
std::optional<LaneRows::Made> LaneRows::id(const Operand& to, const Operand& ids, unsigned first_bit) const {
  const auto row = this->row(ids);
  if (!row || !row->is_packed_ids) return std::nullopt;
  Made made{.step = {.first_bit = first_bit, .bits = id_bits}, .to = to.index};
  made.step.terms[0] = LaneTerm{word(ids)};
  made.row.stride = first_bit == 0 ? 1 : 0;
  return made;
}

std::optional<LaneRows::Made> LaneRows::id(const Instruction& i) const {
  const auto& operand = i.operands;
  if (i.mnemonic == "v_bfe_u32" && operand.size() == 4) {
    const auto first = constant_shift(operand[2], 2 * id_bits);
    if (first && *first % id_bits == 0 && constant_shift(operand[3], id_bits) == id_bits)
      return id(operand[0], operand[1], *first);
  }
  if (i.mnemonic == "v_and_b32" && operand.size() == 3) {
    constexpr unsigned mask = (1U << id_bits) - 1;
    if (constant_shift(operand[1], mask) == mask) return id(operand[0], operand[2], 0);
    if (constant_shift(operand[2], mask) == mask) return id(operand[0], operand[1], 0);
  }
  if (i.mnemonic == "v_lshrrev_b32" && operand.size() == 3 && constant_shift(operand[1], 31) == 2 * id_bits)
    return id(operand[0], operand[2], 2 * id_bits);
  return std::nullopt;
}

std::optional<LaneRows::Made> LaneRows::make(const Instruction& i) const {
  const std::string_view name = i.mnemonic;
  const auto& operand = i.operands;
  if (operand.empty() || !operand[0].is_vector() || operand[0].index >= register_count) return std::nullopt;
  const Operand& to = operand[0];
  const auto power = [](unsigned shift) { return std::uint32_t{1} << shift; };
  if (operand.size() == 2 && name == "v_mov_b32") return sum(to, {{operand[1]}});
  if (operand.size() == 3) {
    const Operand& a = operand[1];
    const Operand& b = operand[2];
    constexpr auto minus_1 = ~std::uint32_t{0};
    if (name == "v_add_u32") return sum(to, {{a}, {b}});
    if (name == "v_sub_u32") return sum(to, {{a}, {b, minus_1}});
    if (name == "v_subrev_u32") return sum(to, {{a, minus_1}, {b}});
    if (name == "v_mul_lo_u32") return product(to, a, b);
    if (name == "v_mul_u32_u24") return short_product(to, a, b);
    if (name == "v_lshlrev_b32")
      if (const auto shift = constant_shift(a, 31)) return sum(to, {{b, power(*shift)}});
  }
  if (operand.size() == 4) {
    const Operand& a = operand[1];
    const Operand& b = operand[2];
    const Operand& c = operand[3];
    if (name == "v_add3_u32") return sum(to, {{a}, {b}, {c}});
    if (name == "v_mad_u32_u24") return plus(short_product(to, a, b), row(c), word(c));
    if (name == "v_lshl_add_u32")
      if (const auto shift = constant_shift(b, 31)) return sum(to, {{a, power(*shift)}, {c}});
    if (name == "v_add_lshl_u32")
      if (const auto shift = constant_shift(c, 31)) return sum(to, {{a, power(*shift)}, {b, power(*shift)}});
  }
  if (operand.size() == 5 && name == "v_mad_u64_u32") {
    const Operand& added = operand[4];
    if (is_constant(added)) return plus(product(to, operand[2], operand[3]), LaneRow{}, word(added));
    if (are_vector_registers(added, 2)) return plus(product(to, operand[2], operand[3]), at(added.index), word(added));
  }
  return id(i);
}

void LaneRows::take(const Made& made, ExecBounds::Level level) {
  rows_.at(made.to) = made.row;
  rows_.at(made.to)->level = level;
}

// --- What does not hold any more

void LaneRows::forget_levels(unsigned kept) {
  for (auto& row : rows_)
    if (row && row->level >= kept) row.reset();
}

bool LaneRows::join(const LaneRows& other) {
  bool is_less = false;
  for (unsigned index = 0; index < register_count; ++index) {
    auto& mine = rows_.at(index);
    const auto& its = other.rows_.at(index);
    if (!mine) continue;
    if (!its || its->stride != mine->stride) {
      mine.reset();
      is_less = true;
      continue;
    }
    is_less |= its->level > mine->level || (mine->is_packed_ids && !its->is_packed_ids);
    mine->level = std::max(mine->level, its->level);
    mine->is_packed_ids &= its->is_packed_ids;
  }
  return is_less;
}

}  // namespace softgpu::compute
