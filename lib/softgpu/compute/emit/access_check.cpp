#include "softgpu/compute/emit/access_check.hpp"

#include <cstddef>
#include <vector>

#include <hsa/hsa.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "softgpu/compute/emit/lane_operands.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

Value* window_base(Emitter& e) { return e.field(offsetof(WaveState, window_base), e.i64()); }
Value* window_mask(Emitter& e) { return e.field(offsetof(WaveState, window_mask), e.i64()); }

/// Emits `ask` for the rare case that `is_outside` (i1).
template <class Ask>
void when_outside(Emitter& e, Value* is_outside, Ask&& ask) {
  llvm::BasicBlock* outside = e.new_block("outside");
  llvm::BasicBlock* checked = e.new_block("checked");
  constexpr std::uint32_t inside_weight = 1000;
  e.ir.CreateCondBr(is_outside, outside, checked,
                    llvm::MDBuilder(e.ir.getContext()).createBranchWeights(1, inside_weight));
  e.ir.SetInsertPoint(outside);
  ask();
  e.ir.CreateBr(checked);
  e.ir.SetInsertPoint(checked);
}

Value* is_outside(Emitter& e, Value* address) {
  Value* differs = e.ir.CreateAnd(e.ir.CreateXor(address, window_base(e)), window_mask(e));
  return e.ir.CreateIsNotNull(differs);
}

/// Fills the function that says whether an active lane's address is outside.
void define(Emitter& e, llvm::Function& function) {
  const llvm::IRBuilder<>::InsertPointGuard guard(e.ir);
  e.ir.SetInsertPoint(llvm::BasicBlock::Create(e.ir.getContext(), "entry", &function));
  llvm::Type* wide = Emitter::lanes(e.i64());
  Value* base = e.splat(function.getArg(2 * e.chunks()));
  Value* differs = nullptr;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* own = e.ir.CreateXor(function.getArg(chunk), base);
    own = e.ir.CreateSelect(function.getArg(e.chunks() + chunk), own, llvm::Constant::getNullValue(wide));
    differs = chunk == 0 ? own : e.ir.CreateOr(differs, own);
  }
  differs = e.ir.CreateAnd(differs, e.splat(function.getArg(2 * e.chunks() + 1)));
  e.ir.CreateRet(e.ir.CreateIsNotNull(mask_bits(e, e.ir.CreateIsNotNull(differs))));
}

/// An access that certainly came before, with the same offsets and lanes, is not checked again: the function is called
/// once for both, as that of lane_shape.cpp is.
Value* is_any_outside(Emitter& e, const Chunks& addresses, const Chunks& active) {
  std::vector<Value*> arguments;
  for (const Chunks& values : {addresses, active})
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) arguments.push_back(values[chunk]);
  arguments.push_back(window_base(e));
  arguments.push_back(window_mask(e));

  llvm::Module& module = *e.ir.GetInsertBlock()->getModule();
  constexpr const char* name = "is_outside";
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    std::vector<llvm::Type*> types;
    types.reserve(arguments.size());
    for (Value* argument : arguments) types.push_back(argument->getType());
    function = llvm::Function::Create(llvm::FunctionType::get(e.i1(), types, false), llvm::Function::InternalLinkage,
                                      name, module);
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    function->addFnAttr(llvm::Attribute::AlwaysInline);
    define(e, *function);
  }
  return e.ir.CreateCall(function, arguments);
}

}  // namespace

void check_access(Emitter& e, const LaneAddresses& addresses, std::uint32_t bytes) {
  Chunks numbers;
  const auto ask = [&] {
    put_lane_addresses(e, numbers);
    e.call(reinterpret_cast<const void*>(&runtime::check_lanes), e.ir.getVoidTy(),
           {e.state(), e.mask_from_chunks(addresses.active), e.ir.getInt32(bytes)});
  };
  const auto make_numbers = [&] {
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) numbers[chunk] = address_numbers(e, addresses, chunk);
  };
  if (e.is_compact()) {
    make_numbers();
    return when_outside(e, is_any_outside(e, numbers, addresses.active), ask);
  }
  const bool has_scalar_base = offset_type(addresses)->isIntegerTy(32);
  Value* outside = has_scalar_base ? is_outside(e, e.ir.CreatePtrToInt(addresses.base, e.i64()))
                                   : is_any_outside(e, addresses.offsets, addresses.active);
  when_outside(e, outside, [&] {
    make_numbers();
    // The sum of an address that is inside may have a base that is not.
    if (addresses.is_sum)
      when_outside(e, is_any_outside(e, numbers, addresses.active), ask);
    else
      ask();
  });
}

Value* is_surely_inside(Emitter& e, Value* base) {
  return e.ir.CreateAnd(e.ir.CreateNot(is_outside(e, base)), e.ir.CreateIsNotNull(window_mask(e)));
}

void check_access(Emitter& e, Value* base, Value* address, std::uint32_t bytes, Value* happens) {
  Value* outside = is_outside(e, base);
  if (happens != nullptr) outside = e.ir.CreateAnd(outside, happens);
  when_outside(e, outside, [&] {
    // The dispatch packet that the kernel sees is the soft GPU's. Most wavefronts read it.
    Value* in_packet = e.ir.CreateSub(address, e.field(offsetof(WaveState, packet_address), e.i64()));
    llvm::BasicBlock* elsewhere = e.new_block("elsewhere");
    llvm::BasicBlock* asked = e.new_block("asked");
    constexpr std::uint64_t packet_bytes = sizeof(hsa_kernel_dispatch_packet_t);
    e.ir.CreateCondBr(e.ir.CreateICmpUGT(in_packet, e.ir.getInt64(packet_bytes - bytes)), elsewhere, asked);
    e.ir.SetInsertPoint(elsewhere);
    e.call(reinterpret_cast<const void*>(&runtime::check_scalar), e.ir.getVoidTy(),
           {e.state(), address, e.ir.getInt32(bytes)});
    e.ir.CreateBr(asked);
    e.ir.SetInsertPoint(asked);
  });
}

}  // namespace softgpu::compute
