// Memory of one process in another one, by hsa_amd_ipc_memory_*.
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rocr.hpp"

namespace softgpu_test {
namespace {

constexpr std::uint32_t written_by_parent = 7;
constexpr std::uint32_t written_by_child = 8;

/// What the parent tells its child of the memory.
struct Shared {
  hsa_amd_ipc_memory_t handle{};
  std::size_t bytes = 0;
};

/// Attaches the memory, looks at it, writes it. Throws what HSA refuses.
bool look_and_write(const Shared& shared) {
  const Rocr rocr;
  void* address = nullptr;
  CHECKED(hsa_amd_ipc_memory_attach, &shared.handle, shared.bytes, 1U, rocr.gpus.data(), &address);
  auto* words = static_cast<std::uint32_t*>(address);
  const std::size_t count = shared.bytes / sizeof(std::uint32_t);
  const bool is_right = std::all_of(words, words + count, [](std::uint32_t word) { return word == written_by_parent; });
  std::fill_n(words, count, written_by_child);
  CHECKED(hsa_amd_ipc_memory_detach, address);
  return is_right;
}

/// The child: 0 if all went well.
int use_shared_memory(int from_parent) {
  Shared shared;
  if (read(from_parent, &shared, sizeof shared) != static_cast<ssize_t>(sizeof shared)) return 1;
  try {
    return look_and_write(shared) ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 3;
  }
}

class Sharing : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Sharing, GivesAnotherProcessTheMemory) {
  std::array<int, 2> channel{};
  ASSERT_EQ(pipe(channel.data()), 0);
  const pid_t child = fork();  // before there is an HSA
  ASSERT_GE(child, 0);
  if (child == 0) _exit(use_shared_memory(channel[0]));

  const Rocr rocr;
  const Buffer<std::uint32_t> memory(rocr, rocr.device, GetParam() / sizeof(std::uint32_t));
  std::fill_n(memory.data(), memory.size(), written_by_parent);
  Shared shared{.handle = {}, .bytes = memory.bytes()};
  CHECKED(hsa_amd_ipc_memory_create, static_cast<void*>(memory.data()), memory.bytes(), &shared.handle);
  ASSERT_EQ(write(channel[1], &shared, sizeof shared), static_cast<ssize_t>(sizeof shared));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(std::all_of(memory.data(), memory.data() + memory.size(),
                          [](std::uint32_t word) { return word == written_by_child; }));
  close(channel[0]);
  close(channel[1]);
}

// A part of a block that ROCr allocates, and a block of its own.
INSTANTIATE_TEST_SUITE_P(OfPagesAndMegabytes, Sharing, ::testing::Values(std::size_t{4096}, std::size_t{8} << 20));

}  // namespace
}  // namespace softgpu_test
