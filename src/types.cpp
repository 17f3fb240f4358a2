// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/types.hpp>

namespace shoal {

const char* to_string(Op op) {
  switch (op) {
  case Op::none: return "none";
  case Op::transpose: return "transpose";
  case Op::conj_transpose: return "conj_transpose";
  }
  return "invalid";
}

const char* to_string(Vectors vectors) {
  switch (vectors) {
  case Vectors::none: return "none";
  case Vectors::thin: return "thin";
  case Vectors::full: return "full";
  }
  return "invalid";
}

const char* to_string(GemmPath path) {
  switch (path) {
  case GemmPath::automatic: return "automatic";
  case GemmPath::team: return "team";
  case GemmPath::tile: return "tile";
  case GemmPath::vector: return "vector";
  case GemmPath::vendor: return "vendor";
  }
  return "invalid";
}

const char* to_string(SvdPath path) {
  switch (path) {
  case SvdPath::automatic: return "automatic";
  case SvdPath::lane: return "lane";
  case SvdPath::team: return "team";
  case SvdPath::group: return "group";
  case SvdPath::block: return "block";
  case SvdPath::tall: return "tall";
  case SvdPath::vector: return "vector";
  }
  return "invalid";
}

} // namespace shoal
