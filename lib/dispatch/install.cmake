# What is installed of the library: the components `library`, which a program needs to run, and `dev`, which it needs to be
# built, by CMake (find_package(fastdispatch)) or by pkg-config.
include(CMakePackageConfigHelpers)

install(TARGETS fastdispatch EXPORT fastdispatchTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
set_target_properties(fastdispatch_static PROPERTIES EXCLUDE_FROM_ALL FALSE)
install(TARGETS fastdispatch_static EXPORT fastdispatchStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fastdispatch ${PROJECT_BINARY_DIR}/include/fastdispatch
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.hpp")

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/fastdispatch)
foreach(targets fastdispatchTargets fastdispatchStaticTargets)
  install(EXPORT ${targets} NAMESPACE fastdispatch:: DESTINATION ${folder} COMPONENT dev)
endforeach()
configure_package_config_file(fastdispatchConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/fastdispatchConfig.cmake
                              INSTALL_DESTINATION ${folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/fastdispatchConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
set(kernels ${PROJECT_SOURCE_DIR}/cmake)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fastdispatchConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/fastdispatchConfigVersion.cmake
              ${kernels}/Kernels.cmake ${kernels}/Rocm.cmake ${kernels}/Packages.cmake ${kernels}/packages.txt
              ${kernels}/code_object.cpp.in ${kernels}/code_object.hpp.in
        DESTINATION ${folder} COMPONENT dev)
install(PROGRAMS ${kernels}/quietly DESTINATION ${folder} COMPONENT dev)

# Everything is found from the file's own folder, so that an installation may be moved.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
set(hsa_flags)
if(NOT FASTDISPATCH_HSA_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  set(hsa_flags " -isystem ${FASTDISPATCH_HSA_INCLUDE_DIR}")
endif()
list(TRANSFORM FASTDISPATCH_DECOMPRESSOR_NAMES PREPEND " -l" OUTPUT_VARIABLE decompressors)
string(REPLACE ";" "" decompressors "${decompressors}")
configure_file(fastdispatch.pc.in ${CMAKE_CURRENT_BINARY_DIR}/fastdispatch.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fastdispatch.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
