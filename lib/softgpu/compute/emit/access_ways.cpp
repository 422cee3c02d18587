#include "softgpu/compute/emit/access_ways.hpp"

#include <llvm/IR/Constants.h>

#include "softgpu/compute/emit/lane_operands.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"

namespace softgpu::compute {

using llvm::Value;

namespace {

/// The runtime's gather or scatter, for `bytes` a lane.
void call_for_lanes(Emitter& e, void (*function)(WaveState*, std::uint64_t, std::uint32_t), const LaneAddresses& a,
                    std::uint32_t bytes) {
  Chunks addresses;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) addresses[chunk] = address_numbers(e, a, chunk);
  put_lane_addresses(e, addresses);
  e.call(reinterpret_cast<const void*>(function), e.ir.getVoidTy(),
         {e.state(), e.mask_from_chunks(a.active), e.ir.getInt32(bytes)});
}

}  // namespace

Value* joined(Emitter& e, const Values& values, std::size_t first, std::size_t dwords, unsigned chunk) {
  return dwords == 1 ? values[first][chunk] : e.combine(values[first][chunk], values[first + 1][chunk]);
}
void split(Emitter& e, Value* part, Values& values, std::size_t first, std::size_t dwords, unsigned chunk) {
  values[first][chunk] = dwords == 1 ? part : e.low_half(part);
  if (dwords == 2) values[first + 1][chunk] = e.high_half(part);
}

bool is_branch_a_lane(Emitter& e, const LaneAddresses& a) {
  return e.vectors() != HostVectors::avx512 && !llvm::isa<llvm::Constant>(a.active[0]);
}

bool can_mask_small(const Emitter& e) { return e.vectors() == HostVectors::avx512; }

bool goes_through_caches(Emitter& e, const LaneAddresses& a) { return e.has_caches() && !a.in_lds; }
bool goes_lane_by_lane(Emitter& e, const LaneAddresses& a) { return goes_through_caches(e, a) || e.is_compact(); }

Values load_lane_by_lane(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  call_for_lanes(e, goes_through_caches(e, a) ? runtime::gather_cached : runtime::gather, a, bytes);
  Values values((bytes + 3) / 4);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned d = 0; d < values.size(); ++d) values[d][chunk] = lane_data(e, chunk, d);
  return values;
}

void store_lane_by_lane(Emitter& e, const LaneAddresses& a, std::uint32_t bytes, const Values& values) {
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned d = 0; d < values.size(); ++d) put_lane_data(e, chunk, d, values[d][chunk]);
  call_for_lanes(e, goes_through_caches(e, a) ? runtime::scatter_cached : runtime::scatter, a, bytes);
}

Value* has_shape(Emitter& e, Value* shape, std::uint64_t which) {
  return e.ir.CreateICmpEQ(shape, e.ir.getInt64(which));
}

}  // namespace softgpu::compute
