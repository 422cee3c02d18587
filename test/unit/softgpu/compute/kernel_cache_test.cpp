#include "softgpu/compute/host_code/kernel_cache.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "temporary_folder.hpp"

namespace softgpu::compute {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

KernelCache::Key key_of(unsigned number) {
  KernelCache::Key key{};
  key[0] = static_cast<std::uint8_t>(number);
  key[31] = static_cast<std::uint8_t>(number >> 8);
  return key;
}

std::string content_of(unsigned number) { return std::string(1000 + number, static_cast<char>('a' + number % 26)); }

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

/// A cache, its log and its warnings.
struct LoggedCache {
  explicit LoggedCache(const std::string& folder, std::uint64_t limit = mebibyte)
      : cache(
            folder, limit, [this](std::string_view line) { log.append(line).append("\n"); },
            [this](std::string_view line) { warnings.emplace_back(line); }) {}
  std::string log;
  std::vector<std::string> warnings;
  KernelCache cache;
};

TEST(KernelCache, finds_what_another_one_has_stored) {
  const TemporaryFolder folder;
  LoggedCache(folder.name()).cache.store(key_of(1), content_of(1));
  LoggedCache other(folder.name());
  EXPECT_EQ(other.cache.find(key_of(1)), content_of(1));
  EXPECT_EQ(other.cache.find(key_of(2)), std::nullopt);
  EXPECT_EQ(other.log, "");
}

TEST(KernelCache, makes_its_folder_for_the_user_alone) {
  const TemporaryFolder folder;
  const std::string name = folder.name() + "/not/yet/there";
  LoggedCache(name).cache.store(key_of(1), content_of(1));
  EXPECT_EQ(LoggedCache(name).cache.find(key_of(1)), content_of(1));
  EXPECT_EQ(fs::status(name).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(files_of(name).at(0)).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(KernelCache, touches_no_folder_before_it_is_used) {
  const TemporaryFolder folder;
  const LoggedCache unused(folder.name() + "/cache");
  EXPECT_TRUE(files_of(folder.path()).empty());
}

TEST(KernelCache, is_off_without_a_folder) {
  LoggedCache none("");
  EXPECT_FALSE(none.cache.is_on());
  none.cache.store(key_of(1), content_of(1));
  EXPECT_EQ(none.cache.find(key_of(1)), std::nullopt);
  EXPECT_EQ(none.log, "");
}

TEST(KernelCache, says_why_it_has_no_folder_and_goes_without) {
  const TemporaryFolder folder;
  write(folder.path() / "file", "");
  LoggedCache below_a_file(folder.name() + "/file/cache");
  below_a_file.cache.store(key_of(1), content_of(1));
  EXPECT_EQ(below_a_file.cache.find(key_of(1)), std::nullopt);
  EXPECT_EQ(below_a_file.log, "kernel cache: no folder " + folder.name() + "/file/cache: Not a directory\n");
}

TEST(KernelCache, goes_without_a_file_that_is_larger_than_the_process_may_make_one) {
  const TemporaryFolder folder;
  constexpr rlimit limit{.rlim_cur = 512, .rlim_max = 512};
  EXPECT_EXIT(
      {
        setrlimit(RLIMIT_FSIZE, &limit);
        LoggedCache limited(folder.name());
        limited.cache.store(key_of(1), content_of(1));
        std::_Exit(limited.log.find("nothing can be stored: File too large") != std::string::npos ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_TRUE(files_of(folder.name()).empty());
}

TEST(KernelCache, replaces_a_file_that_was_cut_off_at_any_length) {
  const TemporaryFolder folder;
  LoggedCache(folder.name()).cache.store(key_of(1), content_of(1));
  const fs::path file = files_of(folder.path()).at(0);
  const std::string whole = bytes_of(file);
  for (std::size_t length = 0; length < whole.size(); length += 13) {
    write(file, whole.substr(0, length));
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    LoggedCache cache(folder.name());
    EXPECT_EQ(cache.cache.find(key_of(1)), std::nullopt) << length;
    EXPECT_NE(cache.log.find("is damaged"), std::string::npos) << length;
    EXPECT_FALSE(fs::exists(file));
    cache.cache.store(key_of(1), content_of(1));
    EXPECT_EQ(cache.cache.find(key_of(1)), content_of(1)) << length;
  }
}

TEST(KernelCache, replaces_a_file_with_any_wrong_byte) {
  const TemporaryFolder folder;
  LoggedCache(folder.name()).cache.store(key_of(1), content_of(1));
  const fs::path file = files_of(folder.path()).at(0);
  const std::string whole = bytes_of(file);
  for (std::size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 17) {
    std::string wrong = whole;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x10);
    write(file, wrong);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(LoggedCache(folder.name()).cache.find(key_of(1)), std::nullopt) << at;
    EXPECT_FALSE(fs::exists(file)) << at;
  }
  write(file, whole + "more");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(LoggedCache(folder.name()).cache.find(key_of(1)), std::nullopt);
}

TEST(KernelCache, knows_a_file_that_has_another_ones_name) {
  const TemporaryFolder folder;
  LoggedCache cache(folder.name());
  cache.cache.store(key_of(1), content_of(1));
  const fs::path one = files_of(folder.path()).at(0);
  const std::string bytes = bytes_of(one);
  fs::remove(one);
  cache.cache.store(key_of(2), content_of(2));
  write(files_of(folder.path()).at(0), bytes);
  EXPECT_EQ(cache.cache.find(key_of(2)), std::nullopt);
}

TEST(KernelCache, uses_no_file_that_others_may_write_and_no_link) {
  const TemporaryFolder folder;
  LoggedCache cache(folder.name());
  cache.cache.store(key_of(1), content_of(1));
  const fs::path file = files_of(folder.path()).at(0);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(cache.cache.find(key_of(1)), std::nullopt);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(cache.cache.find(key_of(1)), content_of(1));
  fs::rename(file, folder.path() / "elsewhere");
  fs::create_symlink(folder.path() / "elsewhere", file);
  EXPECT_EQ(cache.cache.find(key_of(1)), std::nullopt);
}

TEST(KernelCache, warns_once_of_a_folder_that_others_may_write_and_does_not_use_it) {
  const TemporaryFolder folder;
  LoggedCache(folder.name()).cache.store(key_of(1), content_of(1));
  fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::add);
  LoggedCache cache(folder.name());
  EXPECT_EQ(cache.cache.find(key_of(1)), std::nullopt);
  cache.cache.store(key_of(2), content_of(2));
  ASSERT_EQ(cache.warnings.size(), 1U);
  EXPECT_NE(cache.warnings[0].find("others may write it"), std::string::npos) << cache.warnings[0];
}

TEST(KernelCache, uses_a_folder_that_is_a_link_as_what_it_leads_to) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "target";
  const fs::path link = folder.path() / "link";
  fs::create_directory(target);
  fs::permissions(target, fs::perms::owner_all);
  fs::create_directory_symlink(target, link);
  LoggedCache(link).cache.store(key_of(1), content_of(1));
  EXPECT_EQ(LoggedCache(target).cache.find(key_of(1)), content_of(1));
  EXPECT_EQ(LoggedCache(link).cache.find(key_of(1)), content_of(1));
  fs::permissions(target, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(LoggedCache(link).cache.find(key_of(1)), std::nullopt);
}

TEST(KernelCache, removes_the_oldest_files_when_it_grows_too_large) {
  const TemporaryFolder folder;
  constexpr std::uint64_t limit = 20'000;
  LoggedCache cache(folder.name(), limit);
  timespec times[] = {{.tv_sec = 1'000'000'000, .tv_nsec = UTIME_OMIT}, {.tv_sec = 1'000'000'000, .tv_nsec = 0}};
  for (unsigned number = 0; number < 100; ++number) {
    cache.cache.store(key_of(number), content_of(0));
    for (const fs::path& file : files_of(folder.path()))
      if (fs::last_write_time(file) > fs::file_time_type::clock::now() - std::chrono::hours(1)) {
        times[1].tv_sec = 1'000'000'000 + number;  // years ago, in the order of the numbers
        ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
      }
    std::uint64_t size = 0;
    for (const fs::path& file : files_of(folder.path())) size += fs::file_size(file);
    ASSERT_LE(size, limit);
  }
  EXPECT_EQ(cache.cache.find(key_of(0)), std::nullopt);
  for (unsigned number = 90; number < 100; ++number) EXPECT_EQ(cache.cache.find(key_of(number)), content_of(0));
}

TEST(KernelCache, a_file_in_use_counts_as_young) {
  const TemporaryFolder folder;
  LoggedCache cache(folder.name());
  cache.cache.store(key_of(1), content_of(1));
  const fs::path file = files_of(folder.path()).at(0);
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(100));
  EXPECT_EQ(cache.cache.find(key_of(1)), content_of(1));
  EXPECT_GT(fs::last_write_time(file), fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST(KernelCache, removes_what_a_process_left_unfinished_long_ago) {
  const TemporaryFolder folder;
  write(folder.path() / "1-2-3.unfinished", "old");
  fs::last_write_time(folder.path() / "1-2-3.unfinished", fs::file_time_type::clock::now() - std::chrono::hours(2));
  write(folder.path() / "4-5-6.unfinished", "being written");
  write(folder.path() / "not ours", "");
  LoggedCache(folder.name(), 1).cache.store(key_of(1), content_of(1));
  EXPECT_FALSE(fs::exists(folder.path() / "1-2-3.unfinished"));
  EXPECT_TRUE(fs::exists(folder.path() / "4-5-6.unfinished"));
  EXPECT_TRUE(fs::exists(folder.path() / "not ours"));
}

TEST(KernelCache, serves_many_processes_that_store_the_same_at_once) {
  const TemporaryFolder folder;
  constexpr unsigned processes = 6, keys = 40, rounds = 10;
  std::vector<pid_t> children;
  for (unsigned process = 0; process < processes; ++process) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool right = true;
      LoggedCache cache(folder.name(), 30'000);  // too small for all: files go while others look at them
      for (unsigned i = 0; i < rounds * keys; ++i) {
        const unsigned number = (i * 7 + process) % keys;
        const auto found = cache.cache.find(key_of(number));
        right = right && (!found || *found == content_of(number));
        if (!found) cache.cache.store(key_of(number), content_of(number));
      }
      ::_exit(right && cache.log.find("damaged") == std::string::npos ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path& file : files_of(folder.path())) EXPECT_EQ(file.extension(), ".kernel") << file;
}

}  // namespace
}  // namespace softgpu::compute
