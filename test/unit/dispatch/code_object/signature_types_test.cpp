// Signatures against the types that a kernel's mangled name and its metadata tell.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/code_object/signature.hpp"
#include "expect_error.hpp"
#include "fastdispatch/module.hpp"
#include "test_files.hpp"

namespace fastdispatch::detail {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Float4 {
  float values[4];
};
enum class Mode : std::uint32_t { off, on };

// A kernel of that name whose arguments have the sizes of the parameters, 0 for pointers.
KernelMetadata kernel(const std::string& name, const std::vector<std::uint32_t>& sizes) {
  KernelMetadata kernel{.name = name, .symbol = name + ".kd"};
  for (const std::uint32_t size : sizes) {
    kernel.arguments.push_back({.value_kind = size == 0 ? "global_buffer" : "by_value", .size = size == 0 ? 8 : size});
  }
  return kernel;
}

template <class Signature>
void check_as(const KernelMetadata& kernel) {
  check_signature(kernel, ParametersOf<Signature>::list());
}
template <class Signature>
std::string error_as(const KernelMetadata& kernel) {
  return error_of([&] { check_as<Signature>(kernel); });
}

TEST(SignatureTypes, that_differ_from_the_kernels_are_an_error_that_names_both) {
  const KernelMetadata sort = kernel("_Z4sortPjjf", {0, 4, 4});
  check_as<void(unsigned*, unsigned, float)>(sort);
  EXPECT_THAT((error_as<void(double*, unsigned, float)>(sort)),
              AllOf(HasSubstr("kernel sort(unsigned int*, unsigned int, float), argument 1"),
                    HasSubstr("(unsigned int*), the signature has"), HasSubstr("(double*)"), HasSubstr("void*")));
  EXPECT_THAT((error_as<void(unsigned*, float, float)>(sort)),
              AllOf(HasSubstr("argument 2"), HasSubstr("by_value of 4 bytes (unsigned int)"),
                    HasSubstr("value of 4 bytes (float)"), HasSubstr("say the kernel's type")));
  EXPECT_THAT((error_as<void(unsigned*, unsigned, unsigned)>(sort)), HasSubstr("argument 3"));
  EXPECT_THAT((error_as<void(float*, unsigned, float)>(sort)), HasSubstr("argument 1"));
  EXPECT_THAT((error_as<void(std::uint64_t*, unsigned, float)>(sort)), HasSubstr("argument 1"));
  EXPECT_THAT((error_as<void(std::uint8_t*, unsigned, float)>(sort)), HasSubstr("argument 1"));
  EXPECT_THAT((error_as<void(unsigned**, unsigned, float)>(sort)), HasSubstr("argument 1"));
}

TEST(SignatureTypes, of_instances_of_templates_are_those_of_the_instance) {
  const KernelMetadata clear = kernel("_ZN2ns5clearIfPdEEvPT_T0_", {0, 0});
  check_as<void(float*, double*)>(clear);
  EXPECT_THAT((error_as<void(double*, double*)>(clear)),
              HasSubstr("ns::clear<float, double*>(float*, double*), argument 1"));
  EXPECT_THAT((error_as<void(float*, float*)>(clear)), HasSubstr("argument 2"));
}

TEST(SignatureTypes, that_are_one_type_in_memory_are_taken) {
  check_as<void(int*, unsigned long long*, std::int64_t)>(kernel("_Z1fPjPmm", {0, 0, 8}));
  check_as<void(unsigned* __restrict__, volatile unsigned*)>(kernel("_Z1fPjPVj", {0, 0}));
  check_as<void(std::uint8_t*, bool)>(kernel("_Z1fPbh", {0, 1}));
  check_as<void(Mode*, Mode, unsigned)>(kernel("_Z1fPjj4Mode", {0, 4, 4}));
  check_as<void(std::uint16_t*, std::uint16_t)>(kernel("_Z1fPDF16_DF16_", {0, 2}));
  check_as<void(std::uint64_t*)>(kernel("_Z1fPPf", {0}));
}

TEST(SignatureTypes, that_the_host_may_call_otherwise_are_taken) {
  const KernelMetadata mix = kernel("_Z3mixP15HIP_vector_typeIfLj4EES0_PN2ns5ShapeE", {0, 16, 0});
  check_as<void(Float4*, Float4, Float4*)>(mix);
  check_as<void(float*, Float4, int*)>(mix);
  check_as<void(void*, Float4, const void*)>(kernel("_Z1fPf15HIP_vector_typeIfLj4EEPKi", {0, 16, 0}));
  check_as<void(float*, double*)>(kernel("_Z1fPvPKv", {0, 0}));
  check_as<void(float*, const double*)>(kernel("_Z1fPhPKc", {0, 0}));
  check_as<void(std::byte*, Float4*)>(kernel("_Z1fPfPj", {0, 0}));
}

TEST(SignatureTypes, that_are_not_known_are_compared_by_size_and_kind_only) {
  check_as<void(double*, unsigned)>(kernel("sort", {0, 4}));
  check_as<void(double*, float)>(kernel("_Z1fIXplLi1ELi2EEEvPfi", {0, 4}));
  check_as<void(double*, float)>(kernel("_Z1fPf", {0, 4}));  // another count: it is not this kernel's name
  EXPECT_THAT((error_as<void(double*, double)>(kernel("sort", {0, 4}))), HasSubstr("sizes must be equal"));
  EXPECT_THAT((error_as<void(double, unsigned)>(kernel("sort", {0, 4}))), HasSubstr("a pointer is wanted"));
}

TEST(SignatureTypes, const_for_memory_that_the_kernel_may_write_is_an_error) {
  const KernelMetadata copy = kernel("_Z4copyPjPKj", {0, 0});
  check_as<void(unsigned*, const unsigned*)>(copy);
  check_as<void(unsigned*, unsigned*)>(copy);
  for (const std::string& text :
       {error_as<void(const unsigned*, const unsigned*)>(copy), error_as<void(const void*, const unsigned*)>(copy)}) {
    EXPECT_THAT(text, AllOf(HasSubstr("kernel copy(unsigned int*, unsigned int const*), argument 1"),
                            HasSubstr("may write"), HasSubstr("fd::read")));
  }
  EXPECT_THAT((error_as<void(const Float4*)>(kernel("_Z3mixPN2ns5ShapeE", {0}))), HasSubstr("may write"));
}

TEST(SignatureTypes, const_goes_by_the_access_of_the_metadata_where_it_is_known) {
  KernelMetadata fill = kernel("fill", {0});
  check_as<void(const unsigned*)>(fill);
  for (const char* access : {"write_only", "read_write"}) {
    fill.arguments[0].actual_access = access;
    EXPECT_THAT(error_as<void(const unsigned*)>(fill), HasSubstr("may write"));
    check_as<void(unsigned*)>(fill);
    fill.arguments[0].actual_access.clear();
    fill.arguments[0].access = access;
    EXPECT_THAT(error_as<void(const unsigned*)>(fill), HasSubstr("may write"));
    fill.arguments[0].access.clear();
  }
  KernelMetadata sum = kernel("_Z3sumPj", {0});
  sum.arguments[0].actual_access = "read_only";  // the compiler found that it only reads
  check_as<void(const unsigned*)>(sum);
}

TEST(SignatureTypes, of_opencls_kernels_come_from_the_metadata) {
  KernelMetadata rotate = kernel("rotate", {0, 8, 0});
  rotate.arguments[0].type_name = "uint*";
  rotate.arguments[1].type_name = "long";
  rotate.arguments[2].type_name = "float4*";
  check_as<void(unsigned*, std::int64_t, float*)>(rotate);
  check_as<void(const unsigned*, std::uint64_t, Float4*)>(rotate);
  EXPECT_THAT((error_as<void(float*, std::int64_t, float*)>(rotate)),
              AllOf(HasSubstr("argument 1"), HasSubstr("(uint*)")));
  EXPECT_THAT((error_as<void(unsigned*, double, float*)>(rotate)), AllOf(HasSubstr("argument 2"), HasSubstr("(long)")));
}

TEST(SignatureTypes, of_compiled_kernels_are_known) {
  for (const test::Bytes& file : {test::hip_v4(), test::hip_v5()}) {
    for (const KernelMetadata& kernel : read_kernel_metadata(file, "file")) {
      if (kernel.name == "_ZN6filter4blurEPfi") {
        check_as<void(float*, int)>(kernel);
        EXPECT_THAT((error_as<void(const float*, int)>(kernel)), HasSubstr("filter::blur(float*, int), argument 1"));
        EXPECT_THAT((error_as<void(float*, float)>(kernel)), AllOf(HasSubstr("argument 2"), Not(HasSubstr("_Z"))));
      } else if (kernel.name == "_Z5clearIiEvPT_") {
        check_as<void(int*)>(kernel);
        EXPECT_THAT(error_as<void(float*)>(kernel), HasSubstr("clear<int>(int*)"));
      }
    }
  }
}

}  // namespace
}  // namespace fastdispatch::detail
