// A kernel as a code object has it in memory, written in machine words.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "softgpu/compute/execution/kernel.hpp"

namespace softgpu::compute {

// Machine words of gfx90a, as the assembler encodes them.
inline constexpr std::uint32_t s_endpgm = 0xbf810000;
inline constexpr std::uint32_t s_barrier = 0xbf8a0000;
inline constexpr std::uint32_t s_trap_2 = 0xbf920002;
inline constexpr std::uint32_t s_nop = 0xbf800000;
inline constexpr std::uint32_t s_sendmsg_save_wave = 0xbf900004;

/// A kernel descriptor with code behind it, in memory that the kernel's address points to.
class DescriptorAndCode {
public:
  explicit DescriptorAndCode(const std::vector<std::uint32_t>& code, std::uint32_t rsrc1 = 0) {
    std::memcpy(bytes_.data() + 48, &rsrc1, sizeof rsrc1);
    set(code);
  }

  void set(const std::vector<std::uint32_t>& code) {
    const std::int64_t entry_offset = KernelDescriptor::size;
    std::memcpy(bytes_.data() + 16, &entry_offset, sizeof entry_offset);
    std::memcpy(bytes_.data() + entry_offset, code.data(), code.size() * sizeof code[0]);
  }
  /// In the descriptor's last bytes, which are reserved.
  void set_word_before_entry(std::uint32_t word) {
    std::memcpy(bytes_.data() + KernelDescriptor::size - sizeof word, &word, sizeof word);
  }
  void set_private_segment(std::uint32_t size) { std::memcpy(bytes_.data() + 4, &size, sizeof size); }
  [[nodiscard]] std::uint64_t address() const { return std::bit_cast<std::uint64_t>(bytes_.data()); }

private:
  alignas(64) std::array<std::byte, 1024> bytes_{};
};

}  // namespace softgpu::compute
