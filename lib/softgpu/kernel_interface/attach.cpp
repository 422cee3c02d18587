// The door of a ROCr that calls the kernel's interface, because its thunk is built in: 6.3 and later.
#include "softgpu/kernel_interface/calls.hpp"
#include "softgpu/kernel_interface/process.hpp"

/// Puts the soft GPU in the place of the kernel's driver for the library that `code` lies in, and for no other. False
/// if that cannot be done. The library must not have opened the driver yet; it may be about to.
extern "C" __attribute__((visibility("default"))) bool softgpu_stand_in_for_kernel(const void* code) {
  softgpu::kernel_interface::Process::set_caller(code);
  return softgpu::kernel_interface::redirect(code, softgpu::kernel_interface::calls());
}

/// Opens /dev/kfd for the library that `code` lies in, which has called open with that path. -1 with errno if the soft
/// GPU does not open.
extern "C" __attribute__((visibility("default"))) int softgpu_open_kernel_device(const void* code) {
  if (!softgpu_stand_in_for_kernel(code)) return -1;
  return softgpu::kernel_interface::open_device();
}
