#include "softgpu/compute/execution/engine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <stop_token>
#include <unordered_map>
#include <vector>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/execution/background_work.hpp"
#include "softgpu/compute/execution/failures.hpp"
#include "softgpu/compute/execution/kernel.hpp"
#include "softgpu/compute/execution/translations.hpp"
#include "softgpu/compute/host_code/jit.hpp"
#include "softgpu/compute/profile/describe.hpp"
#include "softgpu/compute/program/kernel_name.hpp"
#include "softgpu/compute/program/program.hpp"
#include "softgpu/compute/program/source_line.hpp"

namespace softgpu::compute {
namespace {

using KernelOrFailure = std::variant<std::shared_ptr<const Kernel>, Failure>;
using DescriptorBytes = std::array<std::byte, KernelDescriptor::size>;

const std::byte* at(std::uint64_t address) {
  return reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

Failure illegal_instruction(std::int64_t offset, const std::string& what) {
  const auto from_entry = static_cast<std::uint64_t>(offset);
  return {.kind = Failure::Kind::illegal_instruction,
          .text = what + " at offset " + offset_from_entry(from_entry) + " of the kernel: not supported",
          .instruction = from_entry};
}

/// That the end of the process waits for.
constexpr std::chrono::seconds longest_translation{2};

/// A kernel whose first code has run for so long is translated again, which takes up to forty times as long.
constexpr std::chrono::microseconds worth_an_instruction{500};

/// LLVM wants for nothing but memory here.
Failure no_host_code(std::uint64_t code_address, const JitError& error) {
  return {Failure::Kind::host_memory, code_address, error.what()};
}

/// Of the kernel whose descriptor is there; empty if nothing is.
std::optional<std::uint64_t> code_address(std::uint64_t kernel_object) {
  DescriptorBytes bytes;
  if (read_memory(kernel_object, bytes) != bytes.size()) return std::nullopt;
  return kernel_object + static_cast<std::uint64_t>(KernelDescriptor::parse(bytes).entry_offset);
}

/// The translations of a kernel, with the bytes that they were made from: the same address may hold other code later.
struct Entry {
  DescriptorBytes descriptor;
  std::vector<Program::Piece> pieces;
  std::uint32_t lanes = wavefront_size;
  std::shared_ptr<const Kernel> for_any;      ///< null where none was asked for
  std::shared_ptr<const Kernel> for_id_rows;  ///< for packets whose wavefronts have their ids in rows

  [[nodiscard]] std::shared_ptr<const Kernel>& kernel(const hsa_kernel_dispatch_packet_t* packet) {
    return packet != nullptr && has_ids_in_rows(*packet, lanes) ? for_id_rows : for_any;
  }
  [[nodiscard]] bool is_of_same_code(const Entry& other) const {
    return descriptor == other.descriptor && pieces == other.pieces;
  }

  [[nodiscard]] std::uint64_t code_address(std::uint64_t kernel_object) const {
    return kernel_object + static_cast<std::uint64_t>(KernelDescriptor::parse(descriptor).entry_offset);
  }
  [[nodiscard]] bool is_current(std::uint64_t kernel_object) const {
    if (std::memcmp(at(kernel_object), descriptor.data(), descriptor.size()) != 0) return false;
    const std::uint64_t code = code_address(kernel_object);
    return !any_piece([&](const Program::Piece& piece) {
      return std::memcmp(at(code + static_cast<std::uint64_t>(piece.offset)), piece.bytes.data(), piece.bytes.size()) !=
             0;
    });
  }
  [[nodiscard]] bool touches(std::uint64_t kernel_object, std::uint64_t base, std::size_t size) const {
    const auto overlaps = [&](std::uint64_t begin, std::size_t length) {
      return begin < base + size && base < begin + length;
    };
    if (overlaps(kernel_object, descriptor.size())) return true;
    const std::uint64_t code = code_address(kernel_object);
    return any_piece([&](const Program::Piece& piece) {
      return overlaps(code + static_cast<std::uint64_t>(piece.offset), piece.bytes.size());
    });
  }

private:
  template <class Predicate>
  [[nodiscard]] bool any_piece(Predicate&& predicate) const {
    if (std::ranges::any_of(pieces, predicate)) return true;
    const auto have_any = [&](const std::shared_ptr<const Kernel>& kernel) {
      return kernel != nullptr && kernel->regions() != nullptr && kernel->regions()->any(predicate);
    };
    return have_any(for_any) || have_any(for_id_rows);
  }
};

}  // namespace

struct Engine::State : std::enable_shared_from_this<Engine::State> {
  const Architecture& architecture;
  std::mutex entries_mutex;
  std::unordered_map<std::uint64_t, Entry> entries;  ///< by the kernel object's address
  /// A kernel is translated once, however many threads ask for it. Kernels that share no mutex are translated at the
  /// same time.
  std::array<std::mutex, 32> translation_mutexes;
  std::shared_timed_mutex llvm;  ///< shared by who uses LLVM; locked for ever where a process that exits takes it down
  Translations translations;
  const Optimize optimize;
  BackgroundWork background;
  const std::function<void()> before_optimizing;
  std::once_flag prepared_once;

  profile::Profile* profile;
  std::unordered_map<std::uint64_t, profile::KernelProfile*> profiles;  ///< by the address of a kernel's code

  explicit State(const EngineOptions& options)
      : architecture(*options.architecture), translations(options), optimize(options.optimize),
        before_optimizing(options.before_optimizing), profile(options.profile) {}

  /// Where the code of a kernel counts; null if nobody does.
  profile::KernelProfile* profile_of(std::uint64_t code_address) {
    const std::lock_guard lock(entries_mutex);
    const auto found = profiles.find(code_address);
    return found == profiles.end() ? nullptr : found->second;
  }

  void begin_profile(std::uint64_t kernel_object, std::uint64_t code_address, const Target& target) {
    std::string name = kernel_name(kernel_object);
    if (name.empty()) name = "kernel object at " + offset_from_entry(kernel_object);
    profile::KernelProfile& kernel = profile->kernel(name, architecture.name, target.wavefront_size);
    const std::lock_guard lock(entries_mutex);
    profiles[code_address] = &kernel;
  }

  TranslatedProgram translated(const Program& program, const WaveStart& start, std::uint64_t code_address) {
    profile::KernelProfile* kernel = profile_of(code_address);
    if (kernel != nullptr) profile::describe(*kernel, program, code_address);
    return translations.of(program, start, kernel);
  }

  std::mutex& translation_mutex(std::uint64_t kernel_object) {
    return translation_mutexes.at(kernel_object / KernelDescriptor::size % translation_mutexes.size());
  }

  /// Null if it is not translated; failures are not kept.
  std::shared_ptr<const Kernel> find(std::uint64_t kernel_object, const hsa_kernel_dispatch_packet_t* packet) {
    const std::lock_guard lock(entries_mutex);
    const auto found = entries.find(kernel_object);
    if (found == entries.end()) return nullptr;
    if (found->second.is_current(kernel_object)) return found->second.kernel(packet);
    entries.erase(found);
    return nullptr;
  }

  /// The same code elsewhere needs no second translation: translated code knows no addresses.
  std::shared_ptr<const Kernel> find_copy(const Entry& entry, const hsa_kernel_dispatch_packet_t* packet) {
    const std::lock_guard lock(entries_mutex);
    for (auto& [address, other] : entries)
      if (other.is_of_same_code(entry) && other.kernel(packet) != nullptr) return other.kernel(packet);
    return nullptr;
  }

  void keep(std::uint64_t kernel_object, Entry&& entry) {
    const std::lock_guard lock(entries_mutex);
    Entry& kept = entries[kernel_object];
    if (kept.is_of_same_code(entry)) {
      if (entry.for_any == nullptr) entry.for_any = std::move(kept.for_any);
      if (entry.for_id_rows == nullptr) entry.for_id_rows = std::move(kept.for_id_rows);
    }
    kept = std::move(entry);
  }

  bool is_current(const hsa_kernel_dispatch_packet_t& packet, const Kernel& kernel) {
    const std::lock_guard lock(entries_mutex);
    const auto found = entries.find(packet.kernel_object);
    return found != entries.end() && found->second.kernel(&packet).get() == &kernel &&
           found->second.is_current(packet.kernel_object);
  }

  /// Null where kernels stay as they are.
  std::shared_ptr<ProvisionalCode> provisional(const Program& program, const WaveStart& start, WaitsFor waits_for) {
    if (optimize != Optimize::later) return nullptr;
    struct Task {
      std::weak_ptr<State> engine;
      std::weak_ptr<ProvisionalCode> code;
      Program program;
    };
    const auto task = std::make_shared<Task>(Task{weak_from_this(), {}, program});
    const auto replace = [task, start, waits_for](const std::stop_token& stop) {
      const auto engine = task->engine.lock();
      const auto code = task->code.lock();
      if (engine != nullptr && code != nullptr) engine->replace(*code, task->program, start, waits_for, stop);
    };
    const auto ask = [replace, task] {
      const auto engine = task->engine.lock();
      if (engine != nullptr && engine->prepare_to_optimize()) engine->background.add(replace);
    };
    auto code = std::make_shared<ProvisionalCode>(worth_an_instruction * program.instructions.size(), ask);
    task->code = code;
    return code;
  }

  bool prepare_to_optimize() noexcept {
    try {
      const std::shared_lock using_llvm(llvm, std::try_to_lock);
      if (!using_llvm) return false;
      std::call_once(prepared_once, [&] {
        translations.load_compiler();
        if (before_optimizing) before_optimizing();
      });
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  /// Whatever goes wrong, the code that is there serves.
  void replace(ProvisionalCode& code, const Program& program, const WaveStart& start, WaitsFor waits_for,
               const std::stop_token& stop) noexcept {
    try {
      TranslatedProgram better = translations.optimized(program, start, stop);
      if (better.waits_for <= waits_for) code.set_better(std::move(better.code));
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }

  KernelOrFailure translate_program(const KernelDescriptor& descriptor, const Program& program, const WaveStart& start,
                                    std::uint64_t code_address) {
    try {
      auto [code, waits_for] = translated(program, start, code_address);
      std::unique_ptr<CodeRegions> regions;
      if (program.branches_indirectly()) {
        regions = std::make_unique<CodeRegions>(
            CodeRegion{program.start, code.wave, code.code, program.indirect_targets, program.pieces},
            [state = weak_from_this(), target = program.target, mode = start.float_mode,
             code_address](std::int64_t offset) {
              return state.lock()->region(code_address, offset, target, mode);  // kernels run while there is an engine
            });
      }
      auto until_better = code.wave.is_optimized ? nullptr : provisional(program, start, waits_for);
      return std::make_shared<const Kernel>(descriptor, program.target, start, code.wave, waits_for,
                                            std::move(code.code), std::move(regions), std::move(until_better));
    } catch (const UnsupportedInstruction& unsupported) {
      return illegal_instruction(unsupported.offset, unsupported.text);
    } catch (const JitError& error) {
      return no_host_code(code_address, error);
    }
  }

  /// The code that an indirect branch has reached.
  CodeRegions::Translated region(std::uint64_t code_address, std::int64_t offset, const Target& target,
                                 std::uint32_t float_mode) {
    const std::shared_lock using_llvm(llvm);
    auto read = Program::read(code_address, target, offset);
    if (const auto* unreadable = std::get_if<UnreadableCode>(&read))
      return illegal_instruction(unreadable->offset, unreadable->text);
    auto& program = std::get<Program>(read);
    try {
      HostCode code = translated(program, {.float_mode = float_mode}, code_address).code;
      return CodeRegion{program.start, code.wave, std::move(code.code), program.indirect_targets,
                        std::move(program.pieces)};
    } catch (const UnsupportedInstruction& unsupported) {
      return illegal_instruction(unsupported.offset, unsupported.text);
    } catch (const JitError& error) {
      return no_host_code(code_address, error);
    }
  }

  /// The kernel that has code there, or else any that is made of the kernel object.
  std::shared_ptr<const Kernel> kernel_around(std::uint64_t kernel_object, std::uint64_t host_address) {
    const std::lock_guard lock(entries_mutex);
    const auto found = entries.find(kernel_object);
    if (found == entries.end() || !found->second.is_current(kernel_object)) return nullptr;
    const Entry& entry = found->second;
    const bool is_in_rows = entry.for_id_rows != nullptr && entry.for_id_rows->has_code_at(host_address);
    return is_in_rows || entry.for_any == nullptr ? entry.for_id_rows : entry.for_any;
  }

  /// The instruction that the kernel was at when it failed, by its offset, and its text.
  std::optional<std::pair<std::int64_t, std::string>> instruction_of(const Failure& failure,
                                                                     std::uint64_t kernel_object) {
    const auto kernel = kernel_around(kernel_object, failure.host_address);
    if (kernel == nullptr || (failure.host_address == 0 && !failure.instruction)) return std::nullopt;
    CodeRegion code;
    code.wave = kernel->wave_around(failure.host_address);
    WaveStart start = kernel->start();
    if (failure.instruction) {
      code.start = static_cast<std::int64_t>(*failure.instruction);
    } else if (kernel->regions() != nullptr) {
      code = kernel->regions()->around(failure.host_address).value_or(code);
      if (code.start != 0) start.has_ids_in_rows = false;
    }
    const std::uint64_t entry = *code_address(kernel_object);
    const auto read = Program::read(entry, kernel->target(), code.start);
    const auto* program = std::get_if<Program>(&read);
    if (program == nullptr) return std::nullopt;
    const auto offset = failure.instruction ? std::optional(code.start)
                                            : translations.instruction_at(*program, start, code.wave,
                                                                          failure.host_address, profile_of(entry));
    if (!offset) return std::nullopt;
    const auto instruction = program->instructions.find(*offset);
    if (instruction == program->instructions.end()) return std::nullopt;
    return std::pair(*offset, instruction->second.text);
  }

  /// Translates a kernel and keeps it; failures are not kept.
  KernelOrFailure make(std::uint64_t kernel_object, const hsa_kernel_dispatch_packet_t* packet) {
    const std::shared_lock using_llvm(llvm);
    Entry entry;
    if (read_memory(kernel_object, entry.descriptor) != entry.descriptor.size())
      return Failure{Failure::Kind::invalid_code_object, kernel_object, "the kernel object is not mapped"};
    const KernelDescriptor descriptor = KernelDescriptor::parse(entry.descriptor);
    const std::uint64_t code = entry.code_address(kernel_object);
    if (code % 4 != 0 || descriptor.entry_offset == 0)
      return Failure{Failure::Kind::invalid_code_object, kernel_object, "no kernel descriptor"};
    auto read = Program::read(code, descriptor.target(architecture));
    if (const auto* unreadable = std::get_if<UnreadableCode>(&read))
      return illegal_instruction(unreadable->offset, unreadable->text);
    const Program& program = std::get<Program>(read);
    entry.pieces = program.pieces;
    entry.lanes = program.target.wavefront_size;
    // A function pointer leads to the code next to this code.
    if (profile != nullptr) begin_profile(kernel_object, code, program.target);
    const bool is_its_own = program.branches_indirectly() || profile != nullptr;
    auto kernel = is_its_own ? nullptr : find_copy(entry, packet);
    if (kernel == nullptr) {
      const WaveStart start{.float_mode = descriptor.float_mode(*program.target.architecture),
                            .has_ids_in_rows = packet != nullptr && has_ids_in_rows(*packet, entry.lanes)};
      auto translated = translate_program(descriptor, program, start, code);
      if (std::holds_alternative<Failure>(translated)) return translated;
      kernel = std::get<std::shared_ptr<const Kernel>>(std::move(translated));
    }
    entry.kernel(packet) = kernel;
    keep(kernel_object, std::move(entry));
    return kernel;
  }

  KernelOrFailure find_or_make(std::uint64_t kernel_object, const hsa_kernel_dispatch_packet_t* packet) {
    if (auto found = find(kernel_object, packet)) return found;
    const std::lock_guard lock(translation_mutex(kernel_object));
    if (auto found = find(kernel_object, packet)) return found;  // another thread was faster
    try {
      return make(kernel_object, packet);
    } catch (const std::bad_alloc&) {
      return Failure{Failure::Kind::host_memory, kernel_object, "the host has no memory left to translate the kernel"};
    }
  }
};

Engine::Engine(const EngineOptions& options) : state_(std::make_shared<State>(options)) {}
Engine::~Engine() { stop_optimizing(); }

void Engine::stop_optimizing() noexcept { state_->background.stop(); }

void Engine::stop_translating() noexcept {
  stop_optimizing();
  static_cast<void>(state_->llvm.try_lock_for(longest_translation));
}

KernelOrFailure Engine::kernel(std::uint64_t kernel_object) { return state_->find_or_make(kernel_object, nullptr); }

KernelOrFailure Engine::kernel(const hsa_kernel_dispatch_packet_t& packet) {
  return state_->find_or_make(packet.kernel_object, &packet);
}

std::shared_ptr<const Kernel> Engine::known_kernel(const hsa_kernel_dispatch_packet_t& packet) {
  return state_->find(packet.kernel_object, &packet);
}

bool Engine::is_known(const hsa_kernel_dispatch_packet_t& packet, const Kernel& kernel) {
  return state_->is_current(packet, kernel);
}

std::string Engine::place_of(std::uint64_t kernel_object, const Failure& failure) const try {
  const std::shared_lock using_llvm(state_->llvm, std::try_to_lock);
  if (!using_llvm.owns_lock()) return {};  // the process exits; the failure must be told nevertheless
  const auto code = code_address(kernel_object);
  if (!code) return {};
  const bool is_told = failure.kind == Failure::Kind::trap || failure.kind == Failure::Kind::illegal_instruction;
  if (is_told && failure.instruction) return source_line(*code + *failure.instruction);
  const auto instruction = state_->instruction_of(failure, kernel_object);
  if (!instruction) return {};
  const auto offset = static_cast<std::uint64_t>(instruction->first);
  const std::string text = "offset " + offset_from_entry(offset) + ", " + instruction->second;
  const std::string source = source_line(*code + offset);
  return source.empty() ? text : text + " (" + source + ")";
} catch (const UnsupportedInstruction&) {  // the code has been changed
  return {};
} catch (const JitError&) {
  return {};
} catch (const std::bad_alloc&) {
  return {};
}

void Engine::forget(std::uint64_t base, std::size_t size) {
  const std::lock_guard lock(state_->entries_mutex);
  std::erase_if(state_->entries, [&](const auto& item) { return item.second.touches(item.first, base, size); });
}

}  // namespace softgpu::compute
