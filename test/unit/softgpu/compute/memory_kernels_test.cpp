#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include <sys/mman.h>

#include "memory_kernels.hpp"

namespace softgpu::compute {
namespace {

template <class T>
std::vector<T> random_numbers(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random());
  return values;
}

std::vector<unsigned> random_order(unsigned count) {
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937(count));
  return order;
}

/// Copies `count` elements by work-items beyond them; what lies behind the copy must stay.
template <class T>
void expect_copied(const char* kernel, unsigned dwords_or_elements, unsigned count) {
  const auto in = random_numbers<T>(std::size_t{count} * dwords_or_elements);
  std::vector<T> out(in.size() + 64, T{42});
  const unsigned items = (count + 255) / 256 * 256;
  ASSERT_EQ(MemoryKernels::text(
                MemoryKernels::program().run(kernel, {{items, 1, 1}, {256, 1, 1}}, in.data(), out.data(), count)),
            "");
  EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin())) << kernel;
  EXPECT_EQ(std::count(out.begin() + static_cast<std::ptrdiff_t>(in.size()), out.end(), T{42}), 64) << kernel;
}

TEST_F(MemoryKernels, copies_elements_of_every_size_up_to_an_odd_count) {
  for (const unsigned count : {1U, 63U, 64U, 1000U}) {
    expect_copied<unsigned>("copy_dwords", 1, count);
    expect_copied<unsigned>("copy_pairs", 2, count);
    expect_copied<unsigned>("copy_triples", 3, count);
    expect_copied<unsigned>("copy_quads", 4, count);
    expect_copied<unsigned char>("copy_bytes", 1, count);
    expect_copied<short>("copy_shorts", 1, count);
  }
}

TEST_F(MemoryKernels, gathers_and_scatters_dwords_and_quads) {
  constexpr unsigned count = 500;
  const auto where = random_order(count);
  const auto in = random_numbers<unsigned>(4 * count);
  std::vector<unsigned> out(4 * count);
  ASSERT_EQ(
      text(program().run("permute_dwords", {{512, 1, 1}, {128, 1, 1}}, in.data(), where.data(), out.data(), count)),
      "");
  for (unsigned i = 0; i < count; ++i) ASSERT_EQ(out[i], in[i] + in[count / 2]) << i;
  ASSERT_EQ(
      text(program().run("permute_quads", {{512, 1, 1}, {128, 1, 1}}, in.data(), where.data(), out.data(), count)), "");
  EXPECT_EQ(in, out);
}

TEST_F(MemoryKernels, gathers_and_scatters_bytes_and_shorts) {
  constexpr unsigned count = 300;
  const auto where = random_order(count);
  const auto bytes = random_numbers<signed char>(count);
  std::vector<signed char> bytes_out(count);
  std::vector<int> wide(count);
  const Shape shape{{320, 1, 1}, {64, 1, 1}};
  ASSERT_EQ(
      text(program().run("permute_bytes", shape, bytes.data(), where.data(), wide.data(), bytes_out.data(), count)),
      "");
  EXPECT_EQ(bytes, bytes_out);
  for (unsigned i = 0; i < count; ++i) EXPECT_EQ(wide[i], bytes[where[i]]);

  const auto shorts = random_numbers<unsigned short>(count);
  std::vector<unsigned short> shorts_out(count);
  std::vector<unsigned> wide_shorts(count);
  ASSERT_EQ(text(program().run("permute_shorts", shape, shorts.data(), where.data(), wide_shorts.data(),
                               shorts_out.data(), count)),
            "");
  EXPECT_EQ(shorts, shorts_out);
  for (unsigned i = 0; i < count; ++i) EXPECT_EQ(wide_shorts[i], shorts[where[i]]);
}

/// The first and the last page of 4 GiB, and one behind; nothing may be accessed between them.
class FourGibibytes {
public:
  FourGibibytes()
      : begin_(static_cast<std::byte*>(
            mmap(nullptr, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    for (const std::size_t at : {std::size_t{0}, size - page, size})
      mprotect(begin_ + at, page, PROT_READ | PROT_WRITE);
  }
  ~FourGibibytes() { munmap(begin_, size + page); }
  FourGibibytes(const FourGibibytes&) = delete;
  FourGibibytes& operator=(const FourGibibytes&) = delete;

  [[nodiscard]] std::byte* begin() const { return begin_; }
  [[nodiscard]] unsigned& at(std::size_t offset) const { return *reinterpret_cast<unsigned*>(begin_ + offset); }

  static constexpr std::size_t size = std::size_t{1} << 32;
  static constexpr std::size_t page = 4096;

private:
  std::byte* begin_;
};

TEST_F(MemoryKernels, offsets_of_32_bits_wrap_around_within_a_wavefront) {
  for (const unsigned distance : {1U, 2U}) {
    const FourGibibytes memory;
    std::array<unsigned, 64> offsets{};
    for (unsigned item = 0; item < 64; ++item) offsets[item] = 4 * distance * item - 32;
    ASSERT_EQ(text(program().run("count_at_offsets", {{64, 1, 1}, {64, 1, 1}}, memory.begin(), offsets.data())), "");
    for (unsigned item = 0; item < 64; ++item) EXPECT_EQ(memory.at(offsets[item]), 1 + item) << item;
    EXPECT_EQ(memory.at(FourGibibytes::size), 0U);
  }
}

TEST_F(MemoryKernels, upper_halves_of_indices_need_not_be_zero) {
  constexpr unsigned items = 256;
  for (const unsigned half : {0U, 1U, 0xffffffffU}) {
    std::vector<unsigned> in(items), out(items, 0), upper(items), enabled(items);
    for (unsigned item = 0; item < items; ++item) {
      in[item] = 1000 + item;
      enabled[item] = item % 5 != 0 || item >= 192 ? 1 : 0;
      upper[item] = enabled[item] != 0 ? half : item;
    }
    const auto before = [&](std::vector<unsigned>& elements) {
      return std::bit_cast<unsigned*>(std::bit_cast<std::uint64_t>(elements.data()) - (std::uint64_t{half} << 34));
    };
    ASSERT_EQ(text(program().run("index_by_halves", {{items, 1, 1}, {items, 1, 1}}, before(in), before(out),
                                 upper.data(), enabled.data())),
              "");
    for (unsigned item = 0; item < items; ++item) ASSERT_EQ(out[item], enabled[item] != 0 ? 1001 + item : 0) << item;
  }
}

TEST_F(MemoryKernels, rows_of_offsets_wrap_around_within_a_wavefront) {
  constexpr std::uint64_t half = FourGibibytes::size / 2;
  for (const unsigned begin : {0U - 32U, 0U - 252U, 0U - 256U, 0U}) {
    const FourGibibytes memory;
    ASSERT_EQ(text(program().run("count_along_a_row", {{64, 1, 1}, {64, 1, 1}}, memory.begin(), begin)), "");
    for (unsigned item = 0; item < 64; ++item) EXPECT_EQ(memory.at(begin + 4 * item), 1 + item) << item;

    const FourGibibytes around;
    ASSERT_EQ(text(program().run("count_along_a_signed_row", {{64, 1, 1}, {64, 1, 1}}, around.begin() + half,
                                 static_cast<unsigned>(half) + begin)),
              "");
    for (unsigned item = 0; item < 64; ++item) EXPECT_EQ(around.at(begin + 4 * item), 1 + item) << item;

    const FourGibibytes bytes;
    ASSERT_EQ(text(program().run("count_bytes_along_a_row", {{64, 1, 1}, {64, 1, 1}}, bytes.begin(), begin)), "");
    for (unsigned item = 0; item < 64; ++item)
      EXPECT_EQ(bytes.begin()[begin + item], static_cast<std::byte>(1 + item)) << item;
  }
}

TEST_F(MemoryKernels, channels_of_pixels_are_read_to_the_last_byte_and_no_further) {
  constexpr unsigned items = 256 + 40;
  const auto bytes = random_numbers<unsigned char>(FourGibibytes::page);
  const FourGibibytes memory;
  auto* last_page = reinterpret_cast<unsigned char*>(memory.begin());
  std::copy(bytes.begin(), bytes.end(), last_page);
  for (unsigned channels = 2; channels <= 5; ++channels) {
    const unsigned first = FourGibibytes::page - channels * items;
    std::vector<unsigned> sums(items);
    ASSERT_EQ(text(program().run("add_" + std::to_string(channels) + "_channels", {{512, 1, 1}, {256, 1, 1}},
                                 last_page + first, sums.data(), items)),
              "");
    for (unsigned item = 0; item < items; ++item) {
      unsigned sum = 0;
      for (unsigned channel = 0; channel < channels; ++channel)
        sum = sum * 31 + bytes[first + channels * item + channel];
      ASSERT_EQ(sums[item], sum) << channels << " channels, pixel " << item;
    }
  }
}

TEST_F(MemoryKernels, bytes_and_their_neighbours_are_read_to_the_last_byte_and_no_further) {
  const FourGibibytes memory;
  const auto bytes = random_numbers<unsigned char>(FourGibibytes::page);
  auto* last_page = reinterpret_cast<unsigned char*>(memory.begin());
  std::copy(bytes.begin(), bytes.end(), last_page);
  for (const unsigned count : {257U, 320U, 321U}) {
    std::vector<unsigned> sums(count - 1);
    const unsigned first = FourGibibytes::page - count;
    ASSERT_EQ(
        text(program().run("add_byte_neighbours", {{512, 1, 1}, {256, 1, 1}}, last_page + first, sums.data(), count)),
        "");
    for (unsigned item = 0; item + 1 < count; ++item)
      ASSERT_EQ(sums[item], bytes[first + item] * 31 + bytes[first + item + 1]) << item;
  }
}

/// At the beginning of a page and at its end, each beside pages that may not be accessed.
TEST_F(MemoryKernels, bytes_that_lie_apart_are_read_from_the_first_to_the_last_and_no_further) {
  const FourGibibytes memory;
  const auto bytes = random_numbers<unsigned char>(FourGibibytes::page);
  auto* first_page = reinterpret_cast<unsigned char*>(memory.begin());
  unsigned char* last_page = first_page + FourGibibytes::size - FourGibibytes::page;
  for (unsigned char* page : {first_page, last_page}) std::copy(bytes.begin(), bytes.end(), page);
  for (const unsigned count : {64U, 256U, 320U}) {
    const auto first = [&](unsigned step, bool ends_page) {
      return ends_page ? FourGibibytes::page - (std::size_t{step} * (count - 1) + 1) : 0;
    };
    for (const bool ends_page : {true, false}) {
      const auto at = [&](unsigned step) { return (ends_page ? first_page : last_page) + first(step, ends_page); };
      std::vector<unsigned> sums(count);
      ASSERT_EQ(text(program().run("add_bytes_apart", {{count, 1, 1}, {64, 1, 1}}, at(2), at(3), at(4), sums.data())),
                "");
      for (unsigned item = 0; item < count; ++item) {
        const auto byte = [&](unsigned step) { return bytes[first(step, ends_page) + step * item]; };
        ASSERT_EQ(sums[item], byte(2) * 7U + byte(3) * 31U + byte(4) * 101U) << item;
      }
    }
  }
}

/// Work-groups of many shapes: those whose wavefronts have their ids in a row, and others.
TEST_F(MemoryKernels, neighbours_are_found_by_work_groups_of_any_shape) {
  constexpr std::array<std::array<std::uint16_t, 3>, 10> groups = {{{64, 4, 1},
                                                                    {64, 2, 2},
                                                                    {256, 1, 1},
                                                                    {100, 1, 1},
                                                                    {16, 16, 1},
                                                                    {32, 8, 1},
                                                                    {8, 8, 4},
                                                                    {1, 64, 1},
                                                                    {96, 2, 1},
                                                                    {128, 1, 4}}};
  for (const auto& group : groups)
    for (const std::array<unsigned, 2> size : {std::array{192U, 12U}, {130U, 9U}, {64U, 4U}, {320U, 5U}}) {
      const auto [width, height] = size;
      const unsigned depth = group[2];
      const auto in = random_numbers<unsigned>(std::size_t{width} * height * depth);
      const auto weights = random_numbers<unsigned short>(std::max(width, height));
      std::vector<unsigned> out(in.size());
      std::vector<std::array<unsigned, 2>> pairs(in.size());
      ASSERT_EQ(text(program().run("add_neighbours", {{width, height, depth}, group}, in.data(), out.data(),
                                   weights.data(), pairs.front().data(), width, height,
                                   std::array<unsigned, 3>{group[0], group[1], group[2]})),
                "");
      for (unsigned at = 0; at < in.size(); ++at) {
        const unsigned x = at % width, y = at / width % height, z = at / width / height;
        unsigned sum = in[at] * weights[x] + z;
        if (x > 0) sum += 3 * in[at - 1];
        if (x + 1 < width) sum += 5 * in[at + 1];
        if (y > 0) sum += 7 * in[at - width];
        ASSERT_EQ(out[at], sum) << group[0] << " x " << group[1] << " x " << group[2] << ": " << x << ", " << y;
        ASSERT_EQ(pairs[at], (std::array<unsigned, 2>{sum, weights[y]}));
      }
    }
}

TEST_F(MemoryKernels, rows_around_lds_read_zero_outside_of_it) {
  constexpr unsigned items = 256, lds_bytes = 2048;
  for (const unsigned first : {0U, 100U, 250U, 500U, 2000U, 0U - 64U, 0U - 100U, 0U - 256U, 1U << 29, 1U << 30}) {
    std::vector<unsigned> dwords(items, 1), bytes(items, 1);
    std::vector<std::array<unsigned, 2>> pairs(items, {1, 1});
    ASSERT_EQ(text(program().run("row_around_lds", {{items, 1, 1}, {items, 1, 1}, lds_bytes}, dwords.data(),
                                 pairs.front().data(), bytes.data(), first)),
              "");
    for (unsigned item = 0; item < items; ++item) {
      const auto is_in_lds = [&](unsigned size) { return size * (first + item) <= lds_bytes - size; };
      ASSERT_EQ(dwords[item], is_in_lds(4) ? 7 * item : 0) << first << " + " << item;
      ASSERT_EQ(pairs[item], (is_in_lds(8) ? std::array{5 * item, item} : std::array{0U, 0U}))
          << first << " + " << item;
      ASSERT_EQ(bytes[item], is_in_lds(1) ? 3 * item % 256 : 0) << first << " + " << item;
    }
  }
}

TEST_F(MemoryKernels, lanes_with_gaps_between_them_touch_no_page_but_their_own) {
  constexpr auto page = static_cast<unsigned>(FourGibibytes::page);
  constexpr unsigned last_page = 0U - page;
  // Where each 16 lanes begin: in the same place of cache lines or not, where lines and pages end or begin.
  constexpr std::array<std::array<unsigned, 4>, 4> beginnings = {{{page - 508, page - 380, page - 252, page - 124},
                                                                  {0, 512, 1024, page - 124},
                                                                  {page - 124, 8, 516, 1024},
                                                                  {last_page + 1028, last_page, last_page + 512, 0}}};
  for (const auto& begins : beginnings) {
    const FourGibibytes memory;
    std::array<unsigned, 64> offsets{};
    for (unsigned item = 0; item < 64; ++item) offsets[item] = begins[item / 16] + 8 * (item % 16);
    ASSERT_EQ(text(program().run("count_at_offsets", {{64, 1, 1}, {64, 1, 1}}, memory.begin(), offsets.data())), "");
    for (unsigned item = 0; item < 64; ++item) EXPECT_EQ(memory.at(offsets[item]), 1 + item) << item;
  }
}

TEST_F(MemoryKernels, flat_instructions_reach_lds_private_and_global_memory) {
  std::vector<unsigned> out(256, 5);
  ASSERT_EQ(text(program().run("flat_everywhere", {{256, 1, 1}, {256, 1, 1}}, out.data())), "");
  for (unsigned t = 0; t < 256; ++t) {
    const unsigned shared = 7 * t + ((255 - t) % 3 == 0 ? 1 : 0);
    const unsigned own = 1000 + 2 * t + (t % 3 == 1 ? 1 : 0);
    EXPECT_EQ(out[t], 5 + (t % 3 == 2 ? 1 : 0) + shared + own) << t;
  }
}

TEST_F(MemoryKernels, flat_instructions_reach_private_memory_of_some_lanes) {
  std::vector<unsigned> out(256);
  ASSERT_EQ(text(program().run("flat_private_of_some", {{256, 1, 1}, {256, 1, 1}}, out.data(), 2U)), "");
  constexpr std::array<unsigned, 4> factors = {1, 3, 5, 7};
  for (unsigned t = 0; t < 256; ++t) {
    unsigned sum = t % 3 == 1 ? factors[2] * 5 : 0;
    if (t % 3 == 2) sum += factors[t % 4] * 7;
    for (unsigned n = 0; n < 4; ++n) sum += factors[n] * (1000 * n + t);
    ASSERT_EQ(out[t], sum) << t;
  }
}

TEST_F(MemoryKernels, private_arrays_are_indexed_by_each_work_item_on_its_own) {
  const auto in = random_numbers<unsigned>(320);
  std::vector<unsigned> out(320);
  ASSERT_EQ(text(program().run("private_array", {{320, 1, 1}, {320, 1, 1}}, in.data(), out.data(), 100U)), "");
  for (unsigned item = 0; item < 320; ++item) {
    std::array<unsigned, 40> history{};
    for (unsigned i = 0; i < 40; ++i) history[i] = in[item] * i;
    for (unsigned i = 0; i < 100; ++i) history[(in[item] + i) % 40] += history[(i * 7) % 40];
    unsigned sum = 0;
    for (const unsigned value : history) sum = sum * 31 + value;
    ASSERT_EQ(out[item], sum) << item;
  }
}

TEST_F(MemoryKernels, integer_atomics_count_every_work_item) {
  constexpr unsigned items = 640;
  std::vector<unsigned> counters = {0, 0, 1000, 0, 0, 5000, 0, 0};
  std::vector<unsigned long long> wide = {0, 7};
  std::vector<unsigned> former(items);
  ASSERT_EQ(
      text(program().run("integer_atomics", {{items, 1, 1}, {128, 1, 1}}, counters.data(), wide.data(), former.data())),
      "");
  unsigned all = 0;
  for (unsigned i = 0; i < items; ++i) all ^= i;
  // inc: 100 states, dec: from 0 to 99 and down.
  EXPECT_EQ(counters, (std::vector<unsigned>{items, items - 1, 5, ~0U, all, 5000 - 2 * items, items % 100,
                                             (100 - items % 100) % 100}));
  EXPECT_EQ(wide[0], std::uint64_t{items} << 33);
  EXPECT_EQ(wide[1], 7U + items * (items - 1) / 2);
  std::ranges::sort(former);
  for (unsigned i = 0; i < items; ++i) ASSERT_EQ(former[i], i);
}

TEST_F(MemoryKernels, float_atomics_add) {
  float sum = 1;
  double wide = 2;
  ASSERT_EQ(text(program().run("float_atomics", {{192, 1, 1}, {64, 1, 1}}, &sum, &wide)), "");
  EXPECT_EQ(sum, 193);
  EXPECT_EQ(wide, 98);
}

TEST_F(MemoryKernels, work_groups_of_1_to_3_dimensions_exchange_through_lds_and_a_barrier) {
  for (const Shape& shape : {Shape{{2048, 1, 1}, {1024, 1, 1}, 4096}, Shape{{64, 48, 1}, {32, 16, 1}, 2048},
                             Shape{{8, 12, 20}, {4, 6, 10}, 960}}) {
    const std::size_t items = std::size_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    const std::size_t group = std::size_t{shape.group[0]} * shape.group[1] * shape.group[2];
    const auto in = random_numbers<unsigned>(items);
    std::vector<unsigned> out(items);
    ASSERT_EQ(text(program().run("reverse_through_lds", shape, in.data(), out.data())), "");
    for (std::size_t i = 0; i < items; ++i) ASSERT_EQ(out[i], in[i / group * group + (group - 1 - i % group)]) << i;
  }
}

TEST_F(MemoryKernels, lds_holds_elements_of_every_size) {
  std::vector<unsigned> out(256);
  ASSERT_EQ(text(program().run("lds_of_every_size", {{256, 1, 1}, {256, 1, 1}}, out.data())), "");
  for (unsigned t = 0; t < 256; ++t) {
    const unsigned o = (t * 37 + 11) % 256;
    EXPECT_EQ(out[t], (o * 3 & 0xff) - o + o * o + o + (o + 3) + o + t + (t + 2)) << t;
  }
}

TEST_F(MemoryKernels, lds_atomics_sum_over_the_work_group) {
  std::vector<unsigned> histogram(16);
  float sum = 0;
  ASSERT_EQ(text(program().run("lds_atomics", {{512, 1, 1}, {512, 1, 1}}, histogram.data(), &sum)), "");
  for (unsigned bin = 0; bin < 16; ++bin) EXPECT_EQ(histogram[bin], 32 * bin + 16 * 31 * 32 / 2) << bin;
  EXPECT_EQ(sum, 128);
}

TEST_F(MemoryKernels, lanes_exchange_registers) {
  const auto in = random_numbers<int>(64);
  std::vector<int> out(256);
  ASSERT_EQ(text(program().run("shuffles", {{64, 1, 1}, {64, 1, 1}}, in.data(), out.data())), "");
  unsigned total = 0;
  for (const int value : in) total += static_cast<unsigned>(value);
  const auto sum = static_cast<int>(total);
  for (unsigned t = 0; t < 64; ++t) {
    EXPECT_EQ(out[4 * t], sum);
    EXPECT_EQ(out[4 * t + 1], sum);
    EXPECT_EQ(out[4 * t + 2], in[(t * 5) % 64]);
    // Bit masks: lane ^ 1; quad: 3, 2, 1, 0; permute: from 3 lanes below.
    const auto expected =
        static_cast<unsigned>(in[t ^ 1]) + static_cast<unsigned>(in[t ^ 3]) + static_cast<unsigned>(in[(t + 61) % 64]);
    EXPECT_EQ(static_cast<unsigned>(out[4 * t + 3]), expected) << t;
  }
}

TEST_F(MemoryKernels, a_wavefront_that_waits_for_memory_lets_the_others_run) {
  for (const char* kernel : {"wait_for_flag", "spin_for_flag", "add_until_seen"}) {
    unsigned flag = 0;
    std::vector<unsigned> out(128);
    ASSERT_EQ(text(program().run(kernel, {{128, 1, 1}, {128, 1, 1}}, &flag, out.data())), "");
    EXPECT_EQ(std::count(out.begin(), out.begin() + 64, 1U), 64) << kernel;
  }
}

}  // namespace
}  // namespace softgpu::compute
