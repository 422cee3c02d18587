// Prints docs/isa.md.
#include <iostream>

#include "instruction_table.hpp"

int main() {
  std::cout << softgpu::isa::isa_document();
  return 0;
}
