#include "dispatch/hsa/machine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace fastdispatch::detail {

namespace {

OpenedFile open_device(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return {.error = errno};
  struct stat status {};
  const bool is_null =
      fstat(file, &status) == 0 && S_ISCHR(status.st_mode) && major(status.st_rdev) == 1 && minor(status.st_rdev) == 3;
  close(file);
  return {.null_device = is_null};
}

std::string group_of_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  std::array<char, 16384> names{};
  group entry{};
  group* found = nullptr;
  if (getgrgid_r(status.st_gid, &entry, names.data(), names.size(), &found) != 0 || found == nullptr) return {};
  return found->gr_name;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> entries_of_folder(const std::string& path) {
  std::vector<std::string> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path().string());
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

Machine this_machine() {
  return {.open = open_device,
          .group_of = group_of_file,
          .read = text_of_file,
          .list = entries_of_folder,
          .environment = [](const char* name) -> const char* { return secure_getenv(name); }};
}

}  // namespace fastdispatch::detail
