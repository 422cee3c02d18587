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

TEST(Error, tells_apart_what_callers_do_something_else_about) {
  const MockHsa hsa;
  const auto kind_of = [&](hsa_status_t status, const char* call) {
    try {
      detail::throw_hsa_error(hsa.api(), status, call, "testing");
    } catch (const Error& error) {
      return error.kind();
    }
  };
  EXPECT_EQ(kind_of(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "hsa_queue_create"), ErrorKind::out_of_memory);
  EXPECT_EQ(kind_of(HSA_STATUS_ERROR_INVALID_ALLOCATION, "hsa_amd_memory_pool_allocate"), ErrorKind::out_of_memory);
  EXPECT_EQ(kind_of(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "hsa_init"), ErrorKind::runtime) << "there is no driver";
  EXPECT_EQ(kind_of(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "hsa_executable_freeze"), ErrorKind::bad_argument);
  EXPECT_EQ(kind_of(HSA_STATUS_ERROR, "hsa_init"), ErrorKind::runtime);
  EXPECT_EQ(Error("wrong").kind(), ErrorKind::bad_argument);
  EXPECT_EQ(TimeoutError("late").kind(), ErrorKind::timeout);
  EXPECT_EQ(QueueFullError("full").kind(), ErrorKind::full);
}

}  // namespace
}  // namespace fastdispatch::test
