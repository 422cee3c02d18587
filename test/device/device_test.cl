// A kernel with two pointers to LDS. Only builtins are used, because OpenCL's device library may not be installed.
kernel void rotate(global uint* values, local uint* staged, local ulong* more) {
  const uint i = __builtin_amdgcn_workitem_id_x();
  staged[i] = values[i];
  more[i] = 1000ul * values[i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  values[i] = staged[(i + 1) % 64] + (uint)more[(i + 2) % 64];
}
