"""Predictive mode: lists of operations that come again run by their plan, with the same results."""

import concurrent.futures
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import _core, _predictive, runtime
from ascend_array_api.profiler import Profiler


@pytest.fixture
def predictive():
    """Switch the mode on."""
    before = runtime.get_mode()
    runtime.synchronize()
    runtime.set_mode("predictive")
    yield
    runtime.synchronize()
    runtime.set_mode("default")
    runtime.set_mode(before)


def replays():
    return _core.tape_counters()["replays"]


def replayed(work, times=6):
    """Return how many lists of the work ran by a plan, of so many times, and the last result."""
    before = replays()
    for _ in range(times):
        result = work()
    return replays() - before, result


def expected(work):
    """Return what the work gives in default mode."""
    runtime.set_mode("default")
    result = work()
    runtime.synchronize()
    runtime.set_mode("predictive")
    return result


def numbers(seed, *shape):
    return xp.asarray(np.random.default_rng(seed).standard_normal(shape))


class TestMode:
    def test_switch(self, child):
        assert child("print(runtime.get_mode())") == "default\n"
        assert child("print(runtime.get_mode())", MODE="predictive") == "predictive\n"

    def test_errors(self):
        with pytest.raises(ValueError, match="set_mode: unknown mode 'fast'; accepted: 'default'"):
            runtime.set_mode("fast")
        with pytest.raises(TypeError, match="set_mode: mode must be a str, got NoneType"):
            runtime.set_mode(None)

    def test_bad_variable(self, child_env):
        env = child_env | {"ASCEND_ARRAY_API_MODE": "fast"}
        command = [sys.executable, "-c", "import ascend_array_api"]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert "ASCEND_ARRAY_API_MODE is default or predictive, got 'fast'" in done.stderr

    def test_off_by_default(self):
        x = numbers(0, 5000)
        assert replayed(lambda: float(xp.sum(x * 2.0)))[0] == 0


@pytest.mark.usefixtures("predictive")
@pytest.mark.technique("DEFER", "FUSION")
class TestReplay:
    def test_loop(self):
        table, target = numbers(1, 2000, 32), numbers(2, 2000)

        def descend():
            weights = xp.zeros(32)
            for _ in range(40):
                slope = 1.0 / (1.0 + xp.exp(-(table @ weights))) - target
                weights = weights - 0.1 * (table.T @ slope) / 2000.0
                runtime.evaluate(weights)
            return np.asarray(weights)

        count, result = replayed(descend, 3)
        assert count >= 100
        assert result.tobytes() == expected(descend).tobytes()

    def test_constants_change(self):
        x = numbers(3, 5000)
        for step in range(8):
            y = np.asarray(x * (step + 1.0) + step)
            assert np.array_equal(y, np.asarray(x) * (step + 1.0) + step)

    def test_equal_constants_become_different(self):
        x = numbers(4, 5000)
        for _ in range(5):
            runtime.evaluate(x * 3.0 + 3.0)
        before = replays()
        assert np.array_equal(np.asarray(x * 3.0 + 4.0), np.asarray(x) * 3.0 + 4.0)
        assert replays() == before

    @pytest.mark.parametrize("change", ["shape", "dtype", "layout", "alias", "offset", "held"])
    def test_another_structure_is_planned_anew(self, change):
        base = numbers(5, 200, 100)

        def work(x, y, keep=False):
            a = x * 2.0 + y
            b = xp.sum(a * a, axis=0)
            kept = a if keep else None
            del a
            runtime.evaluate(b)
            return np.asarray(b), kept

        x, y = base[:100, :], base[100:, :]
        for _ in range(5):
            work(x, y)
        before = replays()
        work(x, y)
        assert replays() > before
        other = {
            "shape": (base[:90, :], base[100:190, :], False),
            "dtype": (xp.astype(x, xp.float32), xp.astype(y, xp.float32), False),
            "layout": (xp.asarray(np.asfortranarray(np.asarray(x))), y, False),
            "alias": (x, x, False),
            "offset": (base[1:101, :], y, False),
            "held": (x, y, True),
        }[change]
        before = replays()
        got, kept = work(*other)
        assert replays() == before
        a = np.asarray(other[0]) * 2 + np.asarray(other[1])
        np.testing.assert_allclose(got, np.sum(a * a, axis=0), rtol=1e-5)
        if kept is not None:
            assert np.array_equal(np.asarray(kept), a)

    def test_writes_through_views(self):
        x = xp.zeros((100, 100))
        mirror = np.zeros((100, 100))
        for step in range(8):
            x[1:, :] = x[:-1, :] * 0.5 + float(step)
            mirror[1:, :] = mirror[:-1, :] * 0.5 + float(step)
            x += 1.0
            mirror += 1.0
            assert np.array_equal(np.asarray(x), mirror)

    def test_exported_memory(self):
        x = numbers(6, 5000)
        for _ in range(5):
            runtime.evaluate(x + 1.0)
        shared = np.asarray(x, copy=False)
        y = x + 1.0
        shared[:] = 7.0
        assert float(xp.max(y)) != 8.0
        assert bool(xp.all(x + 1.0 == 8.0))

    def test_memory_is_reused(self):
        def steps():
            state = xp.full(200_000, 2.0)
            for _ in range(30):
                state = xp.sqrt(state) * 1.5
                runtime.evaluate(state)
            return np.asarray(state)

        count, result = replayed(steps, 3)
        assert count > 50
        assert result.tobytes() == expected(steps).tobytes()

    def test_long_lists_are_cut_where_they_repeat(self):
        x = numbers(7, 5000)

        def steps():
            state = x
            for _ in range(300):
                state = xp.cumulative_sum(state * 0.5) * 1e-3 + xp.flip(state)
            return np.asarray(state)

        count, result = replayed(steps, 4)
        assert count > 10
        assert result.tobytes() == expected(steps).tobytes()

    def test_softmax_by_rows(self):
        x = numbers(8, 700, 500)

        def softmax():
            e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
            return np.asarray(e / xp.sum(e, axis=1, keepdims=True))

        count, result = replayed(softmax, 8)
        assert count >= 5
        assert result.tobytes() == expected(softmax).tobytes()

    def test_failure_inside(self, child):
        """Results without memory fail, the others do not, and the next time all are right."""
        code = """
x = xp.asarray(np.ones(100_000))
pool = runtime.MemoryPool()
runtime.set_mode("predictive")

def result(k):
    try:
        return xp.cumulative_sum(x * float(k))
    except MemoryError:
        return None

def work():
    results = [result(k) for k in range(20)]
    try:
        runtime.synchronize()
    except MemoryError:
        pass
    return results

def last(result):
    try:
        return None if result is None else float(result[-1])
    except MemoryError:
        return None

for _ in range(5):
    work()
# The background may take a part of the list, which is another list.
for _ in range(30):
    before = _core.tape_counters()["replays"]
    pool.free_all_blocks()
    pool.set_limit(pool.used_bytes() + 8_000_000)
    got = [last(result) for result in work()]
    pool.set_limit(0)
    replayed = _core.tape_counters()["replays"] > before
    assert 0 < got.count(None) < 20, got
    assert all(value in (None, 1e5 * k) for k, value in enumerate(got))
    assert [last(result) for result in work()] == [1e5 * k for k in range(20)]
    if replayed:
        break
assert replayed
"""
        child(code)

    def test_temporary(self):
        x = numbers(13, 100_000)
        for _ in range(8):
            state = runtime.set_hint(x * 2.0, "temporary")
            runtime.evaluate(state)
            following = state + 1.0
            runtime.evaluate(following)
            assert np.array_equal(np.asarray(following), np.asarray(x) * 2 + 1)
            with pytest.raises(RuntimeError, match="temporary"):
                float(state[0])

    def test_nothing_stays_alive(self):
        x = numbers(9, 50_000)
        pool = runtime.MemoryPool()

        def work():
            return float(xp.sum(xp.exp(x * 0.1) * x))

        work()
        before = pool.used_bytes()
        for _ in range(8):
            work()
        assert pool.used_bytes() == before

    def test_profiler_shows_it(self):
        x = numbers(10, 5000)
        for _ in range(4):
            runtime.evaluate(x * 2.0 + 1.0)
        with Profiler() as profile:
            runtime.evaluate(x * 2.0 + 1.0)
        events = list(profile._recording.events())
        assert [e.name for e in events if e.kind == "fuse"] == ["replay"]
        assert [e.name for e in events if e.kind == "work"] == ["multiply+add"]
        flows = [e.flow for e in events if e.kind == "record"]
        assert sorted(e.flow for e in events if e.kind == "begin") == sorted(flows)

    def test_lists_that_never_repeat_are_looked_at_seldom(self):
        x = numbers(11, 6000)
        lists = 400
        with Profiler() as profile:
            for n in range(5000, 5000 + lists):
                runtime.evaluate(x[:n] * 2.0 + 1.0)
        looked = sum(e.name == "look for a plan" for e in profile._recording.events())
        assert 64 <= looked <= 64 + lists // 16
        # A loop of three lists is found all the same.
        loop = [lambda n=n: runtime.evaluate(xp.abs(x[:n]) - 1.0) for n in (5000, 5500, 5900)]
        for _ in range(60):
            [step() for step in loop]
        count, _ = replayed(lambda: [step() for step in loop], 5)
        assert count == 15

    def test_the_plans_used_last_are_kept(self):
        x = numbers(12, 6000)
        works = [lambda n=n: x[:n] * 2.0 + 1.0 for n in range(5000, 5150)]
        for _ in range(3):
            runtime.evaluate(works[0]())
        for work in works[1:]:
            for _ in range(3):
                runtime.evaluate(work())
            count, _ = replayed(lambda: runtime.evaluate(works[0]()), 1)
            assert count == 1
        for n, work in zip(range(5000, 5150), works, strict=True):
            np.testing.assert_array_equal(np.asarray(work()), np.asarray(x)[:n] * 2 + 1)

    def test_a_loop_behind_thousands_of_other_lists_is_found(self):
        x = numbers(13, 11_000)
        before = replays()
        for n in range(1, 5000):
            runtime.evaluate(xp.sqrt(x[n:]))
            runtime.evaluate(x - 1.0)  # what repeats keeps the others from being passed over
        assert replays() - before > 4900
        count, _ = replayed(lambda: runtime.evaluate(xp.abs(x) - 2.0))
        assert count >= 4

    def test_rules_are_asked(self):
        from ascend_array_api import graph

        x = numbers(11, 5000)
        for _ in range(4):
            runtime.evaluate(x * 2.0 + 1.0)
        seen = []

        @graph.fusion_rule
        def look(g):
            seen.append(g.find("multiply") is not None)

        try:
            before = replays()
            runtime.evaluate(x * 2.0 + 1.0)
            assert seen == [True]
            assert replays() == before
        finally:
            graph.remove_rule(look)

    def test_threads(self):
        x = numbers(12, 20_000)

        def loop(k):
            y = x
            for _ in range(50):
                y = xp.sin(y) * float(k) + x
                runtime.evaluate(y)
            return np.asarray(y).tobytes()

        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            got = list(threads.map(loop, range(8)))
        assert got == expected(lambda: [loop(k) for k in range(8)])


@pytest.mark.technique("DEFER")
def test_no_choice_changes_results(child):
    """Every number of threads and size of tiles gives the same bytes."""
    code = """
    rng = np.random.default_rng(0)
    x = xp.asarray(rng.standard_normal((101, 403)))
    y = xp.asarray(rng.standard_normal((101, 403)).astype(np.float32))
    z = xp.asarray(rng.integers(-9, 9, (101, 403), dtype=np.int8))

    def work():
        inside = (x > 0.1) & (xp.abs(y) < 1.0)
        e = xp.exp(y - xp.max(y, axis=1, keepdims=True))
        results = [
            xp.where(inside, xp.sin(x) * 2.0 + 1.0, x / 3.0), inside, xp.logical_not(inside[:, 5:]),
            e / xp.sum(e, axis=1, keepdims=True), xp.var(xp.sqrt(x * x + 1.0)),
            xp.sum(x * 1.5 - 2.0, axis=0), xp.mean(y.T * y.T, axis=0), xp.maximum(x @ x.T, 0.0),
            xp.cumulative_sum(x * 0.5, axis=1), x.T * 2.0 + y.T, z * z + 1, x @ x[0, :] + 1.0,
            xp.any(x * 2.0 > 7.0, axis=0), xp.prod(y * 0.3, axis=1),
        ]
        runtime.evaluate(*results)
        return [np.asarray(r).tobytes() for r in results]

    right = work()
    runtime.set_mode("predictive")
    while len(_core.learned()) < 9:
        assert work() == right
    keys = [key for key, _ in _core.learned()]
    for choice in range(6):
        runtime.set_mode("default")
        work()  # drops plans
        _core.unlearn()
        _core.learn([(key, choice) for key in keys])
        runtime.set_mode("predictive")
        before = _core.tape_counters()["replays"]
        while _core.tape_counters()["replays"] < before + 3:
            assert work() == right
    """
    child(code, NUM_THREADS="3")


class TestTuning:
    """Which choice is kept, by its times in seven turns; the first one is what runs untuned."""

    USUAL = (1000,) * 7

    @pytest.mark.parametrize(
        ("part", "kept"), [(2000, 0), (1000, 0), (901, 0), (900, 0), (899, 1), (1, 1)]
    )
    def test_only_what_is_clearly_faster(self, part, kept):
        assert _core.best_choice([self.USUAL, (part,) * 7]) == kept

    @pytest.mark.parametrize("lucky", range(8))
    def test_in_most_turns(self, lucky):
        """Neither lucky runs nor slow ones decide while they are fewer than half."""
        turns = (10,) * lucky + (100_000,) * (7 - lucky)
        for times in (turns, turns[::-1], turns[3:] + turns[:3]):
            assert _core.best_choice([self.USUAL, times]) == (lucky >= 4)

    def test_within_one_turn(self):
        """A clock that changes between turns favours nobody, whatever the times say as a whole."""
        usual = (10, 20, 30, 100, 110, 120, 130)
        assert _core.best_choice([usual, (10, 20, 30, 50, 110, 120, 130)]) == 0
        assert _core.best_choice([usual, (8, 16, 24, 80, 100, 900, 900)]) == 1

    def test_the_fastest_of_several(self):
        parts = (1000, 850, 700, 1300, 701, 899)
        assert _core.best_choice([(part,) * 7 for part in parts]) == 2

    def test_bad_times(self):
        for times in ([], [self.USUAL] * 7):
            with pytest.raises(ValueError, match="best_choice: expected times of 1 to 6 choices"):
                _core.best_choice(times)
        for row in (self.USUAL[:6], (0,) * 7):
            with pytest.raises(ValueError, match="best_choice: expected 7 times above 0"):
                _core.best_choice([row])
        for bad in (None, [None], [(1.5,) * 7]):
            with pytest.raises(TypeError):
                _core.best_choice(bad)


@pytest.mark.technique("DEFER")
class TestCacheFile:
    WORK = """
x = xp.asarray(np.arange(40000.0))
for _ in range(60):
    runtime.evaluate(xp.exp(x * 1e-5) + x)
print(len(_core.learned()))
"""

    def learn(self, child, path):
        return int(child(self.WORK, MODE="predictive", CACHE=str(path), NUM_THREADS="2"))

    def known(self, child, path):
        code = "print(len(_core.learned()))"
        return int(child(code, MODE="predictive", CACHE=str(path), NUM_THREADS="2"))

    def test_kept(self, child, tmp_path):
        path = tmp_path / "new" / "cache.json"
        learned = self.learn(child, path)
        assert learned > 0
        assert self.known(child, path) == learned
        assert child("print(len(_core.learned()))", CACHE=str(path)) == "0\n"

    def warned(self, child_env, path, code=""):
        """Return how many choices a process knows that is warned about the file."""
        env = child_env | {
            "ASCEND_ARRAY_API_MODE": "predictive",
            "ASCEND_ARRAY_API_CACHE": str(path),
            "ASCEND_ARRAY_API_NUM_THREADS": "2",
        }
        code = PREAMBLE + "print(len(_core.learned()))\n" + code
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        assert "RuntimeWarning: ASCEND_ARRAY_API_CACHE" in done.stderr
        assert "is ignored" in done.stderr
        return int(done.stdout.split()[0])

    @pytest.mark.parametrize(
        "damage",
        [
            lambda text: text[:-20],
            lambda text: "",
            lambda text: text.replace('"checksum": "', '"checksum": "0'),
            lambda text: text.replace("version", "Version"),
        ],
    )
    def test_damaged(self, child, child_env, tmp_path, damage):
        path = tmp_path / "cache.json"
        learned = self.learn(child, path)
        path.write_text(damage(path.read_text()))
        assert self.warned(child_env, path, self.WORK) == 0
        assert self.known(child, path) == learned

    @pytest.mark.parametrize(
        "text",
        ["my notes\n", "[1, 2]", "\0" * 100, "[" * 100_000, '{"format": 99, "machines": {}}'],
    )
    def test_files_of_others_are_never_written_over(self, child_env, tmp_path, text):
        path = tmp_path / "cache.json"
        path.write_text(text)
        assert self.warned(child_env, path, self.WORK) == 0
        assert path.read_text() == text

    def test_what_can_be_no_file_is_ignored(self, child_env, tmp_path):
        (tmp_path / "circle").symlink_to("circle")
        os.mkfifo(tmp_path / "pipe")  # reading it would wait for a writer
        for name in ("circle", "circle/cache", "pipe", "n" * 300):
            assert self.warned(child_env, tmp_path / name, self.WORK) == 0
        assert self.warned(child_env, "~no such user/cache", self.WORK) == 0

    @pytest.mark.parametrize(
        "machines",
        [
            lambda here: [],
            lambda here: {here: [1]},
            lambda here: {here: {"xyz": 1}},
            lambda here: {here: {"f" * 40: 1}},
            lambda here: {here: {"-000000000000001": 1}},
            lambda here: {here: {"f" * 16: 1 << 40}},
            lambda here: {here: {"f" * 16: "a"}},
            lambda here: {here: {"f" * 16: True}},
        ],
    )
    def test_right_checksums_over_wrong_contents(self, child_env, tmp_path, machines):
        path = tmp_path / "cache.json"
        content = machines(_predictive._machine())
        checksum = _predictive._checksum(content)
        path.write_text(json.dumps({"format": 1, "checksum": checksum, "machines": content}))
        assert self.warned(child_env, path) == 0

    def test_links_and_permissions_stay(self, child, tmp_path):
        path, link = tmp_path / "cache.json", tmp_path / "link.json"
        self.learn(child, path)
        path.chmod(0o664)
        link.symlink_to(path)
        child(self.WORK, MODE="predictive", CACHE=str(link), NUM_THREADS="2")
        assert link.is_symlink()
        assert path.stat().st_size > 0
        assert path.stat().st_mode & 0o777 == 0o664

    def test_a_warning_as_an_error_leaves_the_mode(self, child_env, tmp_path):
        (tmp_path / "file").write_text("")
        code = PREAMBLE + (
            "import warnings; runtime.set_mode('predictive')\n"
            "_core.learn([(1, 1)]); warnings.simplefilter('error')\n"
            "try:\n    runtime.set_mode('default')\nexcept RuntimeWarning:\n"
            "    print(runtime.get_mode())\n"
        )
        env = child_env | {"ASCEND_ARRAY_API_CACHE": str(tmp_path / "file" / "cache.json")}
        command = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.stdout == "default\n", done.stderr

    def test_unwritable(self, child_env, tmp_path):
        (tmp_path / "file").write_text("")
        env = child_env | {
            "ASCEND_ARRAY_API_MODE": "predictive",
            "ASCEND_ARRAY_API_CACHE": str(tmp_path / "file" / "cache.json"),
            "ASCEND_ARRAY_API_NUM_THREADS": "2",
        }
        done = subprocess.run(
            [sys.executable, "-c", PREAMBLE + self.WORK], env=env, capture_output=True, text=True
        )
        assert done.returncode == 0
        assert "RuntimeWarning: ASCEND_ARRAY_API_CACHE" in done.stderr

    def test_many_writers(self, child_env, tmp_path):
        """The file is whole at every moment while processes read and write it."""
        path = tmp_path / "cache.json"
        code = PREAMBLE + (
            "import warnings; warnings.simplefilter('error')\n"
            "_core.learn([(int(sys.argv[1]) * 1000 + k, 1) for k in range(500)])\n"
            "runtime.set_mode('predictive'); runtime.set_mode('default')\n"
        )
        env = child_env | {"ASCEND_ARRAY_API_CACHE": str(path)}
        children = [
            subprocess.Popen([sys.executable, "-c", code, str(k)], env=env, stderr=subprocess.PIPE)
            for k in range(8)
        ]
        for process in children:
            assert process.communicate()[1] == b""
            assert process.returncode == 0
        (choices,) = json.loads(path.read_text())["machines"].values()
        assert len(choices) == 4000
        assert [file.name for file in tmp_path.iterdir()] == ["cache.json"]


PREAMBLE = """
import sys
import numpy as np
import ascend_array_api as xp
from ascend_array_api import _core, runtime
"""
