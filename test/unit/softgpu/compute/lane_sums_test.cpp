#include "softgpu/compute/program/lane_sums.hpp"

#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lane_sum_machine.hpp"
#include "softgpu/compute/instruction_set/decoder.hpp"
#include "softgpu/compute/program/lane_sum_flow.hpp"
#include "softgpu/compute/run_time/sanitizers.hpp"

namespace softgpu::compute {
namespace {

using Lines = std::vector<std::string>;

constexpr std::uint32_t bytes_each = 4;

/// Instructions one after the other; blocks begin where branches go to, and behind them.
Program program_of(const Lines& lines, unsigned lanes = 64) {
  Program program;
  program.target.wavefront_size = lanes;
  program.leaders.insert(0);
  for (const std::string& line : lines) {
    Instruction instruction = parse_instruction(line);
    instruction.offset = bytes_each * static_cast<std::int64_t>(program.instructions.size());
    instruction.size = bytes_each;
    if (instruction.mnemonic.starts_with("s_cbranch_"))
      for (const std::int64_t next : successors(instruction)) program.leaders.insert(next);
    program.instructions.emplace(instruction.offset, instruction);
  }
  return program;
}

Operand pair_at(unsigned low) {
  return parse_instruction("v_mov_b64 v[" + std::to_string(low) + ":" + std::to_string(low + 1) + "], 0").operands[0];
}

/// What is known of a pair of registers behind some lines without branches.
std::optional<LaneSum> sum_behind(const Lines& lines, unsigned low, unsigned lanes = 64) {
  const Program program = program_of(lines, lanes);
  LaneSums sums(lanes);
  for (const auto& [offset, instruction] : program.instructions) sums.follow(instruction);
  const LaneSum* sum = sums.address(pair_at(low));
  return sum != nullptr ? std::optional(*sum) : std::nullopt;
}

Lines operator+(Lines a, const Lines& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Lines index_times_4 = {"v_ashrrev_i32_e32 v1, 31, v0", "v_lshlrev_b64 v[0:1], 2, v[0:1]"};
const Lines plus_base = {"v_mov_b32_e32 v3, s5", "v_add_co_u32_e32 v2, vcc, s4, v0",
                         "v_addc_co_u32_e32 v3, vcc, v3, v1, vcc"};

TEST(LaneSums, are_what_compilers_make_of_a_base_and_an_index) {
  const auto sum = sum_behind(index_times_4 + plus_base, 2);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->shift, 2);
  EXPECT_TRUE(sum->is_signed);
}

TEST(LaneSums, have_an_index_without_a_sign_where_the_upper_half_is_uniform) {
  const auto sum = sum_behind(Lines{"v_mov_b32_e32 v1, 0", "v_lshlrev_b64 v[0:1], 3, v[0:1]"} + plus_base, 2);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->shift, 3);
  EXPECT_FALSE(sum->is_signed);
}

// A row's upper half that was set to 0 on two paths, on each for some of the lanes.
TEST(LaneSums, are_guessed_where_nothing_is_known_of_the_upper_half_of_a_row) {
  const Lines row = {"v_add_u32_e64 v0, s6, s7"};
  const Lines with_zeros_somewhere =
      row + Lines{"s_and_saveexec_b64 s[0:1], vcc", "v_mov_b32_e32 v1, 0", "s_or_b64 exec, exec, s[0:1]"};
  const auto shifted = sum_behind(with_zeros_somewhere + Lines{"v_lshlrev_b64 v[0:1], 2, v[0:1]"} + plus_base, 2);
  ASSERT_TRUE(shifted);
  EXPECT_TRUE(shifted->is_guess);
  EXPECT_EQ(shifted->shift, 2);
  EXPECT_EQ(shifted->stride, 0);
  const auto added = sum_behind(with_zeros_somewhere + plus_base, 2);
  ASSERT_TRUE(added);
  EXPECT_TRUE(added->is_guess);
  const auto known = sum_behind(row + Lines{"v_mov_b32_e32 v1, 0"} + plus_base, 2);
  ASSERT_TRUE(known);
  EXPECT_FALSE(known->is_guess);
  EXPECT_FALSE(sum_behind(plus_base, 2)) << "v0 is no row";
}

TEST(LaneSums, may_be_added_in_any_form_and_order) {
  EXPECT_TRUE(sum_behind(index_times_4 + Lines{"v_add_co_u32_e64 v2, s[0:1], s4, v0", "v_mov_b32_e32 v5, s7",
                                               "v_add_co_u32_e32 v0, vcc, s6, v0",
                                               "v_addc_co_u32_e64 v3, s[0:1], s5, v1, s[0:1]",
                                               "v_addc_co_u32_e32 v1, vcc, v1, v5, vcc"},
                         2));
  EXPECT_TRUE(sum_behind(index_times_4 + Lines{"v_lshl_add_u64 v[0:1], v[0:1], 0, s[2:3]"}, 0));
  EXPECT_TRUE(sum_behind({"v_mov_b32_e32 v1, 0", "v_mad_u64_u32 v[0:1], s[4:5], s2, s3, v[0:1]"}, 0));
  EXPECT_TRUE(sum_behind({"v_mad_u64_u32 v[0:1], s[4:5], v0, 8, s[2:3]"}, 0));
  EXPECT_TRUE(sum_behind({"v_ashrrev_i32_e32 v1, 31, v0", "v_lshlrev_b64 v[0:1], 2, v[0:1]",
                          "v_add_co_u32 v2, vcc_lo, s4, v0", "v_addc_co_u32_e64 v3, null, s5, v1, vcc_lo"},
                         2, 32));
}

TEST(LaneSums, end_where_a_register_is_written) {
  const auto known = [](const char* line) {
    return sum_behind(index_times_4 + plus_base + Lines{line}, 2).has_value();
  };
  EXPECT_TRUE(known("v_mov_b32_e32 v1, v7"));
  EXPECT_FALSE(known("v_add_u32_e32 v2, 1, v2"));
  EXPECT_FALSE(known("v_mov_b32_e32 v3, v7"));
  EXPECT_FALSE(known("global_load_dwordx4 v[0:3], v[8:9], off"));
  EXPECT_FALSE(known("ds_read_b32 v3, v7"));
  EXPECT_FALSE(known("v_swap_b32 v7, v2"));
  EXPECT_FALSE(known("v_writelane_b32 v2, s0, s1"));
  EXPECT_TRUE(known("global_store_dwordx2 v[2:3], v[6:7], off"));
}

TEST(LaneSums, are_none_where_the_carry_is_another_one) {
  EXPECT_FALSE(
      sum_behind(index_times_4 + Lines{plus_base[0], plus_base[1], "v_cmp_lt_u32_e32 vcc, v6, v7", plus_base[2]}, 2));
  EXPECT_FALSE(
      sum_behind(index_times_4 + Lines{plus_base[0], plus_base[1], "v_addc_co_u32_e64 v3, vcc, v3, v1, s[0:1]"}, 2));
  EXPECT_FALSE(sum_behind(index_times_4 + Lines{plus_base[0], plus_base[1], "s_mov_b32 vcc_hi, 0", plus_base[2]}, 2));
}

TEST(LaneSums, are_none_where_lanes_add_numbers_of_their_own) {
  EXPECT_FALSE(sum_behind(index_times_4 + Lines{"v_mov_b32_e32 v3, v7", plus_base[1], plus_base[2]}, 2));
  EXPECT_FALSE(sum_behind(index_times_4 + Lines{plus_base[0], "v_add_co_u32_e32 v2, vcc, v7, v0", plus_base[2]}, 2));
}

TEST(LaneSums, are_none_of_instructions_with_modifiers) {
  EXPECT_FALSE(
      sum_behind(index_times_4 + Lines{plus_base[0], "v_add_co_u32_e64 v2, vcc, s4, v0 clamp", plus_base[2]}, 2));
  EXPECT_FALSE(sum_behind(
      Lines{"v_ashrrev_i32_dpp v1, 31, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", index_times_4[1]} +
          plus_base,
      2));
}

TEST(LaneSums, hold_while_exec_is_narrower_and_end_where_it_grows) {
  const Lines made = index_times_4 + plus_base;
  EXPECT_TRUE(sum_behind(made + Lines{"s_and_saveexec_b64 s[0:1], vcc"}, 2));
  EXPECT_TRUE(sum_behind(made + Lines{"s_and_saveexec_b64 s[0:1], vcc", "s_or_b64 exec, exec, s[0:1]"}, 2));
  EXPECT_FALSE(sum_behind(Lines{"s_and_saveexec_b64 s[0:1], vcc"} + made + Lines{"s_or_b64 exec, exec, s[0:1]"}, 2));
  EXPECT_FALSE(sum_behind(made + Lines{"s_mov_b64 exec, -1"}, 2));
  EXPECT_FALSE(sum_behind(made + Lines{"s_or_b64 exec, exec, s[0:1]"}, 2));
  EXPECT_FALSE(
      sum_behind(made + Lines{"s_and_saveexec_b64 s[0:1], vcc", "s_mov_b32 s0, -1", "s_or_b64 exec, exec, s[0:1]"}, 2));
  EXPECT_FALSE(sum_behind(made + Lines{"s_mov_b32 exec_hi, -1"}, 2));
}

TEST(LaneSums, hold_in_the_else_branch_and_behind_it) {
  const Lines made = index_times_4 + plus_base;
  const Lines if_else = {"s_and_saveexec_b64 s[0:1], vcc", "s_xor_b64 s[0:1], exec, s[0:1]",
                         "s_or_saveexec_b64 s[0:1], s[0:1]", "s_xor_b64 exec, exec, s[0:1]"};
  EXPECT_TRUE(sum_behind(Lines{"s_mov_b64 s[8:9], exec"} + made + if_else, 2));
  EXPECT_TRUE(sum_behind(Lines{"s_mov_b64 s[8:9], exec"} + made + if_else + Lines{"s_or_b64 exec, exec, s[8:9]"}, 2));
}

TEST(LaneSums, hold_around_a_loop_that_lanes_leave_one_by_one) {
  const Program program = program_of(index_times_4 + plus_base +
                                     Lines{"s_mov_b64 s[0:1], 0",                        // 5
                                           "v_add_co_u32_e32 v2, vcc, 4, v2",            // 6, the loop
                                           "v_addc_co_u32_e32 v3, vcc, 0, v3, vcc",      // 7
                                           "v_cmp_lt_u32_e32 vcc, v6, v7",               // 8
                                           "s_or_b64 s[0:1], vcc, s[0:1]",               // 9
                                           "s_andn2_b64 exec, exec, s[0:1]",             // 10
                                           "s_cbranch_execnz 65530",                     // 11: to 6
                                           "s_or_b64 exec, exec, s[0:1]", "s_endpgm"});  // 12
  const auto blocks = follow_lane_sums(program);
  ASSERT_TRUE(blocks);
  const LaneSum* in_loop = blocks->at(6 * bytes_each).address(pair_at(2));
  ASSERT_NE(in_loop, nullptr);
  EXPECT_EQ(in_loop->shift, 2);
}

TEST(LaneSums, are_those_that_all_paths_agree_on) {
  const auto at_end = [](const char* other) {
    const Program program = program_of(index_times_4 + plus_base + Lines{"s_cbranch_scc1 1", other, "s_endpgm"});
    return follow_lane_sums(program)->at(7 * bytes_each).address(pair_at(2)) != nullptr;
  };
  EXPECT_TRUE(at_end("v_mov_b32_e32 v7, 0"));
  EXPECT_FALSE(at_end("v_mov_b32_e32 v3, 0"));
  EXPECT_FALSE(at_end("v_lshlrev_b64 v[2:3], 1, v[2:3]"));
}

TEST(LaneSums, are_forgotten_where_code_for_another_mode_begins) {
  const auto at_end = [](const char* between) {
    const Program program = program_of(index_times_4 + plus_base + Lines{between, "s_cbranch_scc1 0", "s_endpgm"});
    return follow_lane_sums(program)->at(7 * bytes_each).address(pair_at(2)) != nullptr;
  };
  EXPECT_TRUE(at_end("s_nop 0"));
  EXPECT_FALSE(at_end("s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s4"));
}

TEST(LaneSums, are_not_followed_where_the_numbers_of_registers_are_computed) {
  EXPECT_FALSE(follow_lane_sums(program_of({"s_set_gpr_idx_on s0, gpr_idx(DST)", "s_endpgm"})));
  EXPECT_FALSE(follow_lane_sums(program_of({"v_movreld_b32_e32 v0, v1", "s_endpgm"})));
}

// --- Random programs: whatever is said of a pair holds in every active lane, at every instruction.

class RandomProgram {
public:
  RandomProgram(unsigned seed, unsigned lanes) : random_(seed), lanes_(lanes), mask_share_(1 + seed % 4) {}

  Lines lines() {
    Lines made;
    for (unsigned n = 0; n < length; ++n) made.push_back(line(n));
    made.push_back("s_endpgm");
    return made;
  }

private:
  static constexpr unsigned length = 40;

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  std::string vector() { return "v" + std::to_string(below(5)); }
  std::string vector_pair() {
    const unsigned low = below(4);
    return "v[" + std::to_string(low) + ":" + std::to_string(low + 1) + "]";
  }
  std::string scalar() { return "s" + std::to_string(8 + below(4)); }
  std::string scalar_pair() { return below(2) == 0 ? "s[8:9]" : "s[10:11]"; }
  std::string mask() {
    const unsigned n = below(4);
    if (n == 0) return lanes_ == 32 ? "vcc_lo" : "vcc";
    if (lanes_ == 32) return "s" + std::to_string(n);
    return "s[" + std::to_string(2 * n) + ":" + std::to_string(2 * n + 1) + "]";
  }
  std::string exec() const { return lanes_ == 32 ? "exec_lo" : "exec"; }
  std::string word() {
    switch (below(4)) {
    case 0:
      return below(2) == 0 ? "0" : "-1";
    case 1:
      return vector();
    default:
      return scalar();
    }
  }

  static std::string at(unsigned index) { return "v" + std::to_string(index); }
  static std::string pair(unsigned low) { return "v[" + std::to_string(low) + ":" + std::to_string(low + 1) + "]"; }

  std::string chain() {
    const std::string by = std::to_string(below(4));
    switch (below(8)) {
    case 6:
    case 7:
      return row();
    case 0:
      return "v_mov_b32_e32 " + vector() + ", " + word();
    case 1:
      return "v_ashrrev_i32_e32 " + vector() + ", 31, " + vector();
    case 2:
      return "v_lshlrev_b64 " + vector_pair() + ", " + by + ", " + vector_pair();
    case 3:
      return "v_lshl_add_u64 " + vector_pair() + ", " + vector_pair() + ", " + by + ", " +
             (below(2) == 0 ? scalar_pair() : vector_pair());
    case 4:
      return "v_mad_u64_u32 " + vector_pair() + ", " + mask() + ", " + word() + ", " + word() + ", " + vector_pair();
    default:
      return "v_add_u32_e32 " + vector() + ", 1, " + vector();
    }
  }

  /// What rows are made of.
  std::string row() {
    const std::string by = std::to_string(below(4));
    const std::string to = vector();
    switch (below(10)) {
    case 0:
      return "v_add3_u32 " + to + ", " + word() + ", " + vector() + ", " + word();
    case 1:
      return "v_lshl_add_u32 " + to + ", " + vector() + ", " + by + ", " + word();
    case 2:
      return "v_add_lshl_u32 " + to + ", " + vector() + ", " + word() + ", " + by;
    case 3:
      return "v_mul_lo_u32 " + to + ", " + vector() + ", " + (below(2) == 0 ? by : word());
    case 4:
      return "v_mad_u32_u24 " + to + ", " + word() + ", " + scalar() + ", " + vector();
    case 5:
      return std::string(below(2) == 0 ? "v_sub_u32_e32 " : "v_subrev_u32_e32 ") + to + ", " + word() + ", " + vector();
    case 6:
      return "v_bfe_u32 " + to + ", " + vector() + ", " + (below(2) == 0 ? "10" : "20") + ", 10";
    case 7:
      return "v_and_b32_e32 " + to + ", 0x3ff, " + vector();
    case 8:
      return "v_mul_u32_u24_e32 " + to + ", " + word() + ", " + vector();
    default:
      return "v_lshlrev_b32_e32 " + to + ", " + by + ", " + vector();
    }
  }

  /// What a compiler would write.
  void plan() {
    const unsigned from = below(4);
    const unsigned to = below(4);
    const std::string carry = mask();
    const std::string by = std::to_string(below(4));
    const unsigned high = below(7);
    if (high < 4)
      planned_ = {"v_ashrrev_i32_e32 " + at(from + 1) + ", 31, " + at(from)};
    else if (high == 4)  // of which nothing is known
      planned_ = {"v_and_b32_e32 " + at(from + 1) + ", 0, " + vector()};
    else
      planned_ = {"v_mov_b32_e32 " + at(from + 1) + ", " + word()};
    if (below(2) == 0) planned_.push_back("v_lshlrev_b64 " + pair(from) + ", " + by + ", " + pair(from));
    if (below(3) == 0) {
      planned_.push_back("v_lshl_add_u64 " + pair(to) + ", " + pair(from) + ", " + by + ", " + scalar_pair());
      return;
    }
    planned_.push_back("v_add_co_u32_e64 " + at(to) + ", " + carry + ", " + scalar() + ", " + at(from));
    const bool swaps = below(2) == 0;
    const std::string a = word();
    const std::string b = at(from + 1);
    planned_.push_back("v_addc_co_u32_e64 " + at(to + 1) + ", " + mask() + ", " + (swaps ? b : a) + ", " +
                       (swaps ? a : b) + ", " + carry);
  }

  std::string masks() {
    const std::string size = lanes_ == 32 ? "_b32 " : "_b64 ";
    static constexpr const char* operations[] = {"and", "and", "and", "or", "xor", "andn2"};
    const std::string operation = operations[below(6)];
    switch (below(8)) {
    case 0:
      return "s_mov" + size + mask() + ", " + (below(3) == 0 ? "0" : exec());
    case 1:
    case 2:
      return "s_" + operation + "_saveexec" + size + mask() + ", " + mask();
    case 3:
    case 4:
      return "s_" + operation + size + exec() + ", " + exec() + ", " + mask();
    case 5:
      return "s_" + operation + size + mask() + ", " + (below(2) == 0 ? exec() : mask()) + ", " + mask();
    case 6:
      return "v_cmp_lt_u32_e64 " + mask() + ", " + vector() + ", " + vector();
    default:
      return "s_mov" + size + exec() + ", " + (below(4) == 0 ? "-1" : mask());
    }
  }

  std::string line(unsigned at) {
    if (below(14) == 0) {
      const unsigned target = below(length);
      return "s_cbranch_scc1 " + std::to_string((target - at - 1) & 0xffff);
    }
    if (planned_.empty() && below(3) != 0) plan();
    if (!planned_.empty() && below(12) >= 2 * mask_share_) {
      const std::string next = planned_.front();
      planned_.erase(planned_.begin());
      return next;
    }
    return below(5) < mask_share_ ? masks() : chain();
  }

  std::mt19937 random_;
  unsigned lanes_;
  unsigned mask_share_;  ///< how much of the program changes EXEC and masks: 1 to 4
  Lines planned_;
};

/// Lanes that were as expected.
struct Checked {
  unsigned of_sums = 0;
  unsigned of_right_guesses = 0;
  unsigned of_wrong_guesses = 0;
  unsigned of_sums_in_rows = 0;
  unsigned of_rows = 0;
};

/// The ids of a wavefront's work-items, in as many registers as there are.
void begin_with_ids(LaneSumMachine& machine, std::mt19937& random, unsigned lanes, unsigned registers) {
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  const std::array<std::uint32_t, 3> first = {below(1024 / lanes) * lanes, below(1024), below(1024)};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (registers == 1) machine.vector[0][lane] = (first[0] + lane) | first[1] << 10 | first[2] << 20;
    if (registers != 3) continue;
    machine.vector[0][lane] = first[0] + lane;
    machine.vector[1][lane] = first[1];
    machine.vector[2][lane] = first[2];
  }
}

/// Executes a random program.
Checked check_random_program(unsigned seed, unsigned lanes) {
  const Lines lines = RandomProgram(seed, lanes).lines();
  const Program program = program_of(lines, lanes);
  const unsigned ids_in_rows = std::array{0U, 1U, 3U}[seed % 3];
  const auto blocks = follow_lane_sums(program, ids_in_rows);
  if (!blocks) {
    ADD_FAILURE() << "not followed";
    return {};
  }
  std::mt19937 random(seed);
  LaneSumMachine machine(lanes);
  for (auto& scalar : machine.scalar) scalar = static_cast<std::uint32_t>(random());
  for (auto& vector : machine.vector)
    for (auto& lane : vector) lane = static_cast<std::uint32_t>(random());
  begin_with_ids(machine, random, lanes, ids_in_rows);
  LaneSumParts parts(machine);
  parts.begin_with_ids(ids_in_rows);
  LaneSums sums(lanes);
  Checked checked;
  std::int64_t offset = 0;
  for (unsigned step = 0; step < 120; ++step) {
    if (program.leaders.contains(offset)) sums = blocks->contains(offset) ? blocks->at(offset) : LaneSums(lanes);
    for (unsigned low = 0; low < 5; ++low) {
      const LaneSum* sum = sums.address(pair_at(low));
      const auto& row = sums.rows().at(low);
      const bool is_guess = sum != nullptr && sum->is_guess;
      const bool is_wrong_guess = is_guess && !parts.holds(low, *sum);
      if (is_wrong_guess) sum = nullptr;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        if ((machine.exec() >> lane & 1) == 0) continue;
        const std::uint64_t is = machine.vector[low][lane] | std::uint64_t{machine.vector[low + 1][lane]} << 32;
        checked.of_sums += sum != nullptr;
        checked.of_right_guesses += is_guess && !is_wrong_guess;
        checked.of_wrong_guesses += is_wrong_guess;
        checked.of_sums_in_rows += sum != nullptr && sum->stride.value_or(0) != 0;
        checked.of_rows += row && !row->is_uniform();
        const bool is_right = (sum == nullptr || parts.address(low, *sum, lane) == is) &&
                              (sum == nullptr || !sum->stride || parts.address_in_row(low, *sum, lane) == is) &&
                              (!row || parts.value(low, *row, lane) == machine.vector[low][lane]);
        if (is_right) continue;
        std::string text;
        for (std::size_t n = 0; n < lines.size(); ++n) text += std::to_string(n) + ": " + lines[n] + "\n";
        ADD_FAILURE() << "seed " << seed << ", v" << low << " in lane " << lane << " at " << offset / bytes_each << "\n"
                      << text;
        return checked;
      }
    }
    const Instruction& instruction = program.instructions.at(offset);
    if (instruction.mnemonic == "s_endpgm") break;
    for (const LaneSumStep& made : sums.follow(instruction)) parts.take(made);
    machine.execute(instruction);
    const auto next = successors(instruction);
    offset = next.size() == 2 ? next[random() % 2] : next.at(0);
  }
  return checked;
}

TEST(LaneSums, of_random_programs_are_the_addresses_in_all_active_lanes) {
  constexpr bool is_slow = SOFTGPU_ADDRESS_SANITIZER != 0 || SOFTGPU_THREAD_SANITIZER != 0;
  constexpr unsigned programs = is_slow ? 600 : 6000;
  for (const unsigned lanes : {64U, 32U}) {
    Checked all;
    for (unsigned seed = 0; seed < programs && !testing::Test::HasFailure(); ++seed) {
      const Checked checked = check_random_program(seed, lanes);
      all.of_sums += checked.of_sums;
      all.of_right_guesses += checked.of_right_guesses;
      all.of_wrong_guesses += checked.of_wrong_guesses;
      all.of_sums_in_rows += checked.of_sums_in_rows;
      all.of_rows += checked.of_rows;
    }
    EXPECT_GT(all.of_sums, programs / 3 * lanes) << "the programs hardly have any";
    EXPECT_GT(all.of_right_guesses, programs / 60 * lanes) << "the programs hardly have any";
    EXPECT_GT(all.of_wrong_guesses, programs / 60 * lanes) << "the programs hardly have any";
    EXPECT_GT(all.of_sums_in_rows, programs / 60 * lanes) << "the programs hardly have any";
    EXPECT_GT(all.of_rows, programs / 3 * lanes) << "the programs hardly have any";
  }
}

}  // namespace
}  // namespace softgpu::compute
