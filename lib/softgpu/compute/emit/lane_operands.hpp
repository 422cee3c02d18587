// What the runtime's functions take and return for each lane, in WaveState.
#pragma once

#include "softgpu/compute/emit/emitter.hpp"

namespace softgpu::compute {

void put_lane_addresses(Emitter& e, const Chunks& addresses);                        ///< <16 x i64>
void put_lane_data(Emitter& e, unsigned chunk, unsigned dword, llvm::Value* value);  ///< <16 x i32>
llvm::Value* lane_data(Emitter& e, unsigned chunk, unsigned dword);                  ///< <16 x i32>

}  // namespace softgpu::compute
