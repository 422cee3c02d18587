#include "softgpu/compute/emit/template_calls.hpp"

#include <utility>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SHA256.h>

#include "softgpu/compute/instruction_set/mode_register.hpp"

namespace softgpu::compute {
namespace {

// A function's arguments: the wavefront's state, its RegistersInMemory, the instruction's offset, then where each of
// the template's Registers are.
constexpr unsigned first_registers_argument = 3;

llvm::FunctionType* type_of(llvm::LLVMContext& context, const InstructionTemplate& which) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  std::vector<llvm::Type*> arguments = {pointer, pointer, llvm::Type::getInt64Ty(context)};
  arguments.resize(arguments.size() + which.registers.size(), pointer);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context), arguments, false);
}

}  // namespace

TemplateCalls::TemplateCalls(const Target& target, const HandlerTable& handlers, const EmitOptions& options,
                             llvm::Module& module, Find find)
    : target_(target), handlers_(handlers), options_(options), module_(module), find_(std::move(find)) {}

std::string TemplateCalls::name_of(const InstructionTemplate& which, std::uint32_t mode, bool is_strict) const {
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(target_.architecture->name.data(), target_.architecture->name.size()));
  hash.update(std::to_string(target_.wavefront_size) + " " + std::to_string(mode & mode_register::translated) +
              (is_strict ? " strict " : " "));
  hash.update(which.key);
  constexpr std::size_t enough = 16;
  const auto digest = hash.final();
  return "instruction_" + llvm::toHex(llvm::ArrayRef(digest.data(), enough), true);
}

bool TemplateCalls::emit(Emitter& e, const RegisterMemory& registers, const Instruction& instruction, bool is_strict) {
  if (!may_be_template(instruction)) return false;
  const InstructionTemplate which = template_of(instruction);
  const std::uint32_t mode = e.known_mode.current();
  const std::string name = name_of(which, mode, is_strict);
  const auto waits_for = made_or_found(name, which, mode, is_strict);
  if (!waits_for) return false;
  e.may_wait_for(*waits_for);
  used_.insert(name);

  llvm::Module& caller = *e.ir.GetInsertBlock()->getModule();
  std::vector<llvm::Value*> arguments = {e.state(), registers.base,
                                         e.ir.getInt64(static_cast<std::uint64_t>(instruction.offset))};
  for (const auto& run : which.registers)
    arguments.push_back(run.constant ? place_of_constant(caller, *run.constant)
                                     : e.place_of_register(run.are_vectors, run.place));
  e.ir.CreateCall(caller.getOrInsertFunction(name, type_of(e.ir.getContext(), which)), arguments);
  return true;
}

llvm::Constant* TemplateCalls::place_of_constant(llvm::Module& module, std::uint32_t constant) {
  llvm::Constant*& place = constants_[constant];
  if (place == nullptr) {
    // Registers are read in pairs.
    auto* pair = llvm::ConstantInt::get(llvm::Type::getInt64Ty(module.getContext()), constant);
    place = new llvm::GlobalVariable(module, pair->getType(), true, llvm::GlobalValue::PrivateLinkage, pair);
  }
  return place;
}

std::optional<WaitsFor> TemplateCalls::made_or_found(const std::string& name, const InstructionTemplate& which,
                                                     std::uint32_t mode, bool is_strict) {
  if (const auto made = made_.find(name); made != made_.end()) return made->second;
  if (const auto found = find_(name)) return found;
  if (refused_.contains(name)) return std::nullopt;
  try {
    return made_[name] = define(name, which, mode, is_strict);
  } catch (const UnsupportedInstruction&) {  // it may need more than a template has
    module_.getFunction(name)->eraseFromParent();
    refused_.insert(name);
    return std::nullopt;
  }
}

WaitsFor TemplateCalls::define(const std::string& name, const InstructionTemplate& which, std::uint32_t mode,
                               bool is_strict) {
  llvm::Function* function =
      llvm::Function::Create(type_of(module_.getContext(), which), llvm::Function::ExternalLinkage, name, module_);
  set_attributes(*function);
  if (is_strict) function->addFnAttr(llvm::Attribute::StrictFP);

  Emitter e(*function, target_, handlers_, mode, options_);
  RegisterMemory memory{.base = function->getArg(1), .scalars = {}, .vectors = {}};
  unsigned argument = first_registers_argument;
  for (const auto& run : which.registers)
    (run.are_vectors ? memory.vectors : memory.scalars).push_back({run.first, run.count, function->getArg(argument++)});
  e.emit_alone(which.instruction, std::move(memory), function->getArg(2));
  return e.waits_for();
}

}  // namespace softgpu::compute
