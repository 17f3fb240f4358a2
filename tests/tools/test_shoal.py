# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program shoal against NumPy: shapes, types, orders, conversions, errors, signals."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import numpy as np

PROGRAM = os.environ["SHOAL_PROGRAM"]
DIGITS = os.environ["SHOAL_DIGITS"]
TYPES = [np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(1, 1), (2, 2), (3, 3), (4, 4), (15, 3), (3, 15), (8, 8), (20, 17), (33, 40), (1, 7)]
LIMIT = 5  # the contract, in units of u max(m, n)


def random(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


class ShoalTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def save(self, name, array):
        path = self.folder / name
        np.save(path, array)
        return str(path)

    def shoal(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def svd(self, array, *arguments, code=0):
        out = self.folder / "out.npz"
        done = self.shoal("svd", self.save("in.npy", array), "-o", out, *arguments, code=code)
        with np.load(out) as file:
            result = {name: file[name] for name in file.files}
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["in.npy", "out.npz"])
        return result, done

    def check(self, a, r, full=False):
        """Within the contract, and NumPy's values, shapes and types."""
        work = a.astype(np.result_type(a.dtype, np.float32)) if a.dtype.kind in "fc" else a.astype(float)
        m, n = a.shape[-2:]
        k = min(m, n)
        u, s, vt = np.linalg.svd(work, full_matrices=full)
        self.assertEqual((r["U"].shape, r["S"].shape, r["Vt"].shape), (u.shape, s.shape, vt.shape))
        self.assertEqual((r["U"].dtype, r["S"].dtype, r["Vt"].dtype), (u.dtype, s.dtype, vt.dtype))
        bound = LIMIT * np.finfo(s.dtype).eps / 2 * max(m, n)
        wide = np.result_type(work.dtype, np.float64)
        exact, U, S, V = (x.astype(wide) for x in (work, r["U"], r["S"], r["Vt"]))
        if a.size == 0:
            return
        top = s[..., :1] if k else s
        # NumPy's own values are off by as much: both bounds add up.
        self.assertLessEqual(np.max(np.abs(r["S"] - s) / np.where(top > 0, top, 1)), 2 * bound)
        residual = np.linalg.norm(exact - (U[..., :k] * S[..., None, :]) @ V[..., :k, :], axis=(-2, -1))
        slack = 64 * np.finfo(np.float64).eps * max(m, n)
        self.assertTrue(np.all(residual <= (bound + slack) * np.linalg.norm(exact, axis=(-2, -1))))
        H = lambda x: np.conj(np.swapaxes(x, -1, -2))
        for q in (H(U) @ U, V @ H(V)):
            off = np.linalg.norm(q - np.eye(q.shape[-1]), axis=(-2, -1))
            self.assertLessEqual(np.max(off), bound + slack)

    def test_svd_agrees_with_numpy(self):
        for dtype in TYPES:
            for shape in SHAPES:
                for order in "CF":
                    with self.subTest(dtype=dtype.__name__, shape=shape, order=order):
                        a = np.asarray(random((37, *shape), dtype), order=order)
                        self.check(a, self.svd(a)[0])

    def test_full_vectors_and_values_only(self):
        for shape in [(4, 3), (3, 4), (15, 3), (20, 33)]:
            a = random((5, *shape), np.float64)
            self.check(a, self.svd(a, "--vectors", "full")[0], full=True)
            only = self.svd(a, "--vectors", "none")[0]
            self.assertEqual(list(only), ["S"])
            np.testing.assert_allclose(only["S"], np.linalg.svd(a, compute_uv=False), rtol=1e-12)

    def test_digits(self):
        a = np.load(DIGITS)
        r, done = self.svd(a, "--check")
        self.check(a, r)
        self.assertIn("integers (|u1) converted", done.stderr)
        self.assertIn("1797 matrices of 8 x 8", done.stdout)

    def test_dimensions(self):
        for shape in [(2, 3, 4, 5, 3), (5, 3), (0, 4, 3), (3, 0, 2), (2, 4, 0)]:
            with self.subTest(shape=shape):
                for order in "CF":
                    a = np.asarray(random(shape, np.float32), order=order)
                    self.check(a, self.svd(a)[0])

    def test_conversions(self):
        base = random((6, 4, 3), np.float64) * 50
        for dtype in ["f2", ">f4", ">f8", ">c16", "i1", "u1", "<i2", ">i4", "u4", "i8", "u8", "?"]:
            with self.subTest(dtype=dtype):
                a = np.abs(base).astype(dtype) if dtype[0] in "u?" else base.astype(dtype)
                r, done = self.svd(a)
                self.check(a.astype(np.float32) if dtype == "f2" else a.astype(a.dtype.newbyteorder("=")), r)
                self.assertIn("converted", done.stderr)

    def test_chunks_give_the_same_bits(self):
        a = random((500, 6, 5), np.float32)
        whole = self.svd(a)[0]
        parts = self.svd(a, "--chunk-memory", "0.01")[0]
        for name in whole:
            np.testing.assert_array_equal(whole[name], parts[name])

    def test_rank_tolerance_and_signs(self):
        a = random((7, 9, 6), np.float64)
        s = np.linalg.svd(a, compute_uv=False)
        r = self.svd(a, "--rank", 2)[0]
        self.assertEqual((r["U"].shape, r["S"].shape, r["Vt"].shape), ((7, 9, 2), (7, 2), (7, 2, 6)))
        np.testing.assert_allclose(r["S"], s[:, :2], rtol=1e-12)
        r = self.svd(a, "--tolerance", 0.5)[0]
        np.testing.assert_array_equal(r["S"] == 0, s <= 0.5 * s[:, :1])
        r = self.svd(a, "--fix-signs")[0]
        top = np.take_along_axis(r["U"], np.argmax(np.abs(r["U"]), axis=1)[:, None, :], axis=1)
        self.assertTrue(np.all(top > 0))

    def test_bad_matrices_are_listed_and_the_rest_written(self):
        a = random((50, 3, 3), np.float64)
        a[17, 1, 2] = np.nan
        a[31, 0, 0] = np.inf
        r, done = self.svd(a, code=3)
        self.assertIn(" 17 31", done.stderr)
        good = np.ones(50, bool)
        good[[17, 31]] = False
        self.check(a[good], {name: x[good] for name, x in r.items()})
        for x in r.values():
            self.assertTrue(np.all(np.isnan(x[~good])))

    def test_gemm_agrees_with_numpy(self):
        for dtype in TYPES:
            for m, k, n in [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (15, 3, 3), (3, 15, 2), (8, 8, 8), (17, 5, 9), (33, 20, 7), (2, 0, 3)]:
                for order in "CF":
                    with self.subTest(dtype=dtype.__name__, shape=(m, k, n), order=order):
                        self.product(np.asarray(random((21, m, k), dtype, 1), order=order), np.asarray(random((21, k, n), dtype, 2), order=order))

    def product(self, a, b, *arguments, expected=None):
        out = self.folder / "c.npy"
        self.shoal("gemm", self.save("a.npy", a), self.save("b.npy", b), "-o", out, *arguments)
        c = np.load(out)
        wide = np.matmul if expected is None else expected
        exact = wide(a.astype(np.result_type(a, np.float64)), b.astype(np.result_type(b, np.float64)))
        size = wide(np.abs(a).astype(float), np.abs(b).astype(float))
        u = np.finfo(c.dtype).eps / 2
        k = a.shape[-1] if a.ndim else 0
        self.assertEqual(c.shape, exact.shape)
        self.assertTrue(np.all(np.abs(c - exact) <= 3 * (k + 3) * u * size + 0))
        return c

    def test_gemm_broadcasts_like_matmul(self):
        for left, right in [((3, 3), (7, 3, 3)), ((7, 2, 3), (3, 4)), ((4, 1, 2, 3), (5, 3, 2)), ((1, 2, 3), (6, 3, 2)), ((3,), (3,)), ((3,), (5, 3, 2)), ((5, 2, 3), (3,)), ((0, 2, 3), (3, 2))]:
            with self.subTest(left=left, right=right):
                self.product(random(left, np.float64, 1), random(right, np.float64, 2))
        mixed = self.product(random((4, 2, 3), np.float32), random((4, 3, 2), np.complex64))
        self.assertEqual(mixed.dtype, np.complex64)
        self.assertEqual(self.product(random((4, 2, 3), np.float64), random((4, 3, 2), np.complex64)).dtype, np.complex128)

    def test_gemm_ops(self):
        a, b = random((6, 3, 4), np.complex128, 1), random((6, 3, 5), np.complex128, 2)
        self.shoal("gemm", self.save("a.npy", a), self.save("b.npy", b), "-o", self.folder / "c.npy", "--op-a", "C", "--alpha", 2)
        np.testing.assert_allclose(np.load(self.folder / "c.npy"), 2 * np.conj(np.swapaxes(a, -1, -2)) @ b, rtol=1e-13, atol=1e-13)

    def fails(self, code, text, *arguments):
        done = self.shoal(*arguments, code=code)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(text, done.stderr)

    def test_errors(self):
        good = self.save("good.npy", random((2, 3, 3), np.float64))
        out = self.folder / "out.npz"
        broken = self.folder / "broken.npy"
        self.fails(2, "subcommand")
        self.fails(2, "--output", "svd", good)
        self.fails(2, "sideways", "svd", good, "-o", out, "--vectors", "sideways")
        self.fails(2, "--rank", "svd", good, "-o", out, "--vectors", "full", "--rank", 1)
        self.fails(1, "No such file", "svd", self.folder / "absent.npy", "-o", out)
        self.fails(1, "not an .npy file", "svd", __file__, "-o", out)
        self.fails(1, "1 dimensions found, at least 2", "svd", self.save("flat.npy", np.zeros(4)), "-o", out)
        self.fails(1, "dtype '<U3'", "svd", self.save("text.npy", np.full((2, 2), "abc")), "-o", out)
        self.fails(1, "structured", "svd", self.save("struct.npy", np.zeros((2, 2), [("x", "f4")])), "-o", out)
        self.fails(1, "cannot be written", "svd", good, "-o", self.folder / "absent" / "out.npz")
        data = pathlib.Path(good).read_bytes()
        for cut, text in [(6, "not an .npy file"), (40, "truncated"), (len(data) - 8, "truncated")]:
            broken.write_bytes(data[:cut])
            self.fails(1, text, "svd", broken, "-o", out)
        broken.write_bytes(data.replace(b"'shape'", b"'shade'"))
        self.fails(1, "unknown key", "svd", broken, "-o", out)
        other = self.save("other.npy", random((2, 4, 3), np.float64))
        self.fails(1, "3 rows are needed", "gemm", good, other, "-o", self.folder / "c.npy")
        many = self.save("many.npy", random((5, 3, 3), np.float64))
        self.fails(1, "broadcast", "gemm", good, many, "-o", self.folder / "c.npy")
        self.assertFalse([p for p in self.folder.iterdir() if "out" in p.name or p.name == "c.npy"])

    def test_an_interrupt_leaves_nothing(self):
        path = self.save("big.npy", np.random.default_rng(0).standard_normal((60000, 24, 24)))
        for sent in (signal.SIGINT, signal.SIGTERM):
            run = subprocess.Popen([PROGRAM, "svd", path, "-o", str(self.folder / "o.npz"), "--chunk-memory", "1"], stderr=subprocess.PIPE, text=True)
            while run.poll() is None and not any(".part" in p.name for p in self.folder.iterdir()):
                time.sleep(0.01)
            run.send_signal(sent)
            error = run.communicate()[1]
            self.assertEqual(run.returncode, 130, error)
            self.assertIn("interrupted", error)
            self.assertEqual([p.name for p in self.folder.iterdir()], ["big.npy"])

    def test_quiet_in_a_pipe(self):
        done = self.svd(random((10, 3, 3), np.float64))[1]
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, "")

    def test_info(self):
        text = self.shoal("info").stdout
        for word in ("shoal 0.", "backends:", "Kokkos:", "concurrency", "large products:"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
