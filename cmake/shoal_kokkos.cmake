# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds Kokkos unless a parent project has it, and derives the list of backends from what it was built with.
if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos 4.6 CONFIG)
  if(NOT Kokkos_FOUND)
    # Kokkos accepts only requests for its own major version.
    find_package(Kokkos 5 CONFIG REQUIRED)
  endif()
endif()
if(Kokkos_VERSION AND Kokkos_VERSION VERSION_GREATER_EQUAL 5.3)
  message(WARNING "shoal is tested with Kokkos 4.6 to 5.2; found ${Kokkos_VERSION}")
endif()

set(SHOAL_BACKENDS "")
set(SHOAL_CONFIG_CUDA 0)
set(SHOAL_CONFIG_OPENMP 0)
if(Kokkos_ENABLE_CUDA)
  list(APPEND SHOAL_BACKENDS cuda)
  set(SHOAL_CONFIG_CUDA 1)
endif()
if(Kokkos_ENABLE_OPENMP)
  list(APPEND SHOAL_BACKENDS openmp)
  set(SHOAL_CONFIG_OPENMP 1)
endif()
if(NOT SHOAL_BACKENDS)
  message(FATAL_ERROR "shoal needs a Kokkos with the CUDA or the OpenMP backend; "
                      "the one found has neither (Kokkos_DIR: ${Kokkos_DIR})")
endif()

# A Kokkos built with its compiler wrapper makes every file CUDA by CMAKE_CXX_COMPILER; one built as a CMake
# language needs the files marked.
set(SHOAL_CUDA_LANGUAGE OFF)
if(Kokkos_ENABLE_CUDA AND Kokkos_COMPILE_LANGUAGE STREQUAL "CUDA")
  enable_language(CUDA)
  set(SHOAL_CUDA_LANGUAGE ON)
endif()

# shoal_sources_are_device_code(<source>...): to be called for every source that includes Kokkos.
function(shoal_sources_are_device_code)
  if(SHOAL_CUDA_LANGUAGE)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

# shoal_compile_options(<target>): the warnings and the CPU architecture that every target of shoal uses.
function(shoal_compile_options target)
  set(flags -Wall -Wextra -Wundef)
  if(SHOAL_WERROR)
    list(APPEND flags -Werror)
  endif()
  if(SHOAL_HOST_ARCH)
    list(APPEND flags -march=${SHOAL_HOST_ARCH})
  endif()
  list(JOIN flags "," nvcc_flags)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${flags}>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${nvcc_flags}>)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
endfunction()

message(STATUS "shoal: Kokkos ${Kokkos_VERSION}, backends: ${SHOAL_BACKENDS}")
