"""The package holds the names of the standard and our submodules, and nothing else."""

import math
import subprocess
import sys

import numpy as np
import pytest

import ascend_array_api as xp

DTYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64
complex128""".split()
CONSTANTS = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}
OTHERS = """linalg fft __array_namespace_info__ __array_api_version__ __version__ runtime dtypes
random profiler graph testing""".split()


def test_dir_is_exact():
    functions = {name for name in dir(xp) if type(getattr(xp, name)) is type(test_dir_is_exact)}
    assert len(functions - {"__array_namespace_info__"}) == 135
    assert set(dir(xp)) == functions | set(DTYPES) | set(CONSTANTS) | set(OTHERS)
    assert dir(xp) == sorted(xp.__all__)


def test_star_import():
    scope = {}
    exec("from ascend_array_api import *", scope)
    assert set(scope) - {"__builtins__"} == set(dir(xp))


@pytest.mark.parametrize(("module", "count"), [(xp.linalg, 25), (xp.fft, 14)])
def test_extensions_are_exact(module, count):
    assert sorted(module.__all__) == sorted(dir(module))
    assert len(dir(module)) == count


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_are_numpy_dtypes(name):
    assert getattr(xp, name) == np.dtype(name)
    assert isinstance(getattr(xp, name), np.dtype)


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name):
    found = getattr(xp, name)
    assert type(found) is type(CONSTANTS[name])
    assert found == CONSTANTS[name] or (name == "nan" and math.isnan(found))


def test_versions():
    assert xp.__array_api_version__ == "2025.12"
    assert xp.__version__.count(".") == 2
    assert xp.__name__ == "ascend_array_api"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError):
        _ = xp.vstack
    with pytest.raises(AttributeError):
        _ = xp.dtypes.float8


def test_dtypes_module():
    assert xp.dtypes.float16 == np.dtype("float16")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert xp.dtypes.bfloat16 == np.dtype(ml_dtypes.bfloat16)
    assert set(dir(xp.dtypes)) == {"float16", "bfloat16"}
    assert xp.zeros(2, dtype=xp.dtypes.bfloat16).dtype == xp.dtypes.bfloat16


def test_bfloat16_is_loaded_when_it_is_used(child_env):
    pytest.importorskip("ml_dtypes")
    code = """
import sys
import ascend_array_api as xp
assert "ml_dtypes" not in sys.modules
assert "bfloat16" in dir(xp.dtypes)
assert "ml_dtypes" not in sys.modules
assert xp.ones(3, dtype=xp.dtypes.bfloat16).dtype.name == "bfloat16"
assert "ml_dtypes" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=child_env)


def test_bfloat16_missing(child_env):
    code = """
import sys
sys.modules["ml_dtypes"] = None
import ascend_array_api as xp
try:
    xp.dtypes.bfloat16
except AttributeError as error:
    assert "ml_dtypes" in str(error)
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=child_env)


MATRIX = [[2.0, 1.0], [1.0, 3.0]]
NAMED = {
    "unique_all": (xp.unique_all, "values indices inverse_indices counts"),
    "unique_counts": (xp.unique_counts, "values counts"),
    "unique_inverse": (xp.unique_inverse, "values inverse_indices"),
    "eig": (xp.linalg.eig, "eigenvalues eigenvectors"),
    "eigh": (xp.linalg.eigh, "eigenvalues eigenvectors"),
    "qr": (xp.linalg.qr, "Q R"),
    "slogdet": (xp.linalg.slogdet, "sign logabsdet"),
    "svd": (xp.linalg.svd, "U S Vh"),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_tuples(name):
    call, names = NAMED[name]
    result = call(xp.asarray(MATRIX))
    assert isinstance(result, tuple)
    assert type(result) is not tuple
    assert result._fields == tuple(names.split())
    for i, field in enumerate(result._fields):
        assert result[i] is getattr(result, field)
        assert isinstance(result[i], xp.runtime.Array)


def test_import_warns_of_nothing(child_env):
    code = "import ascend_array_api"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=child_env, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_import_stays_light(child_env):
    """Neither SciPy nor the conformance kit nor NumPy's lazy parts are imported."""
    code = """
import sys
import ascend_array_api
heavy = {"scipy", "hypothesis", "pytest", "ml_dtypes", "ascend_array_api.testing.conformance"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=child_env)
