// Programs that measure in a process of their own and print one JSON object.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

/// What a shell command prints; nothing where it fails, after it said why on standard error.
[[nodiscard]] std::optional<nlohmann::json> output_of(const std::string& command);
