#include "image_integrity.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::array<std::uint8_t, 8> png_signature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 3> jpeg_start = {0xff, 0xd8, 0xff};

bool begins_with(Bytes file, Bytes signature) {
  return file.size() >= signature.size() && std::equal(signature.begin(), signature.end(), file.begin());
}

std::uint32_t big_endian(Bytes bytes) {
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8U | byte;
  return value;
}

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t remainder = i;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1U ^ ((remainder & 1U) != 0 ? 0xedb88320U : 0U);
    table[i] = remainder;
  }
  return table;
}();

std::uint32_t crc32(Bytes bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const std::uint8_t byte : bytes) crc = crc_table[(crc ^ byte) & 0xffU] ^ crc >> 8U;
  return ~crc;
}

[[noreturn]] void fail_cut_off(std::size_t size, const char* before) {
  throw std::runtime_error("it is cut off: it ends at byte " + std::to_string(size) + ", before " + before);
}

// A PNG is a row of chunks: length, type, that many bytes, and a CRC-32 of type and bytes (PNG specification, 5.3).
void require_whole_png(Bytes file) {
  constexpr std::size_t frame = 12;
  for (std::size_t at = png_signature.size();;) {
    if (file.size() - at < frame) fail_cut_off(file.size(), "the chunk IEND");
    const std::size_t length = big_endian(file.subspan(at, 4));
    if (length > file.size() - at - frame) fail_cut_off(file.size(), "the end of its chunk");
    const Bytes type = file.subspan(at + 4, 4);
    const std::string name(type.begin(), type.end());
    if (crc32(file.subspan(at + 4, 4 + length)) != big_endian(file.subspan(at + 8 + length, 4))) {
      throw std::runtime_error("it is damaged: the chunk at byte " + std::to_string(at) + " has a wrong checksum");
    }
    if (name == "IEND") return;
    at += frame + length;
  }
}

// A JPEG is a row of markers, 0xff and a code. Most are followed by their length; after a start of scan come data in
// which 0xff is followed by 0, a restart marker, or the next marker (ITU-T T.81, B.1.1).
void require_whole_jpeg(Bytes file) {
  constexpr std::uint8_t end_of_image = 0xd9;
  constexpr std::uint8_t start_of_scan = 0xda;
  const auto is_within_data = [](std::uint8_t code) { return code == 0 || (code >= 0xd0 && code <= 0xd7); };
  for (std::size_t at = 2;;) {
    if (at + 2 > file.size()) fail_cut_off(file.size(), "the end-of-image marker");
    if (file[at] != 0xff) {
      throw std::runtime_error("it is damaged: there is no marker at byte " + std::to_string(at));
    }
    const std::uint8_t code = file[at + 1];
    if (code == end_of_image) return;
    if (code == 0xff) {  // markers may be preceded by any number of these
      ++at;
      continue;
    }
    if (at + 4 > file.size()) fail_cut_off(file.size(), "the end-of-image marker");
    at += 2 + std::size_t{big_endian(file.subspan(at + 2, 2))};
    if (code != start_of_scan) continue;
    while (at + 1 < file.size() && (file[at] != 0xff || is_within_data(file[at + 1]))) ++at;
  }
}

}  // namespace

void require_whole_image(Bytes file) {
  if (file.empty()) throw std::runtime_error("it is empty");
  if (begins_with(file, png_signature)) {
    require_whole_png(file);
  } else if (begins_with(file, jpeg_start)) {
    require_whole_jpeg(file);
  } else {
    throw std::runtime_error("it is neither a PNG nor a JPEG");
  }
}
