// Damaged machine code: the translator refuses it or makes valid LLVM IR of it. Nothing is compiled, which would take
// most of the time.
#include <elf.h>
#include <sys/mman.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "fuzzer.hpp"
#include "softgpu/compute/emitter.hpp"
#include "softgpu/compute/program.hpp"
#include "softgpu/compute/translator.hpp"

namespace {

using fastdispatch::fuzz::Bytes;

/// Machine code with nothing mapped as far around it as a branch goes.
class CodeMemory {
public:
  static constexpr std::size_t branch_reach = std::size_t{1} << 18;
  static constexpr std::size_t capacity = std::size_t{1} << 20;

  CodeMemory() {
    void* pages = mmap(nullptr, capacity + 2 * branch_reach, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    code_ = static_cast<std::byte*>(pages) + branch_reach;
    mprotect(code_, capacity, PROT_READ | PROT_WRITE);
  }
  std::uint64_t set(const Bytes& code) {
    std::memset(code_, 0xff, capacity);  // no instruction
    std::memcpy(code_, code.data(), std::min(code.size(), capacity));
    return reinterpret_cast<std::uint64_t>(code_);
  }

private:
  std::byte* code_;
};

void take(const Bytes& code) {
  using namespace softgpu::compute;
  static CodeMemory& memory = *new CodeMemory;
  const auto read = Program::read(memory.set(code), Target{});
  const auto* program = std::get_if<Program>(&read);
  if (program == nullptr) return;
  llvm::LLVMContext context;
  llvm::Module module("input", context);
  constexpr std::uint32_t float_mode = 0x3f0;
  try {
    translate(*program, float_mode, HostVectors::avx512, "wave", module);
  } catch (const UnsupportedInstruction&) {
    return;
  }
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (llvm::verifyModule(module, &stream)) throw std::logic_error("invalid IR: " + complaint);
}

/// The kernels of a code object: its code from each function on.
void add_kernels(std::vector<Bytes>& samples, const char* path) {
  const Bytes file = fastdispatch::fuzz::read_file(path);
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  const auto section = [&](std::size_t index) {
    Elf64_Shdr result;
    std::memcpy(&result, file.data() + header.e_shoff + index * sizeof result, sizeof result);
    return result;
  };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_DYNSYM) continue;
    for (std::size_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, file.data() + symbols.sh_offset + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const Elf64_Shdr text = section(symbol.st_shndx);
      const auto begin = file.begin() + static_cast<std::ptrdiff_t>(text.sh_offset + symbol.st_value - text.sh_addr);
      samples.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(symbol.st_size));
    }
  }
}

}  // namespace

fastdispatch::fuzz::Target fastdispatch::fuzz::target() {
  std::vector<Bytes> samples;
  for (const char* path : {FUZZ_TRANSLATOR_KERNELS, FUZZ_MEMORY_KERNELS}) add_kernels(samples, path);
  return {.samples = std::move(samples), .take = take};
}
