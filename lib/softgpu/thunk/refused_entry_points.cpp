// Functions that ROCr calls and that need nothing done here, or that the soft GPU does not offer.
#include "softgpu/thunk/entry_points.hpp"

SOFTGPU_ENTRY hsaKmtRuntimeEnable(void* /*debug*/, bool /*setup_trap_registers*/) {
  // Without the debugger's interface ROCr takes queue errors from the queue's inactive signal.
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

SOFTGPU_ENTRY hsaKmtRuntimeDisable() { return HSAKMT_STATUS_SUCCESS; }

SOFTGPU_ENTRY hsaKmtSetTrapHandler(HSAuint32 /*node*/, void* /*handler*/, HSAuint64 /*handler_bytes*/, void* /*buffer*/,
                                   HSAuint64 /*buffer_bytes*/) {
  return HSAKMT_STATUS_SUCCESS;  // a trap ends the queue; the handler's code is never run
}

SOFTGPU_ENTRY hsaKmtSetMemoryPolicy(HSAuint32 /*node*/, HSAuint32 /*policy*/, HSAuint32 /*alternate_policy*/,
                                    void* /*alternate*/, HSAuint64 /*alternate_bytes*/) {
  return HSAKMT_STATUS_SUCCESS;  // caching has no meaning here
}

SOFTGPU_ENTRY hsaKmtGetXNACKMode(HSAint32* mode) {
  *mode = 0;
  return HSAKMT_STATUS_SUCCESS;
}

SOFTGPU_ENTRY hsaKmtSetXNACKMode(HSAint32 mode) {
  return mode == 0 ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_NOT_SUPPORTED;
}
