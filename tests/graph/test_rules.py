"""Fusion rules: what they see, what they change, and that results never do."""

import functools
import json
import os
import random
import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import _core, graph, runtime
from ascend_array_api.profiler import Profiler

N = 20_000


def arrays(seed=0):
    rng = np.random.default_rng(seed)
    return xp.asarray(rng.random((120, 80))), xp.asarray(rng.random((80, 60)))


def names_of_works(compute):
    """What the profiler calls the groups that ran, and the result."""
    with Profiler() as profile:
        result = compute()
        runtime.synchronize()
    works = [e.name for e in profile._recording.events() if e.kind == "work"]
    return works, np.asarray(result)


@contextmanager
def no_warnings():
    """Fail where something was reported, on any thread."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [str(w.message) for w in caught] == []


# ---- what a rule changes


def test_a_name_shows_in_profiler_and_dump_and_the_result_is_the_same(tmp_path):
    a, b = arrays()

    def compute():
        return xp.exp(a @ b)

    works, plain = names_of_works(compute)
    assert works == ["matmul+exp"]

    @graph.fusion_rule
    def exp_dot(g):
        dot = g.find("matmul")
        if dot is not None and (e := dot.find_consumer("exp")) is not None:
            g.fuse(dot, e, name="ExpMatMul")

    works, result = names_of_works(compute)
    assert works == ["ExpMatMul"]
    assert np.array_equal(result, plain)
    pending = compute()
    graph.dump(tmp_path / "graph.json")
    (dumped,) = json.loads((tmp_path / "graph.json").read_text())["graphs"]
    assert [group["name"] for group in dumped["groups"]] == ["ExpMatMul"]
    assert np.array_equal(np.asarray(pending), plain)


def test_keep_lets_an_operation_run_on_its_own():
    x = xp.asarray(np.linspace(0.0, 1.0, N))

    def compute():
        return xp.sin(xp.exp(x + 1.0) * 2.0)

    works, plain = names_of_works(compute)
    assert works == ["add+exp+multiply+sin"]

    @graph.fusion_rule
    def alone(g):
        g.keep(g.find("exp"))

    works, result = names_of_works(compute)
    assert works == ["add", "exp", "multiply+sin"]
    assert np.array_equal(result, plain)


def test_keep_holds_for_blocks_of_rows():
    x = xp.asarray(np.random.default_rng(0).random((4000, 100)))

    def softmax():
        e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)

    works, plain = names_of_works(softmax)
    assert len(works) == 1

    @graph.fusion_rule
    def alone(g):
        g.keep(g.find("divide"))

    works, result = names_of_works(softmax)
    assert works[-1] == "divide"
    assert len(works) == 2
    assert np.array_equal(result, plain)


def test_a_fusion_that_is_asked_for_overrides_what_is_thought_to_be_faster():
    x = xp.asarray(np.random.default_rng(0).random(N))

    def compute():
        return xp.var(xp.exp(xp.sin(xp.cos(x))))

    works, plain = names_of_works(compute)
    assert len(works) == 2

    @graph.fusion_rule
    def one_pass(g):
        var = g.find("var")
        g.fuse(*g.find_all("cos"), *g.find_all("sin"), var.producers[0], var, name="ExpVar")

    with no_warnings():
        works, result = names_of_works(compute)
    assert works == ["ExpVar"]
    assert np.array_equal(result, plain)


def test_rules_come_in_order_and_built_in_fusion_last():
    x = xp.asarray(np.zeros(N))
    order = []

    @graph.fusion_rule
    def first(g):
        order.append("first")
        g.fuse(g.find("add"), g.find("exp"), name="First")

    @graph.fusion_rule
    def second(g):
        order.append("second")
        with pytest.raises(ValueError, match="add is part of another fusion already"):
            g.fuse(g.find("add"), g.find("multiply"), name="Second")

    works, _ = names_of_works(lambda: xp.exp(x + 1.0) * 2.0)
    assert order == ["first", "second"]
    assert works == ["First"]


# ---- what a rule sees


def test_the_graph():
    a, b = arrays()
    seen = []

    @graph.fusion_rule
    def look(g):
        dot, total = g.find("matmul"), g.find("sum")
        seen.append(
            (
                [node.op for node in g.nodes],
                (dot.op, dot.dtype, dot.shape),
                (total.op, total.dtype, total.shape),
                [node.op for node in dot.consumers],
                [node.op for node in total.producers],
                dot.producers,
                dot.find_consumer("exp"),
                dot.find_consumer("add") is dot.consumers[0],
                [node.shape for node in g.find_all("add")],
                g.find("sqrt"),
                repr(total),
            )
        )

    dot = a @ b
    y = dot + 1.0
    y *= dot
    total = xp.sum(xp.astype(y, xp.float32) + 2.0, axis=0)
    xp.sin(y)
    del y, dot
    runtime.evaluate(total)
    assert seen == [
        (
            ["matmul", "add", "multiply", "astype", "add", "sum"],
            ("matmul", np.dtype("float64"), (120, 60)),
            ("sum", np.dtype("float32"), (60,)),
            ["add", "multiply"],
            ["add"],
            (),
            None,
            True,
            [(120, 60), (120, 60)],
            None,
            "<%5 sum float32 (60,)>",
        )
    ]


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [("dot", "matmul"), ("exq", "exp"), ("arcsin", "asin"), ("Matmul", "matmul"), ("mull", "mul")],
)
def test_an_unknown_operation_is_an_error_that_names_the_nearest(wrong, nearest):
    x = xp.asarray(np.zeros(N))

    @graph.fusion_rule
    def look(g):
        for search in (g.find, g.find_all, g.find("exp").find_consumer):
            with pytest.raises(ValueError, match=f"'{wrong}'; did you mean '{nearest}"):
                search(wrong)
        with pytest.raises(TypeError, match="name of an operation"):
            g.find(3)

    with no_warnings():
        runtime.evaluate(xp.exp(x) * 2.0)


def test_wrong_requests_are_errors():
    x = xp.asarray(np.zeros(N))
    kept = []

    @graph.fusion_rule
    def ask(g):
        e, m = g.find("exp"), g.find("multiply")
        kept.append((g, e, m))
        for wrong, error in (
            ((), ValueError),
            ((e,), ValueError),
            ((e, e), ValueError),
            ((e, "multiply"), TypeError),
            ((e, None), TypeError),
        ):
            with pytest.raises(error):
                g.fuse(*wrong)
        for name in ("", 3, "a\0", "a\x01", "a\nb", "\ud800"):  # no file could hold some
            with pytest.raises(TypeError):
                g.fuse(e, m, name=name)
        if len(kept) == 2:
            with pytest.raises(ValueError, match="another graph"):
                g.fuse(e, kept[0][2])
        g.keep(m)
        with pytest.raises(ValueError, match="kept as it is"):
            g.fuse(e, m)

    with no_warnings():
        runtime.evaluate(xp.exp(x) * 2.0)
        runtime.evaluate(xp.exp(x) * 2.0 + 1.0)
    assert len(kept) == 2
    with pytest.raises(RuntimeError, match="inside of it only"):
        kept[0][0].fuse(*kept[0][1:])


# ---- how often rules are asked


def test_a_rule_is_asked_once_for_each_graph():
    asked = []

    @graph.fusion_rule
    def count(g):
        asked.append([node.op for node in g.nodes])

    for size in (N, N, 2 * N, 3 * N):
        x = xp.asarray(np.ones(size))
        runtime.evaluate(xp.exp(x) * 2.0)
    assert asked == [["exp", "multiply"]]
    runtime.evaluate(xp.exp(x) + 2.0)
    assert asked[1:] == [["exp", "add"]]
    runtime.evaluate(xp.exp(xp.asarray(np.ones(N, "float32"))) * 2.0)
    assert asked[2:] == [["exp", "multiply"]]
    y = xp.exp(x)
    runtime.evaluate(y * y)  # reads itself twice
    assert len(asked) == 4


def test_shapes_that_a_rule_reads_are_part_of_the_graph():
    asked = []

    @graph.fusion_rule
    def small(g):
        node = g.find("multiply")
        asked.append(node.shape)
        if node.shape[0] < 3 * N:
            g.fuse(g.find("exp"), node, name="Small")

    def names(size):
        x = xp.asarray(np.ones(size))
        return names_of_works(lambda: xp.exp(x) * 2.0)[0]

    assert names(N) == ["Small"]
    assert names(4 * N) == ["exp+multiply"]
    assert names(N) == ["Small"]
    assert names(2 * N) == ["Small"]
    assert names(4 * N) == ["exp+multiply"]
    assert asked == [(N,), (4 * N,), (2 * N,)]


# ---- coming and going


def test_removing():
    x = xp.asarray(np.zeros(N))

    @graph.fusion_rule
    def name_it(g):
        g.fuse(g.find("exp"), g.find("multiply"), name="Named")

    def names():
        return names_of_works(lambda: xp.exp(x) * 2.0)[0]

    assert names() == ["Named"]
    assert repr(name_it) == "<fusion rule name_it, in force>"
    graph.remove_rule(name_it)
    assert repr(name_it) == "<fusion rule name_it, removed>"
    assert names() == ["exp+multiply"]
    with pytest.raises(ValueError, match="name_it"):
        graph.remove_rule(name_it)
    with pytest.raises(TypeError):
        graph.remove_rule(print)
    with pytest.raises(TypeError):
        graph.fusion_rule(3)


def test_functions_whose_call_runs_nothing():
    def lazy(g):
        yield g.find("exp")

    async def later(g):
        g.find("exp")

    async def both(g):
        yield g.find("exp")

    class Lazy:
        def __call__(self, g):
            yield g.find("exp")

    for function, name in ((lazy, "lazy"), (later, "later"), (functools.partial(lazy), "partial")):
        with pytest.raises(TypeError, match=f"calling {name} would run nothing"):
            graph.fusion_rule(function)


def test_a_block_runs_what_it_recorded():
    x = xp.asarray(np.zeros(N))

    @graph.fusion_rule
    def name_it(g):
        g.fuse(g.find("exp"), g.find("multiply"), name="Named")

    graph.remove_rule(name_it)
    with Profiler() as profile, name_it as same:
        y = xp.exp(x) * 2.0
    assert same is name_it
    assert [row.name for row in profile.operations()] == ["Named"]
    assert names_of_works(lambda: xp.exp(x) * 2.0)[0] == ["exp+multiply"]

    def fail():
        with name_it:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert repr(name_it).endswith("removed>")
    assert float(y[0]) == 2.0


# ---- what goes wrong


def reports(compute, times=3):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [np.asarray(compute()) for _ in range(times)]
    assert all(np.array_equal(result, results[0]) for result in results)
    assert all(issubclass(w.category, graph.FusionRuleWarning) for w in caught)
    return [str(w.message) for w in caught], results[0]


def test_an_illegal_fusion_is_reported_once_and_ignored():
    x = xp.asarray(np.ones((100, 200)))

    def compute():
        total = xp.sum(xp.exp(x), axis=0)
        return xp.sin(x + total)

    plain = np.asarray(compute())

    @graph.fusion_rule
    def too_much(g):
        g.fuse(g.find("sum"), g.find("sin"), name="TooMuch")

    found, result = reports(compute)
    (message,) = found
    assert message.startswith("fusion rule 'too_much' asked to fuse sum and sin as 'TooMuch'")
    assert np.array_equal(result, plain)
    graph.remove_rule(too_much)
    assert reports(compute)[0] == []


def test_other_wishes_are_granted_beside_an_illegal_one():
    x = xp.asarray(np.ones((100, 200)))

    @graph.fusion_rule
    def wishes(g):
        g.fuse(g.find("exp"), g.find("cos"), name="Illegal")
        g.fuse(g.find("add"), g.find("sin"), name="Legal")

    with pytest.warns(graph.FusionRuleWarning, match="Illegal"):
        works, _ = names_of_works(lambda: xp.cos(xp.sin(xp.sum(xp.exp(x), axis=0) + x)))
    assert any("Legal" in work for work in works)


def test_a_rule_that_raises_is_reported_once_and_ignored():
    x = xp.asarray(np.zeros(N))

    @graph.fusion_rule
    def broken(g):
        g.keep(g.find("exp"))
        raise ZeroDivisionError("oh")

    @graph.fusion_rule
    def wrong(g):
        g.find("dot")

    @graph.fusion_rule
    def leaving(g):
        raise SystemExit

    found, result = reports(lambda: xp.exp(x) * 2.0)
    assert [message.split(";")[0] for message in found] == [
        "fusion rule 'broken' raised ZeroDivisionError: oh",
        "fusion rule 'wrong' raised ValueError: find: unknown operation 'dot'",
        "fusion rule 'leaving' raised SystemExit: ",
    ]
    assert np.array_equal(result, np.full(N, 2.0))
    works, _ = names_of_works(lambda: xp.exp(x) * 2.0)
    assert works == ["exp+multiply"]


def test_warnings_that_are_errors_do_not_reach_the_computation(child):
    child(
        """
        x = xp.asarray(np.zeros(20_000))

        @graph.fusion_rule
        def broken(g):
            raise ZeroDivisionError

        assert float(xp.sum(xp.exp(x * 0.0))) == 20_000.0
        print("done")
        """,
        errors="FusionRuleWarning: fusion rule 'broken' raised ZeroDivisionError",
        options=("-W", "error"),
    )


# ---- arrays inside of rules


@pytest.mark.skipif(
    os.environ.get("ASCEND_ARRAY_API_DEFER") == "always", reason="all work is recorded"
)
def test_a_rule_may_use_arrays_that_are_computed_and_no_others():
    x = xp.asarray(np.zeros(N))
    small = xp.asarray([1.0, 2.0])
    seen = []

    @graph.fusion_rule
    def use(g):
        seen.append(float(xp.sum(small + 1.0)))
        for attempt in (
            lambda: float(pending[0]),
            lambda: xp.exp(x),
            lambda: x.__setitem__(0, 2.0) or xp.sin(pending),
            runtime.synchronize,
            lambda: graph.explain(pending),
        ):
            with pytest.raises(RuntimeError, match="fusion rule can look at the pending graph"):
                attempt()

    pending = xp.exp(x) * 2.0
    with no_warnings():
        value = float(pending[1])
    assert seen == [5.0]
    assert value == 2.0


def test_rules_on_other_threads_and_streams():
    x = xp.asarray(np.zeros(N))
    threads = set()

    @graph.fusion_rule
    def name_it(g):
        threads.add(threading.get_ident())
        g.fuse(g.find("exp"), g.find("multiply"), name="Named")

    def work(results):
        stream = runtime.Stream()
        for k in range(20):
            with stream:
                y = xp.exp(x) * float(k)
            results.append(float(y[7]))

    results = [[] for _ in range(4)]
    workers = [threading.Thread(target=work, args=(r,)) for r in results]
    with no_warnings(), Profiler() as profile:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert {row.name for row in profile.operations()} >= {"Named"}
    assert all(r == [1.0 * k for k in range(20)] for r in results)
    assert threads


# ---- signals, ends and forks


def test_ctrl_c_stops_a_rule_that_never_ends(child):
    child(
        """
        signal.signal(signal.SIGINT, signal.default_int_handler)
        x = xp.asarray(np.zeros(20_000))
        asked = []

        @graph.fusion_rule
        def endless(g):
            asked.append(1)
            if len(asked) == 1:
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            while len(asked) == 1:
                pass

        y = xp.exp(x) * 2.0
        try:
            float(y[0])
            for _ in range(100):
                time.sleep(0.05)
        except KeyboardInterrupt:
            pass
        else:
            raise SystemExit("no KeyboardInterrupt")
        assert float(y[0]) == 2.0
        z = xp.exp(x) * 2.0
        assert float(z[0]) == 2.0
        assert len(asked) == 2  # the interrupted answer does not count
        """
    )


@pytest.mark.parametrize("daemon", [True, False])
def test_the_interpreter_ends_while_a_rule_runs(child, daemon):
    child(
        f"""
        x = xp.asarray(np.zeros(20_000))
        inside = threading.Event()

        @graph.fusion_rule
        def slow(g):
            inside.set()
            time.sleep(0.5)

        def work():
            while True:
                y = xp.exp(x) * 2.0
                stream = runtime.Stream()
                with stream:
                    z = xp.sin(x) + 1.0
                float(y[0]), float(z[0])
                if not {daemon}:
                    break

        threading.Thread(target=work, daemon={daemon}).start()
        inside.wait()
        y = xp.cos(x) * 3.0
        """
    )


def test_pending_work_at_the_end_with_a_rule(child):
    child(
        """
        class Late:
            def __del__(self):
                float(y[0])
        keep = Late()
        sys.late = keep

        @graph.fusion_rule
        def name_it(g):
            g.find("exp")

        y = xp.exp(xp.asarray(np.zeros(20_000)))
        with runtime.Stream():
            z = xp.exp(y)
        """
    )


def test_fork_with_rules(child):
    child(
        """
        x = xp.asarray(np.zeros(20_000))

        @graph.fusion_rule
        def name_it(g):
            g.fuse(g.find("exp"), g.find("multiply"))

        y = xp.exp(x) * 2.0
        pid = os.fork()
        z = xp.exp(x) * 3.0
        assert float(y[0]) == 2.0
        assert float(z[0]) == 3.0
        if pid == 0:
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        """
    )


def test_fork_inside_of_a_rule(child):
    child(
        """
        warnings.simplefilter("ignore")
        x = xp.asarray(np.zeros(20_000))
        other = runtime.Stream()
        children = []

        @graph.fusion_rule
        def forking(g):
            if not children:
                children.append(os.fork())

        y = xp.exp(x) * 2.0
        with other:
            w = y + 1.0
        z = xp.exp(x) * 3.0
        assert float(y[0]) == 2.0
        if children == [0]:
            os._exit(0)
        assert float(z[0]) == 3.0
        assert float(w[0]) == 3.0
        assert os.waitpid(children[0], 0)[1] == 0
        """
    )


def test_a_rule_may_fork_on_a_thread_of_the_engine(child):
    """That thread is the only one of the child, and ends it."""
    child(
        """
        warnings.simplefilter("ignore")
        x = xp.asarray(np.zeros(20_000))
        other = runtime.Stream()
        children, threads = [], []

        @graph.fusion_rule
        def forking(g):
            if not children:
                threads.append(threading.get_native_id())
                children.append(os.fork())

        y = xp.exp(x) * 2.0
        with other:
            w = y + 1.0  # hands the work above to the engine's threads
        end = time.monotonic() + 30
        while not children and time.monotonic() < end:
            time.sleep(0.01)
        assert threads and threads[0] != threading.get_native_id()
        assert float(w[0]) == 3.0
        while time.monotonic() < end:
            done, status = os.waitpid(children[0], os.WNOHANG)
            if done:
                break
            time.sleep(0.01)
        assert (done, status) == (children[0], 0)
        """
    )


# ---- results never change


def program(rng, inputs):
    """A random program of elementwise functions, writes, reductions and products."""
    values = list(inputs)
    for _ in range(rng.randint(4, 14)):
        kind = rng.choice(["unary", "binary", "binary", "write", "sum", "var", "matmul", "cast"])
        x, y = rng.choice(values), rng.choice(values)
        if kind == "unary":
            values.append(getattr(xp, rng.choice(["exp", "sin", "abs", "sqrt", "negative"]))(x))
        elif kind == "binary":
            values.append(getattr(xp, rng.choice(["add", "multiply", "maximum", "subtract"]))(x, y))
        elif kind == "write":
            values[-1][rng.randint(0, 40) :, :] = y[:1, :]
        elif kind == "sum":
            values.append(x - xp.sum(y, axis=rng.choice([0, 1]), keepdims=True))
        elif kind == "var":
            values.append(x * xp.var(y, axis=1, keepdims=True))
        elif kind == "matmul":
            values.append(xp.tanh(x @ y * 1e-3))
        else:
            values.append(xp.astype(xp.astype(x, xp.float32), xp.float64))
        if len(values) > 8:
            del values[rng.randrange(len(values) - 1)]
    return values


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore::ascend_array_api.graph.FusionRuleWarning")
def test_random_rules_do_not_change_random_programs(seed):
    source = np.random.default_rng(seed).random((3, 90, 90))

    def run():
        rng = random.Random(seed)
        return [np.asarray(v) for v in program(rng, [xp.asarray(s) for s in source])]

    plain = run()
    choose = random.Random(seed + 1)

    @graph.fusion_rule
    def random_wishes(g):
        nodes = list(g.nodes)
        for _ in range(4):
            first = choose.choice(nodes)
            others = [*first.consumers, *first.producers] or nodes
            try:
                if choose.random() < 0.3:
                    g.keep(first)
                else:
                    g.fuse(first, *choose.sample(others, choose.randint(1, len(others))))
            except ValueError:
                pass

    with random_wishes:
        ruled = run()
    for expected, got in zip(plain, ruled, strict=True):
        assert np.array_equal(expected, got, equal_nan=True)


def test_no_rules_no_hooks():
    """Without rules and dumps a flush asks nobody."""
    calls = []
    _core.register_graph_hooks(calls.append, calls.append, calls.append)
    try:
        runtime.evaluate(xp.exp(xp.asarray(np.ones(N))))
    finally:
        from ascend_array_api import _graph_dump, _graph_rules

        _core.register_graph_hooks(_graph_rules.decide, _graph_rules.refuse, _graph_dump.dump_flush)
    assert calls == []
