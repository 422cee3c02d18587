#include "fastdispatch/error.hpp"

#include <utility>

#include <hsa/hsa_ext_amd.h>
#include <spdlog/fmt/fmt.h>

#include "fastdispatch/detail/check.hpp"

namespace fastdispatch {

namespace {

ErrorKind kind_of(hsa_status_t status, std::string_view call) {
  if (call == "hsa_init") return ErrorKind::runtime;  // without a driver it is out of resources
  switch (static_cast<int>(status)) {
  case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
  case HSA_STATUS_ERROR_INVALID_ALLOCATION:
    return ErrorKind::out_of_memory;
  case HSA_STATUS_ERROR_INVALID_ARGUMENT:
  case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:
  case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
  case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME:
  case HSA_STATUS_ERROR_INVALID_AGENT:
  case HSA_STATUS_ERROR_INVALID_QUEUE_CREATION:
    return ErrorKind::bad_argument;
  default:
    return ErrorKind::runtime;
  }
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

Error::Error(hsa_status_t status, std::string call, const std::string& message)
    : std::runtime_error(message), kind_(kind_of(status, call)), status_(status), call_(std::move(call)) {}

Error::Error(ErrorKind kind, hsa_status_t status, std::string call, const std::string& message)
    : std::runtime_error(message), kind_(kind), status_(status), call_(std::move(call)) {}

namespace detail {

std::string status_text(const HsaApi& api, hsa_status_t status) {
  const char* text = nullptr;
  if (api.status_string == nullptr || api.status_string(status, &text) != HSA_STATUS_SUCCESS || text == nullptr)
    return fmt::format("HSA status {:#x}", static_cast<unsigned>(status));
  std::string_view view = text;
  while (!view.empty() && (view.back() == '\n' || view.back() == ' ')) view.remove_suffix(1);
  return std::string(view);
}

std::string_view advice(hsa_status_t status) {
  switch (static_cast<int>(status)) {
  case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
    return "memory, queues or interrupt events are exhausted; for hsa_init: no AMD GPU driver (is /dev/kfd there, and "
           "is this user in the group render?)";
  case HSA_STATUS_ERROR_NOT_INITIALIZED:
    return "the HSA runtime was shut down; keep the Runtime alive";
  case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
    return "the code object is damaged or of a version that this HSA runtime does not know";
  case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:
    return "the code object was built for another ISA than the agent's, or the arguments do not fit each other";
  case HSA_STATUS_ERROR_INVALID_ALLOCATION:
    return "the size is zero or larger than the pool can give";
  case HSA_STATUS_ERROR_INVALID_QUEUE_CREATION:
    return "the agent cannot make a queue of this kind";
  case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME:
    return "the code object has no such symbol";
  case HSA_STATUS_ERROR_INVALID_AGENT:
    return "the agent is not one of this runtime";
  default:
    return {};
  }
}

void throw_hsa_error(const HsaApi& api, hsa_status_t status, std::string_view call, std::string_view doing) {
  std::string message = fmt::format("{}: {} failed: {}", doing, call, status_text(api, status));
  if (const std::string_view hint = advice(status); !hint.empty()) message += fmt::format(" ({})", hint);
  throw Error(status, std::string(call), message);
}

}  // namespace detail
}  // namespace fastdispatch
