// A library with data of its own, as ROCr has.
extern "C" __attribute__((visibility("default"))) char* some_data() {
  static char data[4] = {1, 1, 0, 2};  // NOLINT(modernize-avoid-c-arrays): nothing of the standard library is in here
  return data;
}
