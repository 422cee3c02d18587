#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::HasSubstr;

class Modules : public Device {
protected:
  static std::vector<char> read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(Modules, loaded_from_memory_need_the_image_no_longer) {
  std::vector<char> image = read(DEVICE_TEST_KERNELS);
  const Module copy_of_it = Module::load(gpu, std::as_bytes(std::span(image)), "image");
  std::fill(image.begin(), image.end(), 'x');
  const auto increment = copy_of_it.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  DeviceBuffer<std::uint32_t> values = upload(numbers(100));
  queue.dispatch(increment, grid(100), values, 100, 1).wait(limit);
  EXPECT_EQ(download(values), numbers(100, 1));
}

TEST_F(Modules, of_compressed_bundles_have_their_kernels) {
#ifdef FASTDISPATCH_ZSTD
  const std::string isa = gpu.isa();
  if (isa.find("gfx90a") == std::string::npos && isa.find("gfx1030") == std::string::npos)
    GTEST_SKIP() << "for gfx90a and gfx1030, not " << isa;
  const Module newer = Module::load(gpu, TEST_CODE_OBJECTS "/compressed_v3.hsaco");
  const auto add = newer.kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)>("add");
  const DeviceBuffer<std::uint32_t> values = upload(numbers(100));
  const DeviceBuffer<std::uint32_t> fives = upload(std::vector<std::uint32_t>(100, 5));
  DeviceBuffer<std::uint32_t> sums(gpu, 100);
  queue.dispatch(add, grid(100), values, fives, sums, 100).wait(limit);
  EXPECT_EQ(download(sums), numbers(100, 5));
#else
  EXPECT_THAT(error_of([&] { static_cast<void>(Module::load(gpu, TEST_CODE_OBJECTS "/compressed_v3.hsaco")); }),
              HasSubstr("this fastdispatch was built without zstd"));
#endif
}

// For whichever of the two the GPU is; HSA runtimes before ROCr 6.2 load neither.
TEST_F(Modules, of_version_6_are_loaded_or_tell_which_rocr_reads_them) {
  const std::string isa = gpu.isa();
  const bool gfx1030 = isa.find("gfx1030") != std::string::npos;
  if (!gfx1030 && isa.find("gfx942") == std::string::npos) GTEST_SKIP() << "for gfx942 and gfx1030, not " << isa;
  try {
    const Module newer = Module::load(gpu, gfx1030 ? TEST_CODE_OBJECTS "/add_gfx10-3-generic.elf"
                                                   : TEST_CODE_OBJECTS "/add_gfx9-4-generic.elf");
    const auto add =
        newer.kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)>("add");
    const DeviceBuffer<std::uint32_t> values = upload(numbers(100));
    const DeviceBuffer<std::uint32_t> fives = upload(std::vector<std::uint32_t>(100, 5));
    DeviceBuffer<std::uint32_t> sums(gpu, 100);
    queue.dispatch(add, grid(100), values, fives, sums, 100).wait(limit);
    EXPECT_EQ(download(sums), numbers(100, 5));
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("which has version 6 of the format; ROCr reads version 6 from 6.2 on; for an "
                                        "older one, compile with --offload-arch=" +
                                        std::string(gpu.name()) + " and -mcode-object-version=5"));
  }
}

TEST_F(Modules, that_cannot_be_read_say_why) {
  EXPECT_THAT(error_of([&] { static_cast<void>(Module::load(gpu, "/nowhere/kernels.hsaco")); }),
              HasSubstr("/nowhere/kernels.hsaco: No such file or directory"));
  EXPECT_THAT(error_of([&] { static_cast<void>(Module::load(gpu, "/")); }), HasSubstr("directory"));
}

TEST_F(Modules, that_were_moved_from_say_so) {
  Module first = Module::load(gpu, DEVICE_TEST_KERNELS);
  Module second = std::move(first);
  const auto use = [&] { static_cast<void>(first.kernel_names()); };  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(error_of(use), HasSubstr("moved from"));
  EXPECT_THAT(error_of([&] { static_cast<void>(first.kernel<void()>("increment")); }), HasSubstr("moved from"));
  first = std::move(second);
  EXPECT_FALSE(first.kernel_names().empty());
}

TEST_F(Modules, stay_loaded_while_they_have_kernels) {
  using Increment = Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>;
  std::optional<Module> own = Module::load(gpu, DEVICE_TEST_KERNELS);
  const auto increment =
      std::make_unique<const Increment>(own->kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment"));
  const Increment copy_of_it = *increment;
  own.reset();
  DeviceBuffer<std::uint32_t> values = upload(numbers(100));
  queue.dispatch(copy_of_it, grid(100), values, 100, 1).wait(limit);
  EXPECT_EQ(download(values), numbers(100, 1));
  EXPECT_EQ(copy_of_it.name(), "increment");
}

TEST_F(Modules, have_variables_that_kernels_and_copies_use) {
  const auto look_up = module.kernel<void(std::uint32_t*)>("look_up");
  DeviceBuffer<std::uint32_t> values(gpu, 4);
  const auto results = [&] {
    queue.dispatch(look_up, grid(4).group(4), values).wait(limit);
    return download(values);
  };
  const DeviceSpan<std::uint32_t> table = module.variable<std::uint32_t>("table");
  ASSERT_EQ(table.size(), 4U);
  EXPECT_THAT(results(), ::testing::ElementsAre(10, 20, 30, 40));
  const std::vector<std::uint32_t> other = numbers(4, 5);
  copy(table, std::span(other));
  fill(module.variable<std::uint32_t>("space::factor"), 2);
  EXPECT_THAT(results(), ::testing::ElementsAre(10, 12, 14, 16));
  queue.dispatch(module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment"), grid(4), table, 4, 1)
      .wait(limit);
  EXPECT_THAT(results(), ::testing::ElementsAre(12, 14, 16, 18));
}

TEST_F(Modules, say_which_variables_they_have) {
  const std::string unknown = error_of([&] { static_cast<void>(module.variable<float>("tables")); });
  EXPECT_THAT(unknown, HasSubstr("has no variable tables; it has: "));
  EXPECT_THAT(unknown, HasSubstr("table"));
  EXPECT_THAT(unknown, HasSubstr("space::factor"));
  EXPECT_THAT(error_of([&] { static_cast<void>(module.variable<double>("space::factor")); }),
              HasSubstr("has 4 bytes: no multiple of 8, the size of an element"));
}

// From v5 on, the metadata of a code object tell that a stack's size is not known.
TEST_F(Modules, of_code_object_v5_give_recursion_the_stack_that_they_were_loaded_with) {
  constexpr std::uint32_t frames = 1000;  // far more than the 16 KiB that clang 15 assumes
  const auto load = [&](std::uint32_t bytes) {
    return Module::load(gpu, DEVICE_TEST_KERNELS_V5, {.dynamic_stack_bytes = bytes});
  };
  const Module deep = load(ModuleOptions::most_stack_bytes);
  const auto recursive = deep.kernel<void(std::uint32_t*, std::uint32_t)>("recursive");
  EXPECT_EQ(recursive.private_memory_size(), ModuleOptions::most_stack_bytes);
  DeviceBuffer<std::uint32_t> depths(gpu, 64);
  // So much scratch memory is there for a few work-groups at a time: the soft GPU then has one worker run them.
  for (int round = 0; round < 50; ++round) queue.dispatch(recursive, grid(64), depths, frames).wait(limit);
  const std::vector<std::uint32_t> result = download(depths);
  for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(result[i], frames + i % 2) << i;
  EXPECT_THAT(error_of([&] { static_cast<void>(load(100)); }), HasSubstr("a multiple of 16"));
  EXPECT_THAT(error_of([&] { static_cast<void>(load(1U << 20U)); }), HasSubstr("up to 131056"));
}

// A damaged file can make ROCr abort the process: then this test ends.
TEST_F(Modules, that_are_damaged_are_refused_or_load) {
  const std::vector<char> whole = read(DEVICE_TEST_KERNELS_V5);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < whole.size(); i += 37) {
    std::vector<char> damaged = whole;
    damaged[i] = static_cast<char>(~damaged[i]);
    try {
      static_cast<void>(Module::load(gpu, std::as_bytes(std::span(damaged)), "damaged"));
    } catch (const Error& error) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10U);
  queue.wait(limit);
}

}  // namespace
}  // namespace fastdispatch::test
