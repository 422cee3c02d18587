// Prints docs/isa.md, or another architecture's where FASTDISPATCH_ISA_TARGET names one.
#include <iostream>
#include <stdexcept>

#include "command_line.hpp"
#include "instruction_table.hpp"
#include "standard_output.hpp"

int main(int argc, char** argv) {
  guard_standard_output("softgpu_isa_table");
  CommandLine line("Prints the page of docs about the GPU that FASTDISPATCH_ISA_TARGET names.", "softgpu_isa_table");
  line.parse_or_exit(argc, argv);
  try {
    std::cout << softgpu::isa::isa_document();
  } catch (const std::logic_error& error) {
    std::cerr << "softgpu_isa_table: there is no page for this GPU: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
