// Vector instructions with a form of their own: literals in the middle, accumulating dot products, cube maps, 64-bit
// DPP, output modifiers, special sources, accumulation registers as memory operands.
#include <cmath>
#include <string>

#include "vector_form.hpp"
#include "vector_suite.hpp"

namespace softgpu::isa::vector_special {
namespace {

u64 near_one(std::size_t /*source*/, u64 bits) { return (bits & 0x87ffffff) | 0x38000000; }

/// v_madmk: v0 * constant + v2, v_madak: v0 * v2 + constant. f32 flushes denormals, so the numbers are far from them.
TEST(VectorSpecial, MultiplyAddTakesALiteral) {
  const auto single = [](float a, float b, float c) { return a * b + c; };
  const auto half = [](Half a, Half b, Half c) {
    const Half product(static_cast<double>(a) * static_cast<double>(b));
    return LowHalf{Half(static_cast<double>(product) + static_cast<double>(c))};
  };
  const VectorOperand single_constant = literal(Type::float32, 0x40490fdb);
  const VectorOperand half_constant = literal(Type::float16, 0x4248);
  expect_match({
      case_of(vop3("v_madmk_f32", single).constrained(near_one),
              multiply_add_form(Type::float32, single_constant, false)),
      case_of(vop3("v_madak_f32", single).constrained(near_one),
              multiply_add_form(Type::float32, single_constant, true)),
      case_of(vop3("v_madmk_f16", half), multiply_add_form(Type::float16, half_constant, false)),
      case_of(vop3("v_madak_f16", half), multiply_add_form(Type::float16, half_constant, true)),
  });
}

i32 signed_part(u32 word, unsigned width, unsigned index) {
  return static_cast<i32>(word << (32 - width * (index + 1))) >> (32 - width);
}
i32 dot(u32 a, u32 b, i32 sum, unsigned width) {
  i64 result = sum;
  for (unsigned i = 0; i < 32 / width; ++i) result += i64{signed_part(a, width, i)} * signed_part(b, width, i);
  return static_cast<i32>(result);
}
float dot_halves(PackedHalf a, PackedHalf b, Old<float> d) {
  return static_cast<float>(double{a.low} * double{b.low} + double{a.high} * double{b.high} + d.value);
}
/// Small whole numbers, whose products and sums are exact.
u64 whole_numbers(std::size_t source, u64 bits) {
  const auto small = [](u64 seed) { return static_cast<double>(seed % 128) - 64; };
  return source < 2 ? to_bits(PackedHalf{Half(small(bits)), Half(small(bits >> 16))})
                    : to_bits(static_cast<float>(small(bits)));
}

const VectorInstruction accumulating[] = {
    vop2("v_dot2c_i32_i16", [](u32 a, u32 b, Old<i32> d) { return dot(a, b, d.value, 16); }),
    vop2("v_dot4c_i32_i8", [](u32 a, u32 b, Old<i32> d) { return dot(a, b, d.value, 8); }),
    vop2("v_dot8c_i32_i4", [](u32 a, u32 b, Old<i32> d) { return dot(a, b, d.value, 4); }),
    vop2("v_dot2c_f32_f16", dot_halves).constrained(whole_numbers),
    vop2("v_pk_fmac_f16",
         [](PackedHalf a, PackedHalf b, Old<PackedHalf> d) {
           return PackedHalf{fused_multiply_add(a.low, b.low, d.value.low),
                             fused_multiply_add(a.high, b.high, d.value.high)};
         })
        .without({Form::dpp}),
};
class VectorAccumulating : public testing::TestWithParam<VectorInstruction> {};
TEST_P(VectorAccumulating, MatchesTheManual) {
  expect_match(cases_of(GetParam().without({Form::e64, Form::sdwa, Form::constant, Form::modifiers, Form::in_place})));
}
INSTANTIATE_TEST_SUITE_P(Isa, VectorAccumulating, testing::ValuesIn(accumulating),
                         [](const auto& row) { return test_name(row.param); });

/// The axis with the greatest magnitude; z before y before x where they are equal.
enum class Axis { x, y, z };
Axis major_axis(float x, float y, float z) {
  if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y)) return Axis::z;
  return std::fabs(y) >= std::fabs(x) ? Axis::y : Axis::x;
}
float face(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
  case Axis::z:
    return z < 0 ? 5 : 4;
  case Axis::y:
    return y < 0 ? 3 : 2;
  default:
    return x < 0 ? 1 : 0;
  }
}
float face_s(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
  case Axis::z:
    return z < 0 ? -x : x;
  case Axis::y:
    return x;
  default:
    return x < 0 ? z : -z;
  }
}
float face_t(float x, float y, float z) {
  if (major_axis(x, y, z) != Axis::y) return -y;
  return y < 0 ? -z : z;
}
float twice_major(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
  case Axis::z:
    return 2 * z;
  case Axis::y:
    return 2 * y;
  default:
    return 2 * x;
  }
}
const VectorInstruction cube_maps[] = {
    vop3("v_cubeid_f32", face),
    vop3("v_cubesc_f32", face_s),
    vop3("v_cubetc_f32", face_t),
    vop3("v_cubema_f32", twice_major),
};
class VectorCubeMap : public testing::TestWithParam<VectorInstruction> {};
TEST_P(VectorCubeMap, MatchesTheManual) {
  expect_match(cases_of(GetParam().constrained(near_one).without({Form::constant, Form::clamp})));
}
INSTANTIATE_TEST_SUITE_P(Isa, VectorCubeMap, testing::ValuesIn(cube_maps),
                         [](const auto& row) { return test_name(row.param); });

TEST(VectorSpecial, DoublesAreBroadcastWithinTheirRow) {
  const VectorInstruction row =
      vop2("v_fmac_f64", [](double a, double b, Old<double> d) { return std::fma(a, b, d.value); });
  VectorForm form{.suffix = "_dpp", .sources = {vgpr(Type::float64, 0), vgpr(Type::float64, 2)}};
  form.dpp = Dpp{.control = row_newbcast(3), .bound_control = true};
  VectorForm masked = form;
  masked.dpp = Dpp{.control = row_newbcast(12), .row_mask = 0x5, .bank_mask = 0xe};
  expect_match({case_of(row, form), case_of(row, masked)});
}

/// MODE has denormals and IEEE mode on, and either makes output modifiers have no effect.
TEST(VectorSpecial, OutputModifiersAreIgnoredInIeeeMode) {
  const auto modified = [](const VectorInstruction& row, const std::string& modifier) {
    VectorForm form{.suffix = "_e64"};
    for (std::size_t i = 0; i < row.operation.sources.size(); ++i)
      form.sources.push_back(vgpr(row.operation.sources[i], static_cast<unsigned>(2 * i)));
    return case_of(row.with_suffix(modifier), form);
  };
  const VectorInstruction product = vop2("v_mul_f32", [](float a, float b) { return a * b; });
  expect_match({modified(product, "mul:2"), modified(product, "mul:4"), modified(product, "div:2")});
}

TEST(VectorSpecial, ConditionsAndAperturesAreSources) {
  const auto scalar = [](const std::string& source, u64 (*value)(const MachineState&), unsigned bytes) {
    return Case{.assembly = (bytes == 8 ? "s_mov_b64 s[16:17], " : "s_mov_b32 s16, ") + source,
                .prepare =
                    [](MachineState& state, Random& random) {
                      if (random() % 2 == 0) state.vcc = 0;
                    },
                .reference = [=](MachineState& state) { state.set_scalar_value(16, bytes, value(state)); }};
  };
  expect_match({
      scalar(
          "src_vccz", [](const MachineState& s) { return u64{s.vcc == 0}; }, 4),
      scalar(
          "src_execz", [](const MachineState& s) { return u64{s.exec == 0}; }, 4),
      scalar(
          "src_scc", [](const MachineState& s) { return u64{s.scc}; }, 4),
      scalar(
          "src_shared_base", [](const MachineState&) { return u64{shared_aperture_high} << 32; }, 8),
      scalar(
          "src_private_base", [](const MachineState&) { return u64{private_aperture_high} << 32; }, 8),
  });
}

TEST(VectorSpecial, SpecialRegistersAreSourcesOfVectorInstructions) {
  const auto move = [](const std::string& source, u32 (*value)(const MachineState&)) {
    return Case{.assembly = "v_mov_b32 v8, " + source, .prepare = {}, .reference = [value](MachineState& state) {
                  const u32 before = value(state);
                  for (unsigned lane = 0; lane < lane_count; ++lane)
                    if (state.active(lane)) state.vector[8][lane] = before;
                }};
  };
  expect_match({
      move("m0", [](const MachineState& s) { return s.m0; }),
      move("vcc_lo", [](const MachineState& s) { return static_cast<u32>(s.vcc); }),
      move("vcc_hi", [](const MachineState& s) { return static_cast<u32>(s.vcc >> 32); }),
      move("exec_lo", [](const MachineState& s) { return static_cast<u32>(s.exec); }),
      move("exec_hi", [](const MachineState& s) { return static_cast<u32>(s.exec >> 32); }),
      move("src_scc", [](const MachineState& s) { return s.scc; }),
      move("src_vccz", [](const MachineState& s) { return u32{s.vcc == 0}; }),
  });
}

TEST(VectorSpecial, SpecialRegistersAreDestinationsOfScalarInstructions) {
  constexpr u64 low = 0xffffffff;
  expect_match({
      {"s_mov_b32 m0, s4", {}, [](MachineState& s) { s.m0 = s.scalar[4]; }},
      {"s_mov_b32 vcc_lo, s4", {}, [](MachineState& s) { s.vcc = (s.vcc & ~low) | s.scalar[4]; }},
      {"s_mov_b32 vcc_hi, s4", {}, [](MachineState& s) { s.vcc = (s.vcc & low) | u64{s.scalar[4]} << 32; }},
      {"s_mov_b32 exec_lo, s4", {}, [](MachineState& s) { s.exec = (s.exec & ~low) | s.scalar[4]; }},
      {"s_mov_b32 exec_hi, s4", {}, [](MachineState& s) { s.exec = (s.exec & low) | u64{s.scalar[4]} << 32; }},
      {"s_and_b64 vcc, exec, vcc",
       {},
       [](MachineState& s) {
         s.vcc &= s.exec;
         s.scc = s.vcc != 0 ? 1 : 0;
       }},
      {"s_load_dwordx2 vcc, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)",
       [](MachineState& s, Random&) { s.set_scalar_value(4, 8, s.memory_address + 256); },
       [](MachineState& s) { s.vcc = read_as<u64>(s.at(s.memory_address + 256, 8)); }},
  });
}

/// Reads fields of MODE as the kernel descriptor set them.
TEST(VectorSpecial, ModeIsAsTheDescriptorSaysUntilItIsSet) {
  const auto field = [](const std::string& bits, u32 value) {
    return Case{.assembly = "s_getreg_b32 s16, hwreg(HW_REG_MODE, " + bits + ")",
                .prepare = {},
                .reference = [value](MachineState& state) { state.scalar[16] = value; }};
  };
  // DX10_CLAMP and IEEE, which RDNA4 has not got
  const u32 modes = tested_target().architecture->has_float_modes_in_descriptor ? 1 : 0;
  expect_match({field("0, 4", 0), field("4, 4", 0xf), field("8, 1", modes), field("9, 1", modes)});
}

/// Executes `row` while `bits` of MODE are `value`; usually they are ones.
Case in_mode(const VectorInstruction& row, const std::string& bits, u32 value, u32 usual) {
  VectorForm form;
  for (std::size_t i = 0; i < row.operation.sources.size(); ++i)
    form.sources.push_back(vgpr(row.operation.sources[i], static_cast<unsigned>(2 * i)));
  Case made = case_of(row, form);
  const std::string set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " + bits + "), ";
  made.assembly = set + std::to_string(value) + "\n" + made.assembly + "\n" + set + std::to_string(usual);
  return made;
}

float flushed(float value) { return std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value; }
double flushed(double value) { return std::fabs(value) < 0x1p-1022 ? std::copysign(0.0, value) : value; }
Half flushed(Half value) { return (value.bits & 0x7c00) == 0 ? Half::from_bits(value.bits & 0x8000) : value; }

/// A third of the factors are denormal, and of the products of the others many.
template <class T>
VectorInstruction small_product(const std::string& mnemonic, T (*function)(T, T)) {
  return vop3(mnemonic, function).constrained([turn = 0U](std::size_t, u64 bits) mutable {
    constexpr unsigned width = 8 * (std::is_same_v<T, Half> ? 2 : sizeof(T));
    constexpr unsigned exponent = width == 16 ? 10 : width == 32 ? 23 : 52;
    constexpr u64 sign = u64{1} << (width - 1);
    constexpr u64 around = (width == 16   ? u64{7}
                            : width == 32 ? u64{64}
                                          : u64{512})
                           << exponent;  // its square is small
    const u64 fraction = bits & ((u64{1} << exponent) - 1);
    return (bits & sign) | fraction | (++turn % 3 == 0 ? 0 : around);
  });
}

/// Denormals become zeros with their sign where MODE says so: of inputs, of results, or of both.
TEST(VectorSpecial, DenormalsAreFlushedWhereModeSaysSo) {
  const auto both32 =
      small_product<float>("v_mul_f32", [](float a, float b) { return flushed(flushed(a) * flushed(b)); });
  const auto in32 = small_product<float>("v_mul_f32", [](float a, float b) { return flushed(a) * flushed(b); });
  const auto out32 = small_product<float>("v_mul_f32", [](float a, float b) { return flushed(a * b); });
  const auto both64 =
      small_product<double>("v_mul_f64", [](double a, double b) { return flushed(flushed(a) * flushed(b)); });
  const auto in64 = small_product<double>("v_mul_f64", [](double a, double b) { return flushed(a) * flushed(b); });
  const auto out64 = small_product<double>("v_mul_f64", [](double a, double b) { return flushed(a * b); });
  const auto both16 = small_product<Half>("v_mul_f16", [](Half a, Half b) {
    return flushed(Half(static_cast<double>(flushed(a)) * static_cast<double>(flushed(b))));
  });
  const auto in16 = small_product<Half>("v_mul_f16", [](Half a, Half b) {
    return Half(static_cast<double>(flushed(a)) * static_cast<double>(flushed(b)));
  });
  const auto out16 = small_product<Half>(
      "v_mul_f16", [](Half a, Half b) { return flushed(Half(static_cast<double>(a) * static_cast<double>(b))); });
  expect_match({in_mode(both32, "4, 2", 0, 3), in_mode(in32, "4, 2", 2, 3), in_mode(out32, "4, 2", 1, 3),
                in_mode(both64, "6, 2", 0, 3), in_mode(in64, "6, 2", 2, 3), in_mode(out64, "6, 2", 1, 3),
                in_mode(both16, "6, 2", 0, 3), in_mode(in16, "6, 2", 2, 3), in_mode(out16, "6, 2", 1, 3)});
}

/// The same in both halves of a packed operation.
TEST(VectorSpecial, DenormalHalvesOfPackedOperandsAreFlushed) {
  const auto product = [](u32 a, u32 b, unsigned shift) {
    const Half left = flushed(Half::from_bits(static_cast<std::uint16_t>(a >> shift)));
    const Half right = flushed(Half::from_bits(static_cast<std::uint16_t>(b >> shift)));
    return u32{flushed(Half(static_cast<double>(left) * static_cast<double>(right))).bits} << shift;
  };
  expect_match({{"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 0\nv_pk_mul_f16 v8, v0, v2\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 3",
                 [](MachineState& state, Random& random) {
                   for (const unsigned source : {0U, 2U})
                     for (u32& word : state.vector[source])
                       word = static_cast<u32>(random()) & (random() % 3 == 0 ? 0x83ff9fff : 0x9fff9fff);
                 },
                 [product](MachineState& state) {
                   for (unsigned lane = 0; lane < lane_count; ++lane) {
                     if (!state.active(lane)) continue;
                     const u32 a = state.vector[0][lane];
                     const u32 b = state.vector[2][lane];
                     state.vector[8][lane] = product(a, b, 0) | product(a, b, 16);
                   }
                 }}});
}

/// In index mode M0 moves the operands that its mode bits choose: sources from v0, or the destination from v8, on.
TEST(VectorSpecial, IndexModeMovesRegistersByM0) {
  constexpr u32 moves_source = 1;
  constexpr u32 moves_destination = 8;
  const auto move = [](const std::string& modes, u32 bits) {
    return Case{.assembly = "s_set_gpr_idx_on s4, gpr_idx(" + modes + ")\nv_mov_b32 v8, v0\ns_set_gpr_idx_off",
                .prepare = [](MachineState& state, Random&) { state.scalar[4] &= ~u32{0xf8}; },
                .reference =
                    [bits](MachineState& state) {
                      const u32 index = state.scalar[4] & 7;
                      const auto& source = state.vector[(bits & moves_source) != 0 ? index : 0];
                      auto& destination = state.vector[8 + ((bits & moves_destination) != 0 ? index : 0)];
                      for (unsigned lane = 0; lane < lane_count; ++lane)
                        if (state.active(lane)) destination[lane] = source[lane];
                      state.m0 = (state.m0 & ~u32{0xf0ff}) | bits << 12 | index;
                    }};
  };
  Case changed = move("SRC0", moves_source);  // the index changes while the mode is on
  changed.assembly = "s_set_gpr_idx_on s5, gpr_idx(SRC0)\ns_set_gpr_idx_idx s4\nv_mov_b32 v8, v0\ns_set_gpr_idx_off";
  Case other_mode = move("DST", moves_destination);  // the mode changes while it is on, and after that does nothing
  other_mode.assembly =
      "s_set_gpr_idx_on s4, gpr_idx()\ns_set_gpr_idx_mode gpr_idx(DST)\nv_mov_b32 v8, v0\ns_set_gpr_idx_off";
  Case off = move("SRC0", 0);
  off.assembly = "s_set_gpr_idx_mode gpr_idx(SRC0,SRC1)\nv_mov_b32 v8, v0";
  off.reference = [](MachineState& state) {
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (state.active(lane)) state.vector[8][lane] = state.vector[0][lane];
    state.m0 = (state.m0 & ~u32{0xf000}) | 3 << 12;
  };
  expect_match({changed, other_mode, off, move("SRC0", moves_source), move("DST", moves_destination),
                move("SRC0,DST", moves_source | moves_destination)});
}

/// Loads and stores may name accumulation registers instead of vector registers.
TEST(VectorSpecial, AccumulationRegistersAreMemoryOperands) {
  const auto addresses = [](MachineState& state, Random& /*random*/) {
    for (unsigned lane = 0; lane < lane_count; ++lane)
      state.set_vector_value(0, lane, 8, state.memory_address + 512 + lane * 8);
  };
  const auto loaded = [](MachineState& state) {
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (state.active(lane))
        state.set_vector_value(8, lane, 8, read_as<u64>(state.at(state.vector_value(0, lane, 8), 8)));
  };
  const auto stored = [](MachineState& state) {
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (state.active(lane))
        write_as<u64>(state.at(state.vector_value(0, lane, 8), 8), state.vector_value(4, lane, 8));
  };
  expect_match({{"global_load_dwordx2 a[4:5], v[0:1], off\ns_waitcnt vmcnt(0)\n"
                 "v_accvgpr_read_b32 v8, a4\nv_accvgpr_read_b32 v9, a5",
                 addresses, loaded},
                {"v_accvgpr_write_b32 a6, v4\nv_accvgpr_write_b32 a7, v5\n"
                 "global_store_dwordx2 v[0:1], a[6:7], off\ns_waitcnt vmcnt(0)",
                 addresses, stored}});
}

}  // namespace
}  // namespace softgpu::isa::vector_special
