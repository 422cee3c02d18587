#include "standard_output.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace {

const char* guarded_program = nullptr;

void flush_at_exit() {
  try {
    flush_standard_output();
  } catch (const std::exception& error) {
    std::cerr << guarded_program << ": " << error.what() << std::endl;
    std::_Exit(EXIT_FAILURE);  // the program exits already
  }
}

}  // namespace

void require_standard_output() {
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) throw std::runtime_error("standard output is closed");
}

void flush_standard_output() {
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("standard output cannot be written: is the disk full?");
}

void guard_standard_output(const char* program) {
  guarded_program = program;
  try {
    require_standard_output();
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << "\n";
    std::exit(EXIT_FAILURE);
  }
  std::atexit(flush_at_exit);
}
