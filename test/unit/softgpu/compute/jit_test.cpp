#include "softgpu/compute/host_code/jit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

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
std::string compile_with_array(const Jit& jit, std::uint64_t bytes, const std::stop_token& stop = {}) {
  const auto fill = [&](llvm::Module& module, const char* name) {
    llvm::LLVMContext& context = module.getContext();
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context)}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
    llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", function));
    llvm::Value* array = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt8Ty(), bytes));
    ir.CreateMemSet(array, ir.getInt8(1), bytes, llvm::Align(1), true);
    ir.CreateRetVoid();
  };
  return jit.compile(fill, stop);
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

/// Lanes that a mask takes from (x & C) | (y & ~C), written in several ways, and the others from x or y.
class BitSelects {
public:
  static constexpr std::uint16_t mask = 0x5a3c;

  enum class Way { masks_or, masks_add, masks_xor, merge, copysign };
  struct Case {
    Way way;
    bool others_from_x;
    bool x_in_register, y_in_register;  ///< or in memory
    /// The bits of x. Each case has other ones: a constant that is used once is an operand in memory.
    std::uint32_t constant;
  };

  static std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Way way : {Way::masks_or, Way::masks_add, Way::masks_xor, Way::merge, Way::copysign})
      for (const unsigned bits : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U})
        all.push_back({way, (bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0,
                       way == Way::copysign ? 0x7fffffff : 0x0ff0f00f + static_cast<std::uint32_t>(all.size())});
    return all;
  }

  struct alignas(64) Lanes {
    std::array<std::uint32_t, 16> lanes;
  };
  /// What the function gets, for each case. Values that are stored once more have to be in registers.
  struct Memory {
    Lanes x, y, result, x_again, y_again;
  };

  static void add_function(llvm::Module& module, const char* name) {
    llvm::LLVMContext& context = module.getContext();
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context)}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
    llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", function));
    auto* lanes = llvm::FixedVectorType::get(ir.getInt32Ty(), 16);
    std::size_t offset = 0;
    const auto place = [&](std::size_t member) {
      return ir.CreateConstGEP1_64(ir.getInt8Ty(), function->getArg(0), offset + member);
    };
    for (const Case& which : cases()) {
      llvm::Value* x = ir.CreateAlignedLoad(lanes, place(offsetof(Memory, x)), llvm::Align(64));
      llvm::Value* y = ir.CreateAlignedLoad(lanes, place(offsetof(Memory, y)), llvm::Align(64));
      if (which.x_in_register) ir.CreateAlignedStore(x, place(offsetof(Memory, x_again)), llvm::Align(64));
      if (which.y_in_register) ir.CreateAlignedStore(y, place(offsetof(Memory, y_again)), llvm::Align(64));
      llvm::Value* chosen = ir.CreateBitCast(ir.getInt16(mask), llvm::FixedVectorType::get(ir.getInt1Ty(), 16));
      llvm::Value* result = ir.CreateSelect(hidden(ir, chosen), value(ir, which, x, y), which.others_from_x ? x : y);
      ir.CreateAlignedStore(result, place(offsetof(Memory, result)), llvm::Align(64));
      offset += sizeof(Memory);
    }
    ir.CreateRetVoid();
  }

  static std::uint32_t expected(const Case& which, std::uint32_t x, std::uint32_t y, unsigned lane) {
    if ((mask >> lane & 1) == 0) return which.others_from_x ? x : y;
    return (x & which.constant) | (y & ~which.constant);
  }

private:
  /// The optimizer knows constant masks.
  static llvm::Value* hidden(llvm::IRBuilder<>& ir, llvm::Value* lanes) {
    auto* place = ir.CreateAlloca(lanes->getType());
    ir.CreateStore(lanes, place, /*isVolatile=*/true);
    return ir.CreateLoad(lanes->getType(), place, /*isVolatile=*/true);
  }

  static llvm::Value* value(llvm::IRBuilder<>& ir, const Case& which, llvm::Value* x, llvm::Value* y) {
    const auto masked = [&](llvm::Value* of, std::uint32_t by) {
      return ir.CreateAnd(of, llvm::ConstantInt::get(of->getType(), by));
    };
    switch (which.way) {
    case Way::masks_or:
      return ir.CreateOr(masked(x, which.constant), masked(y, ~which.constant));
    case Way::masks_add:
      return ir.CreateAdd(masked(x, which.constant), masked(y, ~which.constant));
    case Way::masks_xor:
      return ir.CreateXor(masked(x, which.constant), masked(y, ~which.constant));
    case Way::merge:
      return ir.CreateXor(masked(ir.CreateXor(x, y), which.constant), y);
    case Way::copysign:
      break;
    }
    auto* numbers = llvm::FixedVectorType::get(ir.getFloatTy(), 16);
    return ir.CreateBitCast(
        ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, ir.CreateBitCast(x, numbers), ir.CreateBitCast(y, numbers)),
        x->getType());
  }
};

// LLVM's code for AVX-512 got them wrong: see bit_selects.hpp.
TEST(Jit, SelectsOfBitsAndOfLanesGoTogether) {
  Jit jit;
  const HostCode code = jit.link(jit.compile(BitSelects::add_function));
  const auto cases = BitSelects::cases();
  std::vector<BitSelects::Memory> memory(cases.size());
  for (BitSelects::Memory& one : memory)
    for (std::uint32_t lane = 0; lane < 16; ++lane) {
      one.x.lanes.at(lane) = lane * 2654435761U + 7;
      one.y.lanes.at(lane) = lane * 40503U * 65537U + 99;
    }
  reinterpret_cast<void (*)(void*)>(code.wave.run)(memory.data());
  for (std::size_t n = 0; n < cases.size(); ++n)
    for (unsigned lane = 0; lane < 16; ++lane)
      ASSERT_EQ(memory[n].result.lanes.at(lane),
                BitSelects::expected(cases[n], memory[n].x.lanes.at(lane), memory[n].y.lanes.at(lane), lane))
          << "case " << n << ", lane " << lane;
}

TEST(Jit, StopsWhenItIsTold) {
  const Jit jit;
  std::stop_source source;
  EXPECT_FALSE(compile_with_array(jit, 1, source.get_token()).empty());
  source.request_stop();
  EXPECT_THROW(compile_with_array(jit, 1, source.get_token()), Stopped);
}

}  // namespace
}  // namespace softgpu::compute
