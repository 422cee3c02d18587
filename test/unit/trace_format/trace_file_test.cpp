#include "trace_format/trace_file.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary_folder.hpp"

namespace trace_format {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TraceFiles : public testing::Test {
protected:
  [[nodiscard]] json written() const { return json::parse(std::ifstream(path)); }

  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "trace.json";
};

TEST_F(TraceFiles, are_whole_json_at_any_time) {
  std::optional<TraceFile> file(std::in_place, path, "a \"program\"");
  EXPECT_EQ(written()["otherData"]["name"], "a \"program\"");
  EXPECT_TRUE(written()["traceEvents"].empty());
  file->add(R"({"number":0})");
  file->flush();
  EXPECT_EQ(written()["traceEvents"].size(), 1U);
  file->flush();
  // More than a block, which is written without being asked for.
  const std::string filling(1000, 'x');
  for (int i = 1; i != 1000; ++i) file->add(json{{"number", i}, {"filling", filling}}.dump());
  EXPECT_GT(written()["traceEvents"].size(), 900U);
  file.reset();
  const json events = written()["traceEvents"];
  ASSERT_EQ(events.size(), 1000U);
  for (std::size_t i = 0; i != events.size(); ++i) EXPECT_EQ(events[i]["number"], i);
}

TEST_F(TraceFiles, are_not_written_by_a_forked_child) {
  TraceFile file(path, "parent");
  file.add(R"({"number":0})");
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i != 10; ++i) file.add(R"({"number":7})");
    file.flush();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(written()["traceEvents"].empty());
  file.flush();
  EXPECT_EQ(written()["traceEvents"].size(), 1U);
}

TEST_F(TraceFiles, replace_an_older_file) {
  std::ofstream(path) << std::string(100'000, 'x');
  { const TraceFile file(path, "name"); }
  EXPECT_TRUE(written()["traceEvents"].empty());
}

TEST_F(TraceFiles, that_cannot_be_written_are_refused_with_the_reason) {
  const auto reason = [](const char* name) -> std::string {
    try {
      const TraceFile file(name, "");
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(reason("/nowhere/trace.json"), HasSubstr("No such file"));
  EXPECT_THAT(reason("/"), HasSubstr("Is a directory"));
  EXPECT_THAT(reason("/dev/null"), HasSubstr("no regular file"));
  EXPECT_THAT(reason(""), HasSubstr("No such file"));
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(reason(path.c_str()), HasSubstr("No such device"));
}

}  // namespace
}  // namespace trace_format
