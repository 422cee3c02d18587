// The code of the stb libraries, compiled without warnings, because it is not ours.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include "image_codec.hpp"
