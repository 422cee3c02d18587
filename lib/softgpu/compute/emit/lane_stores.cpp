#include "softgpu/compute/emit/lane_stores.hpp"

#include <numeric>
#include <vector>

#include "softgpu/compute/emit/lane_shape.hpp"
#include "softgpu/compute/emit/lane_window.hpp"
#include "softgpu/compute/emit/row_prefetch.hpp"

namespace softgpu::compute {

using llvm::Value;

namespace {

/// One vector of the dwords of a chunk's lanes in memory order.
Value* interleave(Emitter& e, const Values& values, unsigned chunk) {
  const auto dwords = static_cast<unsigned>(values.size());
  const auto join = [&](Value* first, Value* second, unsigned lanes_each) {
    std::vector<int> elements(std::size_t{2} * lanes_each);
    std::iota(elements.begin(), elements.end(), 0);
    return e.ir.CreateShuffleVector(first, second, elements);
  };
  Value* all = join(values[0][chunk], values[1][chunk], lanes_per_chunk);
  if (dwords > 2) {
    // Both operands of a shuffle have one length: a missing fourth dword is anything.
    Value* last = dwords == 4 ? values[3][chunk] : llvm::PoisonValue::get(values[2][chunk]->getType());
    all = join(all, join(values[2][chunk], last, lanes_per_chunk), 2 * lanes_per_chunk);
  }
  std::vector<int> order;
  for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
    for (unsigned d = 0; d < dwords; ++d) order.push_back(static_cast<int>(d * lanes_per_chunk + lane));
  return e.ir.CreateShuffleVector(all, order);
}

void store_consecutive(Emitter& e, const LaneAddresses& a, const Values& values) {
  const auto chunk_bytes = static_cast<unsigned>(4 * lanes_per_chunk * values.size());
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    prefetch_ahead(e, a, Prefetch::for_store, first_pointer(e, a, chunk), chunk_bytes);
    if (values.size() == 1)
      e.ir.CreateMaskedStore(values[0][chunk], accessible_pointer(e, a, chunk), unaligned, a.active[chunk]);
    else
      e.ir.CreateAlignedStore(interleave(e, values, chunk), first_pointer(e, a, chunk), unaligned,
                              keeps_whole(a, values.size()));
  }
}

void store_scattered(Emitter& e, const LaneAddresses& a, const Values& values) {
  if (is_branch_a_lane(e, a)) return store_lane_by_lane(e, a, static_cast<std::uint32_t>(4 * values.size()), values);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for_each_part(values.size(), [&](std::size_t d, std::size_t dwords) {
      e.ir.CreateMaskedScatter(joined(e, values, d, dwords, chunk), lane_pointers(e, a, chunk, 4 * d), unaligned,
                               a.active[chunk]);
    });
}

/// For a row of lanes, if it can be told at translation how to access it.
bool store_row(Emitter& e, const LaneAddresses& a, const Values& values) {
  if (!a.row) return false;
  const bool is_consecutive = has_row(a, 4 * static_cast<std::uint32_t>(values.size()));
  if (!is_consecutive && values.size() == 1 && Window::may_hold(e, a)) return false;
  const LaneAddresses row = in_row(e, a);
  Value* fits = is_within_row(e, a);
  if (is_consecutive && values.size() != 1) fits = e.ir.CreateAnd(fits, all_active(e, row));
  Ways ways(e, 0);
  ways.when(fits);
  is_consecutive ? store_consecutive(e, row, values) : store_scattered(e, row, values);
  ways.arrive();
  ways.otherwise();
  store_scattered(e, a, values);
  ways.arrive();
  ways.finish();
  return true;
}

void store_dword(Emitter& e, const LaneAddresses& a, const Values& values) {
  Value* shape = find_shape(e, a);
  Ways ways(e, 0);
  ways.when(has_shape(e, shape, lane_shape::consecutive));
  store_consecutive(e, a, values);
  ways.arrive();
  ways.otherwise();
  if (Window::is_possible(e)) {
    static_assert(lane_shape::scattered == 0 && lane_shape::uniform == 1);
    ways.when(e.ir.CreateICmpUGT(shape, e.ir.getInt64(lane_shape::uniform)));
    Window window(e, a, shape);
    window.store(values[0], e.ir.CreateSelect(window.is_in_lines(), window.from_line(), window.from_lane_0()));
    ways.arrive();
    ways.otherwise();
  }
  store_scattered(e, a, values);
  ways.arrive();
  ways.finish();
}

/// Two to four dwords a lane.
void store_tuples(Emitter& e, const LaneAddresses& a, const Values& values) {
  Ways ways(e, 0);
  ways.when(e.ir.CreateAnd(follow(e, a, 4 * static_cast<std::uint32_t>(values.size())), all_active(e, a)));
  store_consecutive(e, a, values);
  ways.arrive();
  ways.otherwise();
  store_scattered(e, a, values);
  ways.arrive();
  ways.finish();
}

}  // namespace

void store_dwords(Emitter& e, const LaneAddresses& a, const Values& values) {
  if (goes_lane_by_lane(e, a)) return store_lane_by_lane(e, a, static_cast<std::uint32_t>(4 * values.size()), values);
  if (a.is_consecutive) return store_consecutive(e, a, values);
  if (store_row(e, a, values)) return;
  values.size() == 1 ? store_dword(e, a, values) : store_tuples(e, a, values);
}

namespace {

/// Elements side by side: those of active lanes, or of all, which are active.
void store_elements(Emitter& e, const LaneAddresses& a, std::uint32_t bytes, const Chunks& values, bool is_masked) {
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* narrow = e.ir.CreateTrunc(values[chunk], Emitter::lanes(e.ir.getIntNTy(8 * bytes)));
    if (chunk == 0) prefetch_ahead(e, a, Prefetch::for_store, first_pointer(e, a, chunk), lanes_per_chunk * bytes);
    if (is_masked)
      e.ir.CreateMaskedStore(narrow, accessible_pointer(e, a, chunk), unaligned, a.active[chunk]);
    else
      e.ir.CreateAlignedStore(narrow, first_pointer(e, a, chunk), unaligned);
  }
}

}  // namespace

/// No host scatters bytes.
void store_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes, const Chunks& values) {
  if (goes_lane_by_lane(e, a)) return store_lane_by_lane(e, a, bytes, {values});
  const bool is_row = has_row(a, bytes);
  const bool is_masked = is_row && can_mask_small(e);
  const LaneAddresses lanes = is_row ? in_row(e, a) : a;
  Value* fits = is_row ? is_within_row(e, a) : follow(e, a, bytes);
  if (!is_masked) fits = e.ir.CreateAnd(fits, all_active(e, lanes));
  Ways ways(e, 0);
  ways.when(fits);
  store_elements(e, lanes, bytes, values, is_masked);
  ways.arrive();

  ways.otherwise();
  store_lane_by_lane(e, a, bytes, {values});
  ways.arrive();
  ways.finish();
}

}  // namespace softgpu::compute
