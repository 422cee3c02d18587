#include "softgpu/compute/emit/rounding.hpp"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cstdlib>
#include <string>

#include "softgpu/compute/program/program.hpp"

namespace softgpu::compute {
namespace {

constexpr std::string_view single_results[] = {
    "v_add_f32",     "v_sub_f32",     "v_subrev_f32",  "v_mul_f32",     "v_mul_legacy_f32", "v_mac_f32",
    "v_mad_f32",     "v_madmk_f32",   "v_madak_f32",   "v_fmac_f32",    "v_mad_legacy_f32", "v_fma_f32",
    "v_cvt_f32_f64", "v_cvt_f32_i32", "v_cvt_f32_u32", "v_fma_mix_f32", "v_pk_add_f32",     "v_pk_mul_f32",
    "v_pk_fma_f32",  "v_fmamk_f32",   "v_fmaak_f32"};
constexpr std::string_view double_and_half_results[] = {
    "v_add_f64",        "v_mul_f64",    "v_fma_f64",        "v_fmac_f64",    "v_add_f16",       "v_sub_f16",
    "v_subrev_f16",     "v_mul_f16",    "v_mac_f16",        "v_mad_f16",     "v_madmk_f16",     "v_madak_f16",
    "v_mad_legacy_f16", "v_fma_f16",    "v_fma_legacy_f16", "v_cvt_f16_f32", "v_cvt_f16_u16",   "v_cvt_f16_i16",
    "v_pk_add_f16",     "v_pk_mul_f16", "v_pk_fma_f16",     "v_pk_fmac_f16", "v_fma_mixlo_f16", "v_fma_mixhi_f16",
    "v_fmac_f16",       "v_fmamk_f16",  "v_fmaak_f16"};
constexpr std::string_view independent[] = {
    "v_min",           "v_max",     "v_med3",    "v_trunc",  "v_ceil",  "v_floor",       "v_rndne",
    "v_exp",           "v_log",     "v_rcp",     "v_rsq",    "v_sqrt",  "v_sin",         "v_cos",
    "v_frexp",         "v_cube",    "v_dot",     "v_cvt_u",  "v_cvt_i", "v_cvt_f32_f16", "v_cvt_f32_bf16",
    "v_cvt_f32_ubyte", "v_cvt_f64", "v_cvt_off", "v_cvt_pk", "v_cvt_hi"};

/// A scalar floating-point instruction (s_add_f32, v_s_exp_f32) rounds as the vector instruction of its name.
std::string as_vector_instruction(std::string_view mnemonic) {
  std::string name(mnemonic);
  if (name.starts_with("v_s_")) name.erase(0, 2);
  if (name.starts_with("s_")) name.front() = 'v';
  return name;
}

/// s_setreg of denormals and of the IEEE mode is common, and begins at bit 4 or higher.
bool sets_rounding(const Instruction& instruction) {
  if (instruction.mnemonic == "s_round_mode") return true;
  if (!instruction.mnemonic.starts_with("s_setreg_") || instruction.operands.empty()) return false;
  const std::string& field = instruction.operands.at(0).text;
  if (!field.starts_with("hwreg(HW_REG_MODE")) return false;
  const std::size_t comma = field.find(',');
  return comma == std::string::npos || std::strtoul(field.c_str() + comma + 1, nullptr, 10) < 4;
}

}  // namespace

std::optional<unsigned> rounding_shift(std::string_view mnemonic) {
  const std::string name = as_vector_instruction(mnemonic);
  if (std::ranges::find(single_results, name) != std::end(single_results)) return 0;
  if (std::ranges::find(double_and_half_results, name) != std::end(double_and_half_results)) return 2;
  return std::nullopt;
}

bool is_independent_of_rounding(std::string_view mnemonic) {
  const std::string name = as_vector_instruction(mnemonic);
  return !rounding_shift(name) &&
         std::ranges::any_of(independent, [&](std::string_view start) { return name.starts_with(start); });
}

bool has_directed_rounding(const Program& program, std::uint32_t float_mode) {
  return (float_mode & 0xf) != 0 ||
         std::ranges::any_of(program.instructions, [](const auto& item) { return sets_rounding(item.second); });
}

void set_host_rounding(std::uint32_t mode) {
  constexpr std::array<int, 4> modes = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(modes.at(mode & 3));
}

}  // namespace softgpu::compute
