#include "softgpu/compute/execution/kept_code.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace softgpu::compute {
namespace {

void put(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put(std::string& bytes, std::string_view text) {
  put(bytes, text.size());
  bytes.append(text);
}

class Reader {
public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  /// Nothing from the first that is missing on.
  [[nodiscard]] std::string_view take(std::uint64_t count) {
    is_good_ = is_good_ && count <= left_.size();
    const std::string_view taken = is_good_ ? left_.substr(0, count) : std::string_view();
    left_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] std::uint64_t number() {
    std::uint64_t result = 0;
    const std::string_view bytes = take(sizeof result);
    std::memcpy(&result, bytes.data(), bytes.size());
    return result;
  }
  [[nodiscard]] std::string_view text() { return take(number()); }
  [[nodiscard]] WaitsFor waits_for() {
    const std::uint64_t found = number();
    is_good_ = is_good_ && found <= static_cast<std::uint64_t>(WaitsFor::whole_grid);
    return static_cast<WaitsFor>(is_good_ ? found : 0);
  }
  [[nodiscard]] std::string_view rest() const { return left_; }
  [[nodiscard]] bool is_good() const { return is_good_; }

private:
  std::string_view left_;
  bool is_good_ = true;
};

}  // namespace

std::string KeptCaller::as_bytes() const {
  std::string bytes;
  put(bytes, static_cast<std::uint64_t>(waits_for));
  put(bytes, functions.size());
  for (const KernelCache::Key& key : functions) bytes.append(reinterpret_cast<const char*>(key.data()), key.size());
  return bytes + object;
}

std::optional<KeptCaller> KeptCaller::of_bytes(std::string_view bytes) {
  Reader reader(bytes);
  KeptCaller kept{.waits_for = reader.waits_for(), .functions = {}, .object = {}};
  for (std::uint64_t left = reader.number(); left != 0 && reader.is_good(); --left) {
    KernelCache::Key key{};
    std::ranges::copy(reader.take(key.size()), key.begin());
    kept.functions.push_back(key);
  }
  kept.object = reader.rest();
  return reader.is_good() ? std::optional(std::move(kept)) : std::nullopt;
}

std::string KeptFunctions::as_bytes() const {
  std::string bytes;
  put(bytes, named.size());
  for (const auto& [name, waits_for] : named) {
    put(bytes, name);
    put(bytes, static_cast<std::uint64_t>(waits_for));
  }
  return bytes + object;
}

std::optional<KeptFunctions> KeptFunctions::of_bytes(std::string_view bytes) {
  Reader reader(bytes);
  KeptFunctions kept;
  for (std::uint64_t left = reader.number(); left != 0 && reader.is_good(); --left) {
    const std::string name(reader.text());
    kept.named[name] = reader.waits_for();
  }
  kept.object = reader.rest();
  return reader.is_good() ? std::optional(std::move(kept)) : std::nullopt;
}

}  // namespace softgpu::compute
