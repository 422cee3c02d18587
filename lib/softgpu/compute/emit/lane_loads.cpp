#include "softgpu/compute/emit/lane_loads.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include <llvm/IR/Constants.h>

#include "softgpu/compute/emit/lane_shape.hpp"
#include "softgpu/compute/emit/lane_window.hpp"
#include "softgpu/compute/emit/row_prefetch.hpp"

namespace softgpu::compute {

using llvm::Value;

namespace {

/// The first `count` of `size` dwords in memory. The other dwords are undefined, and their memory is not touched.
Value* load_first_dwords(Emitter& e, Value* from, unsigned count, unsigned size, bool is_volatile) {
  auto* type = llvm::FixedVectorType::get(e.i32(), size);
  if (count == size) return e.ir.CreateAlignedLoad(type, from, unaligned, is_volatile);
  std::vector<llvm::Constant*> mask;
  for (unsigned i = 0; i < size; ++i) mask.push_back(e.ir.getInt1(i < count));
  return e.ir.CreateMaskedLoad(type, from, unaligned, llvm::ConstantVector::get(mask), llvm::PoisonValue::get(type));
}

/// One vector load a chunk, whose dwords are dealt out to the registers; `step` dwords from lane to lane.
Values load_consecutive(Emitter& e, const LaneAddresses& a, const Values& inactive, unsigned step) {
  const auto dwords = static_cast<unsigned>(inactive.size());
  Values values(dwords);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    if (dwords == 1) {
      Value* from = accessible_pointer(e, a, chunk);
      prefetch_ahead(e, a, Prefetch::for_load, from, 4 * lanes_per_chunk);
      values[0][chunk] =
          e.ir.CreateMaskedLoad(Emitter::lanes(e.i32()), from, unaligned, a.active[chunk], inactive[0][chunk]);
      continue;
    }
    Value* from = first_pointer(e, a, chunk);
    const unsigned size = lanes_per_chunk * step;
    prefetch_ahead(e, a, Prefetch::for_load, from, 4 * size);
    Value* all = load_first_dwords(e, from, size - (step - dwords), size, keeps_whole(a, dwords));
    for (unsigned d = 0; d < dwords; ++d) {
      std::vector<int> elements;
      for (unsigned lane = 0; lane < lanes_per_chunk; ++lane) elements.push_back(static_cast<int>(lane * step + d));
      values[d][chunk] = e.ir.CreateShuffleVector(all, elements);
    }
  }
  return values;
}

/// One vector a chunk of the lanes' dword `d`.
Value* load_neighbours(Emitter& e, const LaneAddresses& a, unsigned chunk, std::size_t d) {
  Value* from = displaced(e, first_pointer(e, a, chunk), 4 * d);
  return e.ir.CreateAlignedLoad(Emitter::lanes(e.i32()), from, unaligned, !a.in_lds);
}

/// For tuples that begin with the next lane's second dword, as compilers load what a stencil looks at. Vectors may be
/// read in parts: of two dwords that are read at once, a lane takes both from one vector. One of two neighbours has its
/// two dwords side by side in the first vector, the other one in the second.
Values load_overlapping(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  Values values(inactive.size());
  std::vector<int> first, second;
  for (int lane = 0; lane < static_cast<int>(lanes_per_chunk); lane += 2) {
    first.insert(first.end(), {lane, static_cast<int>(lanes_per_chunk) + lane});
    second.insert(second.end(), {lane + 1, static_cast<int>(lanes_per_chunk) + lane + 1});
  }
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    prefetch_ahead(e, a, Prefetch::for_load, first_pointer(e, a, chunk), 4 * lanes_per_chunk);
    for_each_part(values.size(), [&](std::size_t d, std::size_t dwords) {
      Value* own = load_neighbours(e, a, chunk, d);
      values[d][chunk] = own;
      if (dwords == 1) return;
      Value* next = load_neighbours(e, a, chunk, d + 1);
      values[d][chunk] = e.ir.CreateShuffleVector(own, next, first);
      values[d + 1][chunk] = e.ir.CreateShuffleVector(own, next, second);
    });
  }
  return values;
}

/// Scalar loads for each chunk.
Values load_uniform(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  Values values(inactive.size());
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* from = accessible_pointer(e, a, chunk);
    for_each_part(values.size(), [&](std::size_t d, std::size_t dwords) {
      Value* place = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), from, 4 * d);
      Value* part = e.ir.CreateAlignedLoad(dwords == 1 ? e.i32() : e.i64(), place, unaligned, keeps_whole(a, dwords));
      split(e, e.splat(part), values, d, dwords, chunk);
      for (std::size_t i = d; i < d + dwords; ++i)
        values[i][chunk] = e.ir.CreateSelect(a.active[chunk], values[i][chunk], inactive[i][chunk]);
    });
  }
  return values;
}

Values load_lane_by_lane(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  Values values = load_lane_by_lane(e, a, static_cast<std::uint32_t>(4 * inactive.size()));
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (std::size_t d = 0; d < values.size(); ++d)
      values[d][chunk] = e.ir.CreateSelect(a.active[chunk], values[d][chunk], inactive[d][chunk]);
  return values;
}

Values load_gathered(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  if (is_branch_a_lane(e, a)) return load_lane_by_lane(e, a, inactive);
  Values values(inactive.size());
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for_each_part(values.size(), [&](std::size_t d, std::size_t dwords) {
      Value* otherwise = joined(e, inactive, d, dwords, chunk);
      Value* part = e.ir.CreateMaskedGather(otherwise->getType(), lane_pointers(e, a, chunk, 4 * d), unaligned,
                                            a.active[chunk], otherwise);
      split(e, part, values, d, dwords, chunk);
    });
  return values;
}

/// The lanes that a way of loading a row is for.
enum class RowLanes : std::uint8_t { active, all };

/// `load(row)` where the lanes are within the row and, if all are needed, all are active; else `load_others()`.
template <class Load, class LoadOthers>
Values load_in_row(Emitter& e, const LaneAddresses& a, RowLanes lanes, std::size_t dwords, Load&& load,
                   LoadOthers&& load_others) {
  const LaneAddresses row = in_row(e, a);
  Value* fits = is_within_row(e, a);
  if (lanes == RowLanes::all) fits = e.ir.CreateAnd(fits, all_active(e, row));
  Ways ways(e, dwords);
  ways.when(fits);
  ways.arrive(load(row));
  ways.otherwise();
  ways.arrive(load_others());
  return ways.finish();
}

/// For a row of lanes, if it can be told at translation how to access it.
std::optional<Values> load_row(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  if (!a.row) return std::nullopt;
  const auto dwords = static_cast<std::uint32_t>(inactive.size());
  const auto load = [&](RowLanes lanes, auto&& load_lanes) {
    return load_in_row(e, a, lanes, dwords, load_lanes, [&] { return load_gathered(e, a, inactive); });
  };
  const auto load_step = [&](std::uint32_t step) {
    return load(dwords == 1 ? RowLanes::active : RowLanes::all,
                [&](const LaneAddresses& row) { return load_consecutive(e, row, inactive, step); });
  };
  if (has_row(a, 0))
    return load(RowLanes::active, [&](const LaneAddresses& row) { return load_uniform(e, row, inactive); });
  if (has_row(a, 4 * dwords)) return load_step(dwords);
  if (dwords == 3 && has_row(a, 16)) return load_step(4);
  if (dwords > 1 && has_row(a, 4))
    return load(RowLanes::all, [&](const LaneAddresses& row) { return load_overlapping(e, row, inactive); });
  if (dwords == 1 && Window::may_hold(e, a)) return std::nullopt;
  return load(RowLanes::active, [&](const LaneAddresses& row) { return load_gathered(e, row, inactive); });
}

Values load_dword(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  Value* shape = find_shape(e, a);
  Ways ways(e, 1);
  ways.when(has_shape(e, shape, lane_shape::consecutive));
  ways.arrive(load_consecutive(e, a, inactive, 1));
  ways.otherwise();
  ways.when(has_shape(e, shape, lane_shape::uniform));
  ways.arrive(load_uniform(e, a, inactive));
  ways.otherwise();
  if (Window::is_possible(e)) {
    ways.when(e.ir.CreateNot(has_shape(e, shape, lane_shape::scattered)));
    Window window(e, a, shape);
    // A branch, not a selection: the addresses do not wait for the answer.
    Value* before_lane_0 = ways.only_if(
        window.is_in_lines(), window.from_line(), [&] { return window.is_in_pages(); }, window.from_lane_0());
    ways.arrive({window.load(before_lane_0)});
    ways.otherwise();
  }
  ways.arrive(load_gathered(e, a, inactive));
  return ways.finish();
}

/// Two to four dwords a lane.
Values load_tuples(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  const auto dwords = static_cast<std::uint32_t>(inactive.size());
  Ways ways(e, dwords);
  ways.when(e.ir.CreateAnd(follow(e, a, 4 * dwords), all_active(e, a)));
  ways.arrive(load_consecutive(e, a, inactive, dwords));
  ways.otherwise();
  if (dwords == 3) {  // compilers load three of four dwords if the last is not used
    ways.when(e.ir.CreateAnd(follow(e, a, 16), all_active(e, a)));
    ways.arrive(load_consecutive(e, a, inactive, 4));
    ways.otherwise();
  }
  ways.when(follow(e, a, 0));
  ways.arrive(load_uniform(e, a, inactive));
  ways.otherwise();
  ways.when(e.ir.CreateAnd(follow(e, a, 4), all_active(e, a)));
  ways.arrive(load_overlapping(e, a, inactive));
  ways.otherwise();
  ways.arrive(load_gathered(e, a, inactive));
  return ways.finish();
}

}  // namespace

Values load_dwords(Emitter& e, const LaneAddresses& a, const Values& inactive) {
  if (goes_lane_by_lane(e, a)) return load_lane_by_lane(e, a, inactive);
  if (a.is_consecutive) return load_consecutive(e, a, inactive, static_cast<unsigned>(inactive.size()));
  if (auto values = load_row(e, a, inactive)) return *std::move(values);
  return inactive.size() == 1 ? load_dword(e, a, inactive) : load_tuples(e, a, inactive);
}

namespace {

/// The aligned dwords that hold the bytes at these addresses (<16 x i64>): an aligned dword lies in one page.
Value* gather_aligned_dwords(Emitter& e, Value* addresses, Value* active) {
  Value* aligned =
      e.ir.CreateIntToPtr(e.ir.CreateAnd(addresses, e.splat64(~std::uint64_t{3})), Emitter::lanes(e.ir.getPtrTy()));
  return e.ir.CreateMaskedGather(Emitter::lanes(e.i32()), aligned, llvm::Align(4), active, zeros(e));
}

/// 1 or 2 bytes at each active lane's address. An aligned short is read at once; one in two dwords is read in two
/// parts.
Value* gather_small(Emitter& e, const LaneAddresses& a, unsigned chunk, std::uint32_t bytes) {
  Value* addresses = address_numbers(e, a, chunk);
  Value* byte = e.ir.CreateAnd(e.ir.CreateTrunc(addresses, Emitter::lanes(e.i32())), e.splat(3U));
  Value* value = e.ir.CreateLShr(gather_aligned_dwords(e, addresses, a.active[chunk]), e.ir.CreateShl(byte, 3));
  if (bytes == 1) return e.ir.CreateAnd(value, e.splat(0xffU));
  Value* crosses = e.ir.CreateAnd(e.ir.CreateICmpEQ(byte, e.splat(3U)), a.active[chunk]);
  Value* next = gather_aligned_dwords(e, e.ir.CreateAdd(addresses, e.splat64(1)), crosses);
  return e.ir.CreateAnd(e.ir.CreateOr(value, e.ir.CreateShl(next, 8)), e.splat(0xffffU));
}

Chunks gather_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  if (is_branch_a_lane(e, a)) return load_lane_by_lane(e, a, bytes).front();
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) values[chunk] = gather_small(e, a, chunk, bytes);
  return values;
}

/// The elements of a vector that begins at an address.
Value* load_vector(Emitter& e, Value* from, std::uint32_t bytes, unsigned count) {
  return e.ir.CreateAlignedLoad(llvm::FixedVectorType::get(e.ir.getIntNTy(8 * bytes), count), from, unaligned);
}

/// One vector a chunk, with an element a lane.
Chunks load_elements(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* from = first_pointer(e, a, chunk);
    if (chunk == 0) prefetch_ahead(e, a, Prefetch::for_load, from, lanes_per_chunk * bytes);
    values[chunk] = e.ir.CreateZExt(load_vector(e, from, bytes, lanes_per_chunk), Emitter::lanes(e.i32()));
  }
  return values;
}

/// Of a row of lanes, the first of each `step` bytes. A host loads vectors of a power of two of bytes best: the last
/// one begins earlier, so that what is behind the last lane's byte is not touched.
Chunks load_bytes_apart(Emitter& e, const LaneAddresses& row, unsigned step) {
  const auto span = [&](unsigned lanes) { return (lanes - 1) * step + 1; };
  const unsigned width = std::bit_ceil(span(lanes_per_chunk));
  const unsigned last_begin = span(lanes_per_chunk * e.chunks()) - width;
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    const unsigned first = chunk * lanes_per_chunk * step;
    const unsigned begin = std::min(first, last_begin);
    std::vector<int> elements;
    for (unsigned lane = 0; lane < lanes_per_chunk; ++lane)
      elements.push_back(static_cast<int>(first - begin + lane * step));
    Value* loaded = load_vector(e, displaced(e, first_pointer(e, row, 0), begin), 1, width);
    values[chunk] = e.ir.CreateZExt(e.ir.CreateShuffleVector(loaded, elements), Emitter::lanes(e.i32()));
  }
  return values;
}

/// Shorts that begin with the next lane's second byte, as compilers load two neighbours. Every second lane's are side
/// by side in one vector, the others in another one.
Chunks load_overlapping_shorts(Emitter& e, const LaneAddresses& a) {
  constexpr int half = lanes_per_chunk / 2;
  std::vector<int> in_turn;
  for (int lane = 0; lane < half; ++lane) in_turn.insert(in_turn.end(), {lane, lane + half});
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* from = first_pointer(e, a, chunk);
    Value* loaded = e.ir.CreateShuffleVector(load_vector(e, from, 2, half),
                                             load_vector(e, displaced(e, from, 1), 2, half), in_turn);
    values[chunk] = e.ir.CreateZExt(loaded, Emitter::lanes(e.i32()));
  }
  return values;
}

/// Elements side by side, where lanes are active.
Chunks load_some_elements(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  llvm::Type* narrow = Emitter::lanes(e.ir.getIntNTy(8 * bytes));
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* from = accessible_pointer(e, a, chunk);
    if (chunk == 0) prefetch_ahead(e, a, Prefetch::for_load, from, lanes_per_chunk * bytes);
    Value* loaded =
        e.ir.CreateMaskedLoad(narrow, from, unaligned, a.active[chunk], llvm::Constant::getNullValue(narrow));
    values[chunk] = e.ir.CreateZExt(loaded, Emitter::lanes(e.i32()));
  }
  return values;
}

/// Bytes that lie up to so far apart are taken out of vectors: of a pixel's three or four.
constexpr unsigned most_bytes_apart = 4;

/// For a row of lanes that can be told at translation to be accessed by vectors.
std::optional<Chunks> load_small_row(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  const auto load = [&](RowLanes lanes, auto&& load_lanes) {
    return load_in_row(
               e, a, lanes, 1, [&](const LaneAddresses& row) { return Values{load_lanes(row)}; },
               [&] { return Values{gather_small(e, a, bytes)}; })
        .front();
  };
  if (has_row(a, bytes) && can_mask_small(e))
    return load(RowLanes::active, [&](const LaneAddresses& row) { return load_some_elements(e, row, bytes); });
  if (has_row(a, bytes))
    return load(RowLanes::all, [&](const LaneAddresses& row) { return load_elements(e, row, bytes); });
  if (bytes == 2 && has_row(a, 1))
    return load(RowLanes::all, [&](const LaneAddresses& row) { return load_overlapping_shorts(e, row); });
  for (unsigned step = 2; bytes == 1 && step <= most_bytes_apart; ++step)
    if (has_row(a, step))
      return load(RowLanes::all, [&](const LaneAddresses& row) { return load_bytes_apart(e, row, step); });
  return std::nullopt;
}

}  // namespace

Chunks load_small(Emitter& e, const LaneAddresses& a, std::uint32_t bytes) {
  if (goes_lane_by_lane(e, a)) return load_lane_by_lane(e, a, bytes).front();
  if (const auto values = load_small_row(e, a, bytes)) return *values;
  Ways ways(e, 1);
  ways.when(e.ir.CreateAnd(follow(e, a, bytes), all_active(e, a)));
  ways.arrive({load_elements(e, a, bytes)});
  ways.otherwise();
  ways.arrive({gather_small(e, a, bytes)});
  return ways.finish().front();
}

}  // namespace softgpu::compute
