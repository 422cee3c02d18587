// Names that differ between LLVM's releases from 15 on, for the one place that needs them.
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar/SROA.h>

namespace softgpu::compute {

#if LLVM_VERSION_MAJOR >= 16
inline llvm::SROAPass scalar_replacement_pass() { return llvm::SROAPass(llvm::SROAOptions::ModifyCFG); }
#else
inline llvm::SROAPass scalar_replacement_pass() { return {}; }
#endif

#if LLVM_VERSION_MAJOR >= 18
using CodeGeneration = llvm::CodeGenOptLevel;
#else
using CodeGeneration = llvm::CodeGenOpt::Level;
#endif

inline llvm::Function* intrinsic(llvm::Module* module, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types) {
#if LLVM_VERSION_MAJOR >= 20
  return llvm::Intrinsic::getOrInsertDeclaration(module, id, types);
#else
  return llvm::Intrinsic::getDeclaration(module, id, types);
#endif
}

inline void set_triple(llvm::Module& module, const llvm::TargetMachine& machine) {
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(machine.getTargetTriple());
#else
  module.setTargetTriple(machine.getTargetTriple().str());
#endif
}

}  // namespace softgpu::compute
