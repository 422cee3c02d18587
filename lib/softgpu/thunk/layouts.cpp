#include "softgpu/thunk/layouts.hpp"

#include <algorithm>
#include <array>

#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::size_t word = 4;

template <class Properties>
concept NodePropertiesOf7 = requires(Properties properties) { properties.NumNeuralCores; };
template <class Link>
concept LinkOf7 = requires(Link link) { link.RecSdmaEngIdMask; };

// With the header of 7, the words that it inserts lie before these fields, too.
constexpr bool header_has_inserted_node_words = NodePropertiesOf7<HsaNodeProperties>;
constexpr bool header_has_inserted_link_word = LinkOf7<HsaIoLinkProperties>;

/// The fields behind each inserted word, by their offsets in the header's structure.
constexpr std::array node_fields = {offsetof(HsaNodeProperties, NumMemoryBanks),
                                    offsetof(HsaNodeProperties, MaxWavesPerSIMD),
                                    offsetof(HsaNodeProperties, VendorId)};
constexpr std::array link_fields = {offsetof(HsaIoLinkProperties, Flags)};

constexpr std::size_t node_bytes = node_properties_of_6_offset + sizeof(NodePropertiesOf6);

/// Copies a structure whose layout has the inserted words, or has not, into one that has not, or has.
template <std::size_t Words>
void copy(std::span<const std::byte> from, bool from_has_words, const std::array<std::size_t, Words>& fields,
          bool to_has_words, std::byte* to) {
  std::size_t begin = 0;
  for (const std::size_t field : fields) {
    const std::size_t inserted = field - (from_has_words ? word : 0);
    to = std::ranges::copy(from.subspan(begin, inserted - begin), to).out;
    if (to_has_words) to = std::fill_n(to, word, std::byte{0});
    begin = field;
  }
  std::ranges::copy(from.subspan(begin), to);
}

}  // namespace

std::size_t node_properties_bytes(Layouts layouts) {
  const std::size_t without = node_bytes - (header_has_inserted_node_words ? node_fields.size() * word : 0);
  return without + (layouts == Layouts::of_7 ? node_fields.size() * word : 0);
}

std::size_t link_bytes(Layouts layouts) {
  const std::size_t without = sizeof(HsaIoLinkProperties) - (header_has_inserted_link_word ? word : 0);
  return without + (layouts == Layouts::of_7 ? word : 0);
}

void write_node_properties(const HsaNodeProperties& properties, Layouts layouts, void* to) {
  copy(std::as_bytes(std::span(&properties, 1)).first(node_bytes), header_has_inserted_node_words, node_fields,
       layouts == Layouts::of_7, static_cast<std::byte*>(to));
}

void write_links(std::span<const HsaIoLinkProperties> links, Layouts layouts, void* to) {
  auto* bytes = static_cast<std::byte*>(to);
  for (const HsaIoLinkProperties& link : links) {
    copy(std::as_bytes(std::span(&link, 1)), header_has_inserted_link_word, link_fields, layouts == Layouts::of_7,
         bytes);
    bytes += link_bytes(layouts);
  }
}

}  // namespace softgpu::thunk
