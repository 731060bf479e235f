"""Groups that write what they read: every value is the one of program order."""

import pytest

SETUP = """
rng = np.random.default_rng(3)

def make(dtype, size=50_000):
    a = rng.integers(-60, 60, size).astype(dtype)  # sums are exact
    return xp.asarray(a), a

def close(x, a):
    np.testing.assert_allclose(np.asarray(x), a, rtol=1e-9)

def same(x, a):
    np.testing.assert_array_equal(np.asarray(x), a, strict=True)
"""

# A value that is computed twice, of x, which is written by the same group before or after.
TWICE = {
    "written after": "t = x + 1; b = a + 1; v = {ours}(t); w = {theirs}(b); x *= 2; a *= 2",
    "written before": "t = x + 1; b = a + 1; x *= 2; a *= 2; v = {ours}(t); w = {theirs}(b)",
    "written itself": "x += 1; a += 1; v = {ours}(x); w = {theirs}(a)",
    "not held": "v = {ours}(x + 1); w = {theirs}(a + 1); x *= 2; a *= 2",
    "a part": "v = {ours}(x + 1); w = {theirs}(a + 1); x[:100] *= 2; a[:100] *= 2",
    "another operand": "y, b = x + 3, a + 3; v, w = {ours}(y * x), {theirs}(b * a); x -= y; a -= b",
}
SOURCES = {
    "given": "x, a = make('float64')",
    "running sum": "x, a = make('float64'); x, a = xp.cumulative_sum(x), np.cumsum(a)",
    "chain": "x, a = make('float64'); x, a = x * 3, a * 3",
    "reduction": "x, a = make('float64', (5_000, 3)); x, a = xp.sum(x, axis=1), np.sum(a, axis=1)",
}
FUNCTIONS = {"var": "np.var", "std": "np.std", "cumulative_sum": "np.cumsum"}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_what_is_computed_twice_is_not_overwritten(child, defer, source):
    programs = "\n".join(
        f"{source}; {steps.format(ours=f'xp.{ours}', theirs=theirs)}; close(v, w); close(x, a)"
        for ours, theirs in FUNCTIONS.items()
        for steps in TWICE.values()
    )
    child(SETUP + programs, DEFER=defer)


def test_casts_forth_and_back_around_an_in_place_operator(child, defer):
    child(
        SETUP
        + """
for narrow, wide in [("int8", "int64"), ("uint8", "int16"), ("int32", "int64"),
                     ("float32", "float64"), ("complex64", "complex128")]:
    narrow, wide = np.dtype(narrow), np.dtype(wide)
    for keep in (False, True):
        for order in range(3):
            with np.errstate(over="ignore", invalid="ignore"):
                x, a = make("int64")
                x, a = xp.asarray(a.astype(narrow)), a.astype(narrow)
                old = a.copy()
                t = xp.astype(x, wide)
                if order == 0:
                    x *= 2
                y = xp.astype(t, narrow)
                held = (t, y)
                if order == 1:
                    x *= 2
                s = xp.count_nonzero(y), xp.sum(y)
                if not keep:
                    del t, y, held
                if order == 2:
                    x *= 2
                a *= narrow.type(2)
            same(x, a)
            same(s[0], np.asarray(np.count_nonzero(old), dtype=np.int64))
            close(s[1], np.sum(old))
            if keep:
                same(y, old)
                same(t, old.astype(wide))
""",
        DEFER=defer,
    )


def test_a_copy_that_is_summed_before_its_source_changes(child, defer):
    child(
        SETUP
        + """
x, a = make("int32")
s = xp.sum(xp.asarray(x, copy=True))
x *= 2
same(s, np.sum(a, dtype=np.int64))
same(x, a * np.int32(2))
""",
        DEFER=defer,
    )


@pytest.mark.parametrize("settings", [{"DEFER": "off"}, {"DEFER": "always"}, {"FUSION": "off"}])
def test_signalling_nans_become_quiet_as_in_two_casts(child, settings):
    child(
        """
        from ascend_array_api import dtypes
        for bits, narrow, wide, quiet in [
            (np.uint16(0x7D01), dtypes.float16, xp.float32, np.uint16(0x7F01)),
            (np.uint32(0x7FA00001), xp.float32, xp.float64, np.uint32(0x7FE00001)),
        ]:
            x = xp.asarray(np.full(8192, bits).view(narrow))
            y = xp.astype(xp.astype(x, wide), narrow)
            assert np.all(np.asarray(y).view(bits.dtype) == quiet)
        """,
        **settings,
    )


def test_views_of_a_part_of_a_product(child, defer):
    child(
        """
        rng = np.random.default_rng(0)
        for m, k, n in [(1, 6000, 1), (1, 6000, 2), (70, 80, 60)]:
            for kind in ("complex64", "complex128"):
                a, b = (
                    (rng.integers(-4, 5, s) + 1j * rng.integers(-4, 5, s)).astype(kind)
                    for s in ((m, k), (k, n))
                )
                for part in ("real", "imag"):
                    for shape in ((m, 1, n), (1, m, 1, n), (m * n,)):
                        p = xp.asarray(a) @ xp.asarray(b)
                        got = xp.reshape(getattr(xp, part)(p), shape) + 1.0
                        want = getattr(np, part)(a @ b).reshape(shape) + np.float32(1)
                        np.testing.assert_array_equal(np.asarray(got), want, strict=True)
        a, b = rng.integers(-4, 5, (70, 80)) * 1.0, rng.integers(-4, 5, (80, 60)) * 1.0
        for rows in (slice(1, None), slice(None, -1), slice(None, None, 2)):
            p = xp.asarray(a) @ xp.asarray(b)
            part = (a @ b)[rows]
            got = xp.expand_dims(p[rows, :], axis=1) * 2
            np.testing.assert_array_equal(np.asarray(got), part[:, None] * 2, strict=True)
        """,
        DEFER=defer,
    )


@pytest.mark.parametrize("mode", ["default", "predictive"])
def test_a_result_does_not_take_the_memory_that_its_program_writes(child, defer, mode):
    """The first result has an operand's layout; the second is made of what was written there."""
    child(
        SETUP
        + """
for _ in range(4):
    (x, a), (p, b), (q, c) = make("float64"), make("float64"), make("float64")
    runtime.evaluate(x, p, q)
    x *= 0.5
    other = xp.where(p > q, p, q)
    y = xp.abs(x) + 1.0
    del x  # nobody looks at it again
    same(y, abs(a * 0.5) + 1.0)
    same(other, np.where(b > c, b, c))
""",
        DEFER=defer,
        MODE=mode,
    )


def test_a_result_in_the_memory_of_an_operand_is_written_while_it_is_computed(child):
    """A write is recorded while another thread computes what it writes, in an operand's memory."""
    child(
        """
        n = 2_000_000
        stream = runtime.Stream()
        for delay in range(40):
            with stream:
                y = xp.asarray(np.full(n, 0.5)) + 0.25
                runtime.evaluate(y)
                for _ in range(4):
                    y = xp.cos(xp.sin(y))
                event = stream.record()
                time.sleep(delay * 5e-4)
                y += 3.0
                got = np.asarray(y)
            want = 0.75
            for _ in range(4):
                want = np.cos(np.sin(want))
            np.testing.assert_allclose(got, want + 3.0, rtol=1e-12)
        """,
        DEFER="always",
    )


def test_threads_share_no_byte_of_a_bool_array_written_backwards(child):
    child(
        """
        rng = np.random.default_rng(0)
        for n in (70_000, 69_999, 131_073) * 20:
            a, b = rng.integers(0, 2, (2, n)).astype(bool)
            x, y = xp.asarray(a, copy=True), xp.asarray(b, copy=True)
            x[::-1] = y
            np.testing.assert_array_equal(np.asarray(x), b[::-1])
        """,
        NUM_THREADS="8",
    )


STENCILS = """
import operator
import random

PARTS = [slice(None, -2), slice(1, -1), slice(2, None)]  # as long as each other
OPERATORS = [operator.add, operator.sub, operator.mul]

def program(seed, lib):
    r = random.Random(seed)
    names = [lib.asarray(np.arange(6000, dtype=dtype) * (k + 1)) for k in range(3)]
    for _ in range(r.randrange(3, 14)):
        to, left, right = (r.randrange(3) for _ in range(3))
        x, y = names[left][r.choice(PARTS)], names[right][r.choice(PARTS)]
        value = r.choice(OPERATORS)(x, r.choice([y, y, 3]))
        kind = r.randrange(6)
        if kind < 4:
            names[to][r.choice(PARTS)] = value  # which dies here
        elif kind == 4:
            names[to] = lib.concat([value, names[left][:2]])
        else:
            names[to] = names[left] + names[right]  # its memory may be that of what has died
    return [np.asarray(x) for x in names]
"""


@pytest.mark.parametrize("dtype", ["int64", "int8", "complex64"])
def test_random_stencils(child, defer, dtype):
    child(
        SETUP
        + f"dtype = {dtype!r}"
        + STENCILS
        + """
for seed in range(150):
    with np.errstate(all="ignore"):
        for x, a in zip(program(seed, xp), program(seed, np)):
            np.testing.assert_array_equal(x, a, err_msg=f"program {seed}")
""",
        DEFER=defer,
    )


def test_an_operand_that_is_written_and_dies_lends_its_memory_to_no_result(child, defer):
    child(
        SETUP
        + """
for dtype in ("int16", "int32", "float64", "complex128"):
    for write in ("x *= 2; a *= 2", "x[...] = x + x; a[...] = a + a", "x[:900] *= 2; a[:900] *= 2"):
        x, a = make(dtype)
        old = a.copy()
        runtime.synchronize()
        t, u = x * 3, x + 7
        exec(write)
        y, z = t + 1, x + 5
        del x
        same(z, a + a.dtype.type(5))
        same(y, old * a.dtype.type(3) + a.dtype.type(1))
        same(u, old + a.dtype.type(7))

x, a = make("int16")
old = a.copy()
t = xp.astype(x, xp.int32)
x *= 2
y, z = xp.astype(t, xp.int16) + 1, x + 5
del x
same(z, a * np.int16(2) + np.int16(5))
same(y, old + np.int16(1))
""",
        DEFER=defer,
    )


RESULTS = """
import random

def program(seed, lib):
    r = random.Random(seed)
    names = [lib.asarray(np.arange(6000) * (k + 1) % 90, dtype=lib.int16) for k in range(4)]
    for _ in range(r.randrange(4, 20)):
        to, left, right, mask = (r.randrange(4) for _ in range(4))
        x, y = names[left], names[right]
        kind = r.randrange(7)
        if kind == 0:
            names[to] *= 2
        elif kind == 1:
            names[to] += x
        elif kind == 2:
            names[to] = x + r.choice([3, y])  # what was there dies
        elif kind == 3:
            names[to] = lib.astype(lib.astype(x, lib.int32), lib.int16)
        elif kind == 4:
            names[to] = lib.where(names[mask] > 40, x, y)
        elif kind == 5:
            names[to] = lib.asarray(x, copy=True)
        else:
            wide = lib.astype(x, lib.int32)
            names[left] -= 7
            names[to] = lib.astype(wide, lib.int16)
    return [np.asarray(x) for x in names]
"""


def test_random_results_beside_writes(child, defer):
    child(
        SETUP
        + RESULTS
        + """
for seed in range(400):
    for x, a in zip(program(seed, xp), program(seed, np)):
        np.testing.assert_array_equal(x, a, err_msg=f"program {seed}")
""",
        DEFER=defer,
    )


@pytest.mark.parametrize("second", ["x[::-1]", "xp.roll(x, 1)", "xp.flip(x) * x[::-1]"])
def test_a_dropped_operand_that_is_seen_in_two_orders(child, defer, second):
    child(
        f"""
        a = np.arange(20_000.0)
        x = xp.asarray(a) + 0.0
        runtime.evaluate(x)
        y = x * 2.0 + {second}
        del x
        got, x = np.asarray(y), a
        want = a * 2 + {second.replace("xp.", "np.")}
        np.testing.assert_array_equal(got, want)
        """,
        DEFER=defer,
    )
