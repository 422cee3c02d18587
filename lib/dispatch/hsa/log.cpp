#include "dispatch/hsa/log.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "dispatch/hsa/watching.hpp"

namespace fastdispatch::detail {

namespace {

struct NamedLevel {
  std::string_view name;
  spdlog::level::level_enum level;
};

constexpr std::array named_levels{
    NamedLevel{"off", spdlog::level::off},      NamedLevel{"error", spdlog::level::err},
    NamedLevel{"warning", spdlog::level::warn}, NamedLevel{"info", spdlog::level::info},
    NamedLevel{"debug", spdlog::level::debug},  NamedLevel{"packets", packets_level},
};

// spdlog has names of its own: it calls our packets "trace".
class LevelName final : public spdlog::custom_flag_formatter {
public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& text) override {
    const auto* const found = std::ranges::find(named_levels, message.level, &NamedLevel::level);
    if (found != named_levels.end()) text.append(found->name.data(), found->name.data() + found->name.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<LevelName>();
  }
};

void set_level(spdlog::logger& logger, spdlog::level::level_enum level) {
  logger.set_level(level);
  if (level == packets_level)
    begin_watching(Watcher::log);
  else
    end_watching(Watcher::log);
}

}  // namespace

std::optional<spdlog::level::level_enum> log_level(std::string_view name) noexcept {
  if (name.empty()) return spdlog::level::off;
  const auto* const found = std::ranges::find(named_levels, name, &NamedLevel::name);
  return found == named_levels.end() ? std::nullopt : std::optional(found->level);
}

std::string misspelt_level(std::string_view name) {
  std::string levels;
  for (std::size_t i = 0; i != named_levels.size(); ++i) {
    if (i != 0) levels += i + 1 == named_levels.size() ? " or " : ", ";
    levels += named_levels[i].name;
  }
  return fmt::format("fastdispatch: FASTDISPATCH_LOG is '{}'; it may be {}", name, levels);
}

spdlog::logger& log() {
  // Never destroyed: HSA's threads may still log while the process exits.
  static auto& logger = *[] {
    auto* made = new spdlog::logger("fastdispatch", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<LevelName>('*').set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%n] [%*] %v");
    made->set_formatter(std::move(formatter));
    const char* given = secure_getenv("FASTDISPATCH_LOG");
    const std::string_view name = given == nullptr ? "" : given;
    const auto level = log_level(name);
    if (!level) std::fprintf(stderr, "%s\n", misspelt_level(name).c_str());
    set_level(*made, level.value_or(spdlog::level::off));
    return made;
  }();
  return logger;
}

void set_log_level(spdlog::level::level_enum level) { set_level(log(), level); }

}  // namespace fastdispatch::detail
