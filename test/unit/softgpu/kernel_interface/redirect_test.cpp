#include "softgpu/kernel_interface/redirect.hpp"

#include <array>

#include <dlfcn.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace softgpu::kernel_interface {
namespace {

long another_sysconf(int name) { return 1000000 + name; }

TEST(Redirect, changes_what_one_library_calls_and_no_other) {
  void* library = dlopen(A_CALLER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto call = reinterpret_cast<long (*)(int)>(dlsym(library, "call_sysconf"));
  const auto call_by_pointer = reinterpret_cast<long (*)(int)>(dlsym(library, "call_sysconf_by_pointer"));
  EXPECT_EQ(call(_SC_PAGESIZE), 4096);

  const std::array redirections = {
      Redirection{.name = "sysconf", .function = reinterpret_cast<void*>(&another_sysconf)},
      Redirection{.name = "it_imports_no_such_function", .function = nullptr}};
  ASSERT_TRUE(redirect(reinterpret_cast<const void*>(call), redirections));
  EXPECT_EQ(call(_SC_PAGESIZE), 1000000 + _SC_PAGESIZE);
  EXPECT_EQ(call_by_pointer(_SC_PAGESIZE), 1000000 + _SC_PAGESIZE);
  EXPECT_EQ(sysconf(_SC_PAGESIZE), 4096);
  dlclose(library);
}

TEST(Redirect, says_when_there_is_no_library) {
  int local = 0;
  EXPECT_FALSE(redirect(&local, {}));
}

}  // namespace
}  // namespace softgpu::kernel_interface
