#include "softgpu/compute/host_code/jit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace softgpu::compute {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

/// A function that writes to all of an array of its own.
std::string compile_with_array(const Jit& jit, std::uint64_t bytes) {
  return jit.compile([&](llvm::Module& module, const char* name) {
    llvm::LLVMContext& context = module.getContext();
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context)}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
    llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", function));
    llvm::Value* array = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt8Ty(), bytes));
    ir.CreateMemSet(array, ir.getInt8(1), bytes, llvm::Align(1), true);
    ir.CreateRetVoid();
  });
}

TEST(Jit, CompilesWhatFitsTheStack) {
  const Jit jit;
  EXPECT_FALSE(compile_with_array(jit, most_frame_bytes / 2).empty());
}

// Beyond the stack is the guard page, and beyond that somebody's memory.
TEST(Jit, RefusesWhatDoesNotFitTheStack) {
  const Jit jit;
  EXPECT_THAT([&] { compile_with_array(jit, most_frame_bytes + 4096); },
              Throws<JitError>(Property(&JitError::what, AllOf(HasSubstr("bytes of the host's stack"),
                                                               HasSubstr(std::to_string(most_frame_bytes))))));
}

}  // namespace
}  // namespace softgpu::compute
