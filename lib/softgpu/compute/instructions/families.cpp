#include "softgpu/compute/instructions/families.hpp"

namespace softgpu::compute {
namespace {

const HandlerTable& cdna2_handlers() {
  // Never destroyed: a worker may translate while the process exits.
  static const HandlerTable& table = []() -> const HandlerTable& {
    HandlerTable& all = *new HandlerTable;
    add_scalar_alu(all);
    add_control_flow(all);
    add_hardware_registers(all);
    add_vector_integer(all);
    add_vector_wide_integer(all);
    add_float_family(all);
    add_vector_float(all);
    add_vector_double(all);
    add_vector_half(all);
    add_vector_packed(all);
    add_conversions(all);
    add_vector_compare(all);
    add_cross_lane(all);
    add_register_indexing(all);  // wraps v_mov_b32
    add_scalar_memory(all);
    add_flat_memory(all);
    add_buffer_memory(all);
    add_lds_memory(all);
    add_image_memory(all);
    add_matrix_instructions(all);
    return all;
  }();
  return table;
}

const HandlerTable& cdna3_handlers() {
  static const HandlerTable& table = []() -> const HandlerTable& {
    HandlerTable& all = *new HandlerTable(cdna2_handlers());
    add_cdna3_instructions(all);
    add_byte_floats(all);
    return all;
  }();
  return table;
}

const HandlerTable& cdna4_handlers() {
  static const HandlerTable& table = []() -> const HandlerTable& {
    HandlerTable& all = *new HandlerTable(cdna3_handlers());
    add_ocp_byte_floats(all);
    add_transposed_lds(all);
    add_scaled_conversions(all);
    add_cdna4_instructions(all);
    return all;
  }();
  return table;
}

/// What RDNA lacks of CDNA2 does no harm: the decoder does not find it.
const HandlerTable& rdna_handlers() {
  static const HandlerTable& table = []() -> const HandlerTable& {
    HandlerTable& all = *new HandlerTable(cdna2_handlers());
    add_rdna_instructions(all);
    add_scalar_floats(all);
    return all;
  }();
  return table;
}

const HandlerTable& rdna4_handlers() {
  static const HandlerTable& table = []() -> const HandlerTable& {
    HandlerTable& all = *new HandlerTable(rdna_handlers());
    add_rdna4_instructions(all);
    add_spread_matrices(all);
    return all;
  }();
  return table;
}

}  // namespace

const HandlerTable& handlers_of(const Architecture& architecture) {
  using enum ArchitectureFamily::Instructions;
  switch (architecture.instructions) {
  case cdna2:
    break;
  case cdna3:
    return cdna3_handlers();
  case cdna4:
    return cdna4_handlers();
  case rdna:
    return rdna_handlers();
  case rdna4:
    return rdna4_handlers();
  }
  return cdna2_handlers();
}

}  // namespace softgpu::compute
