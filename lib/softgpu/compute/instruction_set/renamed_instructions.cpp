// How CDNA3 and RDNA spell what gfx90a has under another name (LLVM's "Syntax of GFX940/GFX1030/GFX11/GFX12
// Instructions").
#include <utility>
#include <vector>

#include "softgpu/compute/instruction_set/architecture.hpp"

namespace softgpu::compute {
namespace {

using Name = std::pair<const char*, const char*>;

constexpr Name scalar_names[] = {
    {"s_and_not1_b32", "s_andn2_b32"},
    {"s_and_not1_b64", "s_andn2_b64"},
    {"s_or_not1_b32", "s_orn2_b32"},
    {"s_or_not1_b64", "s_orn2_b64"},
    {"s_and_not1_saveexec_b32", "s_andn2_saveexec_b32"},
    {"s_and_not1_saveexec_b64", "s_andn2_saveexec_b64"},
    {"s_or_not1_saveexec_b32", "s_orn2_saveexec_b32"},
    {"s_or_not1_saveexec_b64", "s_orn2_saveexec_b64"},
    {"s_and_not0_saveexec_b32", "s_andn1_saveexec_b32"},
    {"s_and_not0_saveexec_b64", "s_andn1_saveexec_b64"},
    {"s_or_not0_saveexec_b32", "s_orn1_saveexec_b32"},
    {"s_or_not0_saveexec_b64", "s_orn1_saveexec_b64"},
    {"s_and_not0_wrexec_b32", "s_andn1_wrexec_b32"},
    {"s_and_not0_wrexec_b64", "s_andn1_wrexec_b64"},
    {"s_and_not1_wrexec_b32", "s_andn2_wrexec_b32"},
    {"s_and_not1_wrexec_b64", "s_andn2_wrexec_b64"},
    {"s_ctz_i32_b32", "s_ff1_i32_b32"},
    {"s_ctz_i32_b64", "s_ff1_i32_b64"},
    {"s_clz_i32_u32", "s_flbit_i32_b32"},
    {"s_clz_i32_u64", "s_flbit_i32_b64"},
    {"s_cls_i32", "s_flbit_i32"},
    {"s_cls_i32_i64", "s_flbit_i32_i64"},
};

constexpr Name vector_names[] = {
    {"v_add_nc_u32", "v_add_u32"},
    {"v_sub_nc_u32", "v_sub_u32"},
    {"v_subrev_nc_u32", "v_subrev_u32"},
    {"v_add_nc_i32", "v_add_i32"},
    {"v_sub_nc_i32", "v_sub_i32"},
    {"v_add_nc_i16", "v_add_i16"},
    {"v_sub_nc_i16", "v_sub_i16"},
    {"v_add_co_ci_u32", "v_addc_co_u32"},
    {"v_sub_co_ci_u32", "v_subb_co_u32"},
    {"v_subrev_co_ci_u32", "v_subbrev_co_u32"},
    {"v_clz_i32_u32", "v_ffbh_u32"},
    {"v_ctz_i32_b32", "v_ffbl_b32"},
    {"v_cls_i32", "v_ffbh_i32"},
    {"v_cvt_floor_i32_f32", "v_cvt_flr_i32_f32"},
    {"v_cvt_nearest_i32_f32", "v_cvt_rpi_i32_f32"},
    {"v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"},
    {"v_cvt_pk_norm_i16_f32", "v_cvt_pknorm_i16_f32"},
    {"v_cvt_pk_norm_u16_f32", "v_cvt_pknorm_u16_f32"},
    {"v_cvt_pk_norm_i16_f16", "v_cvt_pknorm_i16_f16"},
    {"v_cvt_pk_norm_u16_f16", "v_cvt_pknorm_u16_f16"},
    {"v_mul_dx9_zero_f32", "v_mul_legacy_f32"},
    {"v_fma_dx9_zero_f32", "v_fma_legacy_f32"},
    {"v_fmac_dx9_zero_f32", "v_fmac_legacy_f32"},
    {"v_dot2acc_f32_f16", "v_dot2c_f32_f16"},
    {"v_cmp_t_f16", "v_cmp_tru_f16"},
    {"v_cmp_t_f32", "v_cmp_tru_f32"},
    {"v_cmp_t_f64", "v_cmp_tru_f64"},
    {"v_cmpx_t_f16", "v_cmpx_tru_f16"},
    {"v_cmpx_t_f32", "v_cmpx_tru_f32"},
    {"v_cmpx_t_f64", "v_cmpx_tru_f64"},
};

constexpr Name matrix_names[] = {
    {"v_mfma_f32_32x32x1_2b_f32", "v_mfma_f32_32x32x1f32"},
    {"v_mfma_f32_16x16x1_4b_f32", "v_mfma_f32_16x16x1f32"},
    {"v_mfma_f32_4x4x1_16b_f32", "v_mfma_f32_4x4x1f32"},
    {"v_mfma_f32_32x32x2_f32", "v_mfma_f32_32x32x2f32"},
    {"v_mfma_f32_16x16x4_f32", "v_mfma_f32_16x16x4f32"},
    {"v_mfma_f32_32x32x4_2b_f16", "v_mfma_f32_32x32x4f16"},
    {"v_mfma_f32_16x16x4_4b_f16", "v_mfma_f32_16x16x4f16"},
    {"v_mfma_f32_4x4x4_16b_f16", "v_mfma_f32_4x4x4f16"},
    {"v_mfma_f32_32x32x8_f16", "v_mfma_f32_32x32x8f16"},
    {"v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16f16"},
    {"v_mfma_f32_32x32x4_2b_bf16", "v_mfma_f32_32x32x4bf16_1k"},
    {"v_mfma_f32_16x16x4_4b_bf16", "v_mfma_f32_16x16x4bf16_1k"},
    {"v_mfma_f32_4x4x4_16b_bf16", "v_mfma_f32_4x4x4bf16_1k"},
    {"v_mfma_f32_32x32x8_bf16", "v_mfma_f32_32x32x8bf16_1k"},
    {"v_mfma_f32_16x16x16_bf16", "v_mfma_f32_16x16x16bf16_1k"},
    {"v_mfma_i32_32x32x4_2b_i8", "v_mfma_i32_32x32x4i8"},
    {"v_mfma_i32_16x16x4_4b_i8", "v_mfma_i32_16x16x4i8"},
    {"v_mfma_i32_4x4x4_16b_i8", "v_mfma_i32_4x4x4i8"},
    {"v_mfma_f64_16x16x4_f64", "v_mfma_f64_16x16x4f64"},
    {"v_mfma_f64_4x4x4_4b_f64", "v_mfma_f64_4x4x4f64"},
};

/// What a load moves, as GFX11 and as gfx90a say it.
constexpr Name load_names[] = {
    {"load_u8", "load_ubyte"},          {"load_i8", "load_sbyte"},
    {"load_u16", "load_ushort"},        {"load_i16", "load_sshort"},
    {"load_d16_u8", "load_ubyte_d16"},  {"load_d16_hi_u8", "load_ubyte_d16_hi"},
    {"load_d16_i8", "load_sbyte_d16"},  {"load_d16_hi_i8", "load_sbyte_d16_hi"},
    {"load_d16_b16", "load_short_d16"}, {"load_d16_hi_b16", "load_short_d16_hi"},
    {"load_b32", "load_dword"},         {"load_b64", "load_dwordx2"},
    {"load_b96", "load_dwordx3"},       {"load_b128", "load_dwordx4"},
};
constexpr Name store_names[] = {
    {"store_b8", "store_byte"},
    {"store_b16", "store_short"},
    {"store_d16_hi_b8", "store_byte_d16_hi"},
    {"store_d16_hi_b16", "store_short_d16_hi"},
    {"store_b32", "store_dword"},
    {"store_b64", "store_dwordx2"},
    {"store_b96", "store_dwordx3"},
    {"store_b128", "store_dwordx4"},
};
/// Of elements with a format.
constexpr Name element_names[] = {
    {"load_d16_format_x", "load_format_d16_x"},       {"load_d16_format_xy", "load_format_d16_xy"},
    {"load_d16_format_xyz", "load_format_d16_xyz"},   {"load_d16_format_xyzw", "load_format_d16_xyzw"},
    {"store_d16_format_x", "store_format_d16_x"},     {"store_d16_format_xy", "store_format_d16_xy"},
    {"store_d16_format_xyz", "store_format_d16_xyz"}, {"store_d16_format_xyzw", "store_format_d16_xyzw"},
};
constexpr Name upper_element_names[] = {
    {"load_d16_hi_format_x", "load_format_d16_hi_x"},
    {"store_d16_hi_format_x", "store_format_d16_hi_x"},
};
constexpr Name atomic_names[] = {
    {"atomic_swap_b32", "atomic_swap"},       {"atomic_swap_b64", "atomic_swap_x2"},
    {"atomic_cmpswap_b32", "atomic_cmpswap"}, {"atomic_cmpswap_b64", "atomic_cmpswap_x2"},
    {"atomic_add_u32", "atomic_add"},         {"atomic_add_u64", "atomic_add_x2"},
    {"atomic_sub_u32", "atomic_sub"},         {"atomic_sub_u64", "atomic_sub_x2"},
    {"atomic_min_i32", "atomic_smin"},        {"atomic_min_i64", "atomic_smin_x2"},
    {"atomic_min_u32", "atomic_umin"},        {"atomic_min_u64", "atomic_umin_x2"},
    {"atomic_max_i32", "atomic_smax"},        {"atomic_max_i64", "atomic_smax_x2"},
    {"atomic_max_u32", "atomic_umax"},        {"atomic_max_u64", "atomic_umax_x2"},
    {"atomic_and_b32", "atomic_and"},         {"atomic_and_b64", "atomic_and_x2"},
    {"atomic_or_b32", "atomic_or"},           {"atomic_or_b64", "atomic_or_x2"},
    {"atomic_xor_b32", "atomic_xor"},         {"atomic_xor_b64", "atomic_xor_x2"},
    {"atomic_inc_u32", "atomic_inc"},         {"atomic_inc_u64", "atomic_inc_x2"},
    {"atomic_dec_u32", "atomic_dec"},         {"atomic_dec_u64", "atomic_dec_x2"},
    {"atomic_min_f32", "atomic_fmin"},        {"atomic_max_f32", "atomic_fmax"},
};

constexpr Name lds_names[] = {
    {"ds_load_u8_d16", "ds_read_u8_d16"},
    {"ds_load_u8_d16_hi", "ds_read_u8_d16_hi"},
    {"ds_load_i8_d16", "ds_read_i8_d16"},
    {"ds_load_i8_d16_hi", "ds_read_i8_d16_hi"},
    {"ds_load_u16_d16", "ds_read_u16_d16"},
    {"ds_load_u16_d16_hi", "ds_read_u16_d16_hi"},
    {"ds_load_u8", "ds_read_u8"},
    {"ds_load_i8", "ds_read_i8"},
    {"ds_load_u16", "ds_read_u16"},
    {"ds_load_i16", "ds_read_i16"},
    {"ds_load_b32", "ds_read_b32"},
    {"ds_load_b64", "ds_read_b64"},
    {"ds_load_b96", "ds_read_b96"},
    {"ds_load_b128", "ds_read_b128"},
    {"ds_load_2addr_b32", "ds_read2_b32"},
    {"ds_load_2addr_b64", "ds_read2_b64"},
    {"ds_load_2addr_stride64_b32", "ds_read2st64_b32"},
    {"ds_load_2addr_stride64_b64", "ds_read2st64_b64"},
    {"ds_store_b8", "ds_write_b8"},
    {"ds_store_b16", "ds_write_b16"},
    {"ds_store_b8_d16_hi", "ds_write_b8_d16_hi"},
    {"ds_store_b16_d16_hi", "ds_write_b16_d16_hi"},
    {"ds_store_b32", "ds_write_b32"},
    {"ds_store_b64", "ds_write_b64"},
    {"ds_store_b96", "ds_write_b96"},
    {"ds_store_b128", "ds_write_b128"},
    {"ds_store_2addr_b32", "ds_write2_b32"},
    {"ds_store_2addr_b64", "ds_write2_b64"},
    {"ds_store_2addr_stride64_b32", "ds_write2st64_b32"},
    {"ds_store_2addr_stride64_b64", "ds_write2st64_b64"},
    {"ds_load_addtid_b32", "ds_read_addtid_b32"},
    {"ds_store_addtid_b32", "ds_write_addtid_b32"},
    {"ds_storexchg_rtn_b32", "ds_wrxchg_rtn_b32"},
    {"ds_storexchg_rtn_b64", "ds_wrxchg_rtn_b64"},
    {"ds_storexchg_2addr_rtn_b32", "ds_wrxchg2_rtn_b32"},
    {"ds_storexchg_2addr_rtn_b64", "ds_wrxchg2_rtn_b64"},
    {"ds_storexchg_2addr_stride64_rtn_b32", "ds_wrxchg2st64_rtn_b32"},
    {"ds_storexchg_2addr_stride64_rtn_b64", "ds_wrxchg2st64_rtn_b64"},
};

/// Names that RDNA4 alone has. Minima and maxima of its atomics are not gfx90a's: they tell NaNs and zeros apart.
constexpr Name rdna4_names[] = {
    {"s_add_co_u32", "s_add_u32"},         {"s_sub_co_u32", "s_sub_u32"},        {"s_add_co_i32", "s_add_i32"},
    {"s_sub_co_i32", "s_sub_i32"},         {"s_add_co_ci_u32", "s_addc_u32"},    {"s_sub_co_ci_u32", "s_subb_u32"},
    {"s_addk_co_i32", "s_addk_i32"},       {"s_min_num_f32", "s_min_f32"},       {"s_max_num_f32", "s_max_f32"},
    {"s_min_num_f16", "s_min_f16"},        {"s_max_num_f16", "s_max_f16"},       {"v_min_num_f16", "v_min_f16"},
    {"v_min_num_f32", "v_min_f32"},        {"v_min_num_f64", "v_min_f64"},       {"v_max_num_f16", "v_max_f16"},
    {"v_max_num_f32", "v_max_f32"},        {"v_max_num_f64", "v_max_f64"},       {"v_min3_num_f16", "v_min3_f16"},
    {"v_min3_num_f32", "v_min3_f32"},      {"v_max3_num_f16", "v_max3_f16"},     {"v_max3_num_f32", "v_max3_f32"},
    {"v_med3_num_f16", "v_med3_f16"},      {"v_med3_num_f32", "v_med3_f32"},     {"v_minmax_num_f16", "v_minmax_f16"},
    {"v_minmax_num_f32", "v_minmax_f32"},  {"v_maxmin_num_f16", "v_maxmin_f16"}, {"v_maxmin_num_f32", "v_maxmin_f32"},
    {"v_pk_min_num_f16", "v_pk_min_f16"},  {"v_pk_max_num_f16", "v_pk_max_f16"}, {"v_mad_co_u64_u32", "v_mad_u64_u32"},
    {"v_mad_co_i64_i32", "v_mad_i64_i32"}, {"s_wait_alu", "s_waitcnt_depctr"},
};
constexpr Name rdna4_image_names[] = {
    {"image_atomic_add_uint", "image_atomic_add"}, {"image_atomic_sub_uint", "image_atomic_sub"},
    {"image_atomic_min_int", "image_atomic_smin"}, {"image_atomic_min_uint", "image_atomic_umin"},
    {"image_atomic_max_int", "image_atomic_smax"}, {"image_atomic_max_uint", "image_atomic_umax"},
    {"image_atomic_inc_uint", "image_atomic_inc"}, {"image_atomic_dec_uint", "image_atomic_dec"},
};

const std::vector<RenamedInstruction>& common_names() {
  auto& result = *new std::vector<RenamedInstruction>;  // never destroyed
  const auto add = [&](std::span<const Name> names, const std::string& prefix = {}) {
    for (const auto& [name, gfx90a_name] : names) result.push_back({prefix + name, prefix + gfx90a_name});
  };
  add(scalar_names);
  add(vector_names);
  add(matrix_names);
  add(lds_names);
  for (const char* prefix : {"flat_", "global_", "scratch_", "buffer_"}) {
    add(load_names, prefix);
    add(store_names, prefix);
  }
  for (const char* prefix : {"flat_", "global_", "buffer_"}) add(atomic_names, prefix);
  for (const char* prefix : {"buffer_", "tbuffer_"}) add(element_names, prefix);
  add(upper_element_names, "buffer_");
  for (const unsigned dwords : {1U, 2U, 4U, 8U, 16U}) {
    const std::string bits = "load_b" + std::to_string(32 * dwords);
    const std::string count = dwords == 1 ? "load_dword" : "load_dwordx" + std::to_string(dwords);
    for (const char* prefix : {"s_", "s_buffer_"}) result.push_back({prefix + bits, prefix + count});
  }
  return result;
}

}  // namespace

std::span<const RenamedInstruction> renamed_instructions(ArchitectureFamily::Instructions instructions) {
  static const std::vector<RenamedInstruction>& common = common_names();
  static const std::vector<RenamedInstruction>& with_rdna4 = []() -> const std::vector<RenamedInstruction>& {
    auto& result = *new std::vector<RenamedInstruction>;
    for (const std::span<const Name> names :
         {std::span<const Name>(rdna4_names), std::span<const Name>(rdna4_image_names)})
      for (const auto& [name, gfx90a_name] : names) result.push_back({name, gfx90a_name});
    result.insert(result.end(), common.begin(), common.end());
    return result;
  }();
  return instructions == ArchitectureFamily::Instructions::rdna4 ? with_rdna4 : common;
}

}  // namespace softgpu::compute
