#include "harness.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <regex>
#include <span>
#include <sstream>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "assembler.hpp"
#include "engine_environment.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

constexpr unsigned reported_mismatches = 3;

/// Whether kernels access memory through the caches of a compute unit.
bool has_caches() { return std::getenv("FASTDISPATCH_ISA_CACHES") != nullptr; }

compute::Engine& engine() {
  static compute::Engine instance([] {
    auto options = compute::engine_options_for(*tested_target().architecture);
    if (has_caches()) options.caches = compute::Caches::kept;
    return options;
  }());
  return instance;
}

/// A case, and the test that it is from.
struct TestCase {
  Case entry;
  std::string test;
};

std::ostream& operator<<(std::ostream& to, const TestCase& from) {
  return to << from.test << ": " << from.entry.assembly << "\n  ";
}

/// A translated kernel together with the memory its code is in.
class TestKernel {
public:
  TestKernel(std::span<const TestCase> cases, const Options& options)
      : image_(assemble(kernel_text(snippets(cases), options.lds, options.scratch)),
               options.scratch == Scratch::available ? scratch_bytes : 0, options.float_mode),
        lds_(options.lds) {}
  ~TestKernel() { engine().forget(image_.kernel_object(), image_.size()); }
  TestKernel(const TestKernel&) = delete;
  TestKernel& operator=(const TestKernel&) = delete;

  /// Executes one work-group a state, in place.
  std::optional<compute::Failure> run(std::vector<MachineState>& states) {
    const std::uint64_t kernarg = reinterpret_cast<std::uintptr_t>(states.data());
    hsa_kernel_dispatch_packet_t packet = {};
    packet.setup = 1;
    packet.workgroup_size_x = static_cast<std::uint16_t>(tested_target().wavefront_size);
    packet.workgroup_size_y = packet.workgroup_size_z = packet.grid_size_y = packet.grid_size_z = 1;
    packet.grid_size_x = static_cast<std::uint32_t>(states.size()) * tested_target().wavefront_size;
    packet.group_segment_size = lds_ == Lds::unused ? 0 : lds_bytes;
    packet.private_segment_size = image_.private_bytes();
    packet.kernel_object = image_.kernel_object();
    packet.kernarg_address = const_cast<std::uint64_t*>(&kernarg);  // NOLINT: the packet's field is not const
    auto kernel = engine().kernel(packet);
    if (auto* failure = std::get_if<compute::Failure>(&kernel)) return *failure;
    auto launch = compute::Launch::make(std::get<0>(kernel), packet, queue());
    if (auto* failure = std::get_if<compute::Failure>(&launch)) return *failure;

    compute::WorkGroupRunner runner(0);  // its caches are empty
    for (std::uint64_t group = 0; group < states.size(); ++group)
      if (auto failure = runner.run(*std::get<0>(launch), group)) return failure;
    return std::nullopt;
  }

private:
  static compute::QueueView queue() {
    static const std::atomic<std::uint64_t> acquires{1};
    compute::QueueView view;
    if (has_caches()) view.acquires = &acquires;
    const bool has_number =
        tested_target().architecture->buffer_descriptors == compute::runtime::BufferDescriptors::gfx11;
    view.scratch_descriptor[1] = has_number ? 0x40000000 : 0x80000000;  // swizzled
    view.scratch_descriptor[3] = 0x00e00000;  // the lane's number is added, 64 lanes of an element side by side
    view.shared_aperture_high = shared_aperture_high;
    view.private_aperture_high = private_aperture_high;
    return view;
  }

  static std::vector<std::string> snippets(std::span<const TestCase> cases) {
    std::vector<std::string> texts;
    texts.reserve(cases.size());
    for (const TestCase& from : cases) texts.push_back(from.entry.assembly);
    return texts;
  }

  KernelImage image_;
  Lds lds_;
};

unsigned rounds() {
  static const unsigned count = [] {
    const char* setting = std::getenv("FASTDISPATCH_ISA_ROUNDS");
    return setting != nullptr ? static_cast<unsigned>(std::strtoul(setting, nullptr, 10)) : 16U;
  }();
  return count;
}

std::uint64_t execution_mask(unsigned round, Random& random) {
  switch (round % 10) {
  case 1:
    return random();
  case 2:
    return std::uint64_t{1} << random() % lane_count;
  case 3:
    return 0xaaaaaaaaaaaaaaaa;
  case 4:
    return 0;
  case 5:
    return 0xffff;
  case 6:
    return 0xffff000000000000;
  case 7:
    return random() & random();
  default:
    return ~std::uint64_t{0};
  }
}

MachineState& randomize(MachineState& state, std::size_t case_number, unsigned round, Random& random) {
  for (std::uint32_t& word : state.scalar) word = static_cast<std::uint32_t>(random());
  for (auto& lanes : state.vector)
    for (std::uint32_t& word : lanes) word = static_cast<std::uint32_t>(random());
  for (std::uint8_t& byte : state.lds) byte = static_cast<std::uint8_t>(random());
  for (std::uint8_t& byte : state.memory) byte = static_cast<std::uint8_t>(random());
  state.case_number = static_cast<std::uint32_t>(case_number);
  state.scc = random() % 2;
  state.vcc = random();
  state.m0 = static_cast<std::uint32_t>(random());
  state.exec = execution_mask(round, random);
  if (tests_wave32()) state.exec = round % 10 == 6 ? 0xffff0000 : state.exec & 0xffffffff;
  state.memory_address = reinterpret_cast<std::uintptr_t>(state.memory.data());
  return state;
}

/// The earlier values, in one lane, of the registers that the assembly names.
std::string operands(const std::string& assembly, const MachineState& before, unsigned lane) {
  static const std::regex name(R"(\b([vs])(?:(\d+)|\[(\d+):(\d+)\]))");
  std::ostringstream text;
  for (std::sregex_iterator match(assembly.begin(), assembly.end(), name), end; match != end; ++match) {
    const unsigned first = static_cast<unsigned>(std::stoul((*match)[2].matched ? (*match)[2] : (*match)[3]));
    const unsigned last = (*match)[2].matched ? first : static_cast<unsigned>(std::stoul((*match)[4]));
    text << " " << match->str() << "=";
    for (unsigned i = last + 1; i-- > first;) {
      if ((*match)[1] == "v" && i < vector_count)
        text << describe(Type::uint32, before.vector[i][lane]).substr(i == last ? 0 : 2);
      if ((*match)[1] == "s" && i < scalar_count)
        text << describe(Type::uint32, before.scalar[i]).substr(i == last ? 0 : 2);
    }
  }
  text << std::hex << " exec=0x" << before.exec << " vcc=0x" << before.vcc << " m0=0x" << before.m0
       << " scc=" << before.scc;
  return text.str();
}

std::string numbered(std::string name, unsigned number) { return name.append(std::to_string(number)); }

/// Collects the differences of one case, up to a few.
class Comparison {
public:
  explicit Comparison(const Case& entry) : entry_(entry) {}

  void compare(const MachineState& before, const MachineState& got, const MachineState& want) {
    const auto scalar = [&](const std::string& name, u64 got_bits, u64 want_bits, Type type = Type::uint32) {
      if (got_bits != want_bits) report(before, 0, name, type, got_bits, want_bits);
    };
    scalar("scc", got.scc, want.scc);
    scalar("exec", got.exec, want.exec, Type::uint64);
    scalar("vcc", got.vcc, want.vcc, Type::uint64);
    scalar("m0", got.m0, want.m0);
    for (unsigned i = 0; i < scalar_count; ++i)
      if (got.scalar[i] != want.scalar[i])
        report(before, 0, numbered("s", i), Type::uint32, got.scalar[i], want.scalar[i]);
    for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
      const u32 floats = compare_floats(before, got, want, lane);
      for (unsigned i = 0; i < vector_count; ++i)
        if ((floats >> i & 1) == 0 && got.vector[i][lane] != want.vector[i][lane])
          report(before, lane, numbered("v", i), Type::uint32, got.vector[i][lane], want.vector[i][lane]);
    }
    compare_bytes(before, "lds byte ", got.lds, want.lds);
    compare_bytes(before, "memory byte ", got.memory, want.memory);
  }

  [[nodiscard]] unsigned count() const { return count_; }
  [[nodiscard]] std::string text() const { return text_.str(); }

private:
  template <std::size_t Size>
  void compare_bytes(const MachineState& before, const char* name, const std::array<std::uint8_t, Size>& got,
                     const std::array<std::uint8_t, Size>& want) {
    if (got == want) return;
    for (unsigned i = 0; i < Size; ++i)
      if (got[i] != want[i]) report(before, 0, numbered(name, i), Type::uint32, got[i], want[i]);
  }

  /// Compares the registers that hold floating-point results; returns which these are.
  u32 compare_floats(const MachineState& before, const MachineState& got, const MachineState& want, unsigned lane) {
    u32 covered = 0;
    for (const FloatResult& result : entry_.float_results) {
      const u64 got_bits = got.vector_value(result.vgpr, lane, bytes_of(result.type));
      const u64 want_bits = want.vector_value(result.vgpr, lane, bytes_of(result.type));
      const bool same =
          before.active(lane) ? agree(result.type, got_bits, want_bits, result.tolerance) : got_bits == want_bits;
      if (!same) report(before, lane, numbered("v", result.vgpr), result.type, got_bits, want_bits);
      covered |= (registers_of(result.type) == 2 ? 3U : 1U) << result.vgpr;
    }
    return covered;
  }

  void report(const MachineState& before, unsigned lane, const std::string& where, Type type, u64 got, u64 want) {
    if (count_++ >= reported_mismatches) return;
    text_ << "\n  lane " << lane << ": " << where << " got " << describe(type, got) << ", want " << describe(type, want)
          << "; before:" << operands(entry_.assembly, before, lane);
  }

  const Case& entry_;
  unsigned count_ = 0;
  std::ostringstream text_;
};

/// The cases that the tested architecture has, as it spells them.
std::vector<Case> spelled_cases(const std::vector<Case>& cases) {
  std::vector<Case> result;
  for (const Case& entry : cases) {
    auto assembly = spelled_for_target(entry.assembly);
    if (!assembly) continue;
    result.push_back(entry);
    result.back().assembly = *std::move(assembly);
  }
  return result;
}

std::vector<MachineState> random_states(std::span<const TestCase> cases, unsigned states_per_case) {
  std::vector<MachineState> states(cases.size() * states_per_case);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Case& entry = cases[i / states_per_case].entry;
    const auto round = static_cast<unsigned>(i % states_per_case);
    Random random(std::hash<std::string>()(entry.assembly) + round);
    randomize(states[i], i / states_per_case, round, random);
    if (entry.prepare) entry.prepare(states[i], random);
  }
  return states;
}

/// Why they did not run, if so.
std::optional<std::string> run(std::span<const TestCase> cases, const Options& options,
                               std::vector<MachineState>& states) {
  try {
    const auto failure = TestKernel(cases, options).run(states);
    return failure ? std::optional(failure->text) : std::nullopt;
  } catch (const std::exception& error) {  // they do not assemble
    return error.what();
  }
}

void execute(std::span<const TestCase> cases, const Options& options) {
  const unsigned states_per_case = rounds() * options.states;
  std::vector<MachineState> states = random_states(cases, states_per_case);
  const std::vector<MachineState> before = states;
  if (const auto failure = run(cases, options, states)) {
    // One refused instruction refuses the kernel: halves of it name the instruction, and test the others.
    if (cases.size() == 1) {
      ADD_FAILURE() << cases[0] << "did not run: " << *failure;
      return;
    }
    execute(cases.first(cases.size() / 2), options);
    execute(cases.subspan(cases.size() / 2), options);
    return;
  }

  for (std::size_t number = 0; number < cases.size(); ++number) {
    Comparison comparison(cases[number].entry);
    for (std::size_t i = number * states_per_case; i < (number + 1) * states_per_case; ++i) {
      MachineState want = before[i];
      cases[number].entry.reference(want);
      comparison.compare(before[i], states[i], want);
    }
    if (comparison.count() != 0)
      ADD_FAILURE() << cases[number] << comparison.count() << " differences" << comparison.text();
  }
}

/// The cases of a test suite, until it ends.
class SuiteCases final : public testing::EmptyTestEventListener {
public:
  /// GoogleTest owns it.
  static SuiteCases& instance() {
    static auto* const cases = [] {
      auto* const made = new SuiteCases;
      testing::UnitTest::GetInstance()->listeners().Append(made);
      return made;
    }();
    return *cases;
  }

  void add(const std::vector<Case>& cases, const Options& options) {
    const char* const test = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::vector<TestCase>& group = group_of(options);
    for (const Case& entry : cases) group.push_back({entry, test});
  }

private:
  struct Group {
    Options options;
    std::vector<TestCase> cases;
  };

  // A kernel of more than 500 instructions is translated for any EXEC only; the frame takes 150 or so.
  static constexpr std::size_t most_instructions = 320;

  /// With what selects the case.
  static std::size_t instructions_of(const TestCase& from) {
    return 5 + static_cast<std::size_t>(std::ranges::count(from.entry.assembly, '\n'));
  }

  std::vector<TestCase>& group_of(const Options& options) {
    for (Group& group : groups_)
      if (group.options == options) return group.cases;
    return groups_.emplace_back(Group{options, {}}).cases;
  }

  void OnTestSuiteEnd(const testing::TestSuite& /*suite*/) override {  // NOLINT(readability-identifier-naming)
    for (const Group& group : std::exchange(groups_, {})) {
      for (std::span<const TestCase> rest = group.cases; !rest.empty();) {
        std::size_t count = 1;
        std::size_t instructions = instructions_of(rest[0]);
        while (count < rest.size() && (instructions += instructions_of(rest[count])) <= most_instructions) ++count;
        execute(rest.first(count), group.options);
        rest = rest.subspan(count);
      }
    }
  }

  std::vector<Group> groups_;
};

}  // namespace

void expect_match(const std::vector<Case>& cases, Options options) {
  if (tests_gfx90a() && !options.gfx90a_lacks_them) return SuiteCases::instance().add(cases, options);
  const std::vector<Case> known = tests_gfx90a() ? std::vector<Case>{} : spelled_cases(cases);
  if (known.empty()) GTEST_SKIP() << "the tested architecture has none of these instructions";
  SuiteCases::instance().add(known, options);
}

std::optional<compute::Failure> refusal(const std::string& assembly) {
  std::vector<MachineState> states(1);
  const TestCase refused{{.assembly = assembly, .prepare = {}, .reference = {}}, {}};
  return TestKernel({&refused, 1}, Options{}).run(states);
}

}  // namespace softgpu::isa
