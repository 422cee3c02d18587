# Code objects from HIP sources: compiled by hipcc, bundled over the architectures, embedded for the programs that ask.
include_guard(GLOBAL)

find_program(FASTDISPATCH_HIPCC hipcc DOC "AMD's HIP compiler driver")
if(NOT FASTDISPATCH_HIPCC)
  message(FATAL_ERROR "hipcc was not found; it comes with the package hipcc (./dev build installs it)")
endif()

set(FASTDISPATCH_CODE_OBJECT_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "Where the templates of code objects are")

# Sets `result` to whether the installed hipcc builds for `architecture`; tried once and kept in the cache. Knowing a
# name is not enough: clang may know an architecture that the installed device libraries have no bitcode for.
function(fastdispatch_hipcc_compiles architecture result)
  string(REPLACE "+" "_on" name ${architecture})
  string(REPLACE "-" "_off" name ${name})
  string(MAKE_C_IDENTIFIER FASTDISPATCH_HIPCC_COMPILES_${name} name)
  if(NOT DEFINED CACHE{${name}})
    set(trial ${PROJECT_BINARY_DIR}/CMakeFiles/hipcc_trial.hip)
    file(WRITE ${trial} "#include <hip/hip_runtime.h>\n__global__ void trial(unsigned* p) { *p = blockIdx.x; }\n")
    execute_process(
      COMMAND ${FASTDISPATCH_CODE_OBJECT_DIRECTORY}/quietly ${FASTDISPATCH_HIPCC} --genco --offload-arch=${architecture} ${trial}
              -o ${trial}.hsaco
      RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(status EQUAL 0)
      message(STATUS "hipcc compiles for ${architecture}")
      set(${name} ON CACHE INTERNAL "hipcc compiles for ${architecture}")
    else()
      message(STATUS "hipcc does not compile for ${architecture}: left out")
      file(APPEND ${PROJECT_BINARY_DIR}/CMakeFiles/CMakeError.log "hipcc for ${architecture}:\n${output}\n")
      set(${name} OFF CACHE INTERNAL "hipcc compiles for ${architecture}")
    endif()
  endif()
  set(${result} ${${name}} PARENT_SCOPE)
endfunction()

# fastdispatch_add_code_object(NAME name SOURCE file.hip [INSTALL] [ARCHITECTURES a...] [OPTIONS flag...])
#
# Builds name.hsaco, a bundle with one code object an architecture, and the library target name_code_object, whose
# header name_code_object.hpp has `std::span<const std::byte> code_objects::name()`. The file's path is the target's
# property CODE_OBJECT_FILE. With INSTALL it lies in lib/fastdispatch/kernels of the build folder and is installed.
# ARCHITECTURES, which must all be usable, replaces those of FASTDISPATCH_GPU_TARGETS, of which unknown ones are left out.
function(fastdispatch_add_code_object)
  cmake_parse_arguments(PARSE_ARGV 0 arg "INSTALL" "NAME;SOURCE" "ARCHITECTURES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SOURCE)
    message(FATAL_ERROR "fastdispatch_add_code_object: NAME and SOURCE are needed; not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(flags)
  foreach(architecture IN LISTS arg_ARCHITECTURES)
    fastdispatch_hipcc_compiles(${architecture} usable)
    if(NOT usable)
      message(FATAL_ERROR "${FASTDISPATCH_HIPCC} does not compile for ${architecture}, which ${arg_NAME} needs")
    endif()
    list(APPEND flags --offload-arch=${architecture})
  endforeach()
  if(NOT arg_ARCHITECTURES)
    foreach(architecture IN LISTS FASTDISPATCH_GPU_TARGETS)
      fastdispatch_hipcc_compiles(${architecture} usable)
      if(usable)
        list(APPEND flags --offload-arch=${architecture})
      endif()
    endforeach()
    if(NOT flags)
      message(FATAL_ERROR "${FASTDISPATCH_HIPCC} compiles for none of FASTDISPATCH_GPU_TARGETS (${FASTDISPATCH_GPU_TARGETS})")
    endif()
  endif()

  set(output_directory ${CMAKE_CURRENT_BINARY_DIR})
  if(arg_INSTALL)
    set(output_directory ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/fastdispatch/kernels)
    if(FASTDISPATCH_INSTALL)
      install(FILES ${output_directory}/${arg_NAME}.hsaco DESTINATION ${CMAKE_INSTALL_LIBDIR}/fastdispatch/kernels)
    endif()
  endif()
  file(MAKE_DIRECTORY ${output_directory})
  set(code_object ${output_directory}/${arg_NAME}.hsaco)
  set(depfile ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.hsaco.d)
  get_filename_component(source ${arg_SOURCE} ABSOLUTE)
  add_custom_command(
    OUTPUT ${code_object}
    COMMAND ${FASTDISPATCH_CODE_OBJECT_DIRECTORY}/quietly ${FASTDISPATCH_HIPCC} --genco ${flags} -O3 -Wall -Wextra
            $<$<BOOL:${FASTDISPATCH_WARNINGS_AS_ERRORS}>:-Werror> ${arg_OPTIONS} ${source} -o ${code_object}
            -MD -MF ${depfile}
    MAIN_DEPENDENCY ${source}
    DEPFILE ${depfile}
    COMMENT "Building code object ${arg_NAME}.hsaco"
    COMMAND_EXPAND_LISTS VERBATIM)

  set(FASTDISPATCH_CODE_OBJECT_NAME ${arg_NAME})
  set(FASTDISPATCH_CODE_OBJECT_FILE ${code_object})
  set(embedding ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_code_object)
  configure_file(${FASTDISPATCH_CODE_OBJECT_DIRECTORY}/code_object.S.in ${embedding}/${arg_NAME}_code_object.S @ONLY)
  configure_file(${FASTDISPATCH_CODE_OBJECT_DIRECTORY}/code_object.hpp.in ${embedding}/${arg_NAME}_code_object.hpp @ONLY)
  set_source_files_properties(${embedding}/${arg_NAME}_code_object.S PROPERTIES OBJECT_DEPENDS ${code_object})
  add_library(${arg_NAME}_code_object STATIC ${embedding}/${arg_NAME}_code_object.S)
  target_include_directories(${arg_NAME}_code_object SYSTEM INTERFACE ${embedding})
  set_target_properties(${arg_NAME}_code_object PROPERTIES LINKER_LANGUAGE CXX CODE_OBJECT_FILE ${code_object})
endfunction()
