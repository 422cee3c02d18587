// A folder that is removed at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

class TemporaryFolder {
public:
  TemporaryFolder() {
    const std::string unique(6, 'X');  // mkdtemp() replaces it
    std::string name = std::filesystem::temp_directory_path() / ("fastdispatch-" + unique);
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make the folder " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::string& name() const { return path_.native(); }

private:
  std::filesystem::path path_;
};
