// Damaged code objects and bundles: the library refuses them by an Error, and reads nothing outside of them.
#include "dispatch/code_object/code_object.hpp"
#include "dispatch/code_object/kernel_metadata.hpp"
#include "fastdispatch/error.hpp"
#include "fuzzer.hpp"

namespace {

using fastdispatch::fuzz::Bytes;

void take(const Bytes& input) {
  // A copy of exactly that size: the address sanitizer sees what reads beyond its end.
  const Bytes file(input.begin(), input.end());
  for (const char* isa : {"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx1030"}) {
    try {
      const auto code_object = fastdispatch::detail::select_code_object(file, "input", isa);
      static_cast<void>(fastdispatch::detail::read_kernel_metadata(code_object.elf, "input"));
    } catch (const fastdispatch::Error&) {
      continue;
    }
  }
}

}  // namespace

fastdispatch::fuzz::Target fastdispatch::fuzz::target() {
  return {
      .samples = {read_file(TEST_BUNDLE), read_file(TEST_HIP_V4), read_file(TEST_HIP_V5), read_file(TEST_OPENCL_V4)},
      .take = take};
}
