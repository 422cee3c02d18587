#include "dispatch/trace/host_span.hpp"

#include <new>

#include "dispatch/trace/trace_session.hpp"

namespace fastdispatch::detail {

void HostSpan::end() const noexcept {
  TraceSession& session = TraceSession::instance();
  try {
    TraceEvent event =
        TraceEvent::span(session.this_thread(), category_, name_, session.since_start(begin_), session.now());
    for (const Number& number : numbers_)
      if (!number.name.empty()) event.arg(number.name, number.value);
    session.write(std::move(event));
  } catch (const std::bad_alloc&) {  // the trace has an event less
  }
}

}  // namespace fastdispatch::detail
