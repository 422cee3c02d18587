// Which reports end an example with an error.
#include "program.hpp"
#include "report.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

Row row(const char* name, bool correct) {
  return {.name = name, .microseconds = {}, .figures = {}, .correct = correct, .remark = {}};
}

Report report(std::vector<Row> rows) {
  return {.program = "p", .problem = "q", .gpu = "g", .runtime = "r", .rows = std::move(rows)};
}

int exit_code(const Report& checked) {
  return run_program("p", [&checked] {
    require_correct(checked);
    return EXIT_SUCCESS;
  });
}

TEST(RequireCorrect, LetsCorrectResultsPass) {
  EXPECT_EQ(exit_code(report({row("first", true), row("last", true)})), EXIT_SUCCESS);
}

TEST(RequireCorrect, EndsTheProgramWithAnErrorThatNamesTheWrongRow) {
  for (const char* wrong : {"first", "middle", "last"}) {
    Report checked = report({row("first", true), row("middle", true), row("last", true)});
    for (Row& each : checked.rows) each.correct = each.name != wrong;
    testing::internal::CaptureStderr();
    EXPECT_EQ(exit_code(checked), EXIT_FAILURE);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "p: the result of '" + std::string(wrong) + "' is wrong\n");
  }
}

TEST(RequireCorrect, ExcusesTheRowThatShowsAnErrorAndNoOther) {
  Report checked = report({row("error shown", false), row("other", true)});
  checked.rows[0].shows_an_error = true;
  EXPECT_EQ(exit_code(checked), EXIT_SUCCESS);
  checked.rows[1].correct = false;
  EXPECT_THROW(require_correct(checked), std::runtime_error);
}

}  // namespace
