"""What the NPU does not have runs on the host: right, counted, and warned about once."""

import warnings

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime


@pytest.fixture(autouse=True)
def default_policy():
    yield
    runtime.set_fallback("warn")


def times(function, dtype):
    found = [f.times for f in runtime.fallbacks() if (f.function, f.dtype) == (function, dtype)]
    return sum(found)


def test_each_function_and_dtype_is_warned_about_once():
    a = np.asarray([3.0, 4.0], dtype=np.float32)
    x = on_npu(a)
    with pytest.warns(runtime.HostFallbackWarning, match=r"hypot: npu:0 .* float32; the CPU"):
        np.testing.assert_array_equal(back(xp.hypot(x, x)), np.hypot(a, a))
    before = times("hypot", "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(back(xp.hypot(x, x)), np.hypot(a, a))
    assert times("hypot", "float32") == before + 1
    with pytest.warns(runtime.HostFallbackWarning, match="unique: npu:0"):
        np.testing.assert_array_equal(back(xp.unique_values(x)), [3, 4])


def test_silence():
    runtime.set_fallback("silent")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back(xp.nextafter(on_npu([1.0]), on_npu([2.0])))
    assert times("nextafter", "float64") == 1


def test_refusal():
    runtime.set_fallback("error")
    x = on_npu([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"copysign: npu:0 .*set_fallback"):
        back(xp.copysign(x, -x))
    with pytest.raises(RuntimeError, match="unique: npu:0"):
        xp.unique_values(x)
    np.testing.assert_array_equal(back(x + x), [2.0, 4.0])
    with pytest.raises(ValueError, match="'warn', 'silent', 'error'"):
        runtime.set_fallback("loud")


def test_a_warning_that_is_an_error_is_the_error_of_the_operation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = xp.nextafter(on_npu(np.ones(3, np.float32)), on_npu(np.ones(3, np.float32)))
        with pytest.raises(RuntimeError, match="nextafter: npu:0"):
            back(y)


def test_functions_of_the_host_take_and_give_arrays_of_the_device():
    runtime.set_fallback("silent")
    a = np.asarray([3.0, 1.0, 2.0], dtype=np.float32)
    x = on_npu(a) + 0
    assert xp.sort(x).device == x.device
    np.testing.assert_array_equal(back(x[x > 1]), [3, 2])
    np.testing.assert_array_equal(back(xp.take(x, on_npu([2, 0]))), [2, 3])
    np.testing.assert_array_equal(back(xp.unique_values(x)), [1, 2, 3])
    np.testing.assert_array_equal(back(xp.concat([x, x])), [*a, *a])
    np.testing.assert_allclose(
        back(xp.fft.ifft(xp.fft.fft(xp.astype(x, xp.complex64)))), a, rtol=1e-6
    )
    assert float(x[1]) == 1.0
    assert "device=npu:0" in repr(x)
