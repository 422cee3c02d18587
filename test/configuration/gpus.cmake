# A machine with two processors, two GPUs of one kind, one of another, and a node that is no GPU.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)
include(${PROJECT}/cmake/Rocm.cmake)

file(REMOVE_RECURSE ${FOLDER})
set(FASTDISPATCH_SYSTEM_ROOT ${FOLDER})
set(ENV{PATH} ${FOLDER})
fastdispatch_gpus_of_machine(gpus)
expect_equal("The GPUs of a machine without the driver" "${gpus}" "")

set(number 0)
foreach(version 0 0 90010 90010 110000 100306 90402)
  file(WRITE ${FOLDER}/sys/class/kfd/kfd/topology/nodes/${number}/properties
       "cpu_cores_count 0\nsimd_count 4\ngfx_target_version ${version}\ndrm_render_minor 128\n")
  math(EXPR number "${number} + 1")
endforeach()
fastdispatch_gpus_of_machine(gpus)
expect_equal("The machine's GPUs" "${gpus}" "gfx90a;gfx1100;gfx1036;gfx942")

# A kernel that does not tell the version: ROCm's own program knows.
file(REMOVE_RECURSE ${FOLDER}/sys)
file(WRITE ${FOLDER}/sys/class/kfd/kfd/topology/nodes/1/properties "simd_count 4\n")
write_program(${FOLDER}/rocm_agent_enumerator "echo gfx000; echo gfx906")
fastdispatch_gpus_of_machine(gpus)
expect_equal("The GPUs that rocm_agent_enumerator names" "${gpus}" "gfx906")
