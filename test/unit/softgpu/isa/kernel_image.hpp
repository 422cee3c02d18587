// A kernel as the command processor finds it in memory: a descriptor, and the code it points to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace softgpu::isa {

class KernelImage {
public:
  /// Denormals kept, DX10_CLAMP and IEEE on.
  static constexpr std::uint32_t usual_mode = 0x3f0;

  /// `private_bytes` is the scratch memory of a work-item, `float_mode` what MODE begins as, bits 0 to 9. The
  /// descriptor enables what such a kernel is given by the ABI: without scratch s[0:1] is the kernarg pointer and s2
  /// the work-group's id.
  explicit KernelImage(std::span<const std::byte> code, std::uint32_t private_bytes = 0,
                       std::uint32_t float_mode = usual_mode);

  [[nodiscard]] std::uint64_t kernel_object() const { return reinterpret_cast<std::uintptr_t>(base_); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint32_t private_bytes() const { return private_bytes_; }

private:
  std::unique_ptr<std::byte[]> storage_;
  std::byte* base_;
  std::size_t size_;
  std::uint32_t private_bytes_;
};

}  // namespace softgpu::isa
