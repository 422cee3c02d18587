// The families of instructions. None knows another.
#pragma once

#include "softgpu/compute/emit/handler_table.hpp"
#include "softgpu/compute/instruction_set/architecture.hpp"

namespace softgpu::compute {

/// The handlers of all instructions of `architecture`. Built once, immutable after.
[[nodiscard]] const HandlerTable& handlers_of(const Architecture& architecture);

// The families, each in the source file of its name.
void add_scalar_alu(HandlerTable& table);
void add_control_flow(HandlerTable& table);
void add_hardware_registers(HandlerTable& table);
void add_vector_integer(HandlerTable& table);
void add_vector_wide_integer(HandlerTable& table);
void add_float_family(HandlerTable& table);
void add_vector_float(HandlerTable& table);
void add_vector_double(HandlerTable& table);
void add_vector_half(HandlerTable& table);
void add_vector_compare(HandlerTable& table);
void add_vector_packed(HandlerTable& table);
void add_conversions(HandlerTable& table);
void add_cross_lane(HandlerTable& table);
void add_register_indexing(HandlerTable& table);  ///< after add_vector_integer
void add_scalar_memory(HandlerTable& table);
void add_flat_memory(HandlerTable& table);
void add_buffer_memory(HandlerTable& table);
void add_lds_memory(HandlerTable& table);
void add_matrix_instructions(HandlerTable& table);
void add_byte_floats(HandlerTable& table);
void add_ocp_byte_floats(HandlerTable& table);
void add_transposed_lds(HandlerTable& table);
void add_scaled_conversions(HandlerTable& table);
void add_cdna4_instructions(HandlerTable& table);
void add_cdna3_instructions(HandlerTable& table);
void add_image_memory(HandlerTable& table);
void add_rdna_instructions(HandlerTable& table);   ///< after all others, some of which it wraps
void add_scalar_floats(HandlerTable& table);       ///< after the vector instructions
void add_spread_matrices(HandlerTable& table);     ///< in the place of RDNA3's
void add_rdna4_instructions(HandlerTable& table);  ///< after those of RDNA and the scalar ones, some of which it wraps

}  // namespace softgpu::compute
