#include "fastdispatch/trace.hpp"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <utility>

#include "dispatch/trace/trace_session.hpp"

namespace fastdispatch {

Trace::Trace(std::filesystem::path file, const TraceOptions& options)
    : file_(std::move(file)), name_(options.name.empty() ? program_invocation_short_name : options.name),
      number_(detail::TraceSession::instance().start(file_, name_)) {}

Trace::~Trace() {
  try {
    stop();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fastdispatch: %s\n", error.what());
  }
}

void Trace::flush() { detail::TraceSession::instance().flush(number_); }
void Trace::stop() { detail::TraceSession::instance().stop(number_); }

}  // namespace fastdispatch
