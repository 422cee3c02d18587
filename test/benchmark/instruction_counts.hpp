// Instructions that the submit path takes a packet.
#pragma once

#include <nlohmann/json.hpp>

/// Lets callgrind count them, in processes of its own: by the cases of the program `submit_path`, the same in every
/// run. Prints a table, or why there is none, and returns the counts by case, or null.
[[nodiscard]] nlohmann::ordered_json count_instructions();
