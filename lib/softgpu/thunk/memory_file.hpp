// Pages without an address, which processes share by a file descriptor, as they share a dma-buf.
//
// It is a memfd. As a dma-buf, it can be mapped from offset 0 on. A page behind the memory has what a process that
// imports it has to know: what it was allocated as, and what a program has attached to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace softgpu::thunk {

/// The file's name, and as the system shows it of a descriptor and of a mapping.
inline constexpr const char* memory_file_name = "softgpu-memory";
inline constexpr const char* memory_file_link = "/memfd:softgpu-memory";

/// Owns a descriptor of the file. The pages live as long as a descriptor or a mapping of them, in any process.
///
/// Thread safety: none needed for const members.
class MemoryFile {
public:
  /// What the memory was allocated as.
  struct Origin {
    std::uint32_t node = 0;
    std::uint32_t flags = 0;  ///< HsaMemFlags::Value
  };

  /// Zeroed pages, `bytes` of them, a multiple of a page. Nothing if the system refuses.
  [[nodiscard]] static std::optional<MemoryFile> create(std::uint64_t bytes, Origin origin);
  /// The file of another descriptor, which stays the caller's. Nothing if that is not such a file.
  [[nodiscard]] static std::optional<MemoryFile> import(int descriptor);

  ~MemoryFile();
  MemoryFile(MemoryFile&& from) noexcept;
  MemoryFile& operator=(MemoryFile&& from) noexcept;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] Origin origin() const noexcept { return origin_; }
  /// The same for every descriptor of the file: its inode's number.
  [[nodiscard]] std::uint64_t identity() const noexcept { return identity_; }

  /// Another descriptor, which is the caller's; -1 if there are too many.
  [[nodiscard]] int duplicate() const noexcept;
  /// Leaves up to `most_attached` bytes with the file, for every process. False if the system refuses.
  [[nodiscard]] bool attach(std::span<const std::byte> data) const noexcept;
  /// Reads them, zeros behind what was attached. False if the system refuses.
  [[nodiscard]] bool read_attached(std::span<std::byte> data) const noexcept;
  static constexpr std::size_t most_attached = 2048;

  /// Maps `bytes` from `offset` on in place of what is at `address`. False if the system refuses.
  [[nodiscard]] bool map(void* address, std::uint64_t bytes, std::uint64_t offset = 0) const noexcept;

private:
  MemoryFile(int descriptor, std::uint64_t bytes, Origin origin, std::uint64_t identity)
      : descriptor_(descriptor), bytes_(bytes), origin_(origin), identity_(identity) {}

  int descriptor_;
  std::uint64_t bytes_;
  Origin origin_;
  std::uint64_t identity_;
};

}  // namespace softgpu::thunk
