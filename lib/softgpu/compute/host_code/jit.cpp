#include "softgpu/compute/host_code/jit.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <tuple>
#include <utility>

#include <llvm-c/Core.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "softgpu/compute/host_code/code_lines.hpp"
#include "softgpu/compute/instruction_set/llvm_versions.hpp"
#include "softgpu/compute/run_time/loaded_module.hpp"

namespace softgpu::compute {
namespace {

template <class T>
T value_of(llvm::Expected<T> expected) {
  if (!expected) throw JitError("LLVM's JIT: " + llvm::toString(expected.takeError()));
  return std::move(*expected);
}

void check(llvm::Error error) {
  if (error) throw JitError("LLVM's JIT: " + llvm::toString(std::move(error)));
}

llvm::orc::JITTargetMachineBuilder machine_for(HostCpu cpu) {
  auto machine = value_of(llvm::orc::JITTargetMachineBuilder::detectHost());
  if (cpu != HostCpu::host) {
    machine = llvm::orc::JITTargetMachineBuilder(machine.getTargetTriple());
    machine.setCPU(cpu == HostCpu::avx2 ? "x86-64-v3" : "x86-64-v4");
  }
  // Functions of the soft GPU are called through a table that the linker fills in.
  machine.setRelocationModel(llvm::Reloc::PIC_);
  machine.setCodeModel(llvm::CodeModel::Small);
  return machine;
}

/// The register allocator looks, value by value, for the regions in which the value may stay in a register. In kernels
/// of thousands of instructions that took two thirds of the translation. Each region gets this many steps instead of
/// LLVM's 10,000. The kernels of fibonacci are as fast with them; with 30, its loop of one work-item took 1.5
/// times as long. The option is the process's, like all of LLVM's: other users of the same library have it, too.
void limit_register_allocation() {
  constexpr const char* name = "grow-region-complexity-budget";
  auto& options = llvm::cl::getRegisteredOptions();  // as text: releases differ in the option's type
  if (const auto found = options.find(name); found != options.end()) found->second->addOccurrence(0, name, "250");
}

HostVectors vectors_of(HostCpu cpu) {
  const bool may_use_avx512 = cpu != HostCpu::avx2 && __builtin_cpu_supports("avx512f") != 0;
  return may_use_avx512 ? HostVectors::avx512 : HostVectors::any;
}

/// The passes that pay for translated code: registers to SSA values, then the masks and halves folded away. Loop passes
/// find nothing to do in it, and the only functions to inline are those of lane_shape.cpp, once equal calls are one.
/// Code that is not to be optimized has SSA values and is inlined, too: the code generator is faster for it.
void run_passes(llvm::Module& module, llvm::TargetMachine& machine, Optimize optimize) {
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

  const auto run = [&](llvm::FunctionPassManager& passes) {
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) passes.run(function, functions);
  };

  llvm::FunctionPassManager before_inlining;
  before_inlining.addPass(scalar_replacement_pass());
  before_inlining.addPass(llvm::EarlyCSEPass());
  run(before_inlining);
  llvm::AlwaysInlinerPass(false).run(module, modules);
  if (optimize == Optimize::no) return;
  functions.clear();

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ADCEPass());
  run(passes);
}

/// How much of the stack the functions of a context need at most, which is known when they are compiled.
class FrameSize {
public:
  explicit FrameSize(llvm::LLVMContext& context) {
    context.setDiagnosticHandlerCallBack(
        [](const llvm::DiagnosticInfo& told, void* own) {
          if (const auto* size = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(&told))
            static_cast<FrameSize*>(own)->take(size->getStackSize());
        },
        this);
  }

  /// Functions of less than a page are not told of.
  static void ask_for(llvm::Module& module) {
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) function.addFnAttr("warn-stack-size", "4096");
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
  void take(std::uint64_t bytes) { bytes_ = std::max(bytes_, bytes); }

  std::uint64_t bytes_ = 0;
};

/// Addresses are plain numbers in LLVM 15 and a type of their own later.
[[maybe_unused]] std::uint64_t number_of(std::uint64_t address) { return address; }
template <class Address>
  requires requires(Address address) { address.getValue(); }
std::uint64_t number_of(Address address) {
  return address.getValue();
}

using Definition = llvm::orc::SymbolMap::mapped_type;

Definition definition_of(std::uint64_t address) {
  using Address = decltype(Definition().getAddress());
  return {Address(address), llvm::JITSymbolFlags::Exported};
}

/// Defines the symbols that own_symbol() names.
class OwnSymbols final : public llvm::orc::DefinitionGenerator {
public:
  llvm::Error tryToGenerate(llvm::orc::LookupState&, llvm::orc::LookupKind, llvm::orc::JITDylib& dylib,
                            llvm::orc::JITDylibLookupFlags, const llvm::orc::SymbolLookupSet& names) override {
    llvm::orc::SymbolMap found;
    for (const auto& [name, flags] : names)
      if (const auto address = own_address(std::string_view((*name).data(), (*name).size())))
        found[name] = definition_of(*address);
    return found.empty() ? llvm::Error::success() : dylib.define(llvm::orc::absoluteSymbols(std::move(found)));
  }
};

}  // namespace

struct Jit::State {
  State(HostCpu cpu, Optimize asked)
      : machine(machine_for(cpu)), optimize(asked), vectors(vectors_of(cpu)),
        session(value_of(llvm::orc::SelfExecutorProcessControl::Create(
            nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>()))),
        linker(session), runtime(session.createBareJITDylib("runtime")) {
    runtime.addGenerator(std::make_unique<OwnSymbols>());
    // For the functions that LLVM itself calls: memcpy, fma and the like. ELF has no prefix.
    runtime.addGenerator(value_of(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0')));
  }
  ~State() { llvm::consumeError(session.endSession()); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const llvm::orc::JITTargetMachineBuilder machine;
  const Optimize optimize;
  const HostVectors vectors;
  llvm::orc::ExecutionSession session;
  llvm::orc::ObjectLinkingLayer linker;
  llvm::orc::JITDylib& runtime;
  std::atomic<std::uint64_t> count{0};
};

Jit::Jit(HostCpu cpu, Optimize optimize) : state_(std::make_shared<State>(cpu, optimize)) {}
Jit::~Jit() = default;

std::string Jit::identity() const {
  const std::string& own = LoadedModule::own().build_id;
  // A function of LLVM's library, not an inline function of its headers.
  const auto library = LoadedModule::containing(reinterpret_cast<const void*>(&LLVMContextCreate));
  if (own.empty() || !library || library->build_id.empty()) return {};
  return "softgpu " + own + "\nLLVM " LLVM_VERSION_STRING " " + library->build_id + "\n" +
         state_->machine.getTargetTriple().str() + " " + state_->machine.getCPU() + " " +
         state_->machine.getFeatures().getString() + (state_->optimize == Optimize::yes ? "" : "\nnot optimized");
}

HostVectors Jit::vectors() const noexcept { return state_->vectors; }

std::string Jit::compile(const std::function<void(llvm::Module&, const char*)>& fill) const {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    limit_register_allocation();
    return true;
  }();
  static_cast<void>(initialized);
  const auto compile_as = [&](Optimize optimize) {
    auto builder = state_->machine;
    builder.setCodeGenOptLevel(optimize == Optimize::yes ? CodeGeneration::Default : CodeGeneration::None);
    const auto machine = value_of(builder.createTargetMachine());
    llvm::LLVMContext context;
    FrameSize frame(context);
    llvm::Module module(wave_function_name, context);
    module.setDataLayout(machine->createDataLayout());
    module.setTargetTriple(machine->getTargetTriple().str());
    fill(module, wave_function_name);
    run_passes(module, *machine, optimize);
    FrameSize::ask_for(module);
    const auto object = value_of(llvm::orc::SimpleCompiler(*machine)(module));
    return std::pair(object->getBuffer().str(), frame.bytes());
  };
  auto [object, frame] = compile_as(state_->optimize);
  // Code that is not optimized keeps each value in a place of its own.
  if (frame > most_frame_bytes && state_->optimize == Optimize::no) std::tie(object, frame) = compile_as(Optimize::yes);
  if (frame > most_frame_bytes)
    throw JitError("a wavefront would need " + std::to_string(frame) + " bytes of the host's stack, and may have " +
                   std::to_string(most_frame_bytes) + "; compile the kernel with fewer registers or in parts");
  return object;
}

HostCode Jit::link(std::string_view object) {
  State& state = *state_;
  // A library of its own each: all of them define the same name.
  llvm::orc::JITDylib& dylib = state.session.createBareJITDylib("kernel" + std::to_string(state.count++));
  // The library goes before the session that it belongs to.
  auto release = [owner = state_](llvm::orc::JITDylib* which) {
    llvm::consumeError(owner->session.removeJITDylib(*which));
  };
  const std::shared_ptr<llvm::orc::JITDylib> code(&dylib, std::move(release));
  dylib.addToLinkOrder(state.runtime);
  auto file = llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, dylib.getName());  // aligned
  const std::uint64_t bytes =
      code_bytes(std::string_view(file->getBufferStart(), file->getBufferSize()), wave_function_name);
  check(state.linker.add(dylib, std::move(file)));
  const std::uint64_t address =
      number_of(value_of(state.session.lookup({&dylib}, state.session.intern(wave_function_name))).getAddress());
  auto* run = reinterpret_cast<WaveFunction>(address);  // NOLINT(performance-no-int-to-ptr)
  return {{run, bytes}, code};
}

}  // namespace softgpu::compute
