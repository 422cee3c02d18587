// What ROCr calls before and after it uses a software device.

/// Not null: the device is there. It opens with hsaKmtOpenKFD, as the driver does.
extern "C" __attribute__((visibility("default"))) void* DtifCreate(const char* /*caller*/) {
  static char device;
  return &device;
}

extern "C" __attribute__((visibility("default"))) void DtifDestroy() {}
