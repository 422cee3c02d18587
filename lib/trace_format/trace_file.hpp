// The file of a trace: a JSON object with the list of events.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace trace_format {

/// Owns the file. Events are gathered in a block of memory and written when the block is full. The end of the JSON is
/// written behind each block, and the next block is written over it: so the file is valid JSON at any time, even if the
/// process is killed.
///
/// A child after fork has the object, but writes nothing.
///
/// Thread safety: none.
class TraceFile {
public:
  /// Makes the file, or empties it. Throws std::runtime_error with the reason if it cannot be written, or if it is no
  /// regular file. `name` goes into
  /// the file.
  TraceFile(std::filesystem::path path, std::string_view name);
  /// Writes what is left.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Adds a JSON object.
  void add(std::string_view event);
  /// Writes the block. After an error nothing more is written.
  void flush() noexcept;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Why the file could not be written; empty if it could.
  [[nodiscard]] std::string failure() const;

private:
  void write(std::string_view text) noexcept;

  std::filesystem::path path_;
  int file_ = -1;
  pid_t process_;
  std::string block_;  // from written_ on, without the end
  std::size_t written_ = 0;
  bool is_first_ = true;
  int error_ = 0;  // errno
};

}  // namespace trace_format
