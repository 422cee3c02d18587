#include "softgpu/compute/run_time/early_exit.hpp"

#include <sstream>

namespace softgpu::compute {

std::string refusal_text(const EarlyExit& exit) {
  if (exit.cause == EarlyExit::Cause::impossible_address)
    return "an address that is not canonical, which no memory has";
  std::ostringstream text;
  text << "address 0x" << std::hex << exit.address;
  if (exit.cause == EarlyExit::Cause::foreign_memory) {
    text << " is memory of the program that the GPU was not given";
    return text.str();
  }
  switch (exit.refusal) {
  case Refusal::not_mapped:
    text << " is not mapped";
    break;
  case Refusal::read_only:
    text << " may not be written: its memory is read-only";
    break;
  case Refusal::no_memory:
    text << " has no memory behind it: has a mapped file become shorter?";
    break;
  }
  return text.str();
}

}  // namespace softgpu::compute
