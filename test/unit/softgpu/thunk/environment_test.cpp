#include "softgpu/thunk/environment.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace softgpu::thunk {
namespace {

using Variables = std::map<std::string, std::string>;

std::variant<Environment, std::string> read(const Variables& variables) {
  return Environment::read([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Environment, HasDefaultsThatMakeOneGpuOfThisMachine) {
  const auto environment = std::get<Environment>(read({}));
  EXPECT_EQ(environment.gpus, 1U);
  EXPECT_EQ(environment.architecture_of(0).name, "gfx90a");
  EXPECT_EQ(environment.compute_units, 104U);
  EXPECT_EQ(environment.large_bar, 1U);
  EXPECT_GE(environment.threads, 4U);
  EXPECT_GE(environment.memory_bytes, std::uint64_t{64} << 20);
  EXPECT_FALSE(environment.shuffle_seed.has_value());
  EXPECT_FALSE(environment.timeout.has_value());
  EXPECT_EQ(environment.log, LogLevel::error);
  EXPECT_EQ(environment.cpu, compute::HostCpu::host);
  EXPECT_EQ(environment.optimize, 2U);
  EXPECT_EQ(environment.trace, "");
}

TEST(Environment, ReadsEveryVariable) {
  const auto environment = std::get<Environment>(read({{"SOFTGPU_GPUS", "3"},
                                                       {"SOFTGPU_ARCH", "gfx1030"},
                                                       {"SOFTGPU_COMPUTE_UNITS", "8"},
                                                       {"SOFTGPU_MEMORY", "2G"},
                                                       {"SOFTGPU_LARGE_BAR", "0"},
                                                       {"SOFTGPU_THREADS", "7"},
                                                       {"SOFTGPU_SHUFFLE", "42"},
                                                       {"SOFTGPU_TIMEOUT", "90"},
                                                       {"SOFTGPU_CACHE", "/var/tmp/kernels"},
                                                       {"SOFTGPU_CPU", "host"},
                                                       {"SOFTGPU_OPTIMIZE", "0"},
                                                       {"SOFTGPU_LOG", "packets"},
                                                       {"SOFTGPU_TRACE", "/tmp/trace.json"}}));
  EXPECT_EQ(environment.gpus, 3U);
  EXPECT_EQ(environment.architecture_of(0).name, "gfx1030");
  EXPECT_EQ(environment.compute_units, 8U);
  EXPECT_EQ(environment.large_bar, 0U);
  EXPECT_EQ(environment.memory_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(environment.threads, 7U);
  EXPECT_EQ(environment.shuffle_seed, std::optional<std::uint64_t>(42));
  EXPECT_EQ(environment.timeout, std::optional(std::chrono::seconds(90)));
  EXPECT_EQ(environment.cache_folder, "/var/tmp/kernels");
  EXPECT_EQ(environment.optimize, 0U);
  EXPECT_EQ(environment.log, LogLevel::packets);
  EXPECT_EQ(environment.trace, "/tmp/trace.json");
}

TEST(Environment, ThatIsStrictHasNoLargeBarUnlessItIsAskedFor) {
  EXPECT_EQ(std::get<Environment>(read({{"SOFTGPU_STRICT", "1"}})).large_bar, 0U);
  const auto both = std::get<Environment>(read({{"SOFTGPU_STRICT", "1"}, {"SOFTGPU_LARGE_BAR", "1"}}));
  EXPECT_EQ(both.large_bar, 1U);
  EXPECT_EQ(both.strict, 1U);
}

TEST(Environment, TakesSizesInBytesAndUnits) {
  const auto bytes = [](const char* text) {
    return std::get<Environment>(read({{"SOFTGPU_MEMORY", text}})).memory_bytes;
  };
  EXPECT_EQ(bytes("134217728"), std::uint64_t{128} << 20);
  EXPECT_EQ(bytes("131072K"), std::uint64_t{128} << 20);
  EXPECT_EQ(bytes("128m"), std::uint64_t{128} << 20);
  EXPECT_EQ(bytes("1T"), std::uint64_t{1} << 40);
}

TEST(Environment, KeepsKernelsInTheUsersCacheFolder) {
  const auto folder = [](const Variables& variables) { return std::get<Environment>(read(variables)).cache_folder; };
  EXPECT_EQ(folder({{"XDG_CACHE_HOME", "/var/cache/me"}, {"HOME", "/home/me"}}), "/var/cache/me/softgpu");
  EXPECT_EQ(folder({{"HOME", "/home/me"}}), "/home/me/.cache/softgpu");
  EXPECT_EQ(folder({{"XDG_CACHE_HOME", "not/absolute"}, {"HOME", "/home/me"}}), "/home/me/.cache/softgpu");
  EXPECT_EQ(folder({{"XDG_CACHE_HOME", ""}, {"HOME", ""}}), "");
  EXPECT_EQ(folder({}), "");
  EXPECT_EQ(folder({{"SOFTGPU_CACHE", "off"}, {"HOME", "/home/me"}}), "");
}

TEST(Environment, MayNameAnArchitectureForEachGpu) {
  const auto names = [](const Variables& variables) {
    const auto environment = std::get<Environment>(read(variables));
    std::string text;
    for (std::uint32_t gpu = 0; gpu != environment.gpus; ++gpu)
      text += std::string(environment.architecture_of(gpu).name) + " ";
    return text;
  };
  EXPECT_EQ(names({{"SOFTGPU_ARCH", "gfx90a,gfx1100"}}), "gfx90a gfx1100 ");
  EXPECT_EQ(names({{"SOFTGPU_ARCH", "gfx1030,gfx90a,gfx1030"}, {"SOFTGPU_GPUS", "3"}}), "gfx1030 gfx90a gfx1030 ");
  EXPECT_EQ(names({{"SOFTGPU_ARCH", "gfx1030"}, {"SOFTGPU_GPUS", "2"}}), "gfx1030 gfx1030 ");
}

TEST(Environment, SaysWhichArchitecturesDoNotGoTogether) {
  const auto complaint = [](const Variables& variables) { return std::get<std::string>(read(variables)); };
  EXPECT_EQ(complaint({{"SOFTGPU_ARCH", "gfx90a,gfx1030"}, {"SOFTGPU_GPUS", "3"}}),
            "SOFTGPU_ARCH='gfx90a,gfx1030' is not one name, or one for each of 3 GPUs (SOFTGPU_GPUS)");
  EXPECT_EQ(complaint({{"SOFTGPU_ARCH", "gfx90a,gfx1030"}, {"SOFTGPU_STRICT", "1"}}),
            "SOFTGPU_STRICT='1' is not 0, as GPUs of several architectures (SOFTGPU_ARCH) need it");
  std::string many = "gfx90a";
  for (int i = 0; i != 16; ++i) many += ",gfx90a";
  EXPECT_EQ(complaint({{"SOFTGPU_ARCH", many.c_str()}}), "SOFTGPU_ARCH='" + many + "' is not names of up to 16 GPUs");
}

/// The LLVM of the build may be too old.
bool knows(const char* name) { return compute::Architecture::find(name) != nullptr; }

TEST(Environment, NamesTheArchitecturesThatThereAreWhereOneIsNotKnown) {
  for (const char* text : {"gfx90", "GFX90A", "gfx90a ", "", "gfx90a,", ",gfx90a", "gfx90a,gfx90"})
    EXPECT_EQ(std::get<std::string>(read({{"SOFTGPU_ARCH", text}})),
              "SOFTGPU_ARCH='" + std::string(text) + "' is not gfx90a, gfx940, gfx942, " +
                  (knows("gfx950") ? "gfx950, " : "") +
                  "gfx1030, gfx1031, gfx1032, gfx1034, gfx1035, gfx1036, gfx1100, gfx1101, gfx1102" +
                  (knows("gfx1201")   ? ", gfx1103, gfx1150, gfx1151, gfx1200 or gfx1201"
                   : knows("gfx1151") ? ", gfx1103, gfx1150 or gfx1151"
                                      : " or gfx1103"));
}

TEST(Environment, SaysWhichLlvmAnArchitectureNeedsThatThisBuildsLlvmDoesNotKnow) {
  for (const auto& [name, llvm] :
       {std::pair("gfx950", "20"), {"gfx1151", "18"}, {"gfx1200", "19"}, {"gfx1201", "19"}}) {
    if (knows(name)) continue;
    const std::string text = std::string("gfx1100,") + name;
    EXPECT_EQ(std::get<std::string>(read({{"SOFTGPU_ARCH", text.c_str()}})),
              "SOFTGPU_ARCH='" + text + "' is not known to the LLVM of this build: " + name + " needs LLVM " + llvm +
                  " or later");
  }
}

struct BadValue {
  const char* name;
  const char* value;
};

class BadEnvironmentTest : public ::testing::TestWithParam<BadValue> {};

TEST_P(BadEnvironmentTest, IsNamedWithWhatItMayBe) {
  const auto result = read({{GetParam().name, GetParam().value}});
  ASSERT_TRUE(std::holds_alternative<std::string>(result));
  const auto& complaint = std::get<std::string>(result);
  EXPECT_EQ(complaint.find(std::string(GetParam().name) + "='" + GetParam().value + "' is not a"), 0U) << complaint;
}

INSTANTIATE_TEST_SUITE_P(Values, BadEnvironmentTest,
                         ::testing::Values(BadValue{"SOFTGPU_GPUS", "0"}, BadValue{"SOFTGPU_GPUS", "17"},
                                           BadValue{"SOFTGPU_GPUS", "two"}, BadValue{"SOFTGPU_GPUS", ""},
                                           BadValue{"SOFTGPU_COMPUTE_UNITS", "-4"}, BadValue{"SOFTGPU_MEMORY", "8X"},
                                           BadValue{"SOFTGPU_MEMORY", "1K"},
                                           BadValue{"SOFTGPU_MEMORY", "99999999999999999999G"},
                                           BadValue{"SOFTGPU_MEMORY", "17592186044417G"},
                                           BadValue{"SOFTGPU_LARGE_BAR", "2"}, BadValue{"SOFTGPU_THREADS", "1.5"},
                                           BadValue{"SOFTGPU_SHUFFLE", "yes"}, BadValue{"SOFTGPU_OPTIMIZE", "fast"},
                                           BadValue{"SOFTGPU_TIMEOUT", "0"}));

TEST(Environment, NamesAFolderThatIsNotAbsolute) {
  for (const char* folder : {"", "on", "kernels/here", "~/kernels"})
    EXPECT_EQ(std::get<std::string>(read({{"SOFTGPU_CACHE", folder}})),
              "SOFTGPU_CACHE='" + std::string(folder) + "' is not off or a folder's absolute path");
}

TEST(Environment, NamesACpuThatItDoesNotKnow) {
  EXPECT_EQ(std::get<std::string>(read({{"SOFTGPU_CPU", "sse9"}})),
            "SOFTGPU_CPU='sse9' is not host, avx2 or avx512, as far as this CPU has it");
}

TEST(Environment, TakesAProfileOfTwoKinds) {
  EXPECT_EQ(std::get<std::string>(read({{"SOFTGPU_PROFILE", "profile.txt"}})),
            "SOFTGPU_PROFILE='profile.txt' is not table, or a file that ends in .json or .html");
  EXPECT_EQ(std::get<Environment>(read({{"SOFTGPU_PROFILE", "profile.html"}})).profile, "profile.html");
}

TEST(Environment, NamesAnUnknownLogLevel) {
  const auto result = read({{"SOFTGPU_LOG", "loud"}});
  EXPECT_EQ(std::get<std::string>(result), "SOFTGPU_LOG='loud' is not off, error or packets");
}

}  // namespace
}  // namespace softgpu::thunk
