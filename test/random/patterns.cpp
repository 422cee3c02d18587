#include "patterns.hpp"

namespace random_programs {
namespace {

constexpr Pattern integers[] = {
    {"{T}({t} + {t})", 1, 30},
    {"{T}({t} - {t})", 1, 30},
    {"product({t}, {t}, zero)", 2, 20},
    {"product({t}, {literal}, zero)", 2},
    {"{T}({t} & {t})", 1, 15},
    {"{T}({t} | {t})", 1, 15},
    {"{T}({t} ^ {t})", 1, 15},
    {"{T}(~{t})"},
    {"{T}(-{t})"},
    {"{T}({t} << {shift})", 1, 15},
    {"{T}({t} >> {shift})", 1, 15},
    {"{T}({t} << ({u32} & (width<{T}> - 1)))", 2, 15},
    {"{T}({t} >> ({u32} & (width<{T}> - 1)))", 2, 15},
    {"quotient({t}, {t}, zero)", 35, 3},
    {"remainder({t}, {t}, zero)", 35, 3},
    {"{T}(hide({t}, zero) / {positive})", 5, 8},
    {"{T}(hide({t}, zero) % {positive})", 7, 8},
    {"high_product({t}, {t}, zero)", 4},
    {"{T}(wide_product({u32}, {u32}, zero))", 3, 5},
    {"{T}(wide_product({i32}, {i32}, zero))", 3, 5},
    {"{T}(product_24({u32}, {u32}))", 3, 5},
    {"{T}(product_24({i32}, {i32}))", 3, 5},
    {"minimum({t}, {t})", 1, 15},
    {"maximum({t}, {t})", 1, 15},
    {"minimum(maximum({t}, {literal}), {literal})", 1, 8},
    {"absolute({t})"},
    {"rotate_left({t}, {u32})"},
    {"rotate_left({t}, {shift})"},
    {"leading_zeros({t})", 3, 8},
    {"trailing_zeros({t})", 3, 8},
    {"population({t})", 1, 8},
    {"reverse_bits({t})", 1, 5},
    {"reverse_bytes({t})", 1, 5},
    {"field({t}, {field})"},
    {"{T}(field({u}, {field}))"},
    {"{T}(({t} >> ({u32} & (width<{T}> - 1))) & {mask})", 2},
    {"select_bits({t}, {t}, {t})", 1, 8},
    {"select_bits({T}({mask}), {t}, {t})", 1, 8},
    {"{T}({T}({t} << {shift}) + {t})"},
    {"{T}({t} + {t} + {t})", 1, 8},
    {"sum_saturated({t}, {t})", 2, 8},
    {"difference_saturated({t}, {t})", 2, 8},
    {"{T}(pack_bytes({u32}, {u32}, {u32}, {u32}))", 3, 5},
    {"{T}(pack_bytes({u32} >> 8, {u32}, {u32} >> 24, {u32} >> 16))", 3, 5},
    {"{T}(pack_halves({u32}, {u32}))", 1, 5},
    {"{T}(pack_halves({u32} >> 16, {u32} >> 16))", 1, 5},
    {"{T}(dot({u8x4}, {u8x4}, {u32}))", 6, 3},
    {"{T}(dot({i8x4}, {i8x4}, {i32}))", 6, 3},
    {"{T}(dot({u16x2}, {u16x2}, {u32}))", 3, 3},
    {"{T}(dot({i16x2}, {i16x2}, {i32}))", 3, 3},
    {"({condition} ? {t} : {t})", 1, 30},
    {"{T}({condition})", 1, 5},
    {"{T}({integer})", 1, 25},
    {"to_integer<{T}>({real})", 5, 8},
    {"to_integer<{T}>({f16})", 5, 3},
    {"{T}(bits_of({f32}))", 2, 5},
    {"{T}(bits_of({f64}))", 2, 3},
    {"{T}(bits_of({f16}))", 2, 3},
    {"__builtin_bit_cast({T}, {same bits})", 1, 8},
    {"{T}({call})", 5},
};

// Of halves, there are quotients and roots by way of f32: correctly rounded on both sides.
constexpr Pattern floats[] = {
    {"{T}({t} + {t})", 1, 30},
    {"{T}({t} - {t})", 1, 30},
    {"{T}({t} * {t})", 1, 30},
    {"{T}({t} * {literal})"},
    {"{T}({t} + {literal})"},
    {"{T}(-{t})"},
    {"ratio({t}, {t})", 10, 8},
    {"root(__builtin_elementwise_abs({t}))", 12, 6},
    {"lesser({t}, {t})", 2},
    {"greater({t}, {t})", 2},
    {"lesser(greater({t}, {T}(0)), {T}(1))", 3, 5},
    {"lesser(greater({t}, {t}), {t})", 3, 5},
    {"({t} {comparison} {t} ? {t} : {t})", 1},
    {"__builtin_elementwise_abs({t})"},
    {"__builtin_elementwise_floor({t})", 1, 5},
    {"__builtin_elementwise_ceil({t})", 1, 5},
    {"__builtin_elementwise_trunc({t})", 1, 5},
    {"nearest({t})", 1, 5},
    {"with_sign({t}, {t})", 2, 5},
    {"({condition} ? {t} : {t})", 1, 20},
    {"from_bits<{T}>({u})", 2, 6},
    {"{T}({small})", 1, 15},
    {"{T}({real})", 1, 15},
    {"{T}({f16})", 1, 8},
};

constexpr Pattern reals[] = {
    {"fused({t}, {t}, {t})", 1, 40},
    {"fused({t}, {literal}, {t})", 1, 20},
    {"{T}({integer})", 4, 20},
};

constexpr Pattern vectors[] = {
    {"({t} + {t})", 1, 30},
    {"({t} - {t})", 1, 30},
    {"({t} * {t})", 1, 30},
    {"(-{t})"},
    {"({t} + {T}({literal}))"},
    {"({variable} - {T}{{constants}})"},
    {"({t} * {T}({literal}))"},
    {"({variable} * {T}{{constants}})"},
    {"({t} {comparison} {t} ? {t} : {t})", 2, 30},
    {"({condition} ? {t} : {t})", 1, 20},
    {"{T}{{elements}}", 1, 20},
    {"{T}({e})", 1, 20},
    {"__builtin_shufflevector({t}, {t}, {shuffle})", 1, 30},
    {"__builtin_convertvector({converted}, {T})", 1, 15},
};

constexpr Pattern integer_vectors[] = {
    {"({t} & {t})", 1, 15},
    {"({t} | {t})", 1, 15},
    {"({t} ^ {t})", 1, 15},
    {"({variable} ^ {T}{{constants}})"},
    {"__builtin_elementwise_min({variable}, {T}{{constants}})"},
    {"__builtin_elementwise_max({variable}, {T}{{constants}})"},
    {"({variable} >> ({T}{{constants}} & {T}(width<{E}> - 1)))"},
    {"({T}{{constants}} << ({variable} & {T}(width<{E}> - 1)))"},
    {"(~{t})"},
    {"({t} << {T}({shift}))", 1, 15},
    {"({t} >> {T}({shift}))", 1, 15},
    {"({t} << ({t} & {T}(width<{E}> - 1)))", 2, 15},
    {"({t} >> ({t} & {T}(width<{E}> - 1)))", 2, 15},
    {"({T}({literal}) >> ({t} & {T}(width<{E}> - 1)))", 2},
    {"__builtin_elementwise_min({t}, {t})", 1, 15},
    {"__builtin_elementwise_max({t}, {t})", 1, 15},
    {"__builtin_elementwise_max(__builtin_elementwise_min({t}, {T}({literal})), {T}({literal}))", 2},
    {"__builtin_elementwise_add_sat({t}, {t})", 1},
    {"__builtin_elementwise_sub_sat({t}, {t})", 1},
    {"same_bits<{T}>({same bits}, zero)", 1, 25},
    {"({t} * {t} + {t})", 1, 20},
};

constexpr Pattern float_vectors[] = {
    {"lesser({t}, {t})", 2, 15},        {"greater({t}, {t})", 2, 15},
    {"__builtin_elementwise_abs({t})"}, {"({t} * -__builtin_elementwise_abs({t}))"},
    {"({t} * {t} + {t})", 1, 20},
};

constexpr Pattern f32_vectors[] = {
    {"fused({t}, {t}, {t})", 1, 40},
};

constexpr Pattern conditions[] = {
    {"{compared}", 1, 60},
    {"({condition} && {condition})", 1, 15},
    {"({condition} || {condition})", 1, 15},
    {"!{condition}"},
    {"({condition} != {condition})"},
    {"(({u32} & {mask}) == 0)", 1, 20},
    {"(({i32} >> {shift}) & 1) != 0", 1},
    {"is_nan({f32})", 1, 4},
    {"is_nan({f64})", 1, 4},
    {"overflows({u32}, {u32})", 1, 5},
    {"overflows({i32}, {i32})", 3, 5},
    {"overflows({u64}, {u64})", 2, 5},
};

/// The tables that make one type's patterns, in one piece.
template <std::size_t... sizes>
constexpr auto joined(const Pattern (&... tables)[sizes]) {
  std::array<Pattern, (sizes + ...)> result;
  std::size_t count = 0;
  const auto append = [&](const auto& table) {
    for (const Pattern& pattern : table) result[count++] = pattern;
  };
  (append(tables), ...);
  return result;
}

constexpr auto real_patterns = joined(floats, reals);
constexpr auto integer_vector_patterns = joined(vectors, integer_vectors);
constexpr auto half_vector_patterns = joined(vectors, float_vectors);
constexpr auto float_vector_patterns = joined(vectors, float_vectors, f32_vectors);

}  // namespace

std::span<const Pattern> patterns_of(ValueType type) {
  if (type.is_integer()) {
    if (type.is_vector()) return integer_vector_patterns;
    return integers;
  }
  if (type.is_vector()) {
    if (type.bits == 16) return half_vector_patterns;
    return float_vector_patterns;
  }
  if (type.bits == 16) return floats;
  return real_patterns;
}

std::span<const Pattern> condition_patterns() { return conditions; }

}  // namespace random_programs
