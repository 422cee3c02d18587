// The text of a kernel's printf.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace fastdispatch::detail::hostcall {

enum class Stream : std::uint8_t { out, err };

struct PrintfText {
  Stream stream = Stream::out;
  std::string text;
};

/// Formats a message of the service `print`, as the host's printf would. Nothing if the message is none.
///
/// The message comes from a kernel and may be anything. A conversion specifier that is not known, has no argument left,
/// or is wider than 65535 characters, is printed as it stands. %n prints and writes nothing.
[[nodiscard]] std::optional<PrintfText> printf_text(std::span<const std::uint64_t> message);

}  // namespace fastdispatch::detail::hostcall
