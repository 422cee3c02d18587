#include "picture.hpp"

#include "image_integrity.hpp"
#include "input_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

using Bytes = std::span<const std::uint8_t>;

std::string base64(Bytes bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(3, bytes.size()))) {
    const auto byte = [&bytes](std::size_t i) { return i < bytes.size() ? std::uint32_t{bytes[i]} : 0; };
    const std::uint32_t bits = byte(0) << 16U | byte(1) << 8U | byte(2);
    for (std::size_t i = 0; i < 4; ++i) text += i <= bytes.size() ? letters[(bits >> (18 - 6 * i)) & 63U] : '=';
  }
  return text;
}

void require_whole_svg(Bytes file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.find("<svg") == std::string_view::npos) throw std::runtime_error("it is no SVG");
  if (text.find("</svg>") == std::string_view::npos) throw std::runtime_error("it is cut off");
}

}  // namespace

Picture read_picture(const std::filesystem::path& path) {
  const bool is_chart = path.extension() == ".svg";
  try {
    const std::vector<std::uint8_t> bytes = read_file(path);
    is_chart ? require_whole_svg(bytes) : require_whole_image(bytes);
    return {.file = path.filename().string(),
            .is_chart = is_chart,
            .url = (is_chart ? "data:image/svg+xml;base64," : "data:image/png;base64,") + base64(bytes)};
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
}
