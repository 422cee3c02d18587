// Programs that measure in a process of their own and print one JSON object.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

/// The output of a shell command; nothing if it fails, after it wrote the reason to standard error.
[[nodiscard]] std::optional<nlohmann::json> output_of(const std::string& command);
