# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Headers, library, CMake package and pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS shoal EXPORT shoalTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS FILE_SET generated)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
install(EXPORT shoalTargets NAMESPACE shoal:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/shoalConfig.cmake.in
  ${PROJECT_BINARY_DIR}/shoalConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake
  COMPATIBILITY SameMinorVersion) # until 1.0
install(FILES ${PROJECT_BINARY_DIR}/shoalConfig.cmake ${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake
  DESTINATION ${package_dir})

# Kokkos has no pkg-config file of its own everywhere: its include folders are taken from its target.
get_target_property(kokkos_core Kokkos::kokkoscore INTERFACE_INCLUDE_DIRECTORIES)
set(SHOAL_PC_KOKKOS_CFLAGS "")
foreach(folder IN LISTS kokkos_core)
  string(REGEX REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1" folder "${folder}")
  if(NOT folder MATCHES "\\$<" AND NOT folder STREQUAL "")
    string(APPEND SHOAL_PC_KOKKOS_CFLAGS " -I${folder}")
  endif()
endforeach()
# From <prefix>/<libdir>/pkgconfig up to <prefix>; libdir may have two components (lib/x86_64-linux-gnu).
string(REGEX REPLACE "[^/]+" ".." SHOAL_PC_UP "${CMAKE_INSTALL_LIBDIR}")
set(SHOAL_PC_FLAGS "")
if(SHOAL_CONFIG_OPENMP)
  set(SHOAL_PC_FLAGS " -fopenmp")
endif()
set(SHOAL_PC_CFLAGS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(SHOAL_PC_CFLAGS " -Wno-psabi") # as of the CMake target
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/shoal.pc.in ${PROJECT_BINARY_DIR}/shoal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/shoal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
