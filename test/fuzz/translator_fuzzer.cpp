// Damaged kernels as the soft GPU gets them: a descriptor, machine code and a dispatch packet, for any architecture and
// kind of host. The translator refuses the code or makes valid LLVM IR of it, and the launch refuses the packet or runs
// its work-groups. Nothing is compiled, which would take most of the time: wavefronts end at once.
#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "fuzzer.hpp"
#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/kernel.hpp"
#include "softgpu/compute/host_code/translator.hpp"
#include "softgpu/compute/program/program.hpp"

namespace {

using fastdispatch::fuzz::Bytes;
using namespace softgpu::compute;

/// An input: which architecture and host, then these, then the code.
constexpr std::size_t descriptor_at = 1;
constexpr std::size_t packet_at = descriptor_at + KernelDescriptor::size;
constexpr std::size_t code_at = packet_at + sizeof(hsa_kernel_dispatch_packet_t);
constexpr std::byte has_avx512{0x80};

/// A descriptor and machine code, surrounded by memory that is not mapped, as far as a branch goes.
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
  /// The descriptor's address.
  std::uint64_t set(std::span<const std::byte> descriptor, std::span<const std::byte> code) {
    std::memset(code_, 0xff, capacity);  // no instruction
    std::ranges::copy(descriptor, code_);
    std::ranges::copy(code.first(std::min(code.size(), capacity - descriptor.size())), code_ + descriptor.size());
    return reinterpret_cast<std::uint64_t>(code_);
  }

private:
  std::byte* code_;
};

/// The fuzzer's test of one translation.
void end_at_once(WaveState* /*state*/) {}

void run(const KernelDescriptor& descriptor, const Target& target, WaitsFor waits_for,
         const hsa_kernel_dispatch_packet_t& packet) {
  const auto kernel =
      std::make_shared<const Kernel>(descriptor, target, WaveStart{}, WaveCode{end_at_once}, waits_for, nullptr);
  auto made = Launch::make(kernel, packet, QueueView{});
  const auto* launch = std::get_if<std::shared_ptr<Launch>>(&made);
  if (launch == nullptr) return;
  constexpr std::uint32_t most_private_bytes = 4096;  // a queue has no more than the runtime gave it
  if ((*launch)->private_segment_bytes() > most_private_bytes) return;
  WorkGroupRunner runner(0);
  const std::uint64_t groups = (*launch)->group_count();
  for (const std::uint64_t group : {std::uint64_t{0}, groups / 2, groups - 1})
    if (const auto failure = runner.run(**launch, group))
      throw std::logic_error("a work-group failed: " + failure->text);
}

void take(const Bytes& input) {
  if (input.size() < code_at) return;
  const auto bytes = std::span(input);
  const auto architectures = Architecture::all();
  const auto& architecture = architectures[std::to_integer<std::size_t>(bytes[0] & ~has_avx512) % architectures.size()];
  const auto vectors = (bytes[0] & has_avx512) != std::byte{0} ? HostVectors::avx512 : HostVectors::any;
  hsa_kernel_dispatch_packet_t packet;
  std::memcpy(&packet, &bytes[packet_at], sizeof packet);

  static CodeMemory& memory = *new CodeMemory;
  const auto descriptor_bytes = bytes.subspan<descriptor_at, KernelDescriptor::size>();
  const std::uint64_t kernel_object = memory.set(descriptor_bytes, bytes.subspan(code_at));
  const KernelDescriptor descriptor = KernelDescriptor::parse(descriptor_bytes);
  const Target target = descriptor.target(architecture);
  const auto offset = static_cast<std::uint64_t>(descriptor.entry_offset);
  if (offset >= CodeMemory::capacity || offset % 4 != 0) return;
  const auto read = Program::read(kernel_object + offset, target);
  const auto* program = std::get_if<Program>(&read);
  if (program == nullptr) return;

  llvm::LLVMContext context;
  llvm::Module module("input", context);
  Translation translation;
  try {
    translation = translate(*program, {.float_mode = descriptor.float_mode(*program->target.architecture)},
                            {.vectors = vectors}, "wave", module);
  } catch (const UnsupportedInstruction&) {
    return;
  }
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (llvm::verifyModule(module, &stream)) throw std::logic_error("invalid IR: " + complaint);
  run(descriptor, target, translation.waits_for, packet);
}

class CodeObject {
public:
  explicit CodeObject(const char* path) : file_(fastdispatch::fuzz::read_file(path)) {
    const auto header = at<Elf64_Ehdr>(0);
    for (std::size_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    for (const Elf64_Shdr& section : sections_)
      if (section.sh_type == SHT_DYNSYM) add_symbols(section);
  }

  /// The kernels, as inputs.
  void add_to(std::vector<Bytes>& samples, std::string_view architecture) const {
    const auto architectures = Architecture::all();
    const auto number = static_cast<unsigned char>(Architecture::find(architecture) - architectures.data());
    hsa_kernel_dispatch_packet_t packet{};
    packet.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    packet.grid_size_x = 1000;
    packet.workgroup_size_x = 256;
    packet.grid_size_y = packet.grid_size_z = packet.workgroup_size_y = packet.workgroup_size_z = 1;
    for (const auto& [name, symbol] : symbols_) {
      const auto descriptor = symbols_.find(name + ".kd");
      if (descriptor == symbols_.end()) continue;
      // Its code follows it.
      std::array<std::byte, KernelDescriptor::size> descriptor_bytes{};
      std::ranges::copy(contents(descriptor->second).first<KernelDescriptor::size>(), descriptor_bytes.begin());
      constexpr std::size_t entry_offset_at = 16;
      constexpr std::int64_t entry_offset = KernelDescriptor::size;
      std::memcpy(&descriptor_bytes[entry_offset_at], &entry_offset, sizeof entry_offset);
      Bytes input{has_avx512 | std::byte{number}};
      append(input, descriptor_bytes);
      append(input, std::as_bytes(std::span(&packet, 1)));
      append(input, contents(symbol));
      samples.push_back(std::move(input));
    }
  }

private:
  template <class T>
  [[nodiscard]] T at(std::size_t offset) const {
    T result;
    if (offset + sizeof result > file_.size()) throw std::out_of_range("a code object of the build is cut off");
    std::memcpy(&result, &file_[offset], sizeof result);
    return result;
  }
  static void append(Bytes& bytes, std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  void add_symbols(const Elf64_Shdr& section) {
    const std::size_t names = sections_.at(section.sh_link).sh_offset;
    for (std::size_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = at<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
      symbols_.emplace(reinterpret_cast<const char*>(&file_.at(names + symbol.st_name)), symbol);
    }
  }
  [[nodiscard]] std::span<const std::byte> contents(const Elf64_Sym& symbol) const {
    const Elf64_Shdr& section = sections_.at(symbol.st_shndx);
    return std::span(file_).subspan(section.sh_offset + symbol.st_value - section.sh_addr, symbol.st_size);
  }

  Bytes file_;
  std::vector<Elf64_Shdr> sections_;
  std::map<std::string, Elf64_Sym> symbols_;
};

}  // namespace

fastdispatch::fuzz::Target fastdispatch::fuzz::target() {
  std::vector<Bytes> samples;
  for (const char* path : {FUZZ_TRANSLATOR_KERNELS, FUZZ_MEMORY_KERNELS}) CodeObject(path).add_to(samples, "gfx90a");
#ifdef FUZZ_MEMORY_KERNELS_GFX942
  for (const char* path : {FUZZ_TRANSLATOR_KERNELS_GFX942, FUZZ_MEMORY_KERNELS_GFX942})
    CodeObject(path).add_to(samples, "gfx942");
#endif
  return {.samples = std::move(samples), .take = take};
}
