#include "softgpu/thunk/soft_gpu.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "softgpu/compute/profile/report.hpp"
#include "softgpu/thunk/resource_check.hpp"

namespace softgpu::thunk {
namespace {

void write_line(std::string_view text) {
  std::string line = "softgpu: ";
  line += text;
  line += '\n';
  // One write, so that lines of several threads do not mix.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

/// Never destroyed: programs such as HIP's exit without closing, and workers may still look at the queues then.
struct Driver {
  std::mutex mutex;
  unsigned users = 0;
  std::atomic<SoftGpu*> gpu{nullptr};
  std::atomic<SoftGpu*> inherited{nullptr};  ///< in a child process, until it is told that it has none
  /// Of the whole process, however often the driver is opened. A child process has none: the file is its parent's.
  std::unique_ptr<command_processor::PacketTrace> trace;
  /// Likewise.
  std::unique_ptr<compute::profile::Profile> profile;
  std::string profile_file;
  bool is_child = false;
};

Driver& driver() {
  static Driver& instance = *new Driver;
  return instance;
}

/// Once, when the process ends: a table on standard error, and a file if one was asked for.
void report_profile() {
  Driver& self = driver();
  static std::once_flag once;
  if (self.profile == nullptr || self.is_child) return;
  std::call_once(once, [&] {
    const auto kernels = compute::profile::summaries(*self.profile);
    const std::string table = compute::profile::as_table(kernels);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, table.data(), table.size());
    if (self.profile_file == "table") return;
    std::ofstream file(self.profile_file, std::ios::binary);
    file << (self.profile_file.ends_with(".html") ? compute::profile::as_page(kernels)
                                                  : compute::profile::as_json(kernels));
    file.close();
    if (!file) write_line("SOFTGPU_PROFILE='" + self.profile_file + "' cannot be written");
  });
}

void prepare_for_exit() {
  if (SoftGpu* gpu = soft_gpu()) {
    gpu->command_processor.stop_translating();
    if (auto* trace = gpu->host.trace()) trace->flush();
  }
  report_profile();
}

/// LLVM has static objects once the first kernel is translated: exiting has to begin before their destructors, too.
void prepare_before_translators_end() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(prepare_for_exit); });
}

/// A child process has no workers. It may open the driver anew, as AMD's driver; a ROCr that was open in the parent
/// does not.
void abandon_in_child() {
  Driver& self = driver();
  if (SoftGpu* gpu = self.gpu.exchange(nullptr, std::memory_order_relaxed))
    self.inherited.store(gpu, std::memory_order_relaxed);
  self.users = 0;
  static_cast<void>(self.trace.release());  // somebody may hold its lock for ever
  static_cast<void>(self.profile.release());
  self.is_child = true;
  self.mutex.unlock();
}

/// Registered late, on first use, so that they run before the static destructors of libraries that workers use.
void register_process_hooks() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit(prepare_for_exit);
    pthread_atfork([] { driver().mutex.lock(); }, [] { driver().mutex.unlock(); }, abandon_in_child);
  });
}

/// Translations are logged beside the packets that cause them.
std::vector<compute::EngineOptions> engine_options(const Environment& environment) {
  compute::EngineOptions options{.architecture = nullptr,
                                 .cpu = environment.cpu,
                                 .optimize = static_cast<compute::Optimize>(environment.optimize),
                                 .caches = environment.strict != 0 ? compute::Caches::kept : compute::Caches::coherent,
                                 .cache_folder = environment.cache_folder,
                                 .profile = driver().profile.get(),
                                 .before_optimizing = [] { std::atexit(prepare_for_exit); }};
  if (environment.log == LogLevel::packets) options.log = write_line;
  if (environment.log != LogLevel::off) {
    options.warn = [told = std::make_shared<std::once_flag>()](std::string_view line) {  // every GPU has the folder
      std::call_once(*told, write_line, line);
    };
  }
  std::vector<compute::EngineOptions> engines(environment.gpus, options);
  for (std::uint32_t gpu = 0; gpu != environment.gpus; ++gpu)
    engines[gpu].architecture = &environment.architecture_of(gpu);
  return engines;
}

}  // namespace

void EventHost::raise_event(std::uint32_t event_id) {
  prepare_before_translators_end();
  events_.raise(event_id);
}

bool EventHost::report_memory_fault(const command_processor::MemoryFault& fault) {
  HsaMemoryAccessFault data{};
  data.NodeId = fault.gpu + 1;
  data.VirtualAddress = fault.address;
  data.Failure.NotPresent = fault.is_read_only ? 0 : 1;
  data.Failure.ReadOnly = fault.is_read_only ? 1 : 0;
  data.Failure.Imprecise = fault.is_imprecise ? 1 : 0;
  data.Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
  return events_.report_memory_fault(data);
}

void EventHost::report_error(std::string_view line) {
  if (level_ != LogLevel::off) write_line(line);
}

void EventHost::log_packet(std::string_view line) { write_line(line); }

namespace {

/// Null where memory is to be as new as the L2. Strict GPUs are of one architecture.
compute::L2Caches* l2s_of(SoftGpu& gpu, const Environment& environment) {
  return environment.strict != 0 && environment.architecture_of(0).writes_l2_back() ? &gpu.l2s : nullptr;
}

}  // namespace

SoftGpu::SoftGpu(const Environment& environment, command_processor::PacketTrace* trace)
    : topology(environment), events(environment.strict != 0 ? Events::few : Events::most),
      host(events, environment.log, trace),
      l2s(environment.architecture_of(0).l2_caches, environment.architecture_of(0).drops_float_atomics),
      memory(topology.node_count(),
             {.device_bytes = environment.memory_bytes, .host_bytes = environment.host_memory_bytes},
             l2s_of(*this, environment),
             {.need = [this](auto base, auto size) { return command_processor.has_queue_in(base, size); },
              .release = [this](auto base, auto size) { command_processor.forget_code(base, size); }}),
      command_processor({.threads = environment.threads,
                         .compute_units = environment.compute_units,
                         .shuffle_seed = environment.shuffle_seed,
                         .l2s = l2s_of(*this, environment),
                         .strict = environment.strict != 0,
                         .time_limit = environment.timeout,
                         .engines = engine_options(environment),
                         .memory = environment.xnack == 0 ? &memory.accessible() : nullptr},
                        host) {
  memory.share(events.mailboxes());
}

namespace {

/// Null, with a line on standard error, if the process may not have what the soft GPU or ROCr needs.
std::unique_ptr<SoftGpu> make(const Environment& environment, command_processor::PacketTrace* trace) {
  try {
    auto gpu = std::make_unique<SoftGpu>(environment, trace);
    const auto lacking = lacking_resource(environment.gpus);
    if (!lacking) return gpu;
    write_line(*lacking);
  } catch (const std::bad_alloc&) {
    write_line("there is no memory for the soft GPU: is it limited (ulimit -v, ulimit -d)?");
  } catch (const std::system_error& error) {  // of std::thread
    write_line("the soft GPU cannot start its " + std::to_string(environment.threads) +
               " worker threads: " + error.code().message() +
               "; raise the limit on the user's processes (ulimit -u), or set SOFTGPU_THREADS");
  }
  return nullptr;
}

/// Of the GPUs' architectures, in their order.
std::string names_of(const Environment& environment) {
  std::string names;
  for (const compute::Architecture* architecture : environment.architectures)
    names += (names.empty() ? "" : ", ") + std::string(architecture->name);
  return names;
}

/// False, with a line on standard error, if the trace's file cannot be written.
bool start_trace(const Environment& environment) {
  std::unique_ptr<command_processor::PacketTrace>& trace = driver().trace;
  if (environment.trace.empty() || trace != nullptr || driver().is_child) return true;
  try {
    trace = std::make_unique<command_processor::PacketTrace>(environment.trace, names_of(environment) + " (soft GPU)");
    return true;
  } catch (const std::runtime_error& error) {
    write_line("SOFTGPU_TRACE='" + environment.trace + "' cannot be written: " + error.what());
    return false;
  }
}

}  // namespace

bool open() {
  Driver& self = driver();
  const std::lock_guard lock(self.mutex);
  if (self.users == 0) {
    const auto environment = Environment::read();
    if (const auto* complaint = std::get_if<std::string>(&environment)) {
      write_line(*complaint);
      return false;
    }
    register_process_hooks();
    if (!start_trace(std::get<Environment>(environment))) return false;
    const std::string& profile = std::get<Environment>(environment).profile;
    if (!profile.empty() && self.profile == nullptr && !self.is_child) {
      self.profile = std::make_unique<compute::profile::Profile>();
      self.profile_file = profile;
    }
    auto gpu = make(std::get<Environment>(environment), self.trace.get());
    if (gpu == nullptr) return false;
    self.gpu.store(gpu.release(), std::memory_order_release);
    self.inherited.store(nullptr, std::memory_order_relaxed);
  }
  ++self.users;
  return true;
}

bool close() {
  Driver& self = driver();
  const std::lock_guard lock(self.mutex);
  if (self.users == 0) return false;
  if (--self.users == 0) delete self.gpu.exchange(nullptr);
  if (self.users == 0 && self.trace != nullptr) self.trace->flush();
  return true;
}

SoftGpu* soft_gpu() noexcept { return driver().gpu.load(std::memory_order_acquire); }

void refused_use() {
  if (SoftGpu* inherited = driver().inherited.exchange(nullptr))
    inherited->host.report_error(
        "this process was forked from one that used the GPU, which it cannot use: open the runtime after the fork");
}

}  // namespace softgpu::thunk
