# CMake 3.22, which Ubuntu 22.04 has, reads presets up to version 3.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

file(READ ${PROJECT}/CMakeLists.txt text)
if(NOT text MATCHES "cmake_minimum_required\\(VERSION ([0-9]+)\\.([0-9]+)\\)")
  message(FATAL_ERROR "CMakeLists.txt asks for no version of CMake")
endif()
set(minimum ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})

file(READ ${PROJECT}/CMakePresets.json presets)
string(JSON version GET "${presets}" version)
string(JSON major GET "${presets}" cmakeMinimumRequired major)
string(JSON minor GET "${presets}" cmakeMinimumRequired minor)
expect_equal("The version of CMake that the presets ask for" ${major}.${minor} ${minimum})

# The first CMake of each version of the presets' format, by cmake-presets(7).
set(since_1 3.19)
set(since_2 3.20)
set(since_3 3.21)
set(since_4 3.23)
set(since_5 3.24)
set(since_6 3.25)
if(NOT DEFINED since_${version} OR since_${version} VERSION_GREATER minimum)
  message(SEND_ERROR "CMakePresets.json has version ${version}, which CMake ${minimum} does not read")
endif()
