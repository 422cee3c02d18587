// v_permlane16 and its kin: each lane reads a lane of its own row of 16, or of the other row of its pair.
#pragma once

#include <cstddef>

#include <llvm/IR/Constants.h>

#include "softgpu/compute/emit/lane_access.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

struct RowPermutation {
  unsigned destination;  ///< the numbers of registers
  unsigned source;
  unsigned other_row;   ///< 1: of the row's pair
  bool reads_disabled;  ///< lanes that EXEC disables are read, too
  bool zeroes;          ///< else 0 is read from them; else the reading lane is not written
};

/// `column_of(chunk)` are the numbers, 0 to 15, of the lanes that a row's lanes read (<16 x i32>).
template <class ColumnOf>
void permute_rows(Emitter& e, const RowPermutation& permutation, ColumnOf&& column_of) {
  llvm::Type* type = Emitter::lanes(e.i32());
  // What a lane reads and whether EXEC enables it, through memory that a gather can index.
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    put_lane_data(e, chunk, 0, e.vgpr(permutation.source, chunk));
    put_lane_data(e, chunk, 1, e.ir.CreateSExt(e.exec_mask(chunk), type));
  }
  const auto fetch = [&](unsigned row, unsigned dword, llvm::Value* columns) {
    const std::size_t place = offsetof(WaveState, lane_data) + 4 * (std::size_t{64} * dword + lanes_per_chunk * row);
    llvm::Value* base = e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), place);
    llvm::Value* pointers = e.ir.CreateGEP(e.i32(), base, e.ir.CreateZExt(columns, Emitter::lanes(e.i64())));
    llvm::Value* all = llvm::Constant::getAllOnesValue(Emitter::lanes(e.i1()));
    return e.ir.CreateMaskedGather(type, pointers, llvm::Align(4), all, llvm::Constant::getNullValue(type));
  };
  Chunks values = {};
  Chunks enabled = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    llvm::Value* columns = column_of(chunk);
    values.at(chunk) = fetch(chunk ^ permutation.other_row, 0, columns);
    enabled.at(chunk) = e.ir.CreateIsNotNull(fetch(chunk ^ permutation.other_row, 1, columns));
  }
  const bool writes_all = permutation.reads_disabled || permutation.zeroes;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    llvm::Value* value = values.at(chunk);
    if (!permutation.reads_disabled && permutation.zeroes)
      value = e.ir.CreateSelect(enabled.at(chunk), value, e.splat(0U));
    e.set_vgpr(permutation.destination, chunk, value, writes_all ? nullptr : enabled.at(chunk));
  }
}

}  // namespace softgpu::compute
