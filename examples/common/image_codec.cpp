// The code of the stb libraries; compiled without warnings, which are not ours.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include "image_codec.hpp"
