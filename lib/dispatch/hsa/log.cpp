#include "dispatch/hsa/log.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>

namespace fastdispatch::detail {

std::optional<spdlog::level::level_enum> log_level(std::string_view name) {
  if (name.empty() || name == "off") return spdlog::level::off;
  const spdlog::level::level_enum level =
      spdlog::level::from_str(std::string(name));  // off where it knows no such name
  return level == spdlog::level::off ? std::nullopt : std::optional(level);
}

spdlog::logger& log() {
  // Never destroyed: HSA's threads may still log while the process exits.
  static auto& logger = *[] {
    auto* made = new spdlog::logger("fastdispatch", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    const char* name = secure_getenv("FASTDISPATCH_LOG");
    const auto level = log_level(name == nullptr ? "off" : name);
    if (!level)
      std::fprintf(
          stderr,
          "fastdispatch: FASTDISPATCH_LOG is '%s'; it may be trace, debug, info, warn, error, critical or off\n", name);
    made->set_level(level.value_or(spdlog::level::off));
    return made;
  }();
  return logger;
}

}  // namespace fastdispatch::detail
