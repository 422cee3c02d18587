#include "softgpu/compute/emit/lane_access.hpp"

#include "softgpu/compute/emit/lane_loads.hpp"
#include "softgpu/compute/emit/lane_stores.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

void check_width(Emitter& e, const Operand& data, const AccessFormat& format) {
  if (!data.is_vector() || data.dwords != format.dwords()) e.unsupported("operand " + data.text);
}

Value* extended(Emitter& e, const AccessFormat& format, Value* raw) {
  if (format.bytes >= 4 || format.extension != AccessFormat::Extension::sign) return raw;
  const unsigned unused = 32 - 8 * format.bytes;
  return e.ir.CreateAShr(e.ir.CreateShl(raw, unused), unused);
}

/// What a load writes to the register, given the bytes it read.
Value* fit(Emitter& e, const AccessFormat& format, Value* raw, Value* old) {
  Value* value = extended(e, format, raw);
  switch (format.part) {
  case AccessFormat::Part::low_half:
    return e.ir.CreateOr(e.ir.CreateAnd(old, e.splat(0xffff0000U)), e.ir.CreateAnd(value, e.splat(0xffffU)));
  case AccessFormat::Part::high_half:
    return e.ir.CreateOr(e.ir.CreateAnd(old, e.splat(0xffffU)), e.ir.CreateShl(value, 16));
  case AccessFormat::Part::whole:
    break;
  }
  return value;
}

/// The bytes that a store takes from a register, in the low end.
Value* part_to_store(Emitter& e, const AccessFormat& format, Value* value) {
  return format.part == AccessFormat::Part::high_half ? e.ir.CreateLShr(value, 16) : value;
}

}  // namespace

void load_lanes(Emitter& e, const Operand& destination, const AccessFormat& format, const LaneAddresses& addresses) {
  check_width(e, destination, format);
  if (format.bytes < 4) {
    const Chunks raw = load_small(e, addresses, format.bytes);
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* value = raw[chunk];
      if (addresses.out_of_range_is_zero) value = e.ir.CreateSelect(addresses.active[chunk], value, zeros(e));
      e.set_vector(destination, chunk, fit(e, format, value, e.vgpr(destination.index, chunk)));
    }
    return;
  }
  Values inactive(format.dwords());
  for (unsigned d = 0; d < format.dwords(); ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* old = e.vgpr(destination.index + d, chunk);
      inactive[d][chunk] = addresses.out_of_range_is_zero ? e.ir.CreateSelect(e.exec_mask(chunk), zeros(e), old) : old;
    }
  const Values values = load_dwords(e, addresses, inactive);
  for (unsigned d = 0; d < format.dwords(); ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
      e.set_vgpr_unmasked(destination.index + d, chunk, values[d][chunk]);
}

void store_lanes(Emitter& e, const Operand& source, const AccessFormat& format, const LaneAddresses& addresses) {
  check_width(e, source, format);
  Values values(format.dwords());
  for (unsigned d = 0; d < format.dwords(); ++d)
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
      values[d][chunk] = part_to_store(e, format, e.vector(source, chunk, d));
  if (format.bytes < 4)
    store_small(e, addresses, format.bytes, values[0]);
  else
    store_dwords(e, addresses, values);
}

Chunks load_lanes(Emitter& e, const LaneAddresses& addresses) {
  Values inactive(1);
  inactive[0].fill(zeros(e));
  return load_dwords(e, addresses, inactive).front();
}

void store_lanes(Emitter& e, const Chunks& dwords, const LaneAddresses& addresses) {
  store_dwords(e, addresses, {dwords});
}

Operand part_of(const Operand& tuple, unsigned first, unsigned dwords) {
  Operand part = tuple;
  part.index += first;
  part.dwords = dwords;
  return part;
}

void put_source(Emitter& e, const Operand& source, const AccessFormat& format, unsigned first) {
  check_width(e, source, format);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned d = 0; d < format.dwords(); ++d)
      put_lane_data(e, chunk, first + d, part_to_store(e, format, e.vector(source, chunk, d)));
}

void take_destination(Emitter& e, const Operand& destination, const AccessFormat& format) {
  check_width(e, destination, format);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    for (unsigned d = 0; d < format.dwords(); ++d) {
      Value* raw = lane_data(e, chunk, d);
      e.set_vector(destination, chunk, fit(e, format, raw, e.vgpr(destination.index + d, chunk)), d);
    }
}

Chunks loaded_dwords(Emitter& e, const AccessFormat& format) {
  Chunks values;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) values[chunk] = extended(e, format, lane_data(e, chunk, 0));
  return values;
}

}  // namespace softgpu::compute
