// Makes a GoogleTest suite of a table: one test an instruction, named after it.
#pragma once

#include <gtest/gtest.h>

#include "vector_instruction.hpp"

/// SUITE.MatchesTheManual/mnemonic for each row of TABLE. What follows are expect_match()'s options.
// NOLINTBEGIN(bugprone-macro-parentheses): a class's name can't be in parentheses
#define FASTDISPATCH_VECTOR_SUITE(SUITE, TABLE, ...)                                                                   \
  class SUITE : public testing::TestWithParam<softgpu::isa::VectorInstruction> {};                                     \
  TEST_P(SUITE, MatchesTheManual) {                                                                                    \
    softgpu::isa::expect_match(softgpu::isa::cases_of(GetParam()), softgpu::isa::Options{__VA_ARGS__});                \
  }                                                                                                                    \
  INSTANTIATE_TEST_SUITE_P(Isa, SUITE, testing::ValuesIn(TABLE),                                                       \
                           [](const auto& row) { return softgpu::isa::test_name(row.param); })
// NOLINTEND(bugprone-macro-parentheses)
