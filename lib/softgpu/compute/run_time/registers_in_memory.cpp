#include "softgpu/compute/run_time/registers_in_memory.hpp"

#include <cstring>
#include <type_traits>

#include "softgpu/compute/run_time/register_file.hpp"

namespace softgpu::compute {
namespace {

constexpr std::size_t vector_bytes = RegistersInMemory::vector_bytes;
static_assert(sizeof(RegisterFile::vectors[0]) == vector_bytes);
static_assert(sizeof(RegisterFile::scalar_pairs) == sizeof(RegistersInMemory::scalar_pairs));

template <class Registers>
auto* vectors_of(Registers* registers) {
  using Row = std::conditional_t<std::is_const_v<Registers>, const std::uint32_t, std::uint32_t>;
  return reinterpret_cast<Row(*)[64]>(registers + 1);
}

}  // namespace

void begin_registers(WaveState* state, RegistersInMemory* registers, std::uint32_t vectors, std::uint32_t id_registers,
                     std::uint32_t mode) {
  std::memset(static_cast<void*>(registers), 0, sizeof *registers + vectors * vector_bytes);
  std::uint64_t* pairs = registers->scalar_pairs;
  std::memcpy(pairs, state->sgprs, WaveState::initial_sgpr_count * sizeof state->sgprs[0]);
  std::memcpy(&pairs[scalar_register::ttmp6 / 2], &state->sgprs[WaveState::ttmp6], 2 * sizeof pairs[0]);
  pairs[scalar_register::exec / 2] = state->exec;
  pairs[scalar_register::m0 / 2] = state->m0;
  pairs[scalar_register::hidden_flat_scratch / 2] = state->scratch_wave_base;
  registers->mode = mode;
  auto* rows = vectors_of(registers);
  const bool are_packed = id_registers == 1;
  for (std::uint32_t dimension = 0; dimension < id_registers; ++dimension)
    for (std::uint32_t lane = 0; lane < state->wavefront_size; ++lane) {
      const std::uint32_t ids = state->work_item_ids[lane];
      rows[dimension][lane] = are_packed ? ids : ids >> (10 * dimension) & 0x3ff;
    }
}

void keep_registers(WaveState* state, const RegistersInMemory* registers, std::uint32_t vgprs, std::uint32_t agprs) {
  RegisterFile& file = *state->registers;
  std::memcpy(file.scalar_pairs, registers->scalar_pairs, sizeof file.scalar_pairs);
  file.mode = registers->mode;
  file.scc = registers->scc;
  std::memcpy(file.vectors[0], vectors_of(registers), vgprs * vector_bytes);
  std::memcpy(file.vectors[first_agpr], vectors_of(registers) + vgprs, agprs * vector_bytes);
}

void take_registers(WaveState* state, RegistersInMemory* registers, std::uint32_t vgprs, std::uint32_t agprs) {
  const RegisterFile& file = *state->registers;
  std::memcpy(registers->scalar_pairs, file.scalar_pairs, sizeof file.scalar_pairs);
  registers->mode = file.mode;
  registers->scc = file.scc;
  std::memcpy(vectors_of(registers), file.vectors[0], vgprs * vector_bytes);
  std::memcpy(vectors_of(registers) + vgprs, file.vectors[first_agpr], agprs * vector_bytes);
}

}  // namespace softgpu::compute
