#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds what Python's users have to what shoal_bench measured: peers.py bench.json [--filter REGEX]

NumPy, and PyTorch and CuPy where they are installed, on the same matrices; their entries go into the rows of the file.
CuPy is measured on GPUs alone, NumPy on CPUs and in the rows from host to host.
"""

import argparse
import json
import os
import re
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = str(len(os.sched_getaffinity(0)))  # before NumPy reads it
import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
TYPES = {"f32": np.float32, "f64": np.float64}
MOST_MATRICES = 20_000  # of an svd: more are scaled
SAMPLES = 200


def mix(z):  # splitmix64
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def fill(shape, dtype, seed, condition=1.0):
    """The matrices of shoal_bench's operands.hpp."""
    with np.errstate(over="ignore"):
        i = np.arange(int(np.prod(shape)), dtype=np.uint64)
        coarse = mix(i * np.uint64(2) * GOLDEN + mix(np.array(seed + 1, np.uint64)))
        total = -2 + (mix(coarse + np.uint64(1)) >> np.uint64(11)).astype(np.float64) * 2.0**-69
        for k in range(4):
            total += ((coarse >> np.uint64(16 * k)) & np.uint64(0xFFFF)).astype(np.float64) * 2.0**-16
    x = (total * 1.7320508075688772).astype(dtype).reshape(shape)
    grading = dtype(condition ** (-1 / max(1, shape[-1] - 1)))
    return x * grading ** np.arange(shape[-1], dtype=dtype)


# --- libraries ------------------------------------------------------------------------------------


class NumPy:
    name, version, on_gpu = "NumPy", np.__version__, False
    tolerance = "LAPACK's own; float is decomposed in double"

    def to_device(self, x):
        return x

    def to_host(self, x):
        return x

    def svd(self, a):
        return np.linalg.svd(a, full_matrices=False)

    def matmul(self, a, b):
        return np.matmul(a, b)

    def seconds(self, call):
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    wall_seconds = seconds


class PyTorch(NumPy):
    name, tolerance = "PyTorch", "its library's own"

    def __init__(self, gpu):
        import torch

        self.torch, self.version, self.on_gpu = torch, torch.__version__, gpu
        if gpu:
            self.flushed = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")

    def to_device(self, x):
        x = self.torch.from_numpy(x)
        return x.cuda() if self.on_gpu else x

    def to_host(self, x):
        return x.cpu().numpy()

    def svd(self, a):
        return self.torch.linalg.svd(a, full_matrices=False)

    def matmul(self, a, b):
        return self.torch.matmul(a, b)

    def seconds(self, call):
        if not self.on_gpu:
            return super().seconds(call)
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flushed.zero_()  # the cache, and a start ahead for the host
        begin.record()
        call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3

    def wall_seconds(self, call):
        def whole():
            call()
            if self.on_gpu:
                self.torch.cuda.synchronize()

        return NumPy.seconds(self, whole)


class CuPy(NumPy):
    name, on_gpu, tolerance = "CuPy", True, "its library's own"

    def __init__(self):
        import cupy

        self.cupy, self.version = cupy, cupy.__version__
        self.flushed = cupy.empty(1 << 28, dtype=cupy.uint8)

    def to_device(self, x):
        return self.cupy.asarray(x)

    def to_host(self, x):
        return self.cupy.asnumpy(x)

    def svd(self, a):
        return self.cupy.linalg.svd(a, full_matrices=False)

    def matmul(self, a, b):
        return self.cupy.matmul(a, b)

    def seconds(self, call):
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        self.flushed.fill(0)
        begin.record()
        call()
        end.record()
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(begin, end) * 1e-3

    def wall_seconds(self, call):
        def whole():
            call()
            self.cupy.cuda.Device().synchronize()

        return NumPy.seconds(self, whole)


def libraries(gpu):
    """Those that are installed. NumPy has no GPU, and is the host's figure beside one."""
    found = [NumPy()]
    for make in [lambda: PyTorch(gpu)] + ([CuPy] if gpu else []):
        try:
            found.append(make())
        except Exception as error:  # not installed, or without a device
            print(f"left out: {error}", file=sys.stderr)
    return found


# --- measuring ------------------------------------------------------------------------------------


def timing(clock, call, budget):
    call()
    seconds = []
    while len(seconds) < 3 or (sum(seconds) < budget and len(seconds) < 100):
        seconds.append(clock(call))
        if seconds[0] > 2:
            break
    seconds.sort()
    n = len(seconds)
    return {"median": seconds[n // 2], "low": seconds[n // 4], "high": seconds[n - 1 - n // 4], "least": seconds[0], "repetitions": n}


def worst(x):
    return float(np.max(x))


def svd_accuracy(a, u, s, vt):
    """In units of u max(m, n), as accuracy.hpp has them; the values of float alone."""
    unit = np.finfo(a.dtype).eps / 2 * max(a.shape[1:])
    exact = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    wide = [x.astype(np.longdouble) for x in (a, u, s, vt)]
    a_, u_, s_, vt_ = wide
    norm = lambda x: np.sqrt(np.sum(x * x, axis=(1, 2)))
    identity = np.eye(s.shape[1], dtype=np.longdouble)
    product = lambda x, y: np.einsum("bij,bjk->bik", x, y)
    out = {"samples": len(a), "value_samples": 0,
           "residual": worst(norm(a_ - product(u_ * s_[:, None, :], vt_)) / norm(a_) / unit),
           "orthogonality_u": worst(norm(product(u_.transpose(0, 2, 1), u_) - identity) / unit),
           "orthogonality_v": worst(norm(product(vt_, vt_.transpose(0, 2, 1)) - identity) / unit)}
    if a.dtype == np.float32:
        error = np.abs(s.astype(np.float64) - exact)
        out |= {"value_samples": len(a), "values": worst(error / exact[:, :1] / unit), "values_relative": worst(error / exact / unit)}
    return out


def gemm_accuracy(a, b, c):
    """Of the elements of a few rows and columns, in units of gamma."""
    k = a.shape[2]
    ku = (k + 2) * np.finfo(a.dtype).eps / 2
    rows, columns = (np.linspace(0, n - 1, min(n, 12)).astype(int) for n in c.shape[1:])
    a, b, c = a[:, rows].astype(np.longdouble), b[:, :, columns].astype(np.longdouble), c[:, rows][:, :, columns]
    exact, bound = (np.einsum("bij,bjk->bik", f(a), f(b)) for f in (lambda x: x, np.abs))
    return {"samples": len(a), "gemm_error": worst(np.abs(c - exact) / (bound * ku / (1 - ku)))}


def spread(batch):
    return np.unique(np.linspace(0, batch - 1, min(batch, SAMPLES)).astype(int))


def measure(library, row, budget):
    """The entry of one library in one row."""
    dtype, m, n = TYPES[row["scalar"]], row["m"], row["n"]
    host_to_host = row["mode"] == "host-to-host"
    clock = library.wall_seconds if host_to_host else library.seconds
    batch = min(row["batch"], MOST_MATRICES) if row["operation"] == "svd" else row["batch"]
    if row["operation"] == "svd":
        a = fill((batch, m, n), dtype, 0, row["condition"])
        on_device = library.to_device(a)
        some = spread(batch)
        u, s, vt = (library.to_host(x)[some] for x in library.svd(on_device))
        accuracy = svd_accuracy(a[some], u, s, vt)
        finite = all(np.isfinite(x).all() for x in (u, s, vt))
        if host_to_host:
            call = lambda: [library.to_host(x) for x in library.svd(library.to_device(a))]
        else:
            call = lambda: library.svd(on_device)
    else:
        a, b = fill((batch, m, row["k"]), dtype, 0), fill((batch, row["k"], n), dtype, 1)
        x, y = library.to_device(a), library.to_device(b)
        c = library.to_host(library.matmul(x, y))
        some = spread(batch)
        accuracy, finite = gemm_accuracy(a[some], b[some], c[some]), bool(np.isfinite(c).all())
        call = lambda: [library.matmul(x, y) for _ in range(row["calls"])]
    entry = {"measured_matrices": batch, "accuracy": accuracy}
    if not finite:
        return entry | {"failure": "NaN or Inf in the results"}
    return entry | {"failure": None, "seconds": {k: v if k == "repetitions" else v * row["batch"] / batch for k, v in timing(clock, call, budget).items()}}


def rates(run, row, entry):
    """What follows from the time."""
    seconds = entry["seconds"]["median"]
    each_second = row["batch"] * row["calls"] / seconds
    entry["matrices_per_s"] = each_second
    entry["gb_per_s"] = each_second * row["bytes_each"] * 1e-9
    entry["copy_fraction"] = entry["gb_per_s"] / run["copy_gb_per_s"]
    entry["gflop_per_s"] = each_second * row["flops_each"] * 1e-9
    shoal = next((e for e in row["entries"] if e["name"] == "shoal" and "seconds" in e), None)
    if shoal:
        entry["time_over_shoal"] = seconds / shoal["seconds"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", help="what shoal_bench --json wrote; entries are added to it")
    parser.add_argument("--filter", default="", help="rows whose name matches this regular expression")
    parser.add_argument("--seconds", type=float, default=0.25, help="timed seconds for each library and row")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as source:
        run = json.load(source)
    gpu = run["machine"]["is_gpu"]
    found = libraries(gpu)
    for row in run["rows"]:
        if row["scalar"] not in TYPES or not row["vectors"] or not re.search(options.filter, row["name"]):
            continue
        for library in found:
            if gpu and not library.on_gpu and row["mode"] != "host-to-host":
                continue  # NumPy's matrices are in the host's memory
            try:
                entry = measure(library, row, options.seconds)
            except Exception as error:  # a library's refusal is a result
                entry = {"measured_matrices": 0, "accuracy": None, "failure": f"{type(error).__name__}: {error}"[:200]}
            entry |= {"name": library.name, "version": library.version, "tolerance": library.tolerance if row["operation"] == "svd" else "none", "layout": "row-major",
                      "info_nonzero": 0, "non_finite": 0}
            if "seconds" in entry:
                rates(run, row, entry)
                print(f'{row["name"]:44s} {library.name:8s} {entry["seconds"]["median"]:.3e} s, {entry.get("time_over_shoal", 0):.2f} x shoal')
            else:
                print(f'{row["name"]:44s} {library.name:8s} failed: {entry["failure"]}')
            row["entries"] = [e for e in row["entries"] if e["name"] != library.name] + [entry]
        with open(options.file, "w", encoding="utf-8") as target:
            json.dump(run, target, indent=1)


if __name__ == "__main__":
    main()
