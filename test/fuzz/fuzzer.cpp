// Command line: `PROGRAM [--inputs N] [--seed S]`, for 2000 inputs and seed 1. If an input fails, it is written to the
// folder for temporary files, its name is printed, and the exit code is 1. The exit code is 2 for a wrong command line.
#include "fuzzer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fastdispatch::fuzz {
namespace {

/// Changes one thing.
class Damage {
public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }

  void operator()(Bytes& bytes) {
    if (bytes.size() < 8) return;
    const std::size_t place = below(bytes.size() - 7);
    switch (below(7)) {
    case 0:
      bytes[place] ^= std::byte{1} << below(8);
      break;
    case 1:
      bytes[place] = static_cast<std::byte>(random_());
      break;
    case 2:
      put(bytes, place, static_cast<std::uint32_t>(random_()));
      break;
    case 3:  // sizes and offsets at the edges of their types
      put(bytes, place / 4 * 4, edges[below(edges.size())]);
      break;
    case 4:
      put(bytes, place / 8 * 8, static_cast<std::uint64_t>(edges[below(edges.size())]) << below(33));
      break;
    case 5: {  // another part of the same input
      const std::size_t length = std::min<std::size_t>(4 * (1 + below(8)), bytes.size() - place);
      const std::size_t from = below(bytes.size() - length + 1);
      std::memmove(bytes.data() + place, bytes.data() + from, length);
      break;
    }
    default:
      if (below(8) == 0) bytes.resize(place);
    }
  }

private:
  static constexpr std::array<std::uint32_t, 8> edges = {0,          1,          0x7f,       0xffff,
                                                         0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
  template <class T>
  static void put(Bytes& bytes, std::size_t place, T value) {
    std::memcpy(bytes.data() + place, &value, std::min(sizeof value, bytes.size() - place));
  }

  std::mt19937_64 random_;
};

/// The target's current input, for the signal handler.
const Bytes* current = nullptr;
std::string record;

void write_record() {
  if (std::FILE* file = std::fopen(record.c_str(), "wb")) {
    std::fwrite(current->data(), 1, current->size(), file);
    std::fclose(file);
  }
  std::fprintf(stderr, "the input is %s\n", record.c_str());
}

void on_crash(int signal) {
  write_record();  // not for signal handlers, but the process is lost anyway
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument("'" + std::string(text) + "' is not a number");
  return value;
}

int run(int count, char** arguments, const Target& target) {
  std::uint64_t inputs = 2000;
  std::uint64_t seed = 1;
  try {
    for (int i = 1; i < count; i += 2) {
      const std::string_view option = arguments[i];
      if (i + 1 == count || (option != "--inputs" && option != "--seed"))
        throw std::invalid_argument("usage: " + std::string(arguments[0]) + " [--inputs N] [--seed S]");
      (option == "--inputs" ? inputs : seed) = number(arguments[i + 1]);
    }
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }

  record = std::filesystem::temp_directory_path() / ("fuzz-" + std::to_string(getpid()));
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) std::signal(signal, on_crash);
  for (const Bytes& sample : target.samples) target.take(sample);
  for (std::uint64_t i = 0; i < inputs; ++i) {
    Damage damage(seed + i);
    Bytes input = target.samples[damage.below(target.samples.size())];
    for (std::size_t changes = 1 + damage.below(8); changes > 0; --changes) damage(input);
    current = &input;
    try {
      target.take(input);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "input %s: %s\n", std::to_string(seed + i).c_str(), error.what());
      write_record();
      return 1;
    }
  }
  std::printf("%llu inputs, seeds from %llu on\n", static_cast<unsigned long long>(inputs),
              static_cast<unsigned long long>(seed));
  return 0;
}

}  // namespace
}  // namespace fastdispatch::fuzz

int main(int count, char** arguments) {
  return fastdispatch::fuzz::run(count, arguments, fastdispatch::fuzz::target());
}
