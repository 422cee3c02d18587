// fastdispatch-objdump against what the compiler wrote beside the kernels.
#include "tool.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>

namespace tools::test::objdump {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::string tool = std::string(TOOL_OBJDUMP) + " ";
const std::string kernels = TOOLS_TEST_KERNELS;

const nlohmann::json& named(const nlohmann::json& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const nlohmann::json& each) { return each["name"].get<std::string>() == name; });
  if (found == list.end()) throw std::runtime_error("there is no " + std::string(name) + " in " + list.dump());
  return *found;
}

nlohmann::json kernel_of(const std::string& options, const std::string& name) {
  const nlohmann::json file = json_of(tool + kernels + " --json --target gfx90a " + options);
  return named(file["code_objects"][0]["kernels"], name);
}

TEST(Objdump, lists_the_entries_of_a_bundle) {
  const nlohmann::json file = json_of(tool + kernels + " --json");
  ASSERT_GE(file["entries"].size(), 2U);
  EXPECT_THAT(file["entries"][0]["entry"], ::testing::StartsWith("host-"));
  EXPECT_EQ(file["entries"].size(), file["code_objects"].size() + 1);
  for (const nlohmann::json& code_object : file["code_objects"])
    EXPECT_EQ(code_object["kernels"].size(), 19U) << code_object["target"];
}

TEST(Objdump, reads_compressed_bundles) {
#ifdef FASTDISPATCH_ZSTD
  const nlohmann::json file = json_of(tool + TEST_CODE_OBJECTS "/compressed_v2.hsaco --json --target gfx90a");
  EXPECT_EQ(file["compression"], "zstd, 3997 bytes instead of 29224 (format version 2)");
  EXPECT_EQ(file["entries"].size(), 3U);
  EXPECT_EQ(named(file["code_objects"][0]["kernels"], "add")["argument_bytes"], 28);
#else
  GTEST_SKIP() << "built without zstd";
#endif
}

TEST(Objdump, disassembles_generic_code_as_one_of_its_processors) {
  const nlohmann::json file = json_of(tool + TEST_CODE_OBJECTS "/add_gfx10-3-generic.elf --json --disassemble");
  const nlohmann::json& code_object = file["code_objects"][0];
  EXPECT_EQ(code_object["target"], "gfx10-3-generic");
  const std::string listing = named(code_object["functions"], "add")["instructions"].dump();
  EXPECT_THAT(listing, HasSubstr("v_add_nc_u32_e32"));
  EXPECT_THAT(listing, HasSubstr("s_endpgm"));
}

TEST(Objdump, tells_the_occupancy_of_generic_code_on_each_of_its_gpus) {
  const auto occupancy = [](const std::string& file) {
    return named(json_of(tool + TEST_CODE_OBJECTS + file + " --json")["code_objects"][0]["kernels"],
                 "add")["occupancy"];
  };
  // 16 wavefronts of 32 on each of a pair's four SIMDs are 8 groups of 256.
  const nlohmann::json rdna2 = occupancy("/add_gfx10-3-generic.elf");
  ASSERT_EQ(rdna2.size(), 7U);
  for (const nlohmann::json& row : rdna2) {
    EXPECT_THAT(row["gpu"], ::testing::StartsWith("gfx103"));
    EXPECT_EQ(row["groups_per_unit"], 8) << row;
    EXPECT_EQ(row["unit"], "pair of compute units");
  }
  // MI350 has more LDS than MI300.
  const nlohmann::json cdna = occupancy("/add_gfx9-4-generic.elf --dynamic-lds 65536");
  const auto groups_on = [&cdna](const std::string& gpu) {
    for (const nlohmann::json& row : cdna)
      if (row["gpu"] == gpu) return row["groups_per_unit"].get<int>();
    return 0;
  };
  EXPECT_EQ(groups_on("gfx942"), 1);
  EXPECT_EQ(groups_on("gfx950"), 2);
}

TEST(Objdump, tells_a_kernels_arguments) {
  const nlohmann::json saxpy = kernel_of("", "saxpy");
  ASSERT_EQ(saxpy["arguments"].size(), 4U);
  EXPECT_EQ(saxpy["arguments"][2], nlohmann::json::parse(R"({"offset": 16, "bytes": 8, "kind": "global_buffer",
                                                             "type": "", "name": ""})"));
  const nlohmann::json add = kernel_of("", "add_one<float>(float*, float)");
  EXPECT_EQ(add["mangled_name"], "_Z7add_oneIfEvPT_S0_");
  EXPECT_EQ(add["arguments"][0]["type"], "float*");
  EXPECT_EQ(kernel_of("", "takes_implicit_arguments")["arguments"].size(), 1U);
  const nlohmann::json implicit = kernel_of("--implicit", "takes_implicit_arguments")["arguments"];
  ASSERT_GT(implicit.size(), 1U);
  // Of version 4 of code objects, and of later ones.
  EXPECT_THAT(implicit[1]["kind"].get<std::string>(),
              ::testing::AnyOf("hidden_global_offset_x", "hidden_block_count_x"));
}

// What the compiler's comments in the assembly say of each kernel.
std::map<std::string, std::map<std::string, std::uint32_t>> compilers_comments(const std::string& file) {
  std::map<std::string, std::map<std::string, std::uint32_t>> comments;
  std::ifstream stream(file);
  std::string kernel;
  const std::regex begin(R"(\s*\.amdhsa_kernel (\S+))");
  const std::regex comment(R"(; (\w+): (\d+).*)");
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_match(line, match, begin)) kernel = match[1];
    if (std::regex_match(line, match, comment))
      comments[kernel][match[1]] = static_cast<std::uint32_t>(std::stoul(match[2]));
  }
  return comments;
}

class Resources : public ::testing::TestWithParam<std::string> {};

TEST_P(Resources, are_those_that_the_compiler_tells) {
  const std::string file = std::string(TOOLS_TEST_FOLDER) + "/" + GetParam();
  const auto comments = compilers_comments(file + ".s");
  const nlohmann::json dump = json_of(tool + file + ".elf --json");
  std::size_t compared = 0;
  for (const nlohmann::json& kernel : dump["code_objects"][0]["kernels"]) {
    const std::string name = kernel.value("mangled_name", kernel["name"].get<std::string>());
    SCOPED_TRACE(name);
    const auto& compilers = comments.at(name);
    EXPECT_EQ(kernel["registers"]["scalar"],
              compilers.at(compilers.contains("NumSgprs") ? "NumSgprs" : "TotalNumSgprs"));  // before LLVM 21 and since
    EXPECT_EQ(kernel["registers"]["vector"], compilers.at("NumVgprs"));
    EXPECT_EQ(kernel["lds_bytes"], compilers.at("LDSByteSize"));
    EXPECT_EQ(kernel["scratch_bytes_per_work_item"], compilers.at("ScratchSize"));
    if (kernel["lds_bytes"] != 0) continue;  // the compiler looks at LDS for all group sizes
    EXPECT_EQ(kernel["occupancy"]["waves_per_simd_by_registers"], compilers.at("Occupancy"));
    ++compared;
  }
  EXPECT_GE(compared, 16U);
}

INSTANTIATE_TEST_SUITE_P(Objdump, Resources, ::testing::Values("kernels_gfx90a", "kernels_gfx1030"),
                         [](const auto& each) { return each.param; });

TEST(Objdump, tells_what_limits_the_occupancy) {
  // 20 KiB of the 64 KiB of a compute unit: 3 groups of 4 wavefronts on 4 SIMDs.
  const nlohmann::json lds = kernel_of("", "takes_lds")["occupancy"];
  EXPECT_EQ(lds["groups_per_unit"], 3);
  EXPECT_EQ(lds["waves_per_simd"], 3.0);
  // clang 22 has as many registers allocated as LDS leaves room for.
  EXPECT_THAT(lds["limited_by"].get<std::string>(), ::testing::AnyOf("LDS", "vector registers"));
  // 101 registers, of which 104 are allocated, of 512: 4 wavefronts to a SIMD.
  const nlohmann::json vector = kernel_of("", "takes_vector_registers")["occupancy"];
  EXPECT_EQ(vector["waves_per_simd"], 4.0);
  EXPECT_EQ(vector["limited_by"], "vector registers");
  EXPECT_EQ(kernel_of("", "takes_scalar_registers")["occupancy"]["limited_by"], "scalar registers");
  // Small groups leave no place empty.
  const nlohmann::json small = kernel_of("--group-size 64", "saxpy")["occupancy"];
  EXPECT_EQ(small["groups_per_unit"], 32);
  EXPECT_EQ(small["limited_by"], "places for wavefronts");
  // Places for 32 wavefronts, and 16 to a group.
  EXPECT_EQ(kernel_of("--group-size 1024", "saxpy")["occupancy"]["groups_per_unit"], 2);
  EXPECT_EQ(kernel_of("--group-size 512", "takes_lds")["occupancy"],
            "none: the kernel was compiled for groups of up to 256 work-items, not 512");
  EXPECT_EQ(kernel_of("--dynamic-lds 40000", "reverse")["occupancy"]["groups_per_unit"], 1);
}

TEST(Objdump, disassembles_with_branch_targets_and_source_lines) {
  const nlohmann::json file = json_of(tool + TOOLS_TEST_LINES + " --json --target gfx90a --disassemble");
  const nlohmann::json& function = named(file["code_objects"][0]["functions"], "count_down");
  const nlohmann::json& code = function["instructions"];
  const auto has = [&](const std::string& text) {
    return std::any_of(code.begin(), code.end(), [&](const nlohmann::json& row) {
      return row["instruction"].get<std::string>().starts_with(text);
    });
  };
  EXPECT_TRUE(has("s_load_dword"));
  EXPECT_TRUE(has("s_endpgm"));
  bool loops = false;
  std::string lines;
  for (const nlohmann::json& row : code) {
    lines += row["source"].get<std::string>() + "\n";
    const std::string target = row["target"];
    if (target.empty()) continue;
    const bool is_an_instruction =
        std::any_of(code.begin(), code.end(), [&](const nlohmann::json& each) { return each["address"] == target; });
    EXPECT_TRUE(is_an_instruction) << row;
    loops = loops || std::stoull(target, nullptr, 16) < std::stoull(row["address"].get<std::string>(), nullptr, 16);
  }
  EXPECT_TRUE(loops);
  EXPECT_THAT(lines, HasSubstr("lines.hip:7"));
  EXPECT_THAT(lines, HasSubstr("lines.hip:8"));
}

TEST(Objdump, shows_the_text_of_source_lines_that_it_finds) {
  const Outcome outcome = run("cd / && " + tool + TOOLS_TEST_LINES + " --target gfx90a --disassemble");
  EXPECT_THAT(outcome.output, ContainsRegex("address +instruction +target +source +source text\n"));
  EXPECT_THAT(outcome.output, ContainsRegex("lines.hip:8 +out.threadIdx.x. = sum;\n"));
}

TEST(Objdump, shows_lines_without_their_text_where_the_source_is_not_found) {
  // The same code, compiled from a folder that is gone.
  const Outcome outcome = run(tool + TOOLS_TEST_MOVED_LINES + " --target gfx90a --disassemble");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, ContainsRegex("address +instruction +target +source\n"));
  EXPECT_THAT(outcome.output, HasSubstr("lines.hip:8\n"));
}

TEST(Objdump, has_no_column_of_lines_where_there_are_none) {
  const Outcome outcome = run(tool + kernels + " --target gfx90a --kernel saxpy --disassemble");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, ContainsRegex("address +instruction +target\n"));
  EXPECT_THAT(outcome.output, ContainsRegex("0x[0-9a-f]+ +global_store_dword "));
  EXPECT_THAT(outcome.output, HasSubstr("name: saxpy\n"));
  EXPECT_THAT(outcome.output, ::testing::Not(HasSubstr("number_cells")));
}

TEST(Objdump, refuses_what_is_not_there) {
  const auto fail = [](const std::string& arguments, int exit_code = 1) {
    const Outcome outcome = run(tool + arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.output;
    EXPECT_THAT(outcome.output, ::testing::StartsWith("fastdispatch-objdump: "));
    return outcome.output;
  };
  EXPECT_THAT(fail("nowhere.hsaco"), HasSubstr("cannot read nowhere.hsaco: No such file or directory"));
  EXPECT_THAT(fail(TOOL_OBJDUMP), HasSubstr("not for AMD GPUs"));
  EXPECT_THAT(fail(TOOLS_TEST_SOURCE), HasSubstr("neither an ELF code object nor a clang offload bundle"));
  EXPECT_THAT(fail(kernels + " --kernel saxpi"), HasSubstr("has no kernel saxpi"));
  EXPECT_THAT(fail(kernels + " --target gfx906"), HasSubstr("has no code object for gfx906; it has: gfx"));
  EXPECT_THAT(fail(kernels + " --group-size 0", 2), HasSubstr("--group-size"));
  EXPECT_THAT(fail("", 2), HasSubstr("file is required"));
}

}  // namespace
}  // namespace tools::test::objdump
