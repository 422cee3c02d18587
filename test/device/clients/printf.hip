// Kernels that call the host: printf, whose lines a thread of HIP's writes, and a failed assertion, which ends the
// program.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace {

constexpr unsigned group = 96;  // a wavefront and a half
constexpr unsigned groups = 20;

/// Everything that is written to a file descriptor while this object lives.
class Capture {
public:
  explicit Capture(int descriptor) : descriptor_(descriptor), before_(dup(descriptor)), file_(std::tmpfile()) {
    EXPECT(before_ >= 0 && file_ != nullptr);
    dup2(fileno(file_), descriptor_);
  }
  ~Capture() {
    std::fflush(nullptr);
    dup2(before_, descriptor_);
    close(before_);
    std::fclose(file_);
  }
  std::string text() {
    std::fflush(nullptr);
    std::string result;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) result += static_cast<char>(c);
    return result;
  }

private:
  int descriptor_;
  int before_;
  std::FILE* file_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
      continue;
    }
    lines.push_back(line);
    line.clear();
  }
  EXPECT(line.empty());
  return lines;
}

std::string formatted(const char* format, auto... values) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// Two of three work-items print, a line a round; `lengths` is what printf returned to each in all.
__global__ void greet(const char* name, unsigned rounds, int* lengths) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int signed_number = -static_cast<int>(i);
  int length = 0;
  for (unsigned round = 0; round < rounds && i % 3 != 2; ++round)
    length += printf("%d of group %u: %s %c%% %f\n", signed_number, i / group, i % 3 == 0 ? name : "brief",
                     'a' + static_cast<int>(round), i * 0.25);
  lengths[i] = length;
}

std::string expected_line(unsigned i, unsigned round, const char* name) {
  return formatted("%d of group %u: %s %c%% %f", -static_cast<int>(i), i / group, i % 3 == 0 ? name : "brief",
                   'a' + round, i * 0.25);
}

/// Every line is there once, whole, with its work-item's arguments. The lines of a work-item are in order.
void lines_of_many_work_items() {
  constexpr std::string_view greeting =
      "a name that is longer than one message of fifty-six bytes to the host can hold";
  constexpr unsigned rounds = 3;
  char* name = nullptr;
  int* lengths = nullptr;
  CHECK(hipHostMalloc(&name, greeting.size() + 1));
  CHECK(hipHostMalloc(&lengths, groups * group * sizeof(*lengths)));
  std::memcpy(name, greeting.data(), greeting.size() + 1);
  std::vector<std::string> lines;
  {
    Capture capture(STDOUT_FILENO);
    greet<<<groups, group>>>(name, rounds, lengths);
    CHECK(hipDeviceSynchronize());
    lines = lines_of(capture.text());
  }
  std::map<std::string, std::size_t> places;
  for (std::size_t at = 0; at < lines.size(); ++at) EXPECT(places.try_emplace(lines[at], at).second);
  for (unsigned i = 0; i < groups * group; ++i) {
    std::size_t length = 0;
    std::size_t last = 0;
    for (unsigned round = 0; round < rounds && i % 3 != 2; ++round) {
      const std::string line = expected_line(i, round, name);
      const auto found = places.find(line);
      EXPECT(found != places.end() && (round == 0 || found->second > last));
      last = found->second;
      length += line.size() + 1;
      places.erase(found);
    }
    EXPECT(static_cast<std::size_t>(lengths[i]) == length);
  }
  EXPECT(places.empty());
  CHECK(hipHostFree(name));
  CHECK(hipHostFree(lengths));
}

__global__ void insist(unsigned limit) { assert(threadIdx.x < limit); }

/// This program again, in a process of its own: a GPU does not follow a fork.
void assertions(const char* program) {
  int status = 0;
  std::string text;
  {
    Capture capture(STDERR_FILENO);
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
      setenv("HIP_SKIP_ABORT_ON_GPU_ERROR", "0", 1);  // HIP 7 goes on otherwise
      execl(program, program, "insist", nullptr);
      _exit(EXIT_SUCCESS);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    text = capture.text();
  }
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  EXPECT(text.find("Device-side assertion `threadIdx.x < limit' failed") != std::string::npos);
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  if (count_of_arguments == 2 && std::string_view(arguments[1]) == "insist") {
    insist<<<1, 64>>>(64);
    CHECK(hipDeviceSynchronize());
    insist<<<1, 64>>>(63);
    static_cast<void>(hipDeviceSynchronize());
    return EXIT_SUCCESS;
  }
  assertions(arguments[0]);
  lines_of_many_work_items();
}
