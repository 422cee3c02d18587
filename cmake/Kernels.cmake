# Code objects from HIP sources: compiled by hipcc, bundled over GPU targets, embedded for the programs that ask. For
# projects that use the library, and for this one.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/Rocm.cmake)

set(FASTDISPATCH_KERNELS_FOLDER ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "Where the templates of code objects are")

# fastdispatch_add_kernels(target SOURCES file.hip... [TARGETS gfx...] [OPTIONS flag...] [INSTALL_DESTINATION folder])
#
# Compiles each source for all TARGETS into a bundle. A program that links with `target` has the bundles within it: the
# bundle of file.hip is the span of bytes `code_objects::file()` of the header file_code_object.hpp, which
# fastdispatch::Module::load takes. With INSTALL_DESTINATION the bundles are installed, too, as folder/file.hsaco. Their
# paths in the build folder are the target's property CODE_OBJECT_FILES.
#
# TARGETS are names for --offload-arch, such as gfx90a or gfx90a:xnack-; hipcc must know all of them. Without TARGETS
# they are those in the variable FASTDISPATCH_GPU_TARGETS that hipcc knows. OPTIONS go to hipcc, behind -O3 and the
# variable FASTDISPATCH_KERNEL_OPTIONS. A source is compiled again when a file changes that it includes.
function(fastdispatch_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INSTALL_DESTINATION" "SOURCES;TARGETS;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "fastdispatch_add_kernels(${target}): SOURCES are needed; not understood: "
                        "'${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_TARGETS AND NOT FASTDISPATCH_GPU_TARGETS)
    message(FATAL_ERROR "fastdispatch_add_kernels(${target}): no GPU to compile for: name TARGETS, such as gfx90a, or "
                        "set FASTDISPATCH_GPU_TARGETS")
  endif()

  add_library(${target} INTERFACE)
  set(files)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(name ${source} NAME_WE)
    fastdispatch_add_code_object(NAME ${name} SOURCE ${source} ARCHITECTURES ${arg_TARGETS} OPTIONS ${arg_OPTIONS})
    target_link_libraries(${target} INTERFACE ${name}_code_object)
    get_target_property(file ${name}_code_object CODE_OBJECT_FILE)
    list(APPEND files ${file})
  endforeach()
  set_target_properties(${target} PROPERTIES CODE_OBJECT_FILES "${files}")
  if(arg_INSTALL_DESTINATION)
    install(FILES ${files} DESTINATION ${arg_INSTALL_DESTINATION})
  endif()
endfunction()

# fastdispatch_add_code_object(NAME name SOURCE file.hip [OUTPUT_DIRECTORY folder] [ARCHITECTURES a...]
#                              [OPTIONS flag...])
#
# One source's bundle, name.hsaco, and the library target name_code_object, whose property CODE_OBJECT_FILE has the
# bundle's path.
function(fastdispatch_add_code_object)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SOURCE;OUTPUT_DIRECTORY" "ARCHITECTURES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_SOURCE)
    message(FATAL_ERROR "fastdispatch_add_code_object: NAME and SOURCE are needed; not understood: "
                        "'${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "'${arg_NAME}' is no name for a C++ function: rename ${arg_SOURCE}")
  endif()
  get_filename_component(source ${arg_SOURCE} ABSOLUTE)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "${source} does not exist")
  endif()
  fastdispatch_architectures("${arg_ARCHITECTURES}" ${arg_SOURCE} architectures)
  fastdispatch_hip_compiler_flags(device_only host)
  list(TRANSFORM architectures PREPEND --offload-arch= OUTPUT_VARIABLE flags)

  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  file(MAKE_DIRECTORY ${arg_OUTPUT_DIRECTORY})
  set(code_object ${arg_OUTPUT_DIRECTORY}/${arg_NAME}.hsaco)
  set(depfile ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.hsaco.d)
  fastdispatch_device_dependencies(${code_object} ${depfile} dependencies)
  add_custom_command(
    OUTPUT ${code_object}
    COMMAND ${FASTDISPATCH_KERNELS_FOLDER}/quietly ${FASTDISPATCH_HIPCC} ${device_only} ${flags} -O3
            ${FASTDISPATCH_KERNEL_OPTIONS} ${arg_OPTIONS} ${source} -o ${code_object} ${dependencies}
    MAIN_DEPENDENCY ${source}
    DEPFILE ${depfile}
    COMMENT "Building code object ${arg_NAME}.hsaco"
    COMMAND_EXPAND_LISTS VERBATIM)

  set(FASTDISPATCH_CODE_OBJECT_NAME ${arg_NAME})
  set(FASTDISPATCH_CODE_OBJECT_FILE ${code_object})
  set(embedding ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_code_object)
  configure_file(${FASTDISPATCH_KERNELS_FOLDER}/code_object.cpp.in ${embedding}/${arg_NAME}_code_object.cpp @ONLY)
  configure_file(${FASTDISPATCH_KERNELS_FOLDER}/code_object.hpp.in ${embedding}/${arg_NAME}_code_object.hpp @ONLY)
  set_source_files_properties(${embedding}/${arg_NAME}_code_object.cpp PROPERTIES OBJECT_DEPENDS ${code_object})
  add_library(${arg_NAME}_code_object STATIC ${embedding}/${arg_NAME}_code_object.cpp)
  target_include_directories(${arg_NAME}_code_object SYSTEM INTERFACE ${embedding})
  # In a unity source the dependency on the bundle would be lost.
  set_target_properties(${arg_NAME}_code_object PROPERTIES UNITY_BUILD OFF CODE_OBJECT_FILE ${code_object})
endfunction()

# Sets `result` to the architectures to compile `source` for: those wanted, of which hipcc must know each, or else those
# of FASTDISPATCH_GPU_TARGETS that it knows.
function(fastdispatch_architectures wanted source result)
  set(architectures)
  foreach(architecture IN LISTS wanted)
    fastdispatch_hipcc_compiles(${architecture} usable)
    if(NOT usable)
      message(FATAL_ERROR "${FASTDISPATCH_HIPCC} does not compile for ${architecture}, for which ${source} is wanted")
    endif()
    list(APPEND architectures ${architecture})
  endforeach()
  if(NOT wanted)
    foreach(architecture IN LISTS FASTDISPATCH_GPU_TARGETS)
      fastdispatch_hipcc_compiles(${architecture} usable)
      if(usable)
        list(APPEND architectures ${architecture})
      endif()
    endforeach()
  endif()
  if(NOT architectures)
    message(FATAL_ERROR "${FASTDISPATCH_HIPCC} compiles for none of FASTDISPATCH_GPU_TARGETS (${FASTDISPATCH_GPU_TARGETS}); "
                        "what it said is in ${PROJECT_BINARY_DIR}/CMakeFiles/hipcc_trial.log")
  endif()
  set(${result} ${architectures} PARENT_SCOPE)
endfunction()

# Sets `result` to whether the installed hipcc builds for `architecture`; tried once and kept in the cache. Knowing a
# name is not enough: clang may know an architecture that the installed device libraries have no bitcode for.
function(fastdispatch_hipcc_compiles architecture result)
  fastdispatch_find_hip_compiler(missing)
  if(missing)
    message(FATAL_ERROR "${missing}")
  endif()
  fastdispatch_hip_compiler_flags(device_only host)
  string(REPLACE "+" "_on" name ${architecture})
  string(REPLACE "-" "_off" name ${name})
  string(MAKE_C_IDENTIFIER FASTDISPATCH_HIPCC_COMPILES_${name} name)
  if(NOT DEFINED CACHE{${name}})
    set(trial ${PROJECT_BINARY_DIR}/CMakeFiles/hipcc_trial.hip)
    file(WRITE ${trial} "#include <hip/hip_runtime.h>\n__global__ void trial(unsigned* p) { *p = blockIdx.x; }\n")
    execute_process(
      COMMAND ${FASTDISPATCH_KERNELS_FOLDER}/quietly ${FASTDISPATCH_HIPCC} ${device_only} --offload-arch=${architecture}
              ${trial} -o ${trial}.hsaco
      RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(status EQUAL 0)
      message(STATUS "hipcc compiles for ${architecture}")
      set(${name} ON CACHE INTERNAL "hipcc compiles for ${architecture}")
    else()
      message(STATUS "hipcc does not compile for ${architecture}: left out")
      file(APPEND ${PROJECT_BINARY_DIR}/CMakeFiles/hipcc_trial.log "hipcc for ${architecture}:\n${output}\n")
      set(${name} OFF CACHE INTERNAL "hipcc compiles for ${architecture}")
    endif()
  endif()
  set(${result} ${${name}} PARENT_SCOPE)
endfunction()
