// Running a tool as a user does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tools::test {

struct Outcome {
  int exit_code = -1;
  std::string output;  ///< standard output and standard error
};

/// `command` is for the shell.
inline Outcome run(const std::string& command) {
  Outcome outcome;
  std::FILE* stream = popen((command + " 2>&1").c_str(), "r");
  if (stream == nullptr) return outcome;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), stream))
    outcome.output.append(part.data(), size);
  const int status = pclose(stream);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

/// What `command` prints as JSON.
inline nlohmann::json json_of(const std::string& command) {
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << command << "\n" << outcome.output;
  return nlohmann::json::parse(outcome.output);
}

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tools::test
