#include "run_program.hpp"

#include "standard_output.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

int run_program(const char* name, const std::function<int()>& run) {
  // What is measured is optimized code. A soft GPU would have it only once a kernel has run for a while.
  ::setenv("SOFTGPU_OPTIMIZE", "1", /*overwrite=*/0);
  try {
    require_standard_output();
    const int result = run();
    flush_standard_output();
    return result;
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": there is not enough memory\n";
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << "\n";
  }
  return EXIT_FAILURE;
}
