// Damaged mangled names: the demangler stays within the name and within its limits.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "dispatch/code_object/demangle.hpp"
#include "fuzzer.hpp"

namespace {

using fastdispatch::fuzz::Bytes;

constexpr std::array<std::string_view, 6> names{
    "_Z4sortPjjf",
    "_ZN2ns4fillIJPKZ3runvEUlT_E_5ColorELj3EA2_DF16_EEvPT_S3_DpRKT_",
    "_ZN12_GLOBAL__N_14loadEPU3AS1KfDv4_fPFviERA2_Kd.static.1f3a",
    "_ZN2ns5applyIN3std5tupleIJifS2_EEENS_4PairIS3_S3_EES4_Lb1EXadL_Z3foovEEEEvPKT_T0_DpPT1_",
    "_Z3mixP15HIP_vector_typeIfLj4EEPKS0_NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES8_",
    "_Z3allIJifdjmxEEvDpPKT_PFvDpT_E",
};

void take(const Bytes& input) {
  // A copy of exactly that size: the address sanitizer sees what reads beyond its end.
  const std::vector<char> copy(reinterpret_cast<const char*>(input.data()),
                               reinterpret_cast<const char*>(input.data()) + input.size());
  const std::string_view name(copy.data(), copy.size());
  const std::string text = fastdispatch::detail::demangle(name);
  if (text.size() > 128 * name.size() + 2048) throw std::runtime_error("the text has no limit");
  static_cast<void>(fastdispatch::detail::source_type(name.substr(std::min<std::size_t>(2, name.size()))));
}

}  // namespace

fastdispatch::fuzz::Target fastdispatch::fuzz::target() {
  Target target{.samples = {}, .take = take};
  for (const std::string_view name : names) {
    const auto* bytes = reinterpret_cast<const std::byte*>(name.data());
    target.samples.emplace_back(bytes, bytes + name.size());
  }
  return target;
}
