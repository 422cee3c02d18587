#include "softgpu/thunk/address_window.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

std::uint64_t address_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

TEST(AddressWindow, hands_out_zeroed_memory_that_lies_in_it) {
  AddressWindow window;
  std::vector<char*> blocks;
  for (int i = 0; i < 100; ++i) {
    blocks.push_back(static_cast<char*>(window.allocate(page, page)));
    ASSERT_NE(blocks.back(), nullptr);
    EXPECT_TRUE(window.contains(address_of(blocks.back())));
    EXPECT_TRUE(window.addresses().contains(address_of(blocks.back())));
    EXPECT_EQ(*blocks.back(), 0);
    *blocks.back() = 1;
  }
  for (char* block : blocks) window.free(block);
  int local = 0;
  EXPECT_FALSE(window.contains(address_of(&local)));
  EXPECT_FALSE(window.addresses().contains(address_of(&local)));
}

TEST(AddressWindow, keeps_alignments_and_begins_again_at_its_beginning) {
  AddressWindow window;
  void* first = window.allocate(page, page);
  void* aligned = window.allocate(page, 64 * page);
  EXPECT_EQ(address_of(aligned) % (64 * page), 0U);
  window.free(first);
  window.free(aligned);
  // Half of the window's room at a time: the second search has to begin anew.
  for (int i = 0; i < 4; ++i) {
    void* large = window.allocate(240 * gibibyte, page);
    ASSERT_NE(large, nullptr) << i;
    EXPECT_EQ(window.allocate(300 * gibibyte, page), nullptr);
    window.free(large);
  }
}

TEST(AddressWindow, takes_back_parts_of_what_it_handed_out) {
  AddressWindow window;
  auto* block = static_cast<char*>(window.allocate(8 * page, page));
  block[3 * page] = 1;
  EXPECT_TRUE(window.is_taken(address_of(block), 8 * page));
  EXPECT_FALSE(window.is_taken(address_of(block), 9 * page));

  EXPECT_TRUE(window.free_part(block + 2 * page, 3 * page));
  EXPECT_TRUE(window.is_taken(address_of(block), 2 * page));
  EXPECT_FALSE(window.is_taken(address_of(block), 3 * page));
  EXPECT_FALSE(window.is_taken(address_of(block + 4 * page), page));
  EXPECT_TRUE(window.is_taken(address_of(block + 5 * page), 3 * page));
  EXPECT_FALSE(window.free_part(block + 2 * page, page)) << "it is free";
  EXPECT_FALSE(window.free_part(block + page, 2 * page)) << "some of it is free";
  EXPECT_EQ(window.allocate_at(block + 2 * page, 3 * page), block + 2 * page);
  EXPECT_EQ(block[3 * page], 0) << "what it had is gone";

  EXPECT_TRUE(window.free_part(block, page));
  EXPECT_TRUE(window.free_part(block + 7 * page, page));
  EXPECT_FALSE(window.is_taken(address_of(block), page));
  EXPECT_TRUE(window.is_taken(address_of(block + page), page));
  EXPECT_TRUE(window.is_taken(address_of(block + 5 * page), 2 * page));
}

TEST(AddressWindow, gives_a_wanted_address_if_it_is_free) {
  AddressWindow window;
  auto* block = static_cast<std::byte*>(window.allocate(4 * page, page));
  EXPECT_EQ(window.allocate_at(block, page), nullptr);
  EXPECT_EQ(window.allocate_at(block + 3 * page, 2 * page), nullptr);
  EXPECT_EQ(window.allocate_at(block + 4 * page, 2 * page), block + 4 * page);
  EXPECT_EQ(window.allocate_at(block + 3 * page, 2 * page), nullptr);
  EXPECT_NE(window.allocate(page, page), block + 4 * page) << "the search for room goes round it";
  window.free(block);
  EXPECT_EQ(window.allocate_at(block, 4 * page), block);
  int local = 0;
  EXPECT_EQ(window.allocate_at(&local, page), nullptr);
}

TEST(AddressWindow, keeps_others_away_as_far_as_an_index_reaches) {
  const AddressWindow window;
  const auto is_taken = [](std::uint64_t address) {
    void* wanted = reinterpret_cast<void*>(address);
    void* got = mmap(wanted, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted) munmap(got, page);
    return got != wanted;
  };
  const auto [base, mask] = window.addresses();
  EXPECT_TRUE(is_taken(base - compute::AccessibleMemory::guard_bytes));
  EXPECT_TRUE(is_taken((base | ~mask) + 1 - page + compute::AccessibleMemory::guard_bytes));
}

TEST(AddressWindow, takes_nothing_of_a_limited_address_space) {
  constexpr rlimit limit{.rlim_cur = 1024 * gibibyte, .rlim_max = RLIM_INFINITY};
  EXPECT_EXIT(
      {
        setrlimit(RLIMIT_AS, &limit);
        AddressWindow window;
        const bool nothing = window.allocate(page, page) == nullptr && !window.addresses().contains(0);
        std::_Exit(nothing ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace softgpu::thunk
