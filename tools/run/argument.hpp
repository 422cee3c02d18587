// A kernel's argument with its contents.
#pragma once

#include "argument_text.hpp"
#include "array.hpp"

#include <cstdint>
#include <random>
#include <string>

#include <fastdispatch/dynamic_kernel.hpp>

struct Argument {
  std::string name;
  ArgumentText::Kind kind = ArgumentText::Kind::value;
  Array array;                        ///< the array, or the value
  fastdispatch::LocalMemory local{};  ///< of Kind::local_memory

  /// For the check against the code object.
  [[nodiscard]] fastdispatch::ParameterType parameter_type() const;
};

/// Makes what the text says: zeros, random, iota, one number for all elements, a number for each, or the contents of a
/// .npy file. An array without contents is zeros. Several numbers for a value are the members of a structure. Random
/// integers are any of their type, random floats are from 0 to 1, without 1.
/// Throws std::runtime_error that tells what is wrong.
[[nodiscard]] Argument make_argument(const ArgumentText& text, std::mt19937_64& generator);
