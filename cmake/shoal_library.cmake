# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The target shoal: backend-neutral sources, and for each backend its instantiations, one file a scalar.
set(SHOAL_PUBLIC_HEADERS
  batch_view.hpp error.hpp gemm.hpp gemm_epilogue.hpp half.hpp kokkos_kernels.hpp options.hpp plan.hpp shoal.hpp
  svd.hpp types.hpp
  detail/backend_traits.hpp detail/backends.hpp detail/batch_ref.hpp detail/blas_form.hpp detail/checks.hpp
  detail/coefficient.hpp detail/concepts.hpp detail/dispatch.hpp detail/fast_divide.hpp detail/lane_tile.hpp
  detail/launch.hpp detail/pack.hpp detail/panel.hpp detail/plan_support.hpp detail/scalar.hpp detail/unroll.hpp
  detail/gemm/epilogue.hpp detail/gemm/problem.hpp detail/gemm/run_kernel.hpp detail/gemm/team_kernel.hpp
  detail/gemm/tile_kernel.hpp detail/gemm/vector_kernel.hpp
  lane/gemm.hpp lane/matrix.hpp lane/svd.hpp
  team/crew.hpp team/gemm.hpp team/svd.hpp)
foreach(backend IN LISTS SHOAL_BACKENDS)
  list(APPEND SHOAL_PUBLIC_HEADERS
    detail/backends/${backend}/traits.hpp detail/backends/${backend}/tuning.hpp)
endforeach()
list(TRANSFORM SHOAL_PUBLIC_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/shoal/)

set(SHOAL_GENERATED_INCLUDE ${PROJECT_BINARY_DIR}/include)
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.hpp.in ${SHOAL_GENERATED_INCLUDE}/shoal/version.hpp @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/config.hpp.in ${SHOAL_GENERATED_INCLUDE}/shoal/config.hpp @ONLY)
set(SHOAL_GENERATED_HEADERS
  ${SHOAL_GENERATED_INCLUDE}/shoal/version.hpp ${SHOAL_GENERATED_INCLUDE}/shoal/config.hpp)

add_library(shoal
  src/checks.cpp src/types.cpp src/gemm/plan.cpp src/svd/plan.cpp)
add_library(shoal::shoal ALIAS shoal)
target_sources(shoal PUBLIC
  FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${SHOAL_PUBLIC_HEADERS}
  FILE_SET generated TYPE HEADERS BASE_DIRS ${SHOAL_GENERATED_INCLUDE} FILES ${SHOAL_GENERATED_HEADERS})

set(SHOAL_SCALARS float double Kokkos::complex<float> Kokkos::complex<double> half bfloat16)
set(SHOAL_SCALAR_NAMES float double complex_float complex_double half bfloat16)
foreach(backend IN LISTS SHOAL_BACKENDS)
  set(sources backends/${backend}/backend.cpp)
  foreach(SHOAL_SCALAR name IN ZIP_LISTS SHOAL_SCALARS SHOAL_SCALAR_NAMES)
    foreach(operation gemm svd)
      set(instance ${PROJECT_BINARY_DIR}/backends/${backend}/${operation}_inst_${name}.cpp)
      configure_file(backends/${backend}/${operation}_inst.cpp.in ${instance} @ONLY)
      list(APPEND sources ${instance})
    endforeach()
  endforeach()
  target_sources(shoal PRIVATE ${sources})
  shoal_sources_are_device_code(${sources})
  shoal_add_vendor(${backend})
  if(backend STREQUAL openmp)
    # Square roots in packs vectorise only without errno. Optimised also for debugging users: a kernel at
    # -O0 is thousands of times slower. At -O3 sanitizers make the compiler four times slower than at -O1.
    set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS
      $<$<COMPILE_LANGUAGE:CXX>:$<IF:$<CONFIG:Debug>,-O1,-O3>> $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>
      $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=fast>
      # A second copy of a loop for unit strides may round otherwise: bits would depend on the layout.
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-version-loops-for-strides>)
  endif()
endforeach()
shoal_sources_are_device_code(src/gemm/plan.cpp src/svd/plan.cpp)

target_include_directories(shoal PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(shoal PUBLIC cxx_std_20)
target_link_libraries(shoal PUBLIC Kokkos::kokkos)
# Headers pass vectors by value, wider ones than the CPU is said to have: inlined, but GCC tells of the ABI.
target_compile_options(shoal PUBLIC $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-psabi>)
shoal_compile_options(shoal)
set_target_properties(shoal PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  POSITION_INDEPENDENT_CODE ON)
