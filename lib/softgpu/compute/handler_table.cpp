#include "handler_table.hpp"

namespace softgpu::compute {

const HandlerTable& HandlerTable::gfx90a() {
  // Never destroyed: a worker may translate while the process exits.
  static const HandlerTable& table = []() -> const HandlerTable& {
    HandlerTable& all = *new HandlerTable;
    add_scalar_alu(all);
    add_control_flow(all);
    add_hardware_registers(all);
    add_vector_integer(all);
    add_vector_wide_integer(all);
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
    add_matrix_instructions(all);
    return all;
  }();
  return table;
}

const HandlerTable& HandlerTable::gfx942() {
  static const HandlerTable& table = []() -> const HandlerTable& {
    HandlerTable& all = *new HandlerTable(gfx90a());
    add_cdna3_instructions(all);
    return all;
  }();
  return table;
}

const HandlerTable& HandlerTable::rdna() {
  static const HandlerTable& table = []() -> const HandlerTable& {
    HandlerTable& all = *new HandlerTable(gfx90a());
    add_rdna_instructions(all);
    return all;
  }();
  return table;
}

}  // namespace softgpu::compute
