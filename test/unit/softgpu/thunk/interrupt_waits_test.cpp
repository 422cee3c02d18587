#include "softgpu/thunk/interrupt_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace softgpu::thunk {
namespace {

class InterruptWaitsOfALibrary : public testing::Test {
protected:
  InterruptWaitsOfALibrary() {
    void* library = dlopen(SOME_DATA, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    code = dlsym(library, "some_data");
    variables = reinterpret_cast<char* (*)()>(code)();
    variables[0] = 1;
    variables[1] = 1;
    variables[2] = 0;
    variables[3] = 2;
  }

  void* code = nullptr;
  char* variables = nullptr;
  InterruptWaits waits;
};

TEST_F(InterruptWaitsOfALibrary, are_on_again_whenever_they_were_turned_off) {
  for (int gpu = 0; gpu != 2; ++gpu) {
    waits.before(code);
    variables[0] = 0;
    waits.after();
    EXPECT_EQ(variables[0], 1);
  }
}

TEST_F(InterruptWaitsOfALibrary, are_not_taken_for_variables_that_change_otherwise) {
  waits.before(code);
  variables[2] = 1;
  variables[3] = 0;
  waits.after();
  EXPECT_EQ(variables[2], 1);
  EXPECT_EQ(variables[3], 0);
}

TEST_F(InterruptWaitsOfALibrary, are_left_alone_where_two_variables_may_be_meant) {
  waits.before(code);
  variables[0] = 0;
  variables[1] = 0;
  waits.after();
  EXPECT_EQ(variables[0], 0);
  EXPECT_EQ(variables[1], 0);
}

TEST_F(InterruptWaitsOfALibrary, are_left_alone_where_they_were_off_before) {
  variables[0] = 0;
  waits.before(code);
  waits.after();
  EXPECT_EQ(variables[0], 0);
}

TEST_F(InterruptWaitsOfALibrary, are_looked_for_in_the_data_of_that_library_only) {
  const auto* variable = reinterpret_cast<const std::byte*>(variables);
  const auto holds = [&](const std::vector<std::span<std::byte>>& data) {
    return std::ranges::any_of(data, [&](std::span<std::byte> part) {
      return variable >= part.data() && variable < part.data() + part.size();
    });
  };
  EXPECT_TRUE(holds(writable_data(code)));
  EXPECT_FALSE(holds(writable_data(reinterpret_cast<const void*>(&writable_data))));
}

}  // namespace
}  // namespace softgpu::thunk
