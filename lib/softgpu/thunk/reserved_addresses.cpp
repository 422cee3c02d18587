#include "softgpu/thunk/reserved_addresses.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/thunk/memory_file.hpp"

namespace softgpu::thunk {
namespace {

struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t inode = 0;
  bool is_accessible = false;
  bool is_memory_file = false;
};

/// What is mapped in a range, in the order of addresses, cut to it.
std::vector<Mapping> mappings_in(std::uint64_t base, std::uint64_t bytes) {
  std::vector<Mapping> found;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Mapping mapping;
    char dash = 0;
    std::string rights;
    std::string offset;
    std::string device;
    std::string name;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> rights >> offset >> device >> std::dec >>
        mapping.inode >> name;
    mapping.begin = std::max(mapping.begin, base);
    mapping.end = std::min(mapping.end, base + bytes);
    if (mapping.begin >= mapping.end) continue;
    mapping.is_accessible = !rights.starts_with("---");
    mapping.is_memory_file = name.starts_with(memory_file_link);
    found.push_back(mapping);
  }
  return found;
}

void make_inaccessible(std::uint64_t begin, std::uint64_t end, int flags) {
  if (begin == end) return;
  // Where others were faster, the addresses are theirs.
  static_cast<void>(mmap(command_processor::at_address<void>(begin), end - begin, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0));
}

}  // namespace

void reserve_again(std::uint64_t base, std::uint64_t bytes, std::uint64_t file_identity) {
  std::uint64_t done = base;
  for (const Mapping& mapping : mappings_in(base, bytes)) {
    make_inaccessible(done, mapping.begin, MAP_FIXED_NOREPLACE);
    if (mapping.is_memory_file && mapping.inode == file_identity)
      make_inaccessible(mapping.begin, mapping.end, MAP_FIXED);
    done = mapping.end;
  }
  make_inaccessible(done, base + bytes, MAP_FIXED_NOREPLACE);
}

bool is_used_by_others(std::uint64_t base, std::uint64_t bytes) {
  return std::ranges::any_of(mappings_in(base, bytes),
                             [](const Mapping& mapping) { return mapping.is_accessible && !mapping.is_memory_file; });
}

}  // namespace softgpu::thunk
