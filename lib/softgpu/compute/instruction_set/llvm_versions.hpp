// Names that differ between LLVM's releases from 15 on, for the one place that needs them.
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/CodeGen.h>
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

}  // namespace softgpu::compute
