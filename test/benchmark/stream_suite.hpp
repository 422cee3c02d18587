// `benchmarks streams`: chains of small dispatches on one queue and spread over several, and what that costs the host.
#pragma once

#include <string>

void run_stream_suite(int rounds, const std::string& json);
