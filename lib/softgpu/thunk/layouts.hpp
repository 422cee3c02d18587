// The structures whose layout changes between releases of the thunk's interface, written as the caller knows them. This
// library is compiled with the header of one release, whichever it is, and serves the ROCr of all.
#pragma once

#include <cstddef>
#include <span>

#include <hsakmt.h>

namespace softgpu::thunk {

/// The layouts that a ROCr was compiled with.
enum class Layouts {
  of_5,  ///< libhsakmt 5 and 6: 6 uses bytes that 5 reserves
  of_7,  ///< has words inserted: neural cores, a second word of capabilities, an overridden engine; a link's SDMA
         ///< engines
};

/// Writes the node's properties to the caller's structure, up to FamilyID. Later releases add fields behind it, which
/// the caller has zeroed.
void write_node_properties(const HsaNodeProperties& properties, Layouts layouts, void* to);
/// Writes the links to the caller's array.
void write_links(std::span<const HsaIoLinkProperties> links, Layouts layouts, void* to);

/// How many bytes write_node_properties writes.
[[nodiscard]] std::size_t node_properties_bytes(Layouts layouts);
/// How many bytes write_links writes for one link.
[[nodiscard]] std::size_t link_bytes(Layouts layouts);

}  // namespace softgpu::thunk
