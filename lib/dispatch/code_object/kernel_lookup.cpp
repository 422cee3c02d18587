#include "dispatch/code_object/kernel_lookup.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "dispatch/code_object/demangle.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

constexpr std::size_t max_listed = 20;
constexpr std::size_t max_listed_length = 200;

// Without what may be written in several ways: white space, and the `int` of `unsigned int`.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) text += c;
  }
  constexpr std::string_view in_full = "unsignedint";
  constexpr std::string_view in_short = "unsigned";
  std::size_t from = 0;
  while ((from = text.find(in_full, from)) != std::string::npos) {
    from += in_short.size();
    text.erase(from, in_full.size() - in_short.size());
  }
  return text;
}

// How exactly a name says which kernel is meant.
enum class Precision : std::uint8_t { none, template_name, name, name_and_parameters, name_parameters_and_clone };

Precision precision(std::string_view plain_name, const KernelMetadata& kernel) {
  const std::optional<SourceName> source = source_name(kernel.name);
  if (!source) return plain(kernel.name) == plain_name ? Precision::name_parameters_and_clone : Precision::none;
  SourceName without_clone = *source;
  without_clone.clone.clear();
  for (const ConstAt const_at : {ConstAt::right, ConstAt::left}) {
    if (plain(source->text(const_at)) == plain_name) return Precision::name_parameters_and_clone;
    if (plain(without_clone.text(const_at)) == plain_name) return Precision::name_and_parameters;
  }
  if (plain(source->name) == plain_name) return Precision::name;
  return plain(source->template_name) == plain_name ? Precision::template_name : Precision::none;
}

// Demangled, or mangled where that does not tell two of them apart.
std::string list(std::span<const KernelMetadata> kernels, std::span<const std::size_t> indices) {
  std::vector<std::string> names;
  for (const std::size_t i : indices.first(std::min(indices.size(), max_listed))) {
    names.push_back(demangle(kernels[i].name));
  }
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = std::count(names.begin(), names.end(), names[i]) > 1 ? kernels[indices[i]].name : names[i];
    if (name.size() > max_listed_length) name = name.substr(0, max_listed_length) + "...";
    listed.push_back(std::move(name));
  }
  const std::string text = fmt::to_string(fmt::join(listed, ", "));
  return indices.size() > max_listed ? fmt::format("{} and {} more", text, indices.size() - max_listed) : text;
}

// The count of characters to insert, remove or replace (Levenshtein's distance), of the beginnings of long names.
std::size_t distance(std::string_view a, std::string_view b) {
  constexpr std::size_t most = 64;
  a = a.substr(0, most);
  b = b.substr(0, most);
  std::array<std::size_t, most + 1> row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

[[noreturn]] void fail_unknown(std::span<const KernelMetadata> kernels, std::string_view name, std::string_view file) {
  if (kernels.empty()) throw Error(fmt::format("{} has no kernel {}: it has no kernels at all", file, name));
  std::vector<std::size_t> indices(kernels.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (indices.size() <= max_listed) {
    throw Error(fmt::format("{} has no kernel {}; it has: {}", file, name, list(kernels, indices)));
  }
  const std::string wanted = plain(name);
  std::vector<std::size_t> distances;
  for (const KernelMetadata& kernel : kernels) {
    const std::optional<SourceName> source = source_name(kernel.name);
    distances.push_back(source
                            ? std::min(distance(wanted, plain(source->name)), distance(wanted, plain(source->text())))
                            : distance(wanted, kernel.name));
  }
  std::ranges::stable_sort(indices, {}, [&](std::size_t i) { return distances[i]; });
  throw Error(fmt::format("{} has no kernel {}; the nearest of its {}: {}", file, name, kernels.size(),
                          list(kernels, std::span(indices).first(max_listed))));
}

}  // namespace

std::size_t find_kernel(std::span<const KernelMetadata> kernels, std::string_view name, std::string_view file) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].name == name || kernels[i].symbol == name) return i;
  }
  const std::string wanted = plain(name);
  std::vector<std::size_t> found;
  Precision best = Precision::template_name;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Precision now = precision(wanted, kernels[i]);
    if (now < best) continue;
    if (now > best) found.clear();
    best = now;
    found.push_back(i);
  }
  if (found.empty()) fail_unknown(kernels, name, file);
  if (found.size() > 1) {
    throw Error(
        fmt::format("{} has several kernels {}: {}; name one of them with template arguments and parameters, or "
                    "by its mangled name",
                    file, name, list(kernels, found)));
  }
  return found[0];
}

}  // namespace fastdispatch::detail
