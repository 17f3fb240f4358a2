# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One source a subject; one executable a backend.

function(shoal_add_test_executable name label)
  add_executable(${name} ${ARGN} ${PROJECT_SOURCE_DIR}/tests/main.cpp)
  shoal_sources_are_device_code(${ARGN} ${PROJECT_SOURCE_DIR}/tests/main.cpp)
  shoal_compile_options(${name})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC 14 sees a negative size in every vector that is sized from an int.
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-free-nonheap-object>)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE
    SHOAL_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data")
  target_link_libraries(${name} PRIVATE shoal::shoal GTest::gtest)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  # More threads than a small machine has cores still finish; binding them would serialise the tests.
  set_tests_properties(${name} PROPERTIES LABELS ${label} ENVIRONMENT "OMP_PROC_BIND=false")
endfunction()

# shoal_add_unit_test(<name> <source>...): independent of the backend.
function(shoal_add_unit_test name)
  shoal_add_test_executable(shoal_${name} unit ${ARGN})
endfunction()

# shoal_add_backend_test(<name> <source>...): compiled for each backend with SHOAL_TEST_SPACE defined.
function(shoal_add_backend_test name)
  set(space_cuda Kokkos::Cuda)
  set(space_openmp Kokkos::OpenMP)
  foreach(backend IN LISTS SHOAL_BACKENDS)
    shoal_add_test_executable(shoal_${name}_${backend} ${backend} ${ARGN})
    target_compile_definitions(shoal_${name}_${backend} PRIVATE
      SHOAL_TEST_SPACE=${space_${backend}})
  endforeach()
endfunction()
