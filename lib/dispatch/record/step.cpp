#include "dispatch/record/step.hpp"

namespace fastdispatch::detail {

std::vector<Access> accesses_of(const Step& step) {
  if (const auto* dispatch = std::get_if<DispatchStep>(&step)) return dispatch->accesses;
  const auto& copy = std::get<CopyStep>(step);
  return {access_by_copy(copy.source, AccessMode::read), access_by_copy(copy.destination, AccessMode::write)};
}

}  // namespace fastdispatch::detail
