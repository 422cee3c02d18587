# The words of an error, in each family of distributions.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)
include(${PROJECT}/cmake/Packages.cmake)

file(REMOVE_RECURSE ${FOLDER})
function(expect_package os_release package pattern)
  file(WRITE ${FOLDER}/os-release "${os_release}\n")
  set(FASTDISPATCH_OS_RELEASE ${FOLDER}/os-release)
  fastdispatch_package(${package} words)
  expect_match("What is said of ${package} where os-release is ${os_release}" "${words}" "${pattern}")
endfunction()

expect_package("ID=debian" libspdlog-dev "^the package libspdlog-dev \\(sudo apt-get install libspdlog-dev\\)$")
expect_package("ID=ubuntu\nID_LIKE=debian" libhsa-runtime-dev
               "^the package libhsa-runtime-dev .*apt-get.*, or with hsa-rocr-dev of AMD's repository$")
expect_package("ID=fedora" libspdlog-dev "^the package spdlog-devel \\(sudo dnf install spdlog-devel\\)$")
expect_package("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"" libhsa-runtime-dev
               "^the package rocm-runtime-devel .*, or with hsa-rocr-devel of AMD's repository$")
expect_package("ID=\"sles\"\nID_LIKE=\"suse\"" libhsakmt-dev
               "^the package hsakmt-roct-devel of AMD's repository \\(sudo zypper install hsakmt-roct-devel\\)$")
expect_package("ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"" libmsgpack-cxx-dev "^the package msgpack-cxx-devel ")
expect_package("ID=arch" libhsa-runtime-dev "^the package hsa-rocr \\(sudo pacman -S hsa-rocr\\)$")
expect_package("ID=endeavouros\nID_LIKE=\"arch\"" libspdlog-dev "^the package spdlog \\(sudo pacman -S spdlog\\)$")
expect_package("ID=gentoo" libspdlog-dev "libspdlog-dev of Debian, spdlog-devel of Fedora, spdlog-devel of openSUSE, spdlog of Arch")

# Every line of the table has all its columns.
file(STRINGS ${PROJECT}/cmake/packages.txt rows REGEX "^[a-z]")
foreach(row IN LISTS rows)
  string(REGEX REPLACE "[ \t]+" ";" row "${row}")
  list(LENGTH row columns)
  list(GET row 0 name)
  expect_equal("The number of names in the line of ${name}" ${columns} 6)
endforeach()
