#include <array>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Bytes = std::span<const std::byte>;

class DynamicKernels : public Device {
protected:
  void run(const DynamicKernel& kernel, const Grid& grid, std::initializer_list<Bytes> arguments) {
    Batch batch(gpu);
    batch.dispatch(kernel, grid, std::vector<Bytes>(arguments));
    queue.submit(batch).wait(limit);
  }
  template <class T>
  static Bytes bytes(const T& value) {
    return std::as_bytes(std::span(&value, 1));
  }
};

TEST_F(DynamicKernels, run_with_arguments_of_types_that_are_known_late) {
  const std::array signature{parameter_type<std::uint32_t*>(), parameter_type<std::uint32_t>(),
                             parameter_type<std::uint32_t>()};
  const DynamicKernel increment = module.kernel("increment", signature);
  DeviceBuffer<std::uint32_t> values = upload(numbers(1000));
  const std::uint32_t* address = values.data();
  const std::uint32_t count = 1000;
  const std::uint32_t by = 5;
  run(increment, grid(1000), {bytes(address), bytes(count), bytes(by)});
  EXPECT_EQ(download(values), numbers(1000, 5));
}

TEST_F(DynamicKernels, of_opencl_get_local_memory_of_the_sizes_they_are_passed) {
  const Module opencl = Module::load(gpu, DEVICE_TEST_OPENCL);
  const std::array signature{parameter_type<std::uint32_t*>(), parameter_type<LocalMemory>(),
                             parameter_type<LocalMemory>()};
  DeviceBuffer<std::uint32_t> values = upload(numbers(64));
  const std::uint32_t* address = values.data();
  run(opencl.kernel("rotate", signature), grid(64).group(64),
      {bytes(address), bytes(LocalMemory{64 * 4}), bytes(LocalMemory{64 * 8})});
  std::vector<std::uint32_t> expected(64);
  for (std::uint32_t i = 0; i < 64; ++i) expected[i] = (i + 1) % 64 + 1000 * ((i + 2) % 64);
  EXPECT_EQ(download(values), expected);
}

TEST_F(DynamicKernels, refuse_types_counts_and_sizes_that_do_not_fit) {
  const std::array pointer_to_int{parameter_type<std::int32_t*>()};
  EXPECT_THAT(error_of([&] { static_cast<void>(module.kernel("twice::scale", pointer_to_int)); }),
              AllOf(HasSubstr("kernel twice::scale(float*), argument 1 at offset 0"), HasSubstr("int*")));

  const std::array pointer_to_float{parameter_type<float*>()};
  const DynamicKernel scale = module.kernel("twice::scale", pointer_to_float);
  Batch batch(gpu);
  EXPECT_THAT(error_of([&] { batch.dispatch(scale, grid(64), {}); }), HasSubstr("takes 1 arguments, and 0 are given"));
  const float no_address = 1;
  const std::vector<Bytes> too_short{bytes(no_address)};
  EXPECT_THAT(error_of([&] { batch.dispatch(scale, grid(64), too_short); }),
              HasSubstr("argument 1 at offset 0: 4 bytes are given, its type has 8"));
  EXPECT_EQ(batch.dispatches(), 0U);
}

TEST_F(DynamicKernels, have_their_parameters_told_by_the_code_object) {
  const KernelDescription scale = module.describe("twice::scale");
  EXPECT_EQ(scale.name, "twice::scale(float*)");
  EXPECT_EQ(scale.mangled_name, "_ZN5twice5scaleEPf");
  ASSERT_EQ(scale.parameters.size(), 1U);
  EXPECT_EQ(scale.parameters[0].type, "float*");
  EXPECT_EQ(scale.parameters[0].kind, "global_buffer");

  const std::vector<KernelParameter> increment = module.describe("increment").parameters;
  ASSERT_EQ(increment.size(), 3U);  // without the implicit arguments
  EXPECT_EQ(increment[1].kind, "by_value");
  EXPECT_EQ(increment[1].offset, 8U);
  EXPECT_EQ(increment[1].size, 4U);
}

}  // namespace
}  // namespace fastdispatch::test
