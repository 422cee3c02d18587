#include "peer_process.hpp"

#include <array>
#include <cstdio>

std::optional<nlohmann::json> output_of(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), size);
  if (::pclose(pipe) != 0) return std::nullopt;
  auto values = nlohmann::json::parse(output, nullptr, /*allow_exceptions=*/false);
  if (values.is_discarded()) return std::nullopt;
  return values;
}
