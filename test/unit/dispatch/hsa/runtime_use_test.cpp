#include "dispatch/hsa/runtime_use.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "fastdispatch/detail/forked_child.hpp"

namespace fastdispatch::detail {
namespace {

bool is_child_refused() {
  const pid_t child = fork();
  if (child == 0) _exit(is_forked_child.load() ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) == 1;
}

TEST(RuntimeUse, lasts_while_one_runtime_opens_before_the_last_one_has_closed) {
  HsaApi api{};
  EXPECT_FALSE(is_child_refused());
  begin_use(api);
  begin_use(api);
  end_use();
  EXPECT_TRUE(is_child_refused());
  end_use();
  EXPECT_FALSE(is_child_refused());
}

}  // namespace
}  // namespace fastdispatch::detail
