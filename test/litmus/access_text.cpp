#include "access_text.hpp"

#include <sstream>
#include <stdexcept>

namespace softgpu::litmus {
namespace {

/// What an element is called.
struct Suffixes {
  const char* load;
  const char* store;
  const char* lds_read;
  const char* lds_write;
};

Suffixes suffixes(Element element) {
  switch (element.bytes) {
  case 1:
    return {"ubyte", "byte", "u8", "b8"};
  case 2:
    return {"ushort", "short", "u16", "b16"};
  case 4:
    return {"dword", "dword", "b32", "b32"};
  case 8:
    return {"dwordx2", "dwordx2", "b64", "b64"};
  case 16:
    return {"dwordx4", "dwordx4", "b128", "b128"};
  default:
    throw std::runtime_error("no instruction moves elements of " + std::to_string(element.bytes) + " bytes");
  }
}

std::string instruction(Memory memory, const char* verb, const char* suffix, const char* lds_verb,
                        const char* lds_suffix) {
  switch (memory) {
  case Memory::global:
  case Memory::global_with_base:
    return std::string("  global_") + verb + "_" + suffix + " ";
  case Memory::flat:
    return std::string("  flat_") + verb + "_" + suffix + " ";
  case Memory::buffer:
    return std::string("  buffer_") + verb + "_" + suffix + " ";
  case Memory::lds:
    break;
  }
  return std::string("  ds_") + lds_verb + "_" + lds_suffix + " ";
}

std::string vector_address(Memory memory, const AddressRegisters& address) {
  const bool is_pair = memory == Memory::global || memory == Memory::flat;
  return registers('v', address.vector, is_pair ? 2 : 1);
}

/// What follows the vector operands.
std::string rest_of_address(Memory memory, const AddressRegisters& address) {
  switch (memory) {
  case Memory::global:
    return ", off";
  case Memory::global_with_base:
    return ", " + registers('s', address.scalar, 2);
  case Memory::buffer:
    return ", " + registers('s', address.descriptor, 4) + ", " + registers('s', address.scalar_offset, 1) + " offen";
  case Memory::flat:
  case Memory::lds:
    break;
  }
  return "";
}

}  // namespace

std::string registers(char kind, unsigned first, unsigned count) {
  std::ostringstream text;
  if (count == 1)
    text << kind << first;
  else
    text << kind << '[' << first << ':' << first + count - 1 << ']';
  return text.str();
}

std::string load_text(Memory memory, Element element, unsigned destination, const AddressRegisters& address,
                      const std::string& hints) {
  const Suffixes names = suffixes(element);
  return instruction(memory, "load", names.load, "read", names.lds_read) +
         registers('v', destination, element.dwords()) + ", " + vector_address(memory, address) +
         rest_of_address(memory, address) + hints + "\n";
}

std::string store_text(Memory memory, Element element, unsigned source, const AddressRegisters& address,
                       const std::string& hints) {
  const Suffixes names = suffixes(element);
  const std::string data = registers('v', source, element.dwords());
  const std::string place = vector_address(memory, address);
  // A buffer's data come first.
  const std::string operands = memory == Memory::buffer ? data + ", " + place : place + ", " + data;
  return instruction(memory, "store", names.store, "write", names.lds_write) + operands +
         rest_of_address(memory, address) + hints + "\n";
}

}  // namespace softgpu::litmus
