#include "dispatch/code_object/md5.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace fastdispatch::detail {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t length_bytes = 8;  // the message's, at the end of the last block
constexpr std::size_t steps = 64;

using Md5State = std::array<std::uint32_t, 4>;

// RFC 1321, section 3.4: the table T, by its definition.
std::array<std::uint32_t, steps> sines() {
  std::array<std::uint32_t, steps> table{};
  for (std::size_t i = 0; i < steps; ++i)
    table[i] = static_cast<std::uint32_t>(std::abs(std::sin(static_cast<double>(i + 1))) * 0x1p32);
  return table;
}

constexpr std::array<std::array<int, 4>, 4> rotations = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

// Section 3.4: a round's function of three words, and which word of the block its step takes.
std::pair<std::uint32_t, std::size_t> mix(std::size_t step, const Md5State& state) {
  const auto [a, b, c, d] = state;
  switch (step / 16) {
  case 0:
    return {(b & c) | (~b & d), step};
  case 1:
    return {(b & d) | (c & ~d), (5 * step + 1) % 16};
  case 2:
    return {b ^ c ^ d, (3 * step + 5) % 16};
  default:
    return {c ^ (b | ~d), (7 * step) % 16};
  }
}

void add_block(Md5State& sum, const std::byte* block) {
  static const std::array<std::uint32_t, steps> table = sines();
  std::array<std::uint32_t, block_bytes / sizeof(std::uint32_t)> words{};
  std::memcpy(words.data(), block, block_bytes);
  Md5State state = sum;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto [mixed, word] = mix(i, state);
    const std::uint32_t turned = std::rotl(state[0] + mixed + words[word] + table[i], rotations[i / 16][i % 4]);
    state = {state[3], state[1] + turned, state[1], state[2]};
  }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += state[i];
}

}  // namespace

std::uint64_t truncated_md5(std::span<const std::byte> bytes) {
  Md5State sum{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::size_t whole = bytes.size() / block_bytes * block_bytes;
  for (std::size_t offset = 0; offset < whole; offset += block_bytes) add_block(sum, bytes.data() + offset);

  const std::span<const std::byte> rest = bytes.subspan(whole);
  std::array<std::byte, 2 * block_bytes> end{};
  std::ranges::copy(rest, end.begin());
  end[rest.size()] = std::byte{0x80};
  const std::size_t end_bytes = rest.size() + 1 + length_bytes <= block_bytes ? block_bytes : 2 * block_bytes;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  std::memcpy(end.data() + end_bytes - length_bytes, &bits, length_bytes);
  for (std::size_t offset = 0; offset < end_bytes; offset += block_bytes) add_block(sum, end.data() + offset);
  return sum[0] | std::uint64_t{sum[1]} << 32U;
}

}  // namespace fastdispatch::detail
