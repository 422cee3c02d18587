// Kernels that hipcc compiled, loaded and run on the calling thread without any HSA runtime.
#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine_environment.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/kernel.hpp"
#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/run_time/accessible_memory.hpp"
#include "test_launch.hpp"

namespace softgpu::compute {

/// The loaded segments of a code object: it needs no relocation, only its layout.
class LoadedCodeObject {
public:
  explicit LoadedCodeObject(std::span<const std::byte> elf) : elf_(elf) {
    const auto header = at<Elf64_Ehdr>(0);
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
      if (segment.p_type != PT_LOAD) continue;
      if (memory_.size() < segment.p_vaddr + segment.p_memsz) memory_.resize(segment.p_vaddr + segment.p_memsz);
      std::memcpy(memory_.data() + segment.p_vaddr, elf.data() + segment.p_offset, segment.p_filesz);
    }
  }

  [[nodiscard]] std::span<const std::byte> memory() const { return memory_; }

  [[nodiscard]] std::uint64_t address_of(const std::string& symbol) const {
    const auto header = at<Elf64_Ehdr>(0);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
      if (section.sh_type != SHT_DYNSYM) continue;
      const auto names = at<Elf64_Shdr>(header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
      for (std::size_t at_symbol = 0; at_symbol < section.sh_size; at_symbol += sizeof(Elf64_Sym)) {
        const auto entry = at<Elf64_Sym>(section.sh_offset + at_symbol);
        const auto* name = reinterpret_cast<const char*>(elf_.data()) + names.sh_offset + entry.st_name;
        if (symbol == name) return std::bit_cast<std::uint64_t>(memory_.data() + entry.st_value);
      }
    }
    ADD_FAILURE() << "no symbol " << symbol;
    return 0;
  }

private:
  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, elf_.data() + offset, sizeof value);
    return value;
  }

  std::span<const std::byte> elf_;
  std::vector<std::byte> memory_;
};

struct Shape {
  std::array<std::uint32_t, 3> grid;
  std::array<std::uint16_t, 3> group;
  std::uint32_t dynamic_lds = 0;
};

class HipProgram {
public:
  /// The code objects that hipcc made of one source for gfx90a and for gfx942: SOFTGPU_ARCH chooses.
  /// `profile` counts what the kernels do; null: nobody counts.
  HipProgram(std::span<const std::byte> gfx90a, std::span<const std::byte> gfx942, profile::Profile* profile = nullptr)
      : code_object_(&architecture() == &Architecture::gfx90a() ? gfx90a : gfx942), engine_(options(profile)) {}

  HipProgram(std::span<const std::byte> elf, const Architecture& architecture)
      : code_object_(elf), engine_(engine_options_for(architecture)) {}

  static const Architecture& architecture() {
    const char* name = std::getenv("SOFTGPU_ARCH");
    return name == nullptr ? Architecture::gfx90a() : *Architecture::find(name);
  }

  /// Runs the whole grid, work-group after work-group, up to the first failure.
  template <class... Arguments>
  std::optional<Failure> run(const std::string& name, const Shape& shape, Arguments... arguments) {
    alignas(64) std::array<std::byte, 512> kernarg{};
    std::size_t size = 0;
    const auto append = [&](auto argument) {
      size = (size + alignof(decltype(argument)) - 1) / alignof(decltype(argument)) * alignof(decltype(argument));
      std::memcpy(kernarg.data() + size, &argument, sizeof argument);
      size += sizeof argument;
    };
    (append(arguments), ...);

    const Grant sees_arguments(memory_, kernarg.data(), kernarg.size());
    const Grant sees_code(memory_, code_object_.memory().data(), code_object_.memory().size());
    const std::uint64_t kernel_object = code_object_.address_of(name + ".kd");
    auto packet = packet_of(shape.grid, shape.group);
    packet.kernel_object = kernel_object;
    auto found = engine_.kernel(packet);
    if (auto* failure = std::get_if<Failure>(&found)) return *failure;
    const auto kernel = std::get<std::shared_ptr<const Kernel>>(found);

    packet.kernarg_address = kernarg.data();
    packet.group_segment_size = kernel->descriptor().group_segment_bytes + shape.dynamic_lds;
    packet.private_segment_size = kernel->descriptor().private_segment_bytes;
    const auto launch = launch_of(kernel, packet, queue(packet.private_segment_size));
    for (std::uint64_t group = 0; group < launch->group_count(); ++group)
      if (auto failure = runner_.run(*launch, group)) return failure;
    return std::nullopt;
  }

  /// Where in the kernel the failure came from.
  [[nodiscard]] std::string place_of(const std::string& name, const Failure& failure) const {
    return engine_.place_of(code_object_.address_of(name + ".kd"), failure);
  }

  /// Of the program's memory, kernels may access this much from now on, their arguments and their code object; null:
  /// all. `memory` lives until the last run.
  void restrict_to(AccessibleMemory* memory) { memory_ = memory; }

private:
  /// Gives the kernel more of the program's memory for the time of a run.
  class Grant {
  public:
    Grant(AccessibleMemory* memory, const void* begin, std::size_t bytes)
        : memory_(memory), begin_(std::bit_cast<std::uint64_t>(begin)), bytes_(bytes) {
      if (memory_ != nullptr) memory_->add(begin_, bytes_);
    }
    ~Grant() {
      if (memory_ != nullptr) memory_->remove(begin_, bytes_);
    }
    Grant(const Grant&) = delete;
    Grant& operator=(const Grant&) = delete;

  private:
    AccessibleMemory* memory_;
    std::uint64_t begin_;
    std::size_t bytes_;
  };

  /// As ROCr describes a queue's scratch: interleaved by dwords, 64 lanes, the lane's number added.
  QueueView queue(std::uint32_t private_bytes) {
    QueueView queue;
    queue.memory = memory_;
    queue.shared_aperture_high = 0x10000;
    queue.private_aperture_high = 0x20000;
    queue.scratch_bytes_per_lane = (private_bytes + 15) / 16 * 16;
    scratch_.resize(std::size_t{queue.scratch_bytes_per_lane} * wavefront_size * max_waves_per_group);
    queue.scratch_base = std::bit_cast<std::uint64_t>(scratch_.data());
    queue.scratch_bytes = scratch_.size();
    queue.scratch_descriptor[1] = 0x80000000;
    queue.scratch_descriptor[3] = 0x00ea7fac;
    return queue;
  }

  LoadedCodeObject code_object_;
  static EngineOptions options(profile::Profile* profile) {
    EngineOptions options = engine_options_for(architecture());
    options.profile = profile;
    return options;
  }

  Engine engine_;
  WorkGroupRunner runner_{0};
  std::vector<std::byte> scratch_;
  AccessibleMemory* memory_ = nullptr;
};

}  // namespace softgpu::compute
