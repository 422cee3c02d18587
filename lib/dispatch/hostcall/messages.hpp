// Messages that lanes of wavefronts send in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace fastdispatch::detail::hostcall {

using Message = std::vector<std::uint64_t>;

/// Puts the pieces of messages together.
///
/// Thread safety: none.
class Messages {
public:
  /// At most `most_open` messages are begun and not ended at a time.
  explicit Messages(std::size_t most_open) : most_open_(most_open) {}

  /// Takes the piece in `slot`, a lane's words. Returns the message if the piece ended it; otherwise writes the
  /// message's number for the lane's next piece. Throws Error if the piece belongs to no message, or there would be too
  /// many messages or words.
  [[nodiscard]] std::optional<Message> add(std::span<std::uint64_t> slot);

  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

  static constexpr std::size_t most_words = std::size_t{2} << 20U;

private:
  std::size_t most_open_;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, Message> open_;  ///< by number
};

}  // namespace fastdispatch::detail::hostcall
