// HSA's questions about agents, ISAs and memory pools, as functions that return the answer. They throw Error when HSA
// refuses one.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch::detail {

// Calls one of HSA's iterators with `visit`. An exception must not pass through HSA's frames, so it travels around
// them.
template <class Item, class Iterate, class Visit>
void for_each(const HsaApi& api, std::string_view call, Iterate iterate, Visit& visit) {
  struct Context {
    Visit& visit;
    std::exception_ptr exception;
  } context{visit, nullptr};
  const auto callback = [](Item item, void* data) noexcept {
    auto& [visitor, exception] = *static_cast<Context*>(data);
    try {
      visitor(item);
      return HSA_STATUS_SUCCESS;
    } catch (...) {
      exception = std::current_exception();
      return HSA_STATUS_INFO_BREAK;
    }
  };
  const hsa_status_t status = iterate(+callback, &context);
  if (context.exception) std::rethrow_exception(context.exception);
  check(api, status, call, "asking HSA for its agents");
}

// Calls `visit` with each hsa_agent_t.
template <class Visit>
void for_each_agent(const HsaApi& api, Visit visit) {
  const auto iterate = [&](auto callback, void* data) { return api.iterate_agents(callback, data); };
  for_each<hsa_agent_t>(api, "hsa_iterate_agents", iterate, visit);
}

// Calls `visit` with each hsa_amd_memory_pool_t of the agent.
template <class Visit>
void for_each_pool(const HsaApi& api, hsa_agent_t agent, Visit visit) {
  const auto iterate = [&](auto callback, void* data) {
    return api.amd_agent_iterate_memory_pools(agent, callback, data);
  };
  for_each<hsa_amd_memory_pool_t>(api, "hsa_amd_agent_iterate_memory_pools", iterate, visit);
}

template <class Value>
[[nodiscard]] Value system_info(const HsaApi& api, hsa_system_info_t attribute) {
  Value value{};
  check(api, api.system_get_info(attribute, &value), "hsa_system_get_info",
        [&] { return "asking HSA for attribute " + std::to_string(attribute); });
  return value;
}

// `attribute` is one of hsa_agent_info_t or hsa_amd_agent_info_t.
template <class Value>
[[nodiscard]] Value agent_info(const HsaApi& api, hsa_agent_t agent, int attribute) {
  Value value{};
  check(api, api.agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), &value), "hsa_agent_get_info",
        [&] { return "asking an agent for attribute " + std::to_string(attribute); });
  return value;
}

[[nodiscard]] inline std::string agent_text(const HsaApi& api, hsa_agent_t agent, int attribute) {
  const auto text = agent_info<std::array<char, 64>>(api, agent, attribute);  // HSA's texts have at most 63 characters
  return {text.data(), strnlen(text.data(), text.size())};
}

template <class Value>
[[nodiscard]] Value pool_info(const HsaApi& api, hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute) {
  Value value{};
  check(api, api.amd_memory_pool_get_info(pool, attribute, &value), "hsa_amd_memory_pool_get_info",
        "asking for a memory pool");
  return value;
}

// The names of the ISAs that the agent executes, the native one first.
[[nodiscard]] inline std::vector<std::string> isas_of(const HsaApi& api, hsa_agent_t agent) {
  std::vector<std::string> names;
  const auto visit = [&](hsa_isa_t isa) {
    std::uint32_t length = 0;
    check(api, api.isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length), "hsa_isa_get_info_alt",
          "asking for an ISA");
    std::string text(length, '\0');
    check(api, api.isa_get_info_alt(isa, HSA_ISA_INFO_NAME, text.data()), "hsa_isa_get_info_alt", "asking for an ISA");
    names.push_back(text.substr(0, text.find('\0')));  // the length counts the terminating zero
  };
  const auto iterate = [&](auto callback, void* data) { return api.agent_iterate_isas(agent, callback, data); };
  for_each<hsa_isa_t>(api, "hsa_agent_iterate_isas", iterate, visit);
  return names;
}

}  // namespace fastdispatch::detail
