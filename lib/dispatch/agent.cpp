#include "fastdispatch/agent.hpp"

#include <new>
#include <utility>

#include "dispatch/agent_state.hpp"
#include "dispatch/queue_errors.hpp"
#include "dispatch/queue_state.hpp"

namespace fastdispatch {

const AgentProperties& Agent::properties() const noexcept { return state_->properties; }
const AgentPools& Agent::pools() const noexcept { return state_->pools; }
Agent Agent::host() const noexcept { return Agent(*state_->host); }
hsa_agent_t Agent::handle() const noexcept { return state_->handle; }
const detail::HsaApi& Agent::api() const noexcept { return *state_->api; }

void Agent::register_kernel(std::uint64_t kernel_object, std::string name) const {
  state_->kernels.add(kernel_object, std::move(name));
}

void Agent::unregister_kernel(std::uint64_t kernel_object) const noexcept { state_->kernels.remove(kernel_object); }

namespace detail {

AgentState::AgentState() : completions(*this) {}
AgentState::~AgentState() = default;

Copier& AgentState::copier() {
  const std::scoped_lock lock(copier_mutex);
  if (made_copier == nullptr) made_copier = std::make_unique<Copier>(Agent(*this));
  return *made_copier;
}

void KernelNames::add(std::uint64_t kernel_object, std::string name) {
  const std::scoped_lock lock(mutex_);
  names_.insert_or_assign(kernel_object, std::move(name));
}

void KernelNames::remove(std::uint64_t kernel_object) noexcept {
  const std::scoped_lock lock(mutex_);
  names_.erase(kernel_object);
}

std::string KernelNames::find(std::uint64_t kernel_object) const {
  const std::scoped_lock lock(mutex_);
  const auto found = names_.find(kernel_object);
  return found == names_.end() ? std::string() : found->second;
}

void QueueRegistry::add(QueueState& queue) {
  const std::scoped_lock lock(mutex_);
  queues_.push_back(&queue);
}

void QueueRegistry::remove(QueueState& queue) noexcept {
  const std::scoped_lock lock(mutex_);
  std::erase(queues_, &queue);
}

void QueueRegistry::fail_all(const hsa_amd_gpu_memory_fault_info_t& fault, const std::string& agent_name) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    std::vector<std::string> suspects;
    for (const QueueState* queue : queues_) queue->add_running_kernels(suspects);
    last_fault_.emplace(memory_fault_error(fault, agent_name, suspects));
  } catch (const std::bad_alloc&) {
    last_fault_.emplace(wordless_error_);
  }
  faults_.fetch_add(1, std::memory_order_release);
  count_failure();
  for (QueueState* queue : queues_) queue->fail(*last_fault_);
}

void QueueRegistry::throw_if_lost(hsa_signal_t signal, std::uint32_t faults_seen) const {
  const std::scoped_lock lock(mutex_);
  if (faults() != faults_seen) throw Error(*last_fault_);
  for (const QueueState* queue : queues_)
    if (queue->failed() && queue->was_to_complete(signal)) queue->throw_if_failed();
}

}  // namespace detail
}  // namespace fastdispatch
