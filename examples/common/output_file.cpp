#include "output_file.hpp"

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace fs = std::filesystem;

OutputFile::OutputFile(fs::path path) : path_(std::move(path)), is_standard_output_(path_ == "-") {
  if (is_standard_output_) {
    path_ = "standard output";
    const int descriptor = ::dup(STDOUT_FILENO);
    if (descriptor >= 0) stream_.reset(::fdopen(descriptor, "wb"));
    if (!stream_) fail();
    return;
  }
  const fs::file_status status = fs::status(path_);
  if (fs::exists(status) && ::access(path_.c_str(), W_OK) != 0) fail();
  // A path in /dev may lead to the terminal or to an open file: it must not be replaced.
  const bool direct = path_.native().starts_with("/dev/") || (fs::exists(status) && !fs::is_regular_file(status));
  if (direct) {
    stream_.reset(std::fopen(path_.c_str(), "wb"));
  } else {
    if (fs::exists(status)) path_ = fs::canonical(path_);  // through a symbolic link, not over it
    fs::path beside = path_;
    beside += ".part-" + std::to_string(::getpid());
    stream_.reset(std::fopen(beside.c_str(), "wbx"));
    if (stream_) {
      temporary_ = beside;
      if (fs::exists(status)) fs::permissions(beside, status.permissions());
    }
  }
  if (!stream_) fail();
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void OutputFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_.get()) != bytes.size()) fail();
}

void OutputFile::commit() {
  if (std::fclose(stream_.release()) != 0) fail();
  if (temporary_.empty()) return;
  fs::rename(temporary_, path_);
  temporary_.clear();
}

void OutputFile::fail() const {
  throw std::runtime_error("cannot write " + path_.string() + ": " + std::generic_category().message(errno));
}
