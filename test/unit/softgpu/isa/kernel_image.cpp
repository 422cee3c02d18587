#include "kernel_image.hpp"

#include <algorithm>
#include <cstring>

#include <llvm/Support/AMDHSAKernelDescriptor.h>

#include "kernel_text.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

namespace abi = llvm::amdhsa;

constexpr std::size_t code_alignment = 256;

template <class Word>
void set(Word& word, std::uint32_t mask, std::uint32_t shift, std::uint32_t value) {
  word = static_cast<Word>(word | (value << shift & mask));
}

/// Fields whose names differ between LLVM's releases.
constexpr std::uint32_t dx10_clamp_shift = 21, ieee_mode_shift = 23;  // of COMPUTE_PGM_RSRC1
constexpr std::uint32_t user_sgpr_count_shift = 1;                    // of COMPUTE_PGM_RSRC2

// Field encodings from "Kernel Descriptor for GFX9" in LLVM's AMDGPU usage guide.
#define FASTDISPATCH_SET(word, field, value) set(word, abi::field, abi::field##_SHIFT, value)

abi::kernel_descriptor_t descriptor(std::uint32_t private_bytes, std::uint32_t float_mode) {
  abi::kernel_descriptor_t kernel = {};
  kernel.private_segment_fixed_size = private_bytes;
  kernel.kernarg_size = sizeof(std::uint64_t);
  kernel.kernel_code_entry_byte_offset = code_alignment;
  constexpr unsigned registers = kernel_vector_registers + kernel_accumulation_registers;
  FASTDISPATCH_SET(kernel.compute_pgm_rsrc1, COMPUTE_PGM_RSRC1_GRANULATED_WORKITEM_VGPR_COUNT, registers / 8 - 1);
  FASTDISPATCH_SET(kernel.compute_pgm_rsrc1, COMPUTE_PGM_RSRC1_GRANULATED_WAVEFRONT_SGPR_COUNT,
                   2 * (kernel_scalar_registers / 16 - 1));
  FASTDISPATCH_SET(kernel.compute_pgm_rsrc1, COMPUTE_PGM_RSRC1_FLOAT_ROUND_MODE_32, float_mode);
  FASTDISPATCH_SET(kernel.compute_pgm_rsrc1, COMPUTE_PGM_RSRC1_FLOAT_ROUND_MODE_16_64, float_mode >> 2);
  FASTDISPATCH_SET(kernel.compute_pgm_rsrc1, COMPUTE_PGM_RSRC1_FLOAT_DENORM_MODE_32, float_mode >> 4);
  FASTDISPATCH_SET(kernel.compute_pgm_rsrc1, COMPUTE_PGM_RSRC1_FLOAT_DENORM_MODE_16_64, float_mode >> 6);
  set(kernel.compute_pgm_rsrc1, 1U << dx10_clamp_shift, dx10_clamp_shift, float_mode >> 8);
  set(kernel.compute_pgm_rsrc1, 1U << ieee_mode_shift, ieee_mode_shift, float_mode >> 9);
  FASTDISPATCH_SET(kernel.compute_pgm_rsrc2, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_X, 1);
  FASTDISPATCH_SET(kernel.compute_pgm_rsrc3, COMPUTE_PGM_RSRC3_GFX90A_ACCUM_OFFSET, kernel_vector_registers / 4 - 1);
  FASTDISPATCH_SET(kernel.kernel_code_properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR, 1);
  if (tests_wave32()) FASTDISPATCH_SET(kernel.kernel_code_properties, KERNEL_CODE_PROPERTY_ENABLE_WAVEFRONT_SIZE32, 1);
  std::uint32_t user_sgprs = 2;
  if (private_bytes != 0) {  // s[0:3] buffer descriptor, s[4:5] kernargs, s[6:7] flat scratch, s8 group, s9 wave offset
    FASTDISPATCH_SET(kernel.compute_pgm_rsrc2, COMPUTE_PGM_RSRC2_ENABLE_PRIVATE_SEGMENT, 1);
    FASTDISPATCH_SET(kernel.kernel_code_properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER, 1);
    FASTDISPATCH_SET(kernel.kernel_code_properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT, 1);
    user_sgprs = 8;
  }
  set(kernel.compute_pgm_rsrc2, 31U << user_sgpr_count_shift, user_sgpr_count_shift, user_sgprs);
  return kernel;
}

#undef FASTDISPATCH_SET

}  // namespace

KernelImage::KernelImage(std::span<const std::byte> code, std::uint32_t private_bytes, std::uint32_t float_mode)
    : storage_(new std::byte[code.size() + 3 * code_alignment]()), size_(code.size() + 2 * code_alignment),
      private_bytes_(private_bytes) {
  void* start = storage_.get();
  std::size_t space = size_ + code_alignment;
  base_ = static_cast<std::byte*>(std::align(code_alignment, size_, start, space));
  const abi::kernel_descriptor_t header = descriptor(private_bytes, float_mode);
  std::memcpy(base_, &header, sizeof header);
  std::copy(code.begin(), code.end(), base_ + code_alignment);
}

}  // namespace softgpu::isa
