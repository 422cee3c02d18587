// The kernel's own header includes this one, which Debian has in another folder.
#include <libdrm/drm.h>
