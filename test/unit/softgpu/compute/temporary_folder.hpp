// A folder that goes with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace softgpu::compute {

class TemporaryFolder {
public:
  TemporaryFolder() : name_((std::filesystem::temp_directory_path() / "softgpu-XXXXXX").string()) {
    if (::mkdtemp(name_.data()) == nullptr) throw std::runtime_error("cannot make the folder " + name_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::filesystem::path path() const { return name_; }

private:
  std::string name_;
};

}  // namespace softgpu::compute
