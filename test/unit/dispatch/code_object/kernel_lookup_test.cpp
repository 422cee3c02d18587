#include "dispatch/code_object/kernel_lookup.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"

namespace fastdispatch::detail {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<KernelMetadata> kernels(const std::vector<std::string>& names) {
  std::vector<KernelMetadata> kernels;
  for (const std::string& name : names) kernels.push_back({.name = name, .symbol = name + ".kd"});
  return kernels;
}

class KernelLookup : public ::testing::Test {
protected:
  std::string found(std::string_view name) { return all[find_kernel(all, name, "sort.hsaco")].name; }
  std::string error(std::string_view name) {
    return error_of([&] { static_cast<void>(find_kernel(all, name, "sort.hsaco")); });
  }

  std::vector<KernelMetadata> all =
      kernels({"_Z4sortPjj", "add", "_ZN2ns4sortIfEEvPT_PKT_", "_ZN2ns4sortIdEEvPT_PKT_", "_ZN2ns4onlyIiEEvPT_",
               "_Z4copyPKf", "_Z4copyPKd", "_ZL4blurPf.static.1a", "_ZL4blurPf.static.2b"});
};

TEST_F(KernelLookup, takes_any_spelling_that_means_one_kernel) {
  EXPECT_EQ(found("add"), "add");
  EXPECT_EQ(found("add.kd"), "add");
  for (const char* spelling : {"sort", "_Z4sortPjj", "_Z4sortPjj.kd", "sort(unsigned int*, unsigned int)",
                               "sort(unsigned*,unsigned)", " sort ( unsigned int * , unsigned int ) "}) {
    EXPECT_EQ(found(spelling), "_Z4sortPjj") << spelling;
  }
  for (const char* spelling : {"ns::sort<float>", "ns::sort< float >", "ns::sort<float>(float*, float const*)",
                               "ns::sort<float>(float*, const float*)"}) {
    EXPECT_EQ(found(spelling), "_ZN2ns4sortIfEEvPT_PKT_") << spelling;
  }
  EXPECT_EQ(found("ns::only"), "_ZN2ns4onlyIiEEvPT_");
  EXPECT_EQ(found("copy(const float*)"), "_Z4copyPKf");
  EXPECT_EQ(found("blur(float*) [clone .static.2b]"), "_ZL4blurPf.static.2b");
}

TEST_F(KernelLookup, of_a_name_of_several_kernels_is_an_error_that_lists_them) {
  EXPECT_THAT(error("ns::sort"), AllOf(HasSubstr("sort.hsaco has several kernels ns::sort"),
                                       HasSubstr("ns::sort<float>(float*, float const*)"),
                                       HasSubstr("ns::sort<double>(double*, double const*)"), Not(HasSubstr("add")),
                                       Not(HasSubstr("_Z"))));
  EXPECT_THAT(error("copy"), AllOf(HasSubstr("copy(float const*)"), HasSubstr("copy(double const*)")));
  EXPECT_THAT(error("blur(float*)"), AllOf(HasSubstr(".static.1a"), HasSubstr(".static.2b")));
}

TEST_F(KernelLookup, prefers_a_function_to_a_template_of_its_name) {
  all = kernels({"_Z4sortIfEvPT_", "_Z4sortPj"});
  EXPECT_EQ(found("sort"), "_Z4sortPj");
}

TEST_F(KernelLookup, of_an_unknown_name_is_an_error_that_lists_all_kernels) {
  EXPECT_THAT(error("sorted"), AllOf(HasSubstr("no kernel sorted"), HasSubstr("add"), HasSubstr("copy(float const*)"),
                                     HasSubstr("ns::only<int>(int*)")));
  all.clear();
  EXPECT_THAT(error("sort"), HasSubstr("no kernels at all"));
}

TEST_F(KernelLookup, of_an_unknown_name_among_many_is_an_error_that_lists_the_nearest) {
  for (int i = 0; i < 500; ++i) all.push_back(kernels({"unlike_anything_" + std::to_string(i)})[0]);
  all.push_back(kernels({std::string(10000, 'x')})[0]);
  const std::string text = error("sord");
  EXPECT_THAT(text,
              AllOf(HasSubstr("nearest of its 510"), HasSubstr("sort(unsigned int*, unsigned int)"), HasSubstr("add")));
  EXPECT_LT(text.size(), 5000U);
}

}  // namespace
}  // namespace fastdispatch::detail
