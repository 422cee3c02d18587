// Damaged code objects, loaded by the HSA runtime: the library refuses what its loader would follow to nowhere.
#include <cstdlib>

#include "fastdispatch/fastdispatch.hpp"
#include "fuzzer.hpp"

/// ROCr forgets memory of code objects that it refuses.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: LeakSanitizer's name
  return "leak:libhsa-runtime64.so";
}

namespace {

using fastdispatch::fuzz::Bytes;

/// ROCr clears a segment's memory, however large the segment says that it is. Inputs that take seconds teach nothing,
/// so the GPU has no room for them.
fastdispatch::Runtime small_gpu() {
  ::setenv("SOFTGPU_MEMORY", "64M", 0);
  return fastdispatch::Runtime({.device = fastdispatch::Device::softgpu});
}

void take(const Bytes& input) {
  static const fastdispatch::Runtime runtime = small_gpu();
  static const fastdispatch::Agent gpu = runtime.gpu();
  try {
    const auto module = fastdispatch::Module::load(gpu, input);
    for (const std::string& name : module.kernel_names()) {
      try {
        static_cast<void>(module.kernel<void()>(name));
      } catch (const fastdispatch::Error&) {
        continue;  // it has parameters
      }
    }
  } catch (const fastdispatch::Error&) {
    return;
  }
}

}  // namespace

fastdispatch::fuzz::Target fastdispatch::fuzz::target() {
  return {.samples = {read_file(TEST_HIP_V4), read_file(TEST_HIP_V5), read_file(TEST_OPENCL_V4)}, .take = take};
}
