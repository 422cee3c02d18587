#include "describe_file.hpp"

#include "describe_kernel.hpp"
#include "machine_code.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/code_object.hpp"
#include "dispatch/code_object/kernel_lookup.hpp"
#include "dispatch/code_object/kernel_metadata.hpp"
#include "dispatch/code_object/uncompressed_file.hpp"

namespace detail = fastdispatch::detail;

namespace {

/// The kernels, or those that the options name.
std::vector<detail::KernelMetadata> kernels_of(const detail::CodeObject& code_object, const std::string& file,
                                               const DumpOptions& options) {
  std::vector<detail::KernelMetadata> kernels = detail::read_kernel_metadata(code_object.elf, file);
  if (!options.kernel) return kernels;
  const std::size_t index = detail::find_kernel(kernels, *options.kernel, file);
  return {kernels[index]};
}

Document describe_code_object(const detail::CodeObject& code_object, const std::string& file,
                              const DumpOptions& options) {
  const ElfView elf{.bytes = code_object.elf, .processor = code_object.target.processor};
  const std::vector<detail::KernelMetadata> kernels = kernels_of(code_object, file, options);
  Document document;
  document["target"] = to_string(code_object.target);
  Document& list = document["kernels"] = Document::array();
  for (const detail::KernelMetadata& kernel : kernels) list.push_back(describe_kernel(elf, kernel, options));
  if (options.disassembles)
    document["functions"] = MachineCode(elf.bytes, elf.processor)
                                .disassembly(options.kernel ? std::optional(kernels.front().name) : std::nullopt);
  return document;
}

std::string describe(const detail::BundleCompression& compression) {
  return fmt::format("{}, {} bytes instead of {} (format version {})", to_string(compression.method),
                     compression.compressed_bytes, compression.uncompressed_bytes, compression.format_version);
}

bool is_wanted(const detail::TargetId& target, const std::optional<std::string>& wanted) {
  return !wanted || *wanted == target.processor || *wanted == to_string(target);
}

}  // namespace

Document describe_file(std::span<const std::byte> contents, const std::string& name, const DumpOptions& options) {
  const detail::UncompressedFile file(contents, name);
  Document document;
  document["file"] = name;
  if (file.compression()) document["compression"] = describe(*file.compression());
  Document& entries = document["entries"] = Document::array();
  Document code_objects = Document::array();
  std::string targets;
  for (const detail::FileEntry& entry : detail::read_entries(file.bytes(), name)) {
    entries.push_back({{"offset", entry.offset}, {"bytes", entry.size}, {"entry", entry.id}});
    if (!entry.code_object) continue;
    targets += (targets.empty() ? "" : ", ") + to_string(entry.code_object->target);
    if (is_wanted(entry.code_object->target, options.target))
      code_objects.push_back(describe_code_object(*entry.code_object, name, options));
  }
  if (code_objects.empty() && options.target)
    throw std::runtime_error(fmt::format("{} has no code object for {}; it has: {}", name, *options.target,
                                         targets.empty() ? "none" : targets));
  document["code_objects"] = std::move(code_objects);
  return document;
}
