#include "softgpu/compute/host_code/jit.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
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
#include <llvm/IR/IRBuilder.h>
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

// Headers of later releases, in which Core.h and ExecutorProcessControl.h have less.
#if __has_include(<llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>)
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>
#endif

#include "softgpu/compute/host_code/bit_selects.hpp"
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

void go_on_unless(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped();
}

/// The passes that pay for translated code: registers to SSA values, then the masks and halves folded away. Loop passes
/// find nothing to do in it, and the only functions to inline are those of lane_shape.cpp, once equal calls are one.
void run_passes(llvm::Module& module, llvm::TargetMachine& machine, const std::stop_token& stop = {}) {
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
    go_on_unless(stop);
  };

  llvm::FunctionPassManager before_inlining;
  before_inlining.addPass(scalar_replacement_pass());
  before_inlining.addPass(llvm::EarlyCSEPass());
  run(before_inlining);
  llvm::AlwaysInlinerPass(false).run(module, modules);
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
  explicit FrameSize(llvm::LLVMContext& context) { context.setDiagnosticHandlerCallBack(take_told, this); }

  /// Functions of less than a page are not told of.
  static void ask_for(llvm::Module& module) {
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) function.addFnAttr("warn-stack-size", "4096");
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
  // LLVM has called with a reference, and from 19 on with a pointer.
  static void take_told(const llvm::DiagnosticInfo* told, void* own) {
    if (const auto* size = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(told))
      static_cast<FrameSize*>(own)->take(size->getStackSize());
  }
  static void take_told(const llvm::DiagnosticInfo& told, void* own) { take_told(&told, own); }

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

/// The functions that quickly made code calls.
class CalledFunctions {
public:
  struct Function {
    std::uint64_t address;
    WaitsFor waits_for;
  };

  [[nodiscard]] std::optional<Function> find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = functions_.find(name);
    return found == functions_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Of two of one name, which two threads made at once, the first counts.
  void add(const std::string& name, const Function& function) {
    const std::lock_guard lock(mutex_);
    functions_.try_emplace(name, function);
  }

private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Function> functions_;
};

/// Defines the symbols that own_symbol() names, and the functions of CalledFunctions.
class OwnSymbols final : public llvm::orc::DefinitionGenerator {
public:
  explicit OwnSymbols(const CalledFunctions& functions) : functions_(functions) {}

  llvm::Error tryToGenerate(llvm::orc::LookupState&, llvm::orc::LookupKind, llvm::orc::JITDylib& dylib,
                            llvm::orc::JITDylibLookupFlags, const llvm::orc::SymbolLookupSet& names) override {
    llvm::orc::SymbolMap found;
    for (const auto& [name, flags] : names) {
      if (const auto address = own_address(std::string_view((*name).data(), (*name).size())))
        found[name] = definition_of(*address);
      else if (const auto function = functions_.find((*name).str()))
        found[name] = definition_of(function->address);
    }
    return found.empty() ? llvm::Error::success() : dylib.define(llvm::orc::absoluteSymbols(std::move(found)));
  }

private:
  const CalledFunctions& functions_;
};

}  // namespace

struct Jit::State {
  explicit State(HostCpu cpu)
      : machine(machine_for(cpu)), vectors(vectors_of(cpu)),
        session(value_of(llvm::orc::SelfExecutorProcessControl::Create(
            nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>()))),
        linker(session), runtime(session.createBareJITDylib("runtime")) {
    runtime.addGenerator(std::make_unique<OwnSymbols>(functions));
    // For the functions that LLVM itself calls: memcpy, fma and the like. ELF has no prefix.
    runtime.addGenerator(value_of(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0')));
  }
  ~State() { llvm::consumeError(session.endSession()); }

  [[nodiscard]] std::unique_ptr<llvm::TargetMachine> create_machine(CodeGeneration level) const {
    auto builder = machine;
    builder.setCodeGenOptLevel(level);
    return value_of(builder.createTargetMachine());
  }

  /// A library of its own each: all kernels define the same name.
  llvm::orc::JITDylib& add_library(std::string_view object, const char* kind) {
    llvm::orc::JITDylib& dylib = session.createBareJITDylib(kind + std::to_string(count++));
    dylib.addToLinkOrder(runtime);
    check(linker.add(dylib, llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, dylib.getName())));
    return dylib;
  }

  std::uint64_t address_in(llvm::orc::JITDylib& dylib, const char* name) {
    return number_of(value_of(session.lookup({&dylib}, session.intern(name))).getAddress());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const llvm::orc::JITTargetMachineBuilder machine;
  const HostVectors vectors;
  CalledFunctions functions;
  llvm::orc::ExecutionSession session;
  llvm::orc::ObjectLinkingLayer linker;
  llvm::orc::JITDylib& runtime;
  std::atomic<std::uint64_t> count{0};
};

Jit::Jit(HostCpu cpu) : state_(std::make_shared<State>(cpu)) {}
Jit::~Jit() = default;

std::string Jit::identity() const {
  const std::string& own = LoadedModule::own().build_id;
  // A function of LLVM's library, not an inline function of its headers.
  const auto library = LoadedModule::containing(reinterpret_cast<const void*>(&LLVMContextCreate));
  if (own.empty() || !library || library->build_id.empty()) return {};
  return "softgpu " + own + "\nLLVM " LLVM_VERSION_STRING " " + library->build_id + "\n" +
         state_->machine.getTargetTriple().str() + " " + state_->machine.getCPU() + " " +
         state_->machine.getFeatures().getString();
}

HostVectors Jit::vectors() const noexcept { return state_->vectors; }

namespace {

void prepare_llvm() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    limit_register_allocation();
    return true;
  }();
  static_cast<void>(initialized);
}

void set_machine(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setDataLayout(machine.createDataLayout());
  set_triple(module, machine);
}

std::string object_of(llvm::Module& module, llvm::TargetMachine& machine, HostVectors vectors) {
  if (vectors == HostVectors::avx512) keep_bit_selects_apart(module);
  FrameSize::ask_for(module);
  return value_of(llvm::orc::SimpleCompiler(machine)(module))->getBuffer().str();
}

void check_frame(std::uint64_t bytes) {
  if (bytes > most_frame_bytes)
    throw JitError("a wavefront would need " + std::to_string(bytes) + " bytes of the host's stack, and may have " +
                   std::to_string(most_frame_bytes) + "; compile the kernel with fewer registers or in parts");
}

}  // namespace

std::string Jit::compile(const std::function<void(llvm::Module&, const char*)>& fill,
                         const std::stop_token& stop) const {
  prepare_llvm();
  const auto machine = state_->create_machine(CodeGeneration::Default);
  llvm::LLVMContext context;
  FrameSize frame(context);
  llvm::Module module(wave_function_name, context);
  set_machine(module, *machine);
  fill(module, wave_function_name);
  go_on_unless(stop);
  run_passes(module, *machine, stop);
  std::string object = object_of(module, *machine, state_->vectors);
  check_frame(frame.bytes());
  return object;
}

void Jit::load_compiler() const {
  static_cast<void>(compile([](llvm::Module& module, const char* name) {
    llvm::LLVMContext& context = module.getContext();
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context)}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
    llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", function));
    auto* lanes = llvm::FixedVectorType::get(ir.getInt32Ty(), 16);
    llvm::Value* loaded = ir.CreateLoad(lanes, function->getArg(0));
    ir.CreateStore(ir.CreateAdd(loaded, loaded), function->getArg(0));
    ir.CreateRetVoid();
  }));
}

CallingObjects Jit::compile_soon(
    const std::function<std::map<std::string, WaitsFor>(llvm::Module&, const char*, llvm::Module&)>& fill) const {
  prepare_llvm();
  const auto plain_machine = state_->create_machine(CodeGeneration::None);
  const auto machine = state_->create_machine(CodeGeneration::Default);
  llvm::LLVMContext context;
  FrameSize frame(context);
  llvm::Module caller(wave_function_name, context);
  llvm::Module functions("instructions", context);
  set_machine(caller, *plain_machine);
  set_machine(functions, *machine);
  CallingObjects objects;
  objects.named = fill(caller, wave_function_name, functions);
  objects.caller = object_of(caller, *plain_machine, state_->vectors);
  if (!objects.named.empty()) {
    run_passes(functions, *machine);
    objects.functions = object_of(functions, *machine, state_->vectors);
  }
  check_frame(2 * frame.bytes());  // one of each at a time
  return objects;
}

void Jit::add_functions(std::string_view object, const std::map<std::string, WaitsFor>& named) {
  State& state = *state_;
  llvm::orc::JITDylib& dylib = state.add_library(object, "instructions");
  llvm::orc::SymbolLookupSet names;
  for (const auto& [name, waits_for] : named) names.add(state.session.intern(name));
  const auto found = value_of(state.session.lookup(llvm::orc::makeJITDylibSearchOrder(&dylib), std::move(names)));
  for (const auto& [symbol, definition] : found) {
    const std::string name = (*symbol).str();
    state.functions.add(name, {number_of(definition.getAddress()), named.at(name)});
  }
}

std::optional<WaitsFor> Jit::find_function(const std::string& name) const {
  const auto found = state_->functions.find(name);
  return found ? std::optional(found->waits_for) : std::nullopt;
}

HostCode Jit::link(std::string_view object, bool is_optimized) {
  State& state = *state_;
  llvm::orc::JITDylib& dylib = state.add_library(object, "kernel");
  // The library goes before the session that it belongs to.
  auto release = [owner = state_](llvm::orc::JITDylib* which) {
    llvm::consumeError(owner->session.removeJITDylib(*which));
  };
  const std::shared_ptr<llvm::orc::JITDylib> code(&dylib, std::move(release));
  const std::uint64_t bytes = code_bytes(object, wave_function_name);
  auto* run = reinterpret_cast<WaveFunction>(  // NOLINT(performance-no-int-to-ptr)
      state.address_in(dylib, wave_function_name));
  return {{run, bytes, is_optimized}, code};
}

}  // namespace softgpu::compute
