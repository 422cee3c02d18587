// OpenMP target regions, which clang compiles for the GPU and LLVM's plugin launches through HSA.
#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int count = 50'000;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::_Exit(EXIT_FAILURE);
}
#define EXPECT(condition) expect((condition), #condition)

void runs_on_the_device() {
  int on_host = -1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  EXPECT(omp_get_num_devices() == 1 && on_host == 0);
}

/// Memory that stays on the device between two regions, and sums over all teams.
void data_and_reductions() {
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t i = 0; i < count; ++i) numbers[i] = i;
  std::uint32_t* values = numbers.data();
  std::uint64_t sum = 0;
#pragma omp target data map(tofrom : values[:count])
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < count; ++i) values[i] = values[i] * 3 + 1;
    values[7] = 0;  // the host's own
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < count; ++i) sum += values[i];
  }
  std::uint64_t expected = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    EXPECT(numbers[i] == i * 3 + 1);
    expected += i * 3 + 1;
  }
  EXPECT(sum == expected);
}

}  // namespace

int main() {
  runs_on_the_device();
  data_and_reductions();
  std::fflush(nullptr);
  std::_Exit(EXIT_SUCCESS);  // LLVM 15's plugin may use what it has freed when the program unregisters its code
}
