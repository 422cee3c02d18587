#include "dispatch/hsa/log.hpp"

#include <cstdlib>
#include <memory>

#include <spdlog/sinks/stdout_sinks.h>

namespace fastdispatch::detail {

spdlog::logger& log() {
  // Never destroyed: HSA's threads may still log while the process exits.
  static auto& logger = *[] {
    auto* made = new spdlog::logger("fastdispatch", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    const char* level = secure_getenv("FASTDISPATCH_LOG");
    made->set_level(level == nullptr ? spdlog::level::off : spdlog::level::from_str(level));
    return made;
  }();
  return logger;
}

}  // namespace fastdispatch::detail
