// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/shoal/lapack_loop.hpp"

#include <algorithm>
#include <lapacke.h>
#include <vector>

namespace shoal_cli {

bool lapack_available() { return true; }

bool lapack_loop(std::int64_t batch, int m, int n, float* a, float* u, float* s, float* vt) {
  const int k = std::min(m, n);
  bool ok = true;
  // A row-major matrix is its transpose column by column: A^T = V S U^T, so U and Vt change places.
#pragma omp parallel reduction(&& : ok)
  {
    float best = 0;
    LAPACKE_sgesdd_work(LAPACK_COL_MAJOR, 'S', n, m, a, n, s, vt, n, u, k, &best, -1, nullptr);
    std::vector<float> work(static_cast<std::size_t>(best));
    std::vector<lapack_int> integers(static_cast<std::size_t>(8 * k));
#pragma omp for
    for (std::int64_t b = 0; b < batch; ++b)
      ok = LAPACKE_sgesdd_work(LAPACK_COL_MAJOR, 'S', n, m, a + b * m * n, n, s + b * k,
                               vt + b * k * n, n, u + b * m * k, k, work.data(),
                               static_cast<lapack_int>(work.size()), integers.data()) == 0 &&
           ok;
  }
  return ok;
}

} // namespace shoal_cli
