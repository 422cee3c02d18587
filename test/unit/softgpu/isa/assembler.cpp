#include "assembler.hpp"

#include <cstring>
#include <memory>
#include <type_traits>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

// LLVM declares these in a header that wants every configured target.
extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace softgpu::isa {
namespace {

constexpr const char* triple_name = "amdgcn-amd-amdhsa";
/// What LLVM wants a triple as.
using Triple = std::conditional_t<(LLVM_VERSION_MAJOR >= 22), llvm::Triple, std::string>;

const llvm::Target& amdgpu() {
  static const llvm::Target* const target = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(Triple(triple_name), error);
    if (found == nullptr) throw AssemblyError(error);
    return found;
  }();
  return *target;
}

void collect(const llvm::SMDiagnostic& diagnostic, void* text) {
  llvm::raw_string_ostream stream(*static_cast<std::string*>(text));
  diagnostic.print(nullptr, stream, /*ShowColors=*/false);
}

std::vector<std::byte> text_section(llvm::StringRef object) {
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!parsed) throw AssemblyError(llvm::toString(parsed.takeError()));
  for (const llvm::object::SectionRef& section : (*parsed)->sections()) {
    if (!section.isText() || section.getSize() == 0) continue;
    if (section.relocation_begin() != section.relocation_end())
      throw AssemblyError("the text refers to a foreign symbol");
    const llvm::StringRef contents = llvm::cantFail(section.getContents());
    std::vector<std::byte> code(contents.size());
    std::memcpy(code.data(), contents.data(), contents.size());
    return code;
  }
  throw AssemblyError("the text holds no instruction");
}

}  // namespace

std::vector<std::byte> assemble(const std::string& text, const compute::Target& gpu) {
  const llvm::Target& target = amdgpu();
  const llvm::Triple triple(triple_name);
  const llvm::MCTargetOptions options;
  const std::unique_ptr<llvm::MCRegisterInfo> registers(target.createMCRegInfo(Triple(triple_name)));
  const std::unique_ptr<llvm::MCAsmInfo> syntax(target.createMCAsmInfo(*registers, Triple(triple_name), options));
  const std::unique_ptr<llvm::MCInstrInfo> instructions(target.createMCInstrInfo());
  const bool is_wide = gpu.architecture->has_both_wavefront_sizes && gpu.wavefront_size == 64;
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target.createMCSubtargetInfo(Triple(triple_name), llvm::StringRef(gpu.architecture->llvm_processor),
                                   is_wide ? "-wavefrontsize32,+wavefrontsize64" : ""));

  std::string diagnostics;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), llvm::SMLoc());
  sources.setDiagHandler(collect, &diagnostics);

  llvm::MCContext context(triple, syntax.get(), registers.get(), subtarget.get(), &sources, &options);
  const std::unique_ptr<llvm::MCObjectFileInfo> sections(target.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(target.createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target.createMCCodeEmitter(*instructions, context));
#if LLVM_VERSION_MAJOR >= 19
  const std::unique_ptr<llvm::MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
#else
  const std::unique_ptr<llvm::MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget, /*RelaxAll=*/false,
      /*IncrementalLinkerCompatible=*/false, /*DWARFMustBeAtTheEnd=*/false));
#endif

  const std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *syntax));
  const std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      target.createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  if (parser->Run(/*NoInitialTextSection=*/false)) throw AssemblyError(diagnostics);
  return text_section(llvm::StringRef(object.data(), object.size()));
}

bool assembles(const std::string& text) {
  try {
    return !assemble(text).empty();
  } catch (const AssemblyError&) {
    return false;
  }
}

}  // namespace softgpu::isa
