"""reuse_buffer and hints: memory, values, and what can no longer be used."""

import threading
import warnings

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import _core, runtime

N = 1 << 18
BYTES = 8 * N
POOL = runtime.MemoryPool()


def make(n=N):
    x = xp.asarray(np.arange(n, dtype=np.float64))
    runtime.evaluate(x)
    return x


USES = {
    "add": lambda x: x + 1,
    "radd": lambda x: 1 + x,
    "inplace": lambda x: x.__iadd__(1),
    "setitem": lambda x: x.__setitem__(0, 1.0),
    "getitem": lambda x: float(x[0]),
    "mask": lambda x: x[x > 0],
    "view": lambda x: xp.sum(x[1:3]),
    "reshape": lambda x: runtime.evaluate(xp.reshape(x, (2, -1)) * 2),
    "sum": lambda x: float(xp.sum(x)),
    "matmul": lambda x: x @ x,
    "vecdot": lambda x: xp.vecdot(x, x),
    "sort": lambda x: xp.sort(x),
    "cumsum": lambda x: xp.cumulative_sum(x),
    "nonzero": lambda x: xp.nonzero(x),
    "concat": lambda x: xp.concat([x, x]),
    "stack": lambda x: xp.stack([x, x]),
    "take": lambda x: xp.take(x, xp.asarray([0, 1])),
    "astype": lambda x: xp.astype(x, xp.float32),
    "copy": lambda x: xp.asarray(x, copy=True),
    "numpy": lambda x: np.asarray(x),
    "buffer": lambda x: memoryview(x),
    "dlpack": lambda x: np.from_dlpack(x),
    "evaluate": lambda x: runtime.evaluate(x),
    "fft": lambda x: xp.fft.fft(x),
    "unique": lambda x: xp.unique_values(x),
    "roll": lambda x: xp.roll(x, 1),
    "again": lambda x: runtime.reuse_buffer(x),
    "hint": lambda x: runtime.set_hint(x, "temporary"),
}


class TestReuseBuffer:
    def test_memory_goes_back_at_once(self):
        x = make()
        before = POOL.used_bytes()
        runtime.reuse_buffer(x)
        assert POOL.used_bytes() <= before - BYTES

    def test_recorded_readers_come_first(self):
        x = make()
        y = x * 2
        before = POOL.used_bytes()
        runtime.reuse_buffer(x)
        np.testing.assert_array_equal(np.asarray(y), np.arange(N) * 2.0)
        assert POOL.used_bytes() <= before + 4096

    def test_recorded_writes_come_first(self):
        x = make()
        x[1:] = x[:-1]
        x += 1
        y = xp.positive(x)
        runtime.reuse_buffer(x)
        expected = np.arange(N, dtype=np.float64)
        expected[1:] = expected[:-1].copy()
        np.testing.assert_array_equal(np.asarray(y), expected + 1)

    @pytest.mark.technique("DEFER")
    def test_a_recorded_value_is_never_stored(self):
        source = make()
        dead = _core.tape_counters()["dead"]
        values = source + 1
        total = xp.sum(values)
        unused = xp.exp(source)
        runtime.reuse_buffer(values)
        runtime.reuse_buffer(unused)
        before = POOL.used_bytes()
        assert float(total) == N * (N + 1) / 2
        assert POOL.used_bytes() <= before + 4096
        assert _core.tape_counters()["dead"] == dead + 1

    @pytest.mark.parametrize("size", [16, N])
    @pytest.mark.parametrize("use", USES)
    def test_every_later_use_is_an_error(self, use, size):
        x = make(size)
        runtime.reuse_buffer(x)
        with pytest.raises(RuntimeError, match="given back by reuse_buffer"):
            USES[use](x)

    def test_aliases_are_finished_too(self):
        x = make()
        view = xp.reshape(x, (2, -1)).T
        runtime.reuse_buffer(view)
        for alias in (x, view, x[3:]):
            with pytest.raises(RuntimeError, match="reuse_buffer"):
                float(xp.sum(alias))

    def test_metadata_and_repr_stay(self):
        x = make()
        runtime.reuse_buffer(x)
        assert x.shape == (N,)
        assert "reuse_buffer" in repr(x)

    def test_the_error_names_the_function(self):
        x, y = make(), make()
        runtime.reuse_buffer(x)
        with pytest.raises(RuntimeError, match=r"^add: "):
            runtime.evaluate(y + x)

    def test_refused_while_exported(self):
        x = make(100)
        exported = np.asarray(x)
        with pytest.raises(ValueError, match="another owner"):
            runtime.reuse_buffer(x)
        np.testing.assert_array_equal(exported, np.arange(100))
        del exported
        runtime.reuse_buffer(x)

    def test_copies_keep_their_values(self):
        x = make()
        copy = xp.asarray(x, copy=True)
        runtime.reuse_buffer(x)
        np.testing.assert_array_equal(np.asarray(copy), np.arange(N))

    def test_streams(self):
        x = make()
        streams = [runtime.Stream() for _ in range(3)]
        results = []
        for k, stream in enumerate(streams):
            with stream:
                results.append(x * float(k))
        runtime.reuse_buffer(x)
        for k, result in enumerate(results):
            np.testing.assert_array_equal(np.asarray(result), np.arange(N) * float(k))

    def test_readers_in_other_threads_see_values_or_the_error(self):
        expected = float(np.sum(np.sort(-np.arange(N, dtype=np.float64))))
        wrong = []

        def read(x):
            try:
                while True:
                    total = float(xp.sum(xp.sort(-x)))
                    if total != expected:
                        wrong.append(total)
            except RuntimeError as error:
                if "reuse_buffer" not in str(error):
                    wrong.append(error)

        for _ in range(10):
            x = make()
            threads = [threading.Thread(target=read, args=(x,)) for _ in range(2)]
            for thread in threads:
                thread.start()
            float(xp.sum(make()))
            runtime.reuse_buffer(x)
            for thread in threads:
                thread.join()
        assert wrong == []

    def test_only_arrays(self):
        with pytest.raises(TypeError, match=r"reuse_buffer: x must be"):
            runtime.reuse_buffer(np.zeros(3))


class TestHints:
    def test_unknown_hints_list_the_known(self):
        x = make(4)
        with pytest.raises(ValueError, match=r"'temporal'.*'temporary'.*'conv_weight'"):
            runtime.set_hint(x, "temporal")
        with pytest.raises(TypeError, match="set_hint"):
            runtime.set_hint(x, 3)
        assert runtime.get_hints(x) == ()

    def test_hints_belong_to_the_memory(self):
        x = make(4)
        assert runtime.set_hint(x, "sequential_access") is x
        runtime.set_hint(x[1:], "temporary")
        assert runtime.get_hints(x) == ("temporary", "sequential_access")
        assert runtime.get_hints(xp.asarray(x, copy=True)) == ()


def temporary():
    return runtime.set_hint(make(), "temporary")


@pytest.mark.technique("DEFER", "FUSION")
class TestTemporary:
    def test_the_result_takes_the_memory(self):
        x = temporary()
        before = POOL.used_bytes()
        y = x * 2 + x
        np.testing.assert_array_equal(np.asarray(y), np.arange(N) * 3.0)
        assert POOL.used_bytes() <= before + 4096
        with pytest.raises(RuntimeError, match="hinted as temporary"):
            float(x[0])

    def test_nothing_else_is_allocated(self):
        x = temporary()
        with runtime.arena(4 * BYTES) as arena:
            y = xp.sqrt(x) + 1
            runtime.evaluate(y)
        assert arena.statistics().peak < BYTES // 2

    def test_every_result_of_the_program_is_right(self):
        x = temporary()
        up, down = x + 1, (x + 1) * (x - 1)
        both = up * x
        expected = np.arange(N, dtype=np.float64)
        runtime.evaluate(up, down, both)
        np.testing.assert_array_equal(np.asarray(up), expected + 1)
        np.testing.assert_array_equal(np.asarray(down), (expected + 1) * (expected - 1))
        np.testing.assert_array_equal(np.asarray(both), (expected + 1) * expected)

    @pytest.mark.parametrize(
        ("keep", "result"),
        [
            (lambda x: x[1:], lambda x: x + 1),  # another array has the memory
            (lambda x: xp.asarray(x, copy=True), lambda x: x + 1),  # a copy has it
            (lambda x: None, lambda x: xp.astype(x, xp.float32)),  # another size
            (lambda x: None, lambda x: x + x[::-1]),  # read in another order
            (lambda x: None, lambda x: xp.sum(x)),
            (lambda x: np.asarray(x), lambda x: x + 1),  # exported
        ],
    )
    def test_what_others_may_see_stays(self, keep, result):
        x = make()
        kept = keep(x)
        runtime.set_hint(x, "temporary")
        runtime.evaluate(result(x))
        np.testing.assert_array_equal(np.asarray(x), np.arange(N))
        if kept is not None:
            assert float(np.sum(np.asarray(kept))) >= N * (N - 1) / 2 - N

    def test_later_recorded_readers_see_the_value(self):
        x = temporary()
        y = x + 1
        z = xp.cumulative_sum(x)
        runtime.evaluate(y, z)
        assert float(z[-1]) == N * (N - 1) / 2

    def test_what_nobody_names_is_taken_without_a_hint(self):
        x = make()
        copy = xp.asarray(x, copy=True)
        x += 0  # has memory of its own now
        runtime.evaluate(x)
        before = POOL.used_bytes()
        x = xp.exp(x * 1e-6)
        runtime.evaluate(x)
        assert POOL.statistics().used <= before + 4096
        np.testing.assert_array_equal(np.asarray(copy), np.arange(N))
        x = copy
        shared = xp.asarray(copy, copy=True)
        del copy
        x = x - 1
        runtime.evaluate(x)
        np.testing.assert_array_equal(np.asarray(shared), np.arange(N))


@pytest.mark.technique("DEFER", "FUSION")
class TestReduceOutput:
    def test_a_costly_variance_needs_no_memory(self):
        def peak(hint):
            x = make() * 1e-6
            runtime.evaluate(x)
            values = xp.sin(xp.exp(x))
            if hint:
                runtime.set_hint(values, "reduce_output")
            total = xp.var(values)
            del values
            before = _core.tape_counters()["groups"]
            result = float(total)
            return _core.tape_counters()["groups"] - before, result

        groups, result = peak(hint=False)
        hinted_groups, hinted = peak(hint=True)
        assert hinted == result
        assert hinted_groups == 1
        assert groups == 2


class TestTransposed:
    @pytest.mark.parametrize("pending", [False, True])
    def test_the_layout_is_turned(self, pending):
        values = np.random.default_rng(0).random((3, 70, 90))
        x = xp.asarray(values)
        x = x * 2 if pending else x * 2 + 0
        if not pending:
            runtime.evaluate(x)
        assert runtime.set_hint(x, "transposed") is x
        exported = np.asarray(x.mT)
        assert exported.flags.c_contiguous
        np.testing.assert_array_equal(exported, np.swapaxes(values * 2, 1, 2))
        assert runtime.get_hints(x) == ("transposed",)

    @pytest.mark.technique("DEFER")
    def test_only_the_turned_array_is_stored(self):
        x = xp.asarray(np.ones((512, 512)))
        runtime.evaluate(x)
        before = POOL.used_bytes()
        y = runtime.set_hint(x + 1, "transposed")
        runtime.evaluate(y)
        assert POOL.used_bytes() <= before + 8 * 512 * 512 + 2 * 4096  # whole pages without a pool

    def test_products_and_writes(self):
        rng = np.random.default_rng(1)
        left, right = rng.random((33, 65)), rng.random((80, 65))
        weight = runtime.set_hint(xp.asarray(right), "transposed")
        expected = xp.asarray(left) @ xp.asarray(right).T
        assert xp.all(xp.asarray(left) @ weight.T == expected)
        weight[3, :] = 7.0
        right[3, :] = 7.0
        assert xp.all(xp.asarray(left) @ weight.T == xp.asarray(left) @ xp.asarray(right).T)

    def test_no_effect_is_said(self):
        x = xp.zeros((4, 5))
        view = x[1:]
        with pytest.warns(RuntimeWarning, match="no effect"):
            runtime.set_hint(x, "transposed")
        x[1, 0] = 3.0
        assert view[0, 0] == 3.0
        with pytest.raises(ValueError, match="at least 2 dimensions"):
            runtime.set_hint(xp.zeros(3), "transposed")


NUMERIC = [np.float32, np.float64, np.complex64, np.complex128, np.int8, np.uint16, np.int64]


class TestConvWeight:
    @pytest.mark.parametrize("dtype", NUMERIC)
    @pytest.mark.parametrize("shape", [(2, 3, 5), (40, 300, 70), (200, 64, 33), (3, 20, 600)])
    def test_bits(self, dtype, shape):
        m, k, n = shape
        rng = np.random.default_rng(k)
        a = xp.asarray((rng.standard_normal((2, m, k)) * 9).astype(dtype))
        b = xp.asarray((rng.standard_normal((k, n)) * 9).astype(dtype))
        hinted = runtime.set_hint(xp.asarray(b, copy=True), "conv_weight")
        for _ in range(2):
            assert xp.all(a @ hinted == a @ b)
            assert xp.all(a[0, ...] @ hinted[:, 1:] == a[0, ...] @ b[:, 1:])
            assert xp.all(a[0, :1, :] @ hinted == a[0, :1, :] @ b)
            assert xp.all(xp.matrix_transpose(hinted) @ a[0, ...].T == b.T @ a[0, ...].T)

    @pytest.mark.technique("DEFER")
    def test_fused_work_behind_it(self):
        rng = np.random.default_rng(2)
        a, b = xp.asarray(rng.random((64, 128))), xp.asarray(rng.random((128, 96)))
        hinted = runtime.set_hint(xp.asarray(b, copy=True), "conv_weight")
        assert xp.all(xp.exp(a @ hinted + 1) == xp.exp(a @ b + 1))

    def test_it_is_packed_once_and_freed(self):
        a = make(64 * 512)
        a = xp.reshape(a, (64, 512))
        b = runtime.set_hint(xp.ones((512, 512)), "conv_weight")
        runtime.evaluate(b)
        before = POOL.used_bytes()
        for _ in range(3):
            runtime.evaluate(a @ b)
        held = POOL.used_bytes() - before
        assert 8 * 512 * 512 <= held <= 8 * 512 * 512 + 16384
        runtime.reuse_buffer(b)
        assert POOL.used_bytes() <= before - 8 * 512 * 512 + 4096

    @pytest.mark.parametrize(
        "write",
        [
            lambda w: w.__setitem__((0, 0), 5.0),
            lambda w: w.__setitem__(slice(None), 2.0),
            lambda w: w[1:, :].__iadd__(1.0),
            lambda w: w.T.__imul__(3.0),
            lambda w: np.asarray(w).__setitem__((1, 1), -4.0),
            lambda w: np.from_dlpack(w).__setitem__((2, 1), -4.0),
        ],
    )
    def test_a_write_drops_the_packed_copy(self, write):
        rng = np.random.default_rng(3)
        a = xp.asarray(rng.random((32, 100)))
        w = runtime.set_hint(xp.asarray(rng.random((100, 90))), "conv_weight")
        runtime.evaluate(a @ w)
        before = a @ w
        write(w)
        plain = xp.asarray(np.array(np.asarray(w)))
        assert xp.all(a @ w == a @ plain)
        assert not xp.all(before == a @ w)

    def test_writes_while_exported(self):
        a, w = xp.ones((8, 40)), runtime.set_hint(xp.ones((40, 30)), "conv_weight")
        runtime.evaluate(a @ w)
        exported = np.asarray(w)
        for value in (2.0, 3.0):
            exported[...] = value
            assert xp.all(a @ w == 40 * value)

    def test_no_effect_is_said(self):
        with pytest.warns(RuntimeWarning, match="no effect"):
            runtime.set_hint(xp.ones((3, 4, 5)), "conv_weight")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runtime.set_hint(xp.ones((1, 4, 5)), "conv_weight")


@pytest.mark.parametrize("size", [1000, 100_000, 1 << 20])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.complex128])
def test_sequential_access_keeps_values(size, dtype):
    values = (np.arange(size) % 100).astype(dtype)
    x = runtime.set_hint(xp.asarray(values), "sequential_access")
    y = runtime.set_hint(x * x + x, "sequential_access")
    z = runtime.set_hint(
        xp.asarray(values[: size // 7 * 7].reshape(7, -1)).T + x[: size // 7, None],
        "sequential_access",
    )
    np.testing.assert_array_equal(np.asarray(y), values * values + values)
    expected = values[: size // 7 * 7].reshape(7, -1).T + values[: size // 7, None]
    np.testing.assert_array_equal(np.asarray(z), expected)


@pytest.mark.parametrize("where", [np.s_[:, ::2], np.s_[::2], np.s_[1:, 3:], np.s_[:, ::-1]])
@pytest.mark.parametrize("turned", [False, True])
def test_sequential_access_writes_no_neighbours(where, turned):
    """Elements that lie apart are not written past the caches as if they were adjacent."""
    want = -np.arange(300.0 * 400).reshape(300, 400)
    target = runtime.set_hint(xp.asarray(want), "sequential_access")
    shape = want[where].shape
    values = np.arange(float(want[where].size)).reshape(shape[::-1] if turned else shape)
    source = xp.asarray(values).T if turned else xp.asarray(values)
    target[where] = source * 2 + 1
    want[where] = (values.T if turned else values) * 2 + 1
    np.testing.assert_array_equal(np.asarray(target), want)


@pytest.mark.parametrize(
    "settings", [{"DEFER": "off"}, {"DEFER": "always"}, {"FUSION": "off"}, {"POOL": "off"}]
)
def test_every_mode_computes_the_same(child, settings):
    code = """
    values = np.arange(60000, dtype=np.float64).reshape(200, 300)
    x = runtime.set_hint(xp.asarray(values) + 0, "transposed")
    t = runtime.set_hint(x * 2, "temporary")
    w = runtime.set_hint(xp.asarray(values[:, :50]) * 1e-3, "conv_weight")
    y = runtime.set_hint(xp.exp(t * 1e-5), "reduce_output")
    result = (y.T @ w) * xp.var(y)
    runtime.reuse_buffer(y)
    w += 1
    total = xp.sum(result) + xp.sum(x.T @ w)
    runtime.reuse_buffer(result)
    print(float(total).hex())
    """
    assert child(code, **settings) == child(code)
