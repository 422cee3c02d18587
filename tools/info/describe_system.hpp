// What HSA says of this machine.
#pragma once

#include "document.hpp"

#include <fastdispatch/runtime.hpp>

/// The HSA runtime, the device below it, and all agents with their queues and memory pools.
/// Throws fastdispatch::Error when HSA refuses an answer.
[[nodiscard]] Document describe_system(const fastdispatch::Runtime& runtime);
