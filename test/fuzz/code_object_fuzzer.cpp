// Damaged code objects and bundles: the library refuses them by an Error, and reads nothing outside of them.
#include "compressed_bundle.hpp"
#include "dispatch/code_object/code_object.hpp"
#include "dispatch/code_object/kernel_metadata.hpp"
#include "dispatch/code_object/uncompressed_file.hpp"
#include "fastdispatch/error.hpp"
#include "fuzzer.hpp"

namespace {

using fastdispatch::fuzz::Bytes;

void take(const Bytes& input) {
  // A copy of exactly that size: the address sanitizer sees what reads beyond its end.
  const Bytes file(input.begin(), input.end());
  for (const char* isa : {"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx1030"}) {
    try {
      const fastdispatch::detail::UncompressedFile uncompressed(file, "input");
      const auto code_object = fastdispatch::detail::select_code_object(uncompressed.bytes(), "input", isa);
      static_cast<void>(fastdispatch::detail::read_kernel_metadata(code_object.elf, "input"));
    } catch (const fastdispatch::Error&) {
      continue;
    }
  }
}

}  // namespace

fastdispatch::fuzz::Target fastdispatch::fuzz::target() {
  const Bytes bundle = read_file(TEST_BUNDLE);
  std::vector<Bytes> samples = {bundle,
                                read_file(TEST_HIP_V4),
                                read_file(TEST_HIP_V5),
                                read_file(TEST_OPENCL_V4),
                                read_file(TEST_CODE_OBJECTS "/compressed_v2.hsaco"),
                                read_file(TEST_CODE_OBJECTS "/compressed_v3.hsaco"),
                                read_file(TEST_CODE_OBJECTS "/add_gfx10-3-generic.elf")};
  for (const auto method : {detail::Compression::zlib, detail::Compression::zstd}) {
    if (detail::is_built_in(method)) samples.push_back(test::compressed_bundle(1, method, bundle));
  }
  return {.samples = std::move(samples), .take = take};
}
