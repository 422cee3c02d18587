# LLVMs as their packages leave them in folders, of which one can serve.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)
include(${PROJECT}/cmake/ChooseLlvm.cmake)

file(REMOVE_RECURSE ${FOLDER})
function(write_llvm prefix version targets shared)
  file(WRITE ${FOLDER}/${prefix}/lib/cmake/llvm/LLVMConfig.cmake
       "set(LLVM_VERSION_MAJOR ${version})\nset(LLVM_PACKAGE_VERSION ${version}.1.2)\n"
       "set(LLVM_LINK_LLVM_DYLIB ${shared})\nset(LLVM_TARGETS_TO_BUILD ${targets})\n")
endfunction()
write_llvm(old 14 "AMDGPU\;X86" ON)
write_llvm(new 23 "AMDGPU\;X86" ON)
write_llvm(x86 18 "X86\;ARM" ON)
write_llvm(static 18 "AMDGPU\;X86" OFF)
write_llvm(good 18 "AArch64\;AMDGPU\;X86" ON)
write_llvm(rocm/lib/llvm 20 "AMDGPU\;X86" ON)

function(expect_llvm what prefix)
  fastdispatch_choose_llvm(chosen refusals)
  expect_equal("The LLVM ${what}" "${chosen}" "${FOLDER}/${prefix}/lib/cmake/llvm")
endfunction()

foreach(pair "old:is version '14'" "new:is version '23'" "x86:AMDGPU target" "static:no shared library libLLVM.so")
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 why)
  set(FASTDISPATCH_LLVM_DIR ${FOLDER}/${name})
  fastdispatch_choose_llvm(chosen refusals)
  expect_equal("The LLVM ${name}" "${chosen}" "")
  expect_match("Why the LLVM ${name} is refused" "${refusals}" "the one in ${FOLDER}/${name}/lib/cmake/llvm .*${why}")
endforeach()

# What hipcc's clang writes is read by an LLVM that is as new.
function(expect_versions compiler expected)
  fastdispatch_llvm_versions("${compiler}" versions)
  expect_equal("The order of LLVMs beside clang '${compiler}'" "${versions}" "${expected}")
endfunction()
expect_versions("" "15;16;17;18;19;20;21;22")
expect_versions(19 "19;20;21;22;18;17;16;15")
expect_versions(23 "22;21;20;19;18;17;16;15")

set(FASTDISPATCH_LLVM_DIR ${FOLDER}/good)
expect_llvm("that FASTDISPATCH_LLVM_DIR names by its folder" good)
set(FASTDISPATCH_LLVM_DIR ${FOLDER}/good/lib/cmake/llvm)
expect_llvm("that FASTDISPATCH_LLVM_DIR names by its CMake package" good)
set(FASTDISPATCH_LLVM_DIR)
set(LLVM_DIR ${FOLDER}/good/lib/cmake/llvm)
expect_llvm("that LLVM_DIR names" good)
set(LLVM_DIR)

# ROCm's is hipcc's, wherever the user's prefixes name it.
set(FASTDISPATCH_ROCM ${FOLDER}/rocm)
set(CMAKE_PREFIX_PATH ${FOLDER}/rocm/lib/llvm ${FOLDER}/old ${FOLDER}/good)
expect_llvm("among the user's prefixes" good)
set(FASTDISPATCH_LLVM_DIR ${FOLDER}/rocm/lib/llvm)
expect_llvm("of ROCm, asked for" rocm/lib/llvm)
