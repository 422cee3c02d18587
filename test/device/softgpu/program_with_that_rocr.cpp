// Calls that ROCr.
extern "C" int hsa_init();
extern "C" int hsa_shut_down();

int main() { return hsa_init() == 0 && hsa_shut_down() == 0 ? 0 : 1; }
