// A file that appears whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

/// Owns a file being written: beside its place under another name, moved into its place by commit(). Until then a file
/// that is already there stays as it is; without a commit nothing is left behind. Devices and pipes are written
/// directly, and so is standard output, whose name is "-".
class OutputFile {
public:
  /// Throws std::runtime_error when the place is not writable, so that this is found before the work is done.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void commit();

  [[nodiscard]] bool is_standard_output() const noexcept { return is_standard_output_; }

private:
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };

  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  bool is_standard_output_;
  std::filesystem::path temporary_;  ///< empty where the file is written directly, and once committed
  std::unique_ptr<std::FILE, Close> stream_;
};
