#include "softgpu/compute/emit/lane_operands.hpp"

#include <cstddef>

#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

const llvm::Align chunk_alignment(64);

Value* in_state(Emitter& e, std::size_t offset) {
  return e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), offset);
}

/// Where a chunk of lane_data is.
Value* lane_data_pointer(Emitter& e, unsigned chunk, unsigned dword) {
  return in_state(e, offsetof(WaveState, lane_data) + 4 * (std::size_t{64} * dword + lanes_per_chunk * chunk));
}

}  // namespace

void put_lane_addresses(Emitter& e, const Chunks& addresses) {
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    e.ir.CreateAlignedStore(addresses[chunk],
                            in_state(e, offsetof(WaveState, lane_addresses) + std::size_t{8} * lanes_per_chunk * chunk),
                            chunk_alignment);
}

void put_lane_data(Emitter& e, unsigned chunk, unsigned dword, Value* value) {
  e.ir.CreateAlignedStore(value, lane_data_pointer(e, chunk, dword), chunk_alignment);
}

Value* lane_data(Emitter& e, unsigned chunk, unsigned dword) {
  return e.ir.CreateAlignedLoad(Emitter::lanes(e.i32()), lane_data_pointer(e, chunk, dword), chunk_alignment);
}

}  // namespace softgpu::compute
