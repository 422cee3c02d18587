// image_samples FOLDER: writes images for the tests of luminance and blur, whole and broken.
#include "image.hpp"
#include "image_codec.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<char>;

Bytes read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::uint8_t> noise(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::uint8_t>(random()); });
  return bytes;
}

void write_noise(const fs::path& path, std::uint32_t width, std::uint32_t height, unsigned channels) {
  OutputFile file(path);
  write_png(file, width, height, channels, noise(std::size_t{width} * height * channels));
  file.commit();
}

// The checksum that ends a PNG chunk, over its type and its data.
void set_checksum(Bytes& png, std::size_t chunk, std::size_t data_length) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (std::size_t i = 0; i < 4 + data_length; ++i) {
    crc ^= static_cast<std::uint8_t>(png[chunk + 4 + i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  for (unsigned byte = 0; byte < 4; ++byte)
    png[chunk + 8 + data_length + byte] = static_cast<char>(~crc >> (24 - 8 * byte));
}

Bytes first_half(Bytes bytes) {
  bytes.resize(bytes.size() / 2);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: image_samples FOLDER\n";
    return EXIT_FAILURE;
  }
  const fs::path folder = argv[1];
  fs::create_directories(folder);
  write_noise(folder / "1x1.png", 1, 1, 4);
  write_noise(folder / "1x9.png", 1, 9, 4);
  write_noise(folder / "9x1.png", 9, 1, 4);
  write_noise(folder / "67x41.png", 67, 41, 4);
  write_noise(folder / "grey.png", 40, 30, 1);
  write_noise(folder / "rgb.png", 40, 30, 3);
  const auto append = [](void* context, void* data, int size) {
    const auto* const from = static_cast<const char*>(data);
    static_cast<Bytes*>(context)->insert(static_cast<Bytes*>(context)->end(), from, from + size);
  };
  Bytes jpeg;
  stbi_write_jpg_to_func(append, &jpeg, 50, 20, 3, noise(std::size_t{50} * 20 * 3).data(), 90);
  write(folder / "noise.jpg", jpeg);
  write(folder / "cut.jpg", first_half(jpeg));
  Bytes marker = jpeg;
  marker[20] = 0;  // the second marker, after 16 bytes of the first
  write(folder / "no_marker.jpg", marker);

  constexpr std::size_t header = 8;  // the chunk IHDR
  constexpr std::size_t header_length = 13;
  constexpr std::size_t data = header + 12 + header_length;  // the chunk IDAT
  const Bytes png = read(folder / "67x41.png");
  write(folder / "cut.png", first_half(png));
  Bytes changed = png;
  changed[data + 100] ^= 1;
  write(folder / "changed.png", changed);
  Bytes huge = png;
  huge[header + 9] = 0x40;  // a width of 67 + 2^22
  huge[header + 13] = 0x40;
  set_checksum(huge, header, header_length);
  write(folder / "huge.png", huge);
  Bytes more = png;
  more[header + 15] = 9;  // height
  more[header + 8 + 1] = 0;
  more[header + 11] = 0;  // width
  set_checksum(more, header, header_length);
  write(folder / "no_width.png", more);
  write(folder / "text.png", {'t', 'e', 'x', 't'});
  write(folder / "empty.png", {});
}
