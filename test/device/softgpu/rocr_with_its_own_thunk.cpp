// A library of ROCr's name that calls the kernel, as that of ROCm 6.3 and later does. hsa_init succeeds if it finds
// AMD's driver, and so does hsa_shut_down if the driver is closed after that.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {
int device = -1;
}

EXPORTED int hsa_init() {
  struct {
    unsigned major;
    unsigned minor;
  } version{};
  device = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  return device >= 0 && ioctl(device, _IOR('K', 0x01, version), &version) == 0 && version.major == 1 ? 0 : 1;
}

EXPORTED int hsa_shut_down() { return close(device) == 0 ? 0 : 1; }
