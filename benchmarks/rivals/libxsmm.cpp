// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop over a kernel that libxsmm compiles for the shape.
#include "benchmarks/rivals/rival.hpp"

#include <libxsmm.h>
#include <stdexcept>
#include <type_traits>

namespace bench {

template <class T>
void add_libxsmm(Rivals<T>& rivals, void*) {
  GemmRival<T> rival;
  rival.name = "libxsmm, loop";
  rival.version = LIBXSMM_CONFIG_VERSION;
  if constexpr (is_complex<T>) {
    rival.refusal = [](const GemmShape&) { return "has no complex products"; };
  } else {
    libxsmm_init();
    rival.version += std::string(", ") + libxsmm_get_target_arch();
    rival.prepare = [](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
      const T one = 1, zero = 0;
      const auto kernel = [&] {
        if constexpr (std::is_same_v<T, float>)
          return libxsmm_smmdispatch(shape.m, shape.n, shape.k, nullptr, nullptr, nullptr, &one,
                                     &zero, nullptr, nullptr);
        else
          return libxsmm_dmmdispatch(shape.m, shape.n, shape.k, nullptr, nullptr, nullptr, &one,
                                     &zero, nullptr, nullptr);
      }();
      if (!kernel) throw std::runtime_error("compiles no kernel for this shape");
      return [=, &sets](int i) {
        const auto [a, b, c] = sets[static_cast<std::size_t>(i)];
        const std::int64_t m = shape.m, n = shape.n, k = shape.k;
#pragma omp parallel for
        for (std::int64_t j = 0; j < shape.batch; ++j)
          kernel(a + j * m * k, b + j * k * n, c + j * m * n);
      };
    };
  }
  rivals.gemm.push_back(rival);
}

SHOAL_BENCH_INSTANTIATE(add_libxsmm);

} // namespace bench
