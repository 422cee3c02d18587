// A kernel whose metadata the unit tests look at: implicit arguments of code object v4, and pointers to LDS.
// Only builtins are used, because OpenCL's device library may not be installed.
kernel void rotate_groups(global uint* values, local uint* staged, local ulong* more) {
  const constant ulong* implicit = (const constant ulong*)__builtin_amdgcn_implicitarg_ptr();
  const uint i = __builtin_amdgcn_workitem_id_x() + (uint)implicit[0];
  staged[i] = values[i];
  more[i] = i;
  __builtin_amdgcn_s_barrier();
  values[i] = staged[i ^ 1] + (uint)more[i ^ 2];
}
