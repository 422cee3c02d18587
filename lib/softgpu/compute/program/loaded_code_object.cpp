#include "softgpu/compute/program/loaded_code_object.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include <llvm/BinaryFormat/ELF.h>

namespace softgpu::compute {
namespace {

namespace ELF = llvm::ELF;

constexpr std::uint64_t page_bytes = 4096;
constexpr unsigned most_pages = 4096;
constexpr unsigned most_segments = 64;

bool is_code_object(const ELF::Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELF::ElfMagic, sizeof(ELF::ElfMagic) - 1) == 0 &&
         header.e_ident[ELF::EI_CLASS] == ELF::ELFCLASS64 && header.e_machine == ELF::EM_AMDGPU &&
         header.e_phentsize == sizeof(ELF::Elf64_Phdr) && header.e_phnum <= most_segments;
}

}  // namespace

bool copy_memory(std::uint64_t address, void* destination, std::size_t size) {
  const iovec local = {destination, size};
  const iovec remote = {reinterpret_cast<void*>(address), size};  // NOLINT(performance-no-int-to-ptr)
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

std::string copy_text(std::uint64_t address, std::size_t longest) {
  std::string text;
  while (text.size() < longest) {
    const auto character = copy_memory<char>(address + text.size());
    if (!character || *character == '\0') break;
    text += *character;
  }
  return text;
}

std::optional<std::uint64_t> find_code_object(std::uint64_t address) {
  std::uint64_t at = address / page_bytes * page_bytes;
  for (unsigned i = 0; i < most_pages && at != 0; ++i, at -= page_bytes) {
    const auto header = copy_memory<ELF::Elf64_Ehdr>(at);
    if (!header) return std::nullopt;
    if (is_code_object(*header)) return at;
  }
  return std::nullopt;
}

}  // namespace softgpu::compute
