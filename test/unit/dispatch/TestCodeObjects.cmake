# The kernels of this folder, as bundle and as single ELF files of several code object versions and languages.

# Lets `target` find the files through TEST_BUNDLE, TEST_HIP_V4, TEST_HIP_V5 and TEST_OPENCL_V4, and the folder of
# those that newer compilers made through TEST_CODE_OBJECTS.
function(fastdispatch_test_code_objects target)
  set(kernels ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
  set(out ${CMAKE_CURRENT_BINARY_DIR})
  set(quietly ${PROJECT_SOURCE_DIR}/cmake/quietly)
  set(clang ${FASTDISPATCH_CLANG} -target amdgcn-amd-amdhsa -mcpu=gfx90a)
  set(hip ${quietly} ${FASTDISPATCH_HIPCC} -O2)
  fastdispatch_hip_compiler_flags(device_only host)

  add_custom_command(OUTPUT ${out}/kernels.hsaco MAIN_DEPENDENCY ${kernels}/kernels.hip VERBATIM
    COMMAND ${hip} ${device_only} --offload-arch=gfx90a:xnack+ --offload-arch=gfx90a:xnack- --offload-arch=gfx1030
            ${kernels}/kernels.hip -o ${out}/kernels.hsaco)
  # lld of LLVM 15 does not link objects that carry version 5 in their headers; the metadata, which is what counts,
  # goes through the assembler.
  foreach(version 4 5)
    add_custom_command(OUTPUT ${out}/kernels_v${version}.elf DEPENDS ${kernels}/kernels.hip VERBATIM
      COMMAND ${hip} --cuda-device-only -S --offload-arch=gfx90a -mcode-object-version=${version} ${kernels}/kernels.hip
              -o ${out}/kernels_v${version}.s
      COMMAND ${clang} ${out}/kernels_v${version}.s -o ${out}/kernels_v${version}.elf)
  endforeach()
  add_custom_command(OUTPUT ${out}/opencl_v4.elf MAIN_DEPENDENCY ${kernels}/kernels.cl VERBATIM
    COMMAND ${clang} -x cl -cl-std=CL2.0 -mcode-object-version=4 -nogpulib -O2 ${kernels}/kernels.cl -o ${out}/opencl_v4.elf)

  target_sources(${target} PRIVATE ${out}/kernels.hsaco ${out}/kernels_v4.elf ${out}/kernels_v5.elf ${out}/opencl_v4.elf)
  target_compile_definitions(${target} PRIVATE
    TEST_BUNDLE="${out}/kernels.hsaco" TEST_HIP_V4="${out}/kernels_v4.elf" TEST_HIP_V5="${out}/kernels_v5.elf"
    TEST_OPENCL_V4="${out}/opencl_v4.elf" TEST_CODE_OBJECTS="${PROJECT_SOURCE_DIR}/test/code_objects")
endfunction()
