"""Memory that is not there, at the call and in recorded work."""

import pytest

LIMITED = """
x = xp.asarray(np.ones(1_000_000))
runtime.synchronize()
_core.free_cached("cpu")
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), resource.RLIM_INFINITY))
"""


def test_impossible_sizes_raise_at_the_call(child, defer):
    child(
        """
        x = xp.asarray(np.ones(5000))
        for make in (
            lambda: xp.zeros(2**60),
            lambda: xp.ones((2**31, 2**31)),
            lambda: xp.broadcast_to(x, (2**50, 5000)) + 1,
            lambda: xp.broadcast_to(x, (2**50, 5000)) > 1,
            lambda: xp.astype(xp.broadcast_to(x, (2**40, 5000)), xp.float32),
            lambda: xp.expand_dims(xp.broadcast_to(x, (2**40, 5000)), axis=0) * 1,
        ):
            try:
                make()
            except MemoryError as error:
                assert str(error), repr(error)
            else:
                raise AssertionError("no MemoryError")
        assert float((x + 1)[3]) == 2
        """,
        DEFER=defer,
    )


@pytest.mark.usefixtures("memory_limit")
@pytest.mark.parametrize("fusion", ["on", "off"])
def test_a_failed_allocation_surfaces_at_the_read(child, fusion):
    child(
        LIMITED
        + """
big = xp.broadcast_to(x, (64, 1_000_000))
y = big + 1          # 512 MB, more than is allowed
z = y * 2
ok = x + 1
for _ in range(2):
    for failed in (y, z):
        try:
            float(failed[0, 0])
        except MemoryError as error:
            assert "512" in str(error) or "memory" in str(error), error
        else:
            raise AssertionError("no MemoryError")
        assert "Array" in repr(failed) or repr(failed)
try:
    w = z - 1
    float(w[0, 0])
except MemoryError:
    pass
else:
    raise AssertionError("no MemoryError")
assert float(ok[5]) == 2.0
assert float((x * 3)[6]) == 3.0
runtime.synchronize
""",
        DEFER="auto",
        FUSION=fusion,
    )


@pytest.mark.usefixtures("memory_limit")
def test_a_failed_result_is_good_again_when_it_is_overwritten(child):
    child(
        LIMITED
        + """
x = xp.ones(10_000_000)
y = xp.exp(x) + 1
try:
    float(y[0])
except MemoryError:
    pass
else:
    raise AssertionError("no MemoryError")
del x
_core.free_cached("cpu")
y[...] = 5
assert float(y[9_999_999]) == 5.0
""",
        DEFER="auto",
    )


@pytest.mark.usefixtures("memory_limit")
@pytest.mark.parametrize("fusion", ["on", "off"])
def test_only_results_that_need_the_memory_fail(child, fusion):
    """One group makes a result that is too large, its sum, and what has nothing to do with it."""
    child(
        LIMITED
        + """
acc = xp.asarray(np.zeros(1_000_000))
keep = acc + 0
big = xp.broadcast_to(x, (40, 1_000_000)) * 3
part = xp.exp(big)
other = x * 2
acc += other
for failed, names in ((big, {"multiply"}), (part, {"exp", "multiply"}), (big, {"multiply"})):
    try:
        float(failed[0, 0])
    except MemoryError as error:
        function, _, reason = str(error).partition(": ")
        assert function in names, error
        assert reason.startswith("not enough memory"), error
    else:
        raise AssertionError("no MemoryError")
    assert "MemoryError" in repr(failed)
assert np.all(np.asarray(other) == 2.0)
assert np.all(np.asarray(acc) == 2.0)
assert np.all(np.asarray(keep) == 0.0)
try:
    runtime.synchronize()
except MemoryError as error:
    assert str(error).startswith("multiply"), error
else:
    raise AssertionError("no MemoryError")
runtime.synchronize()
""",
        DEFER="auto",
        FUSION=fusion,
    )


@pytest.mark.usefixtures("memory_limit")
@pytest.mark.technique("DEFER")
def test_the_message_names_the_line_that_recorded(child):
    code = (
        LIMITED
        + """
def compute():
    return xp.exp(xp.broadcast_to(x, (64, 1_000_000)))
stream = runtime.Stream()
with stream:
    y = compute()
for kept in (True, False):
    try:
        stream.synchronize()
        assert not kept
    except MemoryError as error:
        assert str(error).startswith("exp: not enough memory"), error
        assert TRACED == ("(recorded at <string>:" in str(error)), error
runtime.synchronize()
"""
    )
    child("TRACED = True\n" + code, TRACE="1")
    child("TRACED = False\n" + code)


def test_errors_between_recorded_operations(child, defer):
    """A refused operation leaves what is pending as it was."""
    child(
        """
        x = xp.asarray(np.arange(6000.0))
        y = x + 1
        for wrong in (
            lambda: y + xp.asarray(np.ones(7000)),
            lambda: y & y,
            lambda: y.__setitem__(slice(3), xp.asarray(np.ones(5))),
            lambda: xp.broadcast_to(y, (2, 6000)).__setitem__(..., y),
            lambda: y.__iadd__(xp.asarray(np.ones((2, 6000)))),
            lambda: y.__iadd__(1j),
            lambda: y[6000],
            lambda: xp.reshape(y, (7, 7)),
        ):
            try:
                wrong()
            except (TypeError, ValueError, IndexError):
                pass
            else:
                raise AssertionError("no error")
        z = y * 2
        assert np.array_equal(np.asarray(z), (np.arange(6000.0) + 1) * 2)
        assert np.array_equal(np.asarray(y), np.arange(6000.0) + 1)
        """,
        DEFER=defer,
    )
