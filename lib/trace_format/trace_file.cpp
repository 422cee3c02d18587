#include "trace_format/trace_file.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_format/trace_event.hpp"

namespace trace_format {

namespace {
constexpr std::size_t block_size = std::size_t{64} * 1024;
constexpr std::string_view end_of_json = "\n]}\n";
constexpr mode_t read_write_for_all = 0666;  // less the process's umask
}  // namespace

TraceFile::TraceFile(std::filesystem::path path, std::string_view name) : path_(std::move(path)), process_(getpid()) {
  block_ = R"({"displayTimeUnit":"ns","otherData":{"name":)" + json_string(name) + R"(},"traceEvents":[)";
  block_.reserve(2 * block_size);
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, read_write_for_all);
  if (file_ < 0) throw std::runtime_error(std::generic_category().message(errno));
  struct stat status {};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file_);
    throw std::runtime_error("it is no regular file");
  }
  flush();
  if (error_ != 0) {
    const std::string why = failure();
    close(file_);
    throw std::runtime_error(why);
  }
}

TraceFile::~TraceFile() {
  flush();
  close(file_);
}

void TraceFile::add(std::string_view event) {
  if (error_ != 0) return;
  block_ += is_first_ ? "\n" : ",\n";
  block_ += event;
  is_first_ = false;
  if (block_.size() >= block_size) flush();
}

void TraceFile::flush() noexcept {
  if (error_ != 0 || block_.empty()) return;
  const std::size_t size = block_.size();
  block_ += end_of_json;  // there is room
  write(block_);
  block_.clear();
  written_ += size;
}

void TraceFile::write(std::string_view text) noexcept {
  if (getpid() != process_) return;
  for (std::size_t at = written_; !text.empty();) {
    const ssize_t count = pwrite(file_, text.data(), text.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      error_ = count < 0 ? errno : ENOSPC;
      return;
    }
    at += static_cast<std::size_t>(count);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string TraceFile::failure() const { return error_ == 0 ? "" : std::generic_category().message(error_); }

}  // namespace trace_format
