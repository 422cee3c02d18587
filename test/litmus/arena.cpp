#include "arena.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace softgpu::litmus {

Arena::Arena() : memory_(static_cast<std::byte*>(std::aligned_alloc(size, size))) {
  if (memory_ == nullptr) throw std::bad_alloc();
  clear();
}

void Arena::clear() { std::memset(memory_.get(), 0, size); }

void Arena::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }  // NOLINT: aligned_alloc's

}  // namespace softgpu::litmus
