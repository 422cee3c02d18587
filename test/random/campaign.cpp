#include "campaign.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>
#include <thread>

#include "child_process.hpp"
#include "choices.hpp"
#include "program.hpp"

namespace random_programs {
namespace {

// Options for both compilers, so that the source means the same to both.
const std::vector<std::string> language = {"-std=c++20", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-w"};

std::filesystem::path temporary_folder() {
  std::string name = std::filesystem::temp_directory_path() / ("random_programs." + std::string(6, 'X'));
  if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
  return name;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::string last_lines(const std::string& text) {
  constexpr std::size_t limit = 500;
  return text.size() > limit ? "..." + text.substr(text.size() - limit) : text;
}

}  // namespace

Campaign::Campaign(const Options& options)
    : options_(options), folder_(options.folder.empty() ? temporary_folder() : options.folder) {
  std::filesystem::create_directories(folder_);
}

// If folders of programs are kept, this folder stays, too.
Campaign::~Campaign() {
  std::error_code ignored;
  std::filesystem::remove(folder_, ignored);
}

bool Campaign::run() {
  {
    std::vector<std::jthread> workers;
    for (unsigned job = 0; job != options_.jobs; ++job) workers.emplace_back([this] { work(); });
  }
  const Counts& all = counts_;
  std::cout << all.programs << " programs, " << all.kernels << " kernels, " << all.launches << " launches compared, "
            << all.refused << " kernels refused, " << all.different << " different";
  if (all.not_compiled != 0) std::cout << ", " << all.not_compiled << " programs not compiled";
  if (all.not_ended != 0) std::cout << ", " << all.not_ended << " ended the process";
  std::cout << std::endl;
  return (options_.allow_refused || all.refused == 0) && all.different + all.not_compiled + all.not_ended == 0;
}

void Campaign::work() {
  while (true) {
    const std::uint64_t first = next_.fetch_add(options_.batch);
    if (first >= options_.count) return;
    run_batch(options_.first + first, options_.first + std::min(first + options_.batch, options_.count));
  }
}

void Campaign::run_batch(std::uint64_t first, std::uint64_t last) {
  std::vector<Program> programs;
  for (std::uint64_t seed = first; seed != last; ++seed)
    for (Program& program : compile(seed)) programs.push_back(std::move(program));
  for (const std::string& architecture : options_.architectures)
    for (const std::string& cpu : options_.cpus) execute(programs, {architecture, cpu});
  const std::scoped_lock lock(mutex_);
  for (std::uint64_t seed = first; seed != last; ++seed)
    if (!kept_.contains(seed)) std::filesystem::remove_all(folder_ / std::to_string(seed));
}

// ---- compiling

std::vector<Campaign::Program> Campaign::compile(std::uint64_t seed) {
  const std::filesystem::path folder = folder_ / std::to_string(seed);
  std::filesystem::create_directories(folder);
  const std::filesystem::path source = folder / "program.hip";
  std::ofstream(source) << program(seed, options_.kernels);
  Program base{.seed = seed, .files = {.kernels = options_.kernels, .host = folder / "host.so"}};

  // The GPU rounds each operation on halves. Hosts without such operations may round the last one only.
  std::vector<std::string> host = {options_.host_compiler,  "-x",      "c++",  "-O1",
                                   "-fexcess-precision=16", "-shared", "-fPIC"};
  append(host, language);
  append(host, {source, "-o", base.files.host, "-lm"});
  {
    const std::scoped_lock lock(mutex_);
    ++counts_.programs;
  }
  if (!compile(base, host)) return {};

  std::vector<std::string> levels = options_.levels;
  if (!options_.all_levels) levels = {Choices(seed).one_of(options_.levels)};
  std::vector<Program> result;
  for (const std::string& level : levels) {
    Program program = base;
    program.level = level;
    program.files.code_object = folder / (level + ".hsaco");
    const bool is_hipcc = options_.device_compiler.find("hipcc") != std::string::npos;
    std::vector<std::string> device = {options_.device_compiler, is_hipcc ? "--genco" : "--cuda-device-only",
                                       "-nogpuinc", "-" + level};
    append(device, language);
    for (const std::string& architecture : options_.architectures) device.push_back("--offload-arch=" + architecture);
    append(device, options_.device_flags);
    append(device, {source, "-o", program.files.code_object});
    if (compile(program, device)) result.push_back(std::move(program));
  }
  return result;
}

bool Campaign::compile(const Program& program, const std::vector<std::string>& command) {
  const Outcome outcome = random_programs::run(command);
  if (outcome.status == 0) return true;
  {
    const std::scoped_lock lock(mutex_);
    ++counts_.not_compiled;
  }
  std::string text;
  for (const std::string& argument : command) text += argument + " ";
  std::ofstream(folder_ / std::to_string(program.seed) / "compiler.log") << text << "\n" << outcome.output;
  tell(program, "was not compiled, see compiler.log");
  return false;
}

// ---- executing

// After a process that ended too early, another process executes the remaining programs.
void Campaign::execute(std::vector<Program>& programs, const Device& device) {
  std::size_t first = 0;
  while (first < programs.size()) {
    const std::string name = std::to_string(programs.front().seed) + "." + device.architecture + "." + device.cpu;
    const std::filesystem::path list = folder_ / (name + ".list");
    {
      std::ofstream file(list);
      for (std::size_t i = first; i != programs.size(); ++i) {
        Compiled& files = programs[i].files;
        files.expected = files.code_object;
        files.expected.replace_extension("expected.bin");
        file << files.kernels << " " << files.host << " " << files.code_object << " " << files.expected << "\n";
      }
    }
    const Outcome outcome =
        random_programs::run({"/proc/self/exe", "--execute", list},
                             {"FASTDISPATCH_DEVICE=softgpu", "SOFTGPU_ARCH=" + device.architecture,
                              "SOFTGPU_CPU=" + device.cpu, "SOFTGPU_CACHE=off", "SOFTGPU_TIMEOUT=120"});
    std::filesystem::remove(list);
    const std::optional<std::size_t> last = take_report(programs, first, device, outcome.output);
    if (outcome.status == 0) return;
    if (!last) throw std::runtime_error("programs cannot be executed: " + last_lines(outcome.output));
    {
      const std::scoped_lock lock(mutex_);
      ++counts_.not_ended;
    }
    tell(programs[*last], "on " + device.architecture + ", " + device.cpu + " ended the process with " +
                              std::to_string(outcome.status) + ": " + last_lines(outcome.output));
    first = *last + 1;
  }
}

// Reads the output of a process. Returns the last program that it began.
std::optional<std::size_t> Campaign::take_report(const std::vector<Program>& programs, std::size_t first,
                                                 const Device& device, const std::string& output) {
  std::istringstream lines(output);
  std::optional<std::size_t> current;
  std::string remarks;  // the soft GPU's
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::size_t number = 0;
    words >> word >> number;
    if (word == report::begin) {
      current = first + number;
      continue;
    }
    const bool equal = word == report::equal;
    const bool refused = word == report::refused;
    if (!equal && !refused && word != report::different) {
      remarks += " " + line;
      continue;
    }
    {
      const std::scoped_lock lock(mutex_);
      ++(equal ? counts_.kernels : refused ? counts_.refused : counts_.different);
      std::uint64_t launches = 0;
      if (equal && words >> launches) counts_.launches += launches;
    }
    if (equal) continue;
    if (refused && options_.allow_refused) {
      remarks.clear();
      continue;
    }
    const Program& program = programs.at(current.value());
    std::string text;
    std::getline(words, text);
    if (refused && !remarks.empty()) text.clear();  // the soft GPU says more than HSA's text does
    std::ostringstream report;
    report << "on " << device.architecture << ", " << device.cpu << ": kernel_" << number << " " << word << ":" << text
           << remarks;
    tell(program, report.str());
    remarks.clear();
  }
  return current;
}

void Campaign::tell(const Program& program, const std::string& what) {
  const std::scoped_lock lock(mutex_);
  kept_.insert(program.seed);
  std::cout << folder_ / std::to_string(program.seed) << " " << program.level << " " << what << std::endl;
}

}  // namespace random_programs
