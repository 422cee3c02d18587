// An argument as the command line has it: [NAME:]TYPE[EXTENTS][=CONTENTS]
#pragma once

#include "element_type.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The parts of such a text.
struct ArgumentText {
  enum class Kind : std::uint8_t {
    value,         ///< u32=5, or the structure u32=5,6
    array,         ///< out:f32[1024], in:f32[]=in.npy
    local_memory,  ///< local=1024: OpenCL's pointer to group memory, with its bytes
  };

  Kind kind = Kind::value;
  std::string name;  ///< empty: it has none
  ElementType type = ElementType::u8;
  std::vector<std::size_t> extents;  ///< of an array; empty where its file tells them
  std::string contents;              ///< what follows '='
};

/// Throws std::runtime_error that tells what is wrong with it.
[[nodiscard]] ArgumentText parse_argument(const std::string& text);
