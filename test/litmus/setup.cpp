#include "setup.hpp"

#include <algorithm>

namespace softgpu::litmus {

unsigned Setup::device_threads() const {
  const auto threads = static_cast<unsigned>(test->threads.size());
  return side == Side::host_first || side == Side::host_last ? threads - 1 : threads;
}

bool Setup::is_on_host(unsigned thread) const {
  return thread < first_device_thread() || thread >= first_device_thread() + device_threads();
}

unsigned load_count(const Events& events) {
  return static_cast<unsigned>(std::ranges::count(events, Event::Kind::load, &Event::kind));
}

std::string name_of(Memory memory) {
  switch (memory) {
  case Memory::global:
    return "global";
  case Memory::global_with_base:
    return "global+base";
  case Memory::flat:
    return "flat";
  case Memory::buffer:
    return "buffer";
  case Memory::lds:
    break;
  }
  return "LDS";
}

std::string name_of(Scope scope) {
  switch (scope) {
  case Scope::wavefront:
    return "wavefront";
  case Scope::work_group:
    return "work-group";
  case Scope::agent:
    return "agent";
  case Scope::system:
    break;
  }
  return "system";
}

std::string name_of(Side side) {
  switch (side) {
  case Side::lane:
    return "lane";
  case Side::wavefront:
    return "wavefront";
  case Side::work_group:
    return "work-group";
  case Side::host_last:
    return "host last";
  case Side::host_first:
    break;
  }
  return "host first";
}

std::string name_of(Element element) {
  return element.variables() == 1 ? std::to_string(element.bytes) : "8 of " + std::to_string(element.bytes);
}

}  // namespace softgpu::litmus
