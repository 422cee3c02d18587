#include "softgpu/compute/emit/lane_shape.hpp"

#include <string>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "softgpu/compute/emit/lane_window.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

template <class Shape>
void return_if(Emitter& e, Value* condition, Shape&& shape) {
  llvm::Function* function = e.ir.GetInsertBlock()->getParent();
  auto* found = llvm::BasicBlock::Create(e.ir.getContext(), "found", function);
  auto* otherwise = llvm::BasicBlock::Create(e.ir.getContext(), "otherwise", function);
  e.ir.CreateCondBr(condition, found, otherwise);
  e.ir.SetInsertPoint(found);
  e.ir.CreateRet(shape());
  e.ir.SetInsertPoint(otherwise);
}

/// Fills the function that finds out.
void define(Emitter& e, llvm::Function& function, const LaneAddresses& like) {
  const llvm::IRBuilder<>::InsertPointGuard guard(e.ir);
  e.ir.SetInsertPoint(llvm::BasicBlock::Create(e.ir.getContext(), "entry", &function));
  LaneAddresses a{.shift = like.shift, .is_signed = like.is_signed, .in_lds = like.in_lds};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    a.offsets[chunk] = function.getArg(chunk);
    a.active[chunk] = function.getArg(e.chunks() + chunk);
  }
  return_if(e, follow(e, a, 4), [&] { return e.ir.getInt64(lane_shape::consecutive); });
  return_if(e, follow(e, a, 0), [&] { return e.ir.getInt64(lane_shape::uniform); });
  if (Window::is_possible(e)) return_if(e, Window::holds(e, a), [&] { return Window::shape(e, a); });
  e.ir.CreateRet(e.ir.getInt64(lane_shape::scattered));
}

}  // namespace

Value* find_shape(Emitter& e, const LaneAddresses& a) {
  std::vector<Value*> arguments;
  for (const Chunks& values : {a.offsets, a.active})
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) arguments.push_back(values[chunk]);

  llvm::Module& module = *e.ir.GetInsertBlock()->getModule();
  const std::string name = (a.in_lds      ? "lds_shape_"
                            : a.is_signed ? "signed_shape_"
                                          : "shape_") +
                           std::to_string(offset_type(a)->getIntegerBitWidth()) + "_" + std::to_string(a.shift);
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) {
    std::vector<llvm::Type*> types;
    types.reserve(arguments.size());
    for (Value* argument : arguments) types.push_back(argument->getType());
    function = llvm::Function::Create(llvm::FunctionType::get(e.i64(), types, false), llvm::Function::InternalLinkage,
                                      name, module);
    // A call that an equal call dominates goes; the other calls are inlined then (jit.cpp).
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    function->addFnAttr(llvm::Attribute::AlwaysInline);
    define(e, *function, a);
  }
  return e.ir.CreateCall(function, arguments);
}

}  // namespace softgpu::compute
