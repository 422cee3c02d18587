// Prints docs/isa.md, or another architecture's where FASTDISPATCH_ISA_TARGET names one.
#include <iostream>

#include "instruction_table.hpp"

int main() {
  std::cout << softgpu::isa::isa_document();
  return 0;
}
