// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program shoal: decompositions and products of NumPy files.
#include "tools/shoal/commands.hpp"
#include "tools/shoal/errors.hpp"
#include "tools/shoal/output.hpp"

#include <shoal/version.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>

namespace {

using namespace shoal_cli;

void add_svd(CLI::App& app, SvdRequest& r) {
  app.add_option("input", r.input,
                 "matrices as .npy: any leading dimensions, then rows and columns")
      ->required();
  app.add_option("-o,--output", r.output, "where U, S and Vt go, as .npz")->required();
  const std::map<std::string, shoal::Vectors> vectors{{"thin", shoal::Vectors::thin},
                                                      {"full", shoal::Vectors::full},
                                                      {"none", shoal::Vectors::none}};
  app.add_option("--vectors", r.vectors, "singular vectors: thin (default), full or none")
      ->transform(CLI::CheckedTransformer(vectors).description("thin|full|none"));
  app.add_option("--rank", r.rank, "keep only the largest values, and their vectors")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--tolerance", r.tolerance, "values up to this share of the largest become 0")
      ->check(CLI::Range(0.0, 0.999999));
  app.add_flag("--fix-signs", r.fix_signs, "largest entry of each left vector real and positive");
  app.add_flag("--check", r.check,
               "measure residual and orthogonality; exit code 3 beyond the contract");
  app.add_option("--chunk-memory", r.chunk_megabytes,
                 "megabytes of matrices in work at a time (256)")
      ->check(CLI::PositiveNumber);
}

void add_gemm(CLI::App& app, GemmRequest& r) {
  app.add_option("a", r.a, "left operand, .npy")->required();
  app.add_option("b", r.b, "right operand, .npy; leading dimensions broadcast as in numpy.matmul")
      ->required();
  app.add_option("-o,--output", r.output, "where the product goes, .npy")->required();
  const std::map<std::string, shoal::Op> ops{
      {"N", shoal::Op::none}, {"T", shoal::Op::transpose}, {"C", shoal::Op::conj_transpose}};
  app.add_option("--op-a", r.op_a, "N, T (transpose) or C (conjugate transpose)")
      ->transform(CLI::CheckedTransformer(ops).description("N|T|C"));
  app.add_option("--op-b", r.op_b, "the same for the right operand")
      ->transform(CLI::CheckedTransformer(ops).description("N|T|C"));
  app.add_option("--alpha", r.alpha, "factor of the product");
  app.add_option("--chunk-memory", r.chunk_megabytes,
                 "megabytes of matrices in work at a time (256)")
      ->check(CLI::PositiveNumber);
}

/// Checks what only several options together can tell.
void validate(const SvdRequest& r) {
  if (r.vectors == shoal::Vectors::full && r.rank >= 0)
    throw CLI::ValidationError(
        "--rank",
        "cuts the vectors short, --vectors full asks for all of them: give one of the two");
  if (r.vectors == shoal::Vectors::none && (r.check || r.fix_signs))
    throw CLI::ValidationError("--vectors",
                               "none leaves nothing for --check or --fix-signs to work on");
  if (r.check && (r.rank >= 0 || r.tolerance > 0))
    throw CLI::ValidationError("--check",
                               "needs all singular values: leave out --rank and --tolerance");
}

/// Runs a command with Kokkos up; one line on stderr for what goes wrong.
int run(const std::function<int()>& command) {
  try {
    watch_signals();
    const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
    return command();
  } catch (const BadInput& error) {
    std::fprintf(stderr, "shoal: %s\n", error.what());
    return exit_bad_input;
  } catch (const Interrupted& error) {
    std::fprintf(stderr, "shoal: %s\n", error.what());
    return exit_interrupted;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "shoal: out of memory; a smaller --chunk-memory needs less\n");
    return exit_bad_input;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shoal: %s\n", error.what());
    return exit_bad_input;
  }
}

} // namespace

int main(int argc, char* argv[]) {
  CLI::App app("Batched singular value decompositions and products of very many small matrices");
  app.set_version_flag("--version", std::string("shoal ") + SHOAL_VERSION_STRING);
  app.require_subcommand(1);
  SvdRequest svd;
  GemmRequest gemm;
  CLI::App& svd_app = *app.add_subcommand("svd", "A = U diag(S) Vt of every matrix of a file");
  CLI::App& gemm_app = *app.add_subcommand("gemm", "the products of the matrices of two files");
  CLI::App& demo_app =
      *app.add_subcommand("demo", "time and accuracy on random matrices and real images");
  app.add_subcommand("info", "version, backends, devices");
  add_svd(svd_app, svd);
  add_gemm(gemm_app, gemm);
  try {
    app.parse(argc, argv);
    if (svd_app.parsed()) validate(svd);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error); // --help, --version
    std::fprintf(stderr, "shoal: %s\n", error.what());
    return exit_usage;
  }
  if (svd_app.parsed()) return run([&] { return svd_command(svd); });
  if (gemm_app.parsed()) return run([&] { return gemm_command(gemm); });
  if (demo_app.parsed()) return run(demo_command);
  return run(info_command);
}
