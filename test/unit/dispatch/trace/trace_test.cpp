#include "fastdispatch/trace.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "dispatch/hsa/watching.hpp"
#include "dispatch/trace/trace_session.hpp"
#include "expect_error.hpp"
#include "temporary_folder.hpp"

namespace fastdispatch::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TraceOfProcess : public testing::Test {
protected:
  [[nodiscard]] nlohmann::json written() const { return nlohmann::json::parse(std::ifstream(path)); }

  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "trace.json";
};

TEST_F(TraceOfProcess, is_one_at_a_time) {
  Trace trace(path, {.name = "first"});
  EXPECT_TRUE(detail::is_watched_by(detail::Watcher::trace));
  EXPECT_THAT(error_of([] { const Trace second("other.json"); }),
              AllOf(HasSubstr("other.json"), HasSubstr(path.string()), HasSubstr("one trace at a time")));
  trace.stop();
  EXPECT_FALSE(detail::is_watched());
  trace.stop();
  Trace second(path, {.name = "second"});
  trace.flush();
  trace.stop();
  EXPECT_TRUE(detail::is_watched()) << "it was not ended by the first one";
  second.flush();
  EXPECT_EQ(written()["otherData"]["name"], "second");
  EXPECT_EQ(written()["traceEvents"][0]["args"]["name"], "second (host)");
  EXPECT_EQ(second.name(), "second");
  EXPECT_EQ(second.file(), path);
}

TEST_F(TraceOfProcess, names_the_file_that_it_cannot_write) {
  EXPECT_THAT(error_of([] { const Trace trace("/nowhere/trace.json"); }),
              AllOf(HasSubstr("cannot be written to '/nowhere/trace.json': No such file"), HasSubstr("name a file")));
  EXPECT_FALSE(detail::is_watched());
}

// As on a full disk: the system refuses to let a file grow.
class SmallFiles {
public:
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_before_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_before_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

private:
  rlimit before_{};
  void (*handler_before_)(int) = nullptr;
};

TEST_F(TraceOfProcess, tells_at_its_end_that_the_file_could_not_grow) {
  const SmallFiles small(4096);
  Trace trace(path);
  trace.flush();
  for (int i = 0; i != 100; ++i)
    detail::TraceSession::instance().write(detail::TraceEvent::thread_name({}, std::string(100, 'x')));
  const auto what_is_told = AllOf(HasSubstr(path.string()), HasSubstr("File too large"));
  EXPECT_THAT(error_of([&] { trace.flush(); }), what_is_told);
  EXPECT_THAT(error_of([&] { trace.stop(); }), what_is_told);
  EXPECT_FALSE(detail::is_watched());
}

}  // namespace
}  // namespace fastdispatch::test
