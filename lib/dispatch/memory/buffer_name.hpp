// What messages and traces call a view's memory.
#pragma once

#include <string>

#include "fastdispatch/memory_view.hpp"

namespace fastdispatch::detail {

/// The name of the buffer that the view is of; empty where it has none.
[[nodiscard]] std::string buffer_name(const MemoryView& view);

/// " (buffer 'cells')", or an empty text.
[[nodiscard]] std::string buffer_in_brackets(const MemoryView& view);

}  // namespace fastdispatch::detail
