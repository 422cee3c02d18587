// A program with a handler of SIGSEGV: `fault_handlers WHEN HANDLER`. Its own faults reach its handler, before and
// after a kernel's fault, which does not: that becomes an Error.
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fastdispatch/fastdispatch.hpp>
#include <softgpu_test_kernels_code_object.hpp>

namespace fd = fastdispatch;

namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

std::jmp_buf way_out;
volatile bool expects_fault = false;
volatile int faults = 0;
void* volatile faulted_at = nullptr;
struct sigaction before;

/// Leaves the fault that the program makes itself; another one would be a kernel's.
void leave() {
  if (!expects_fault) {
    constexpr std::string_view text = "fault_handlers: the program's handler was told of a fault that is not its own\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    _exit(1);
  }
  expects_fault = false;
  faults = faults + 1;
  siglongjmp(way_out, 1);
}

void with_details(int, siginfo_t* info, void*) {
  faulted_at = info->si_addr;
  leave();
}
void plain(int) { leave(); }
/// As runtimes of languages do.
void handing_on(int signal, siginfo_t* info, void* context) {
  if (expects_fault) return with_details(signal, info, context);
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  sigaction(signal, &before, nullptr);
}

void install(std::string_view handler) {
  struct sigaction action {};
  if (handler == "plain") {
    action.sa_handler = plain;
  } else {
    action.sa_sigaction = handler == "handing_on" ? handing_on : with_details;
    action.sa_flags = SA_SIGINFO;
  }
  sigemptyset(&action.sa_mask);
  require(sigaction(SIGSEGV, &action, &before) == 0, "sigaction failed");
}

constexpr std::size_t far_away = std::size_t{1} << 28U;  // words

char* guard_page() {
  static char* const page = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return page;
}

__attribute__((no_sanitize("address", "undefined"))) void fault() {
  *static_cast<volatile char*>(guard_page() + 100) = 1;
}

/// Comes back out of the handler.
[[gnu::noinline]] void fault_and_come_back() {
  expects_fault = true;
  if (sigsetjmp(way_out, 1) == 0) fault();
}

void expect_own_fault(bool has_address) {
  const int faults_before = faults;
  faulted_at = nullptr;
  fault_and_come_back();
  require(faults == faults_before + 1, "the program's fault did not reach its handler");
  if (has_address) require(faulted_at == guard_page() + 100, "the handler was told a wrong address");
}

/// A fault that nobody wants ends the process as it would without a GPU.
void expect_end_by_a_fault() {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    fault();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  require(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a fault did not end the process by SIGSEGV");
}

void run(std::string_view when, std::string_view handler) {
  const bool has_address = handler != "plain";
  if (when == "before_the_runtime") install(handler);
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu();
  const fd::Module module = fd::Module::load(gpu, code_objects::softgpu_test_kernels());
  const auto write = module.kernel<void(std::uint32_t*)>("write_to");
  fd::PinnedBuffer<std::uint32_t> value(gpu, 1);
  if (when == "after_the_runtime") install(handler);
  {
    fd::Queue queue(gpu);
    queue.dispatch(write, fd::grid(1), value.data()).wait();
  }
  if (when == "after_the_first_kernel") {
    install(handler);
    // A look at the handlers takes the soft GPU two system calls, and is not repeated at once (docs/soft_gpu.md).
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (int round = 0; round != 2; ++round) {
    expect_own_fault(has_address);
    fd::Queue queue(gpu);
    std::string text;
    try {
      // Among the GPU's addresses, where only the host's memory management tells that nothing is there.
      queue.dispatch(write, fd::grid(1), value.data() + far_away).wait();
    } catch (const fd::Error& error) {
      text = error.what();
    }
    require(text.find("kernel write_to") != std::string::npos, "a kernel's fault is not told as one");
    expect_own_fault(has_address);
  }
  if (handler == "handing_on") expect_end_by_a_fault();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc == 3, "usage: fault_handlers WHEN HANDLER");
    run(argv[1], argv[2]);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fault_handlers: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
