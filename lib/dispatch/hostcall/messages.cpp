#include "dispatch/hostcall/messages.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/hostcall/abi.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail::hostcall {

std::optional<Message> Messages::add(std::span<std::uint64_t> slot) {
  std::uint64_t descriptor = slot[0];
  if ((descriptor & reserved_in_descriptor) != 0)
    throw Error(fmt::format("a message with the descriptor {:#x}, whose reserved bits are set", descriptor));
  if ((descriptor & begins_message) != 0) {
    if (open_.size() >= most_open_)
      throw Error(fmt::format("a message while {} others were begun and not ended", open_.size()));
    ++last_number_;
    open_.emplace(last_number_, Message());
    descriptor &= (std::uint64_t{1} << number_shift) - 1 - begins_message;
    descriptor |= last_number_ << number_shift;
  }
  const auto found = open_.find(descriptor >> number_shift);
  if (found == open_.end())
    throw Error(fmt::format("a piece of the message {}, which was not begun", descriptor >> number_shift));
  Message& message = found->second;
  const auto piece = slot.subspan(1, (descriptor >> length_shift) & length_mask);
  if (message.size() + piece.size() > most_words) {
    open_.erase(found);
    throw Error(fmt::format("a message of more than {} MiB", most_words * sizeof(std::uint64_t) >> 20U));
  }
  message.insert(message.end(), piece.begin(), piece.end());
  if ((descriptor & ends_message) == 0) {
    slot[0] = descriptor;
    return std::nullopt;
  }
  Message ended = std::move(message);
  open_.erase(found);
  return ended;
}

}  // namespace fastdispatch::detail::hostcall
