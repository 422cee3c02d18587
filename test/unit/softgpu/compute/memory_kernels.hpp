// The kernels of memory_kernels.hip, for the tests of what they read and write and of what they may not.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "hip_program.hpp"
#include "memory_kernels_code_object.hpp"
#include "memory_kernels_gfx942_code_object.hpp"

namespace softgpu::compute {

class MemoryKernels : public testing::Test {
public:
  /// Each kernel is translated once for all tests.
  static HipProgram& program() {
    static HipProgram loaded(code_objects::memory_kernels(), code_objects::memory_kernels_gfx942());
    return loaded;
  }

  static std::string text(const std::optional<Failure>& failure) { return failure ? failure->text : ""; }
};

}  // namespace softgpu::compute
