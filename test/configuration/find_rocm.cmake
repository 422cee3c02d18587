# Machines with ROCm in several places, made of folders.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)
set(ENV{ROCM_PATH})
include(${PROJECT}/cmake/Rocm.cmake)

file(REMOVE_RECURSE ${FOLDER})
# write_rocm(prefix compilers...): headers, and compilers that tell the version 19.0.0git, beside their clang.
function(write_rocm prefix)
  file(WRITE ${FOLDER}/${prefix}/include/hsa/hsa.h "")
  file(WRITE ${FOLDER}/${prefix}/include/hsa/hsa_ext_amd.h "")
  foreach(compiler IN LISTS ARGN)
    write_program(${FOLDER}/${prefix}/${compiler} [=[
llvm=$(dirname "$0")/../llvm/bin
echo "HIP version: 6.4.43482"
echo "AMD clang version 19.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-6.4.1)"
echo "InstalledDir: $llvm"]=])
  endforeach()
endfunction()

function(expect_rocm what prefix why)
  fastdispatch_rocm_folder(folder reason)
  expect_equal("The ROCm ${what}" "${folder}" "${prefix}")
  expect_match("The reason for the ROCm ${what}" "${reason}" "${why}")
endfunction()

set(FASTDISPATCH_SYSTEM_ROOT ${FOLDER}/machine)
set(ENV{PATH} /usr/bin:/bin)
expect_rocm("of a machine without one" "" "system's folders")

write_rocm(machine/opt/rocm-6.4.1 bin/hipcc)
write_rocm(machine/opt/rocm-6.10.0 bin/hipcc)
expect_rocm("of a machine with versions alone" ${FOLDER}/machine/opt/rocm-6.10.0 "newest")

# AMD's alternatives: links from the PATH to the version that the administrator chose.
file(MAKE_DIRECTORY ${FOLDER}/machine/etc/alternatives ${FOLDER}/machine/bin)
file(CREATE_LINK ${FOLDER}/machine/opt/rocm-6.4.1/bin/hipcc ${FOLDER}/machine/etc/alternatives/hipcc SYMBOLIC)
file(CREATE_LINK ${FOLDER}/machine/etc/alternatives/hipcc ${FOLDER}/machine/bin/hipcc SYMBOLIC)
set(ENV{PATH} ${FOLDER}/machine/bin:/usr/bin:/bin)
expect_rocm("of the alternatives" ${FOLDER}/machine/opt/rocm-6.4.1 "hipcc on the PATH")

file(CREATE_LINK ${FOLDER}/machine/opt/rocm-6.4.1 ${FOLDER}/machine/opt/rocm SYMBOLIC)
set(ENV{PATH} /usr/bin:/bin)
expect_rocm("in AMD's default folder" ${FOLDER}/machine/opt/rocm "AMD's default")

write_rocm(elsewhere bin/amdclang++)
set(ENV{ROCM_PATH} ${FOLDER}/elsewhere)
expect_rocm("of the environment" ${FOLDER}/elsewhere "environment variable ROCM_PATH")
set(ROCM_PATH ${FOLDER}/machine/opt/rocm-6.10.0)
expect_rocm("of the CMake variable" ${FOLDER}/machine/opt/rocm-6.10.0 "CMake variable ROCM_PATH")
set(ROCM_PATH)

# A wrong one is an error, not another ROCm.
execute_process(COMMAND ${CMAKE_COMMAND} -E env ROCM_PATH=${FOLDER}/nowhere ${CMAKE_COMMAND} -P ${PROJECT}/cmake/Rocm.cmake
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
expect_match("The error for a wrong ROCM_PATH" "${status} ${output}"
             "^1 .*environment variable ROCM_PATH is '${FOLDER}/nowhere', which is no folder")

# What is used of it: headers, compiler, and the very clang that the compiler calls.
function(expect_parts rocm compiler flags)
  set(FASTDISPATCH_ROCM ${FOLDER}/${rocm})
  unset(FASTDISPATCH_HSA_INCLUDE_DIR CACHE)
  unset(FASTDISPATCH_HIPCC CACHE)
  fastdispatch_find_hsa_headers(missing)
  expect_equal("What is missing of ${rocm}'s headers" "${missing}" "")
  expect_equal("The headers of ${rocm}" ${FASTDISPATCH_HSA_INCLUDE_DIR} ${FOLDER}/${rocm}/include)
  fastdispatch_find_hip_compiler(missing)
  expect_equal("The compiler of ${rocm}" ${FASTDISPATCH_HIPCC} ${FOLDER}/${rocm}/${compiler})
  fastdispatch_hip_compiler_flags(device_only host)
  expect_equal("The flags of ${compiler}" "${device_only}" "${flags}")
endfunction()
expect_parts(machine/opt/rocm bin/hipcc --genco)
expect_parts(elsewhere bin/amdclang++ "-x;hip;--cuda-device-only;--gpu-bundle-output")

set(FASTDISPATCH_ROCM ${FOLDER}/machine/opt/rocm-6.4.1)
set(FASTDISPATCH_HIPCC ${FASTDISPATCH_ROCM}/bin/hipcc)
fastdispatch_clang_of_hipcc(clang version)
expect_equal("The clang of a hipcc that has none" "${clang}" "")
set(llvm ${FASTDISPATCH_ROCM}/bin/../llvm/bin)
write_program(${llvm}/clang-19 "echo 'clang version 19.1.7'")  # of a distribution, say
fastdispatch_clang_of_hipcc(clang version)
expect_equal("The clang where another one is beside hipcc" "${clang}" "")
write_program(${llvm}/clang
              "echo 'AMD clang version 19.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-6.4.1)'")
fastdispatch_clang_of_hipcc(clang version)
get_filename_component(clang ${clang} REALPATH)
expect_equal("The clang of hipcc" "${clang}" ${FOLDER}/machine/opt/rocm-6.4.1/llvm/bin/clang)
expect_match("The version of hipcc's clang" "${version}" "^AMD clang version 19.0.0git")

# ROCm's version.
file(WRITE ${FASTDISPATCH_ROCM}/.info/version "6.4.1-83\n")
fastdispatch_rocm_version(version)
expect_equal("The version of ROCm" "${version}" "6.4.1")
