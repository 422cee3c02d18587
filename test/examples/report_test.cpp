// Which reports end an example with an error.
#include "program.hpp"
#include "report.hpp"
#include "temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

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

std::string printed(const Report& shown) {
  std::ostringstream text;
  print_report(text, shown);
  return text.str();
}

TEST(PrintReport, MarksTimesWhoseIterationsSpreadFar) {
  Report shown = report({row("steady", true), row("spread", true)});
  shown.rows[0].microseconds = {100, 101, 102, 103, 1000};
  shown.rows[1].microseconds = {100, 100, 110, 140, 140};
  EXPECT_THAT(printed(shown),
              AllOf(HasSubstr("median of 5"), ContainsRegex("steady +102.0 +100.0 +correct\n"),
                    ContainsRegex("spread +110.0 ~ +100.0 +correct\n"), HasSubstr("\n~ the iterations spread far")));
  shown.rows.pop_back();
  EXPECT_THAT(printed(shown), AllOf(ContainsRegex("steady +102.0 +100.0 +correct\n"), Not(HasSubstr("~"))));
}

TEST(PrintReport, HasNoFastestOfOneIteration) {
  Report shown = report({row("once", true)});
  shown.rows[0].microseconds = {7};
  EXPECT_THAT(printed(shown), AllOf(HasSubstr("once   7.0   correct\n"), Not(HasSubstr("fastest"))));
}

TEST(PrintReport, SaysOnASoftGpuWhatItCannotShow) {
  Report shown = report({row("row", true)});
  shown.beyond_softgpu = "what fences buy";
  EXPECT_THAT(printed(shown), Not(HasSubstr("fences")));
  shown.softgpu = true;
  EXPECT_THAT(printed(shown), HasSubstr("\nA soft GPU does not show what fences buy.\n"));
}

TEST(WriteJson, ReplacesWhatIsNoUtf8) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "report.json";
  OutputFile file(path);
  write_json(file, report({row("a\xff", true)}));
  file.commit();
  std::ifstream written(path);
  const std::string text(std::istreambuf_iterator<char>(written), {});
  EXPECT_THAT(text, HasSubstr("\"name\": \"a\xef\xbf\xbd\""));
}

TEST(Counted, NamesOneThingInTheSingular) {
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(2, "row"), "2 rows");
}

}  // namespace
