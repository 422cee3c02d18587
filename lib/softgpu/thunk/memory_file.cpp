#include "softgpu/thunk/memory_file.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t trailer_bytes = 4096;  ///< the page behind the memory
constexpr std::uint64_t attached_offset = trailer_bytes - MemoryFile::most_attached;
static_assert(sizeof(MemoryFile::Origin) <= attached_offset);

/// Nobody may cut off pages that another process has mapped.
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

bool has_our_name(int descriptor) {
  std::array<char, 64> link;
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), link.data(), link.size());
  return length > 0 && std::string_view(link.data(), static_cast<std::size_t>(length)).starts_with(memory_file_link);
}

bool write_all(int descriptor, std::span<const std::byte> data, std::uint64_t offset) noexcept {
  return pwrite(descriptor, data.data(), data.size(), static_cast<off_t>(offset)) == std::ssize(data);
}

bool read_all(int descriptor, std::span<std::byte> data, std::uint64_t offset) noexcept {
  return pread(descriptor, data.data(), data.size(), static_cast<off_t>(offset)) == std::ssize(data);
}

}  // namespace

std::optional<MemoryFile> MemoryFile::create(std::uint64_t bytes, Origin origin) {
  const int descriptor = memfd_create(memory_file_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return std::nullopt;
  struct stat status {};
  if (ftruncate(descriptor, static_cast<off_t>(bytes + trailer_bytes)) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, seals) != 0 ||
      !write_all(descriptor, std::as_bytes(std::span(&origin, 1)), bytes) || fstat(descriptor, &status) != 0) {
    close(descriptor);
    return std::nullopt;
  }
  return MemoryFile(descriptor, bytes, origin, status.st_ino);
}

std::optional<MemoryFile> MemoryFile::import(int descriptor) {
  struct stat status {};
  if (!has_our_name(descriptor) || (fcntl(descriptor, F_GET_SEALS) & seals) != seals ||
      fstat(descriptor, &status) != 0 || status.st_size <= static_cast<off_t>(trailer_bytes))
    return std::nullopt;
  const std::uint64_t bytes = static_cast<std::uint64_t>(status.st_size) - trailer_bytes;
  Origin origin;
  if (!read_all(descriptor, std::as_writable_bytes(std::span(&origin, 1)), bytes)) return std::nullopt;
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return std::nullopt;
  return MemoryFile(own, bytes, origin, status.st_ino);
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

MemoryFile::MemoryFile(MemoryFile&& from) noexcept
    : descriptor_(std::exchange(from.descriptor_, -1)), bytes_(from.bytes_), origin_(from.origin_),
      identity_(from.identity_) {}

MemoryFile& MemoryFile::operator=(MemoryFile&& from) noexcept {
  std::swap(descriptor_, from.descriptor_);
  bytes_ = from.bytes_;
  origin_ = from.origin_;
  identity_ = from.identity_;
  return *this;
}

int MemoryFile::duplicate() const noexcept { return fcntl(descriptor_, F_DUPFD_CLOEXEC, 0); }

bool MemoryFile::attach(std::span<const std::byte> data) const noexcept {
  return data.size() <= most_attached && write_all(descriptor_, data, bytes_ + attached_offset);
}

bool MemoryFile::read_attached(std::span<std::byte> data) const noexcept {
  return data.size() <= most_attached && read_all(descriptor_, data, bytes_ + attached_offset);
}

bool MemoryFile::map(void* address, std::uint64_t bytes, std::uint64_t offset) const noexcept {
  return mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor_,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

}  // namespace softgpu::thunk
