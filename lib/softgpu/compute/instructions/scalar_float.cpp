// Scalar floating-point instructions (RDNA3.5 ISA, 6.8): the results are those of the vector instructions of the same
// names. A half is the lower one of its register, and a result of 16 bits zeroes the upper one.
#include <string>

#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using enum Lane;
using Predicate = llvm::CmpInst::Predicate;

constexpr const char* as_vector_instructions[] = {
    "add_f32",   "sub_f32",     "min_f32",     "max_f32",     "mul_f32",     "fmac_f32",    "fmaak_f32",
    "fmamk_f32", "ceil_f32",    "floor_f32",   "trunc_f32",   "rndne_f32",   "add_f16",     "sub_f16",
    "min_f16",   "max_f16",     "mul_f16",     "fmac_f16",    "ceil_f16",    "floor_f16",   "trunc_f16",
    "rndne_f16", "cvt_f32_i32", "cvt_f32_u32", "cvt_i32_f32", "cvt_u32_f32", "cvt_f16_f32", "cvt_f32_f16"};

/// s_cvt_hi_f32_f16: the upper half of a register or a literal. The manual does not say what it is of an inline number.
void convert_upper_half(Emitter& e, const Instruction& i) {
  if (i.operands.at(1).kind == Operand::Kind::real) e.unsupported("an inline floating-point constant");
  Instruction of_upper = i;
  of_upper.modifiers.push_back({.name = "op_sel", .text = "[1]"});
  VectorInstruction scalar(e, of_upper);
  scalar.write(f32, {quieted(e, scalar.source(0, f16, 0))});
}

void add_comparison(HandlerTable& table, const std::string& name, Predicate predicate) {
  for (const Lane lane : {f16, f32}) {
    table.add("s_cmp_" + name + (lane == f16 ? "_f16" : "_f32"), [=](Emitter& e, const Instruction& i) {
      VectorInstruction scalar(e, i, 0);
      Value* holds = e.ir.CreateFCmp(predicate, scalar.source(0, lane, 0), scalar.source(1, lane, 0));
      e.set_scc(e.ir.CreateExtractElement(holds, std::uint64_t{0}));
    });
  }
}

}  // namespace

void add_scalar_floats(HandlerTable& table) {
  for (const std::string name : as_vector_instructions) table.add("s_" + name, *table.find("v_" + name));
  table.add("s_cvt_pk_rtz_f16_f32", *table.find("v_cvt_pkrtz_f16_f32"));
  table.add("s_cvt_hi_f32_f16", convert_upper_half);
  add_comparison(table, "lt", Predicate::FCMP_OLT);
  add_comparison(table, "eq", Predicate::FCMP_OEQ);
  add_comparison(table, "le", Predicate::FCMP_OLE);
  add_comparison(table, "gt", Predicate::FCMP_OGT);
  add_comparison(table, "lg", Predicate::FCMP_ONE);
  add_comparison(table, "ge", Predicate::FCMP_OGE);
  add_comparison(table, "o", Predicate::FCMP_ORD);
  add_comparison(table, "u", Predicate::FCMP_UNO);
  add_comparison(table, "nge", Predicate::FCMP_ULT);
  add_comparison(table, "nlg", Predicate::FCMP_UEQ);
  add_comparison(table, "ngt", Predicate::FCMP_ULE);
  add_comparison(table, "nle", Predicate::FCMP_UGT);
  add_comparison(table, "neq", Predicate::FCMP_UNE);
  add_comparison(table, "nlt", Predicate::FCMP_UGE);
}

}  // namespace softgpu::compute
