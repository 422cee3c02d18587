#include "jit.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace softgpu::compute {
namespace {

template <class T>
T value_of(llvm::Expected<T> expected) {
  if (!expected) throw std::runtime_error("LLVM's JIT: " + llvm::toString(expected.takeError()));
  return std::move(*expected);
}

void check(llvm::Error error) {
  if (error) throw std::runtime_error("LLVM's JIT: " + llvm::toString(std::move(error)));
}

llvm::orc::JITTargetMachineBuilder host_machine() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  static_cast<void>(initialized);
  auto machine = value_of(llvm::orc::JITTargetMachineBuilder::detectHost());
  machine.setCodeGenOptLevel(llvm::CodeGenOpt::Default);
  return machine;
}

/// The passes that pay for translated code: registers to SSA values, then the masks and halves folded away. Loop and
/// interprocedural passes find nothing to do in it.
void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ADCEPass());
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, functions);
}

}  // namespace

struct Jit::State {
  State()
      : machine(value_of(host_machine().createTargetMachine())),
        lljit(value_of(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(host_machine()).create())) {
    const char prefix = lljit->getDataLayout().getGlobalPrefix();
    lljit->getMainJITDylib().addGenerator(
        value_of(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix)));
  }

  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::orc::LLJIT> lljit;
  std::uint64_t kernel_count = 0;
};

Jit::Jit() : state_(std::make_shared<State>()) {}
Jit::~Jit() = default;

HostCode Jit::compile(const std::function<void(llvm::Module&, const char*)>& fill) {
  const std::string name = "wave" + std::to_string(state_->kernel_count++);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>(name, *context);
  module->setDataLayout(state_->lljit->getDataLayout());
  module->setTargetTriple(state_->lljit->getTargetTriple().str());
  fill(*module, name.c_str());
  optimize(*module, *state_->machine);

  llvm::orc::ResourceTrackerSP tracker = state_->lljit->getMainJITDylib().createResourceTracker();
  check(state_->lljit->addIRModule(tracker, llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  const auto address = value_of(state_->lljit->lookup(name)).getValue();
  // The tracker goes before the session that it belongs to.
  auto release = [state = state_, tracker](const void*) { llvm::consumeError(tracker->remove()); };
  auto* wave = reinterpret_cast<WaveFunction>(address);  // NOLINT(performance-no-int-to-ptr)
  return {wave, std::shared_ptr<const void>(tracker.get(), std::move(release))};
}

}  // namespace softgpu::compute
