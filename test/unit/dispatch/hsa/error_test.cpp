#include "fastdispatch/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fastdispatch/detail/check.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Error, names_the_call_what_was_done_the_text_of_hsa_and_what_to_do) {
  const MockHsa hsa;
  try {
    detail::check(hsa.api(), HSA_STATUS_ERROR_OUT_OF_RESOURCES, "hsa_queue_create", "making a queue");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    EXPECT_EQ(error.call(), "hsa_queue_create");
    EXPECT_THAT(error.what(), AllOf(HasSubstr("making a queue"), HasSubstr("hsa_queue_create"),
                                    HasSubstr("text of the mock"), HasSubstr("/dev/kfd")));
  }
}

TEST(Error, shows_the_number_of_a_status_that_hsa_has_no_text_for) {
  const MockHsa hsa;
  EXPECT_EQ(detail::status_text(hsa.api(), HSA_STATUS_ERROR_INVALID_REGION), "HSA status 0x1005");
}

TEST(Error, is_not_thrown_for_success_and_then_builds_no_text) {
  const MockHsa hsa;
  bool built = false;
  detail::check(hsa.api(), HSA_STATUS_SUCCESS, "hsa_init", [&] {
    built = true;
    return std::string();
  });
  EXPECT_FALSE(built);
}

}  // namespace
}  // namespace fastdispatch::test
