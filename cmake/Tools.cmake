# What the command-line tools are built with, besides the library. Adds to FASTDISPATCH_TOOLS_MISSING what to say of what
# is not there.
set(FASTDISPATCH_TOOLS_MISSING)
foreach(fastdispatch_pair CLI11:libcli11-dev nlohmann_json:nlohmann-json3-dev)
  string(REPLACE ":" ";" fastdispatch_pair ${fastdispatch_pair})
  list(GET fastdispatch_pair 0 fastdispatch_name)
  list(GET fastdispatch_pair 1 fastdispatch_debian_package)
  find_package(${fastdispatch_name} QUIET CONFIG)
  if(NOT ${fastdispatch_name}_FOUND)
    fastdispatch_package(${fastdispatch_debian_package} fastdispatch_words)
    list(APPEND FASTDISPATCH_TOOLS_MISSING "${fastdispatch_name} was not found: it comes with ${fastdispatch_words}")
  endif()
endforeach()
