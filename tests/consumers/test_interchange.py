"""Real libraries at the border: PyTorch, JAX and NumPy by DLPack, files, output of assertions."""

import os
import subprocess
import sys

import numpy as np
import pytest

import ascend_array_api as xp

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"]


def _values(dtype):
    return np.random.default_rng(2).integers(0, 2 if dtype == "bool" else 90, (5, 7)).astype(dtype)


@pytest.fixture
def jax():
    """Return JAX with 64 bits."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


class TestTorch:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_there_and_back(self, dtype):
        torch = pytest.importorskip("torch")
        values = _values(dtype)
        theirs = torch.from_dlpack(xp.asarray(values))
        np.testing.assert_array_equal(theirs.numpy(), values)
        ours = xp.from_dlpack(theirs)
        assert ours.dtype == values.dtype
        np.testing.assert_array_equal(np.asarray(ours), values)

    @pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
    def test_memory_is_shared(self, dtype):
        torch = pytest.importorskip("torch")
        theirs = torch.from_numpy(_values(dtype))
        ours = xp.from_dlpack(theirs)
        theirs[0, 0] = 77
        assert complex(ours[0, 0]) == 77
        ours[0, 1] = 33
        assert complex(theirs[0, 1]) == 33

    def test_strides_and_pending_work(self):
        torch = pytest.importorskip("torch")
        tensor = torch.arange(24.0, dtype=torch.float64).reshape(4, 6)
        np.testing.assert_array_equal(np.asarray(xp.from_dlpack(tensor.T[::2])), tensor.T[::2])
        pending = xp.reshape(xp.arange(30_000.0), (100, 300)) * 2.0 + 1.0
        theirs = torch.from_dlpack(pending.T)
        np.testing.assert_array_equal(theirs.numpy(), np.asarray(pending).T)

    def test_a_gradient_is_refused(self):
        torch = pytest.importorskip("torch")
        with pytest.raises(BufferError, match=r"gradient|requires_grad|require gradient"):
            xp.from_dlpack(torch.ones(3, requires_grad=True))


class TestJax:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_there_and_back(self, jax, dtype):
        values = _values(dtype)
        theirs = jax.dlpack.from_dlpack(xp.asarray(values))
        np.testing.assert_array_equal(np.asarray(theirs), values)
        ours = xp.from_dlpack(theirs)
        assert ours.dtype == values.dtype
        np.testing.assert_array_equal(np.asarray(ours), values)

    def test_what_jax_made_is_read_only(self, jax):
        theirs = jax.numpy.arange(8.0) + 1
        ours = xp.from_dlpack(theirs)
        with pytest.raises(ValueError, match="read-only"):
            ours[0] = 5.0
        assert float(theirs[0]) == 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_there_and_back(dtype):
    values = _values(dtype)
    theirs = np.from_dlpack(xp.asarray(values))
    np.testing.assert_array_equal(theirs, values)
    np.testing.assert_array_equal(np.asarray(xp.from_dlpack(theirs)), values)


class TestFiles:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_save_and_load(self, tmp_path, dtype):
        x = xp.asarray(_values(dtype))
        np.save(tmp_path / "x.npy", x)
        back = xp.asarray(np.load(tmp_path / "x.npy"))
        assert (back.dtype, back.shape) == (x.dtype, x.shape)
        assert bool(xp.all(back == x))

    def test_several_in_one_file(self, tmp_path):
        np.savez_compressed(tmp_path / "x.npz", a=xp.arange(5), b=xp.ones((2, 2)) > 0)
        with np.load(tmp_path / "x.npz") as file:
            assert file["a"].tolist() == [0, 1, 2, 3, 4]
            assert file["b"].dtype == np.bool_

    def test_text(self, tmp_path):
        np.savetxt(tmp_path / "x.txt", xp.asarray([[1.5, 2.0]]))
        assert np.loadtxt(tmp_path / "x.txt").tolist() == [1.5, 2.0]

    @pytest.mark.skipif(
        "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer's own memory is larger"
    )
    def test_a_memory_map_is_not_read_whole(self, child_env, tmp_path):
        path = tmp_path / "large.npy"
        np.lib.format.open_memmap(path, "w+", "float64", (64 << 20,))[-1] = 3.0  # 512 MiB, sparse
        code = """
import resource, sys
import numpy as np
import ascend_array_api as xp
resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, 300 << 20))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
x = xp.asarray(np.load(sys.argv[1], mmap_mode="r"))
print(float(x[-1]), float(xp.sum(x[-1000:])), x.shape[0])
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 64 << 10, f"{grown} KiB more"
"""
        command = [sys.executable, "-c", code, str(path)]
        done = subprocess.run(command, env=child_env, capture_output=True, text=True, timeout=240)
        assert done.stdout == "3.0 3.0 67108864\n", done.stderr


class TestAssertions:
    def test_numpy_shows_values(self):
        x = xp.asarray([1.0, 2.0, 3.0])
        np.testing.assert_allclose(x, [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(x, xp.asarray([1.0, 2.0, 3.0]))
        with pytest.raises(AssertionError, match=r"\[1\.\s*,? 2\.\s*,? 3\.") as error:
            np.testing.assert_allclose(x, xp.asarray([1.0, 2.0, 4.5]))
        assert "4.5" in str(error.value)

    def test_pytest_shows_values(self, child_env, tmp_path):
        test = tmp_path / "test_it.py"
        test.write_text(
            "import ascend_array_api as xp\n\n\n"
            "def test():\n    x = xp.asarray([1.0, 2.5])\n    assert xp.all(x == 1.0)\n"
        )
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
        done = subprocess.run(command, env=child_env, capture_output=True, text=True, timeout=240)
        assert done.returncode == 1
        assert "Array([1. , 2.5]" in done.stdout

    def test_approx(self):
        assert float(xp.sum(xp.ones(10) * 0.1)) == pytest.approx(1.0)
