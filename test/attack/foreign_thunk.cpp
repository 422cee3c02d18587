// A library that is taken for the soft GPU's.
extern "C" [[gnu::visibility("default")]] int hsaKmtOpenKFD() { return 1; }
#ifdef HAS_MARK
extern "C" [[gnu::visibility("default")]] const int softgpu_mark;
extern "C" const int softgpu_mark = 1;
#endif
