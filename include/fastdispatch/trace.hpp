// Recording what the program, the library and the device do, for a viewer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fastdispatch/detail/export.hpp"

namespace fastdispatch {

struct TraceOptions {
  std::string name{};  ///< what the viewer calls the process; empty: the program's name
};

/// Records a trace from its construction to stop() or its destruction: submissions, waits, and when each kernel and
/// copy ran. The file is JSON, which Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) show. docs/tracing.md
/// tells what is in it and what recording costs.
///
/// Environment: FASTDISPATCH_TRACE=FILE records all of a program that knows nothing of this class.
///
/// A process records one trace at a time. Work that has not completed when the trace ends is not in it: wait first. A
/// trace that is never stopped ends with the process (std::exit, or the end of main).
///
/// Thread safety: every member may be called from any thread; a trace is of the whole process.
class FASTDISPATCH_EXPORT Trace {
public:
  /// Makes the file, or empties it.
  /// Throws Error when the file cannot be written, or when a trace is recorded already.
  explicit Trace(std::filesystem::path file, const TraceOptions& options = {});
  /// Stops. If the file could not be written, standard error says so.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Writes what has completed by now. The file is whole JSON afterwards.
  /// Throws Error when the file could not be written.
  void flush();
  /// Ends the trace; further calls do nothing.
  /// Throws Error when the file could not be written to its end.
  void stop();

  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
  std::filesystem::path file_;
  std::string name_;
  std::uint64_t number_;
};

}  // namespace fastdispatch
