# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every option of the build. All begin with SHOAL_, so that shoal is a quiet guest in a parent project.
option(SHOAL_ENABLE_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SHOAL_ENABLE_LONG_TESTS "With the tests that take minutes: under sanitizers they take an hour" ON)
option(SHOAL_ENABLE_TOOLS "Build the program shoal" ${PROJECT_IS_TOP_LEVEL})
option(SHOAL_ENABLE_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(SHOAL_ENABLE_BENCHMARKS "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(SHOAL_ENABLE_INSTALL "Generate the install target" ${PROJECT_IS_TOP_LEVEL})
option(SHOAL_ENABLE_CUBLAS "Hand large products on GPUs to cuBLAS, where it is found" ON)
option(SHOAL_ENABLE_CBLAS "Hand large products on CPUs to OpenBLAS or another CBLAS, where one is found" ON)
option(SHOAL_WERROR "Treat warnings as errors" OFF)
set(SHOAL_HOST_ARCH "" CACHE STRING
    "Value of -march for the CPU code, such as x86-64-v3; empty: the compiler's default")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
