#include "softgpu/compute/program/source_line.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Support/MemoryBuffer.h>

#include "softgpu/compute/program/line_table.hpp"
#include "softgpu/compute/program/loaded_code_object.hpp"

namespace softgpu::compute {
namespace {

namespace ELF = llvm::ELF;

constexpr unsigned most_code_objects = 65536;
constexpr std::size_t longest_uri = 8192;
constexpr std::uint64_t largest_code_object = std::uint64_t{1} << 30;

/// The list's head and its entries are laid out like the dynamic linker's (`r_debug` and `link_map` of link.h, which
/// cannot stand beside LLVM's headers).
struct LoadedList {
  int version;
  std::uint64_t first;
};
struct LoadedCodeObject {
  std::uint64_t base;
  std::uint64_t uri;
  std::uint64_t dynamic_section;
  std::uint64_t next;
  std::uint64_t previous;
};

using Bytes = std::unique_ptr<llvm::MemoryBuffer>;

std::optional<std::uint64_t> number_of(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, is_hexadecimal ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Of "offset=0x100&size=0x200".
std::optional<std::uint64_t> parameter(std::string_view fragment, std::string_view name) {
  while (!fragment.empty()) {
    const std::string_view one = fragment.substr(0, fragment.find('&'));
    fragment.remove_prefix(std::min(fragment.size(), one.size() + 1));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('='))
      return number_of(one.substr(name.size() + 1));
  }
  return std::nullopt;
}

/// A path as a URI has it: "%20" is a space.
std::string decoded(std::string_view path) {
  std::string result;
  for (std::size_t i = 0; i < path.size(); ++i) {
    unsigned char character = 0;
    constexpr int hexadecimal = 16;
    if (path[i] == '%' && i + 2 < path.size() &&
        std::from_chars(&path[i + 1], &path[i + 3], character, hexadecimal).ptr == &path[i + 3]) {
      result += static_cast<char>(character);
      i += 2;
    } else {
      result += path[i];
    }
  }
  return result;
}

Bytes bytes_of_memory(std::uint64_t address, std::uint64_t size) {
  if (size > largest_code_object) return nullptr;
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size);
  if (buffer == nullptr || !copy_memory(address, buffer->getBufferStart(), size)) return nullptr;
  return buffer;
}

Bytes bytes_of_file(const std::string& path, std::optional<std::uint64_t> offset, std::optional<std::uint64_t> size) {
  auto buffer =
      size ? llvm::MemoryBuffer::getFileSlice(path, *size, offset.value_or(0)) : llvm::MemoryBuffer::getFile(path);
  return buffer ? std::move(*buffer) : nullptr;
}

Bytes bytes_of(std::string_view uri) {
  const std::size_t hash = std::min(uri.find('#'), uri.size());
  const std::string_view place = uri.substr(0, hash);
  const std::string_view fragment = uri.substr(std::min(uri.size(), hash + 1));
  const auto offset = parameter(fragment, "offset");
  const auto size = parameter(fragment, "size");
  constexpr std::string_view file = "file://";
  if (place.starts_with(file)) return bytes_of_file(decoded(place.substr(file.size())), offset, size);
  if (place.starts_with("memory://") && offset && size) return bytes_of_memory(*offset, *size);
  return nullptr;
}

/// ROCr's list may change meanwhile, so that none of its pointers is followed unseen.
std::string uri_of(std::uint64_t base) {
  void* runtime = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (runtime == nullptr) return {};
  const auto* list = static_cast<const LoadedList*>(dlsym(runtime, "_amdgpu_r_debug"));
  std::uint64_t next = list == nullptr ? 0 : list->first;
  std::string uri;
  for (unsigned i = 0; i != most_code_objects && next != 0; ++i) {
    const auto entry = copy_memory<LoadedCodeObject>(next);
    if (!entry) break;
    if (entry->base == base) uri = copy_text(entry->uri, longest_uri);
    if (!uri.empty()) break;
    next = entry->next;
  }
  dlclose(runtime);
  return uri;
}

/// How much of a code object's beginning the loader has copied; 0 if `file` is none.
std::size_t copied_bytes(const llvm::MemoryBuffer& file) {
  ELF::Elf64_Ehdr header;
  if (file.getBufferSize() < sizeof header) return 0;
  std::memcpy(&header, file.getBufferStart(), sizeof header);
  for (std::uint64_t i = 0; i != header.e_phnum; ++i) {
    ELF::Elf64_Phdr segment;
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (at > file.getBufferSize() - sizeof segment) return 0;
    std::memcpy(&segment, file.getBufferStart() + at, sizeof segment);
    if (segment.p_type == ELF::PT_LOAD && segment.p_offset == 0)
      return std::min<std::uint64_t>(segment.p_filesz, file.getBufferSize());
  }
  return 0;
}

/// The memory that a code object was loaded from may hold something else by now.
bool is_of(const llvm::MemoryBuffer& file, std::uint64_t base) {
  std::vector<char> loaded(copied_bytes(file));
  return !loaded.empty() && copy_memory(base, loaded.data(), loaded.size()) &&
         std::memcmp(loaded.data(), file.getBufferStart(), loaded.size()) == 0;
}

}  // namespace

struct SourceLines::State {
  State(Bytes file, std::uint64_t loaded_at)
      : bytes(std::move(file)), base(loaded_at),
        table(std::as_bytes(std::span(bytes->getBufferStart(), bytes->getBufferSize()))) {}

  Bytes bytes;
  std::uint64_t base;
  LineTable table;
};

SourceLines::SourceLines(std::uint64_t address) {
  const auto base = find_code_object(address);
  if (!base) return;
  Bytes bytes = bytes_of(uri_of(*base));
  if (bytes != nullptr && is_of(*bytes, *base)) state_ = std::make_unique<State>(std::move(bytes), *base);
}
SourceLines::~SourceLines() = default;

std::string SourceLines::line_of(std::uint64_t address) const {
  return state_ == nullptr ? std::string() : state_->table.line_of(address - state_->base);
}

std::string source_line(std::uint64_t address) { return SourceLines(address).line_of(address); }

}  // namespace softgpu::compute
