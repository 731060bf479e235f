"""Fork and the end of the process, with work pending."""

import pytest


def test_fork_with_pending_work(child, defer):
    child(
        """
        x = xp.asarray(np.arange(50_000.0))
        y = x * 2 + 1
        mask = y > 3
        pid = os.fork()
        if pid == 0:
            good = float(y[10]) == 21.0 and bool(mask[2])
            z = xp.exp(y * 0) + x
            good = good and float(z[49_999]) == 50_000.0
            os._exit(0 if good else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert float(y[11]) == 23.0
        assert float((y + x)[3]) == 10.0
        """,
        DEFER=defer,
    )


def test_fork_while_other_threads_work(child, defer):
    """The child has the forking thread alone, whatever locks the others held."""
    child(
        """
        big = xp.asarray(np.random.default_rng(0).random(300_000))
        box = [xp.asarray(np.ones(60_000))]
        done = threading.Event()
        def work():
            while not done.is_set():
                y = box[0]
                for _ in range(4):
                    y = xp.sin(y) + 1
                box[0] = y
                float(y[5])
        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads: t.start()
        bad = []
        for i in range(60):
            x = big * 0 + i
            pid = os.fork()
            if pid == 0:
                import signal
                signal.alarm(20)
                good = float(x[7]) == i and 0 <= float(box[0][5]) <= 2
                y = xp.asarray(np.ones(50_000)) * 3
                good = good and float(xp.sum(y)) == 150_000.0
                os._exit(0 if good else 1)
            status = os.waitpid(pid, 0)[1]
            if status:
                bad.append(status)
        done.set()
        for t in threads: t.join()
        assert not bad, bad
        """,
        DEFER=defer,
    )


def test_fork_while_other_threads_write(child, defer):
    """The child has whole writes, and no thread that is gone keeps it from more."""
    child(
        """
        import signal
        size = 300_000
        x, bits = xp.zeros(size), xp.zeros(size, dtype=xp.bool)
        done = threading.Event()
        def write(target, values):
            while not done.is_set():
                for value in values:
                    target[...] = value
        def copy():
            while not done.is_set():
                c = xp.asarray(x, copy=True)
                c[0] = 3.0
        threads = [threading.Thread(target=write, args=(x, [1.0, 2.0])),
                   threading.Thread(target=write, args=(bits, [True, False])),
                   threading.Thread(target=copy)]
        for t in threads: t.start()
        bad = []
        for i in range(25):
            pid = os.fork()
            if pid == 0:
                signal.alarm(100)
                values, flags = np.array(x), np.array(bits)
                whole = np.all(values == values[0]) and np.all(flags == flags[0])
                x[...] = 5.0
                bits[...] = True
                good = float(xp.sum(xp.sort(x + 1.0))) == 6.0 * size and bool(xp.all(bits))
                os._exit(0 if whole and good else 1)
            status = os.waitpid(pid, 0)[1]
            if status: bad.append((i, status))
        done.set()
        for t in threads: t.join()
        assert not bad, bad
        """,
        DEFER=defer,
    )


def test_forks_of_several_threads(child, defer):
    """Each child has whole writes of all its parent's threads."""
    child(
        """
        part = 100_000
        x, bad = xp.zeros(3 * part), []
        barrier = threading.Barrier(3)
        def work(k):
            barrier.wait()
            for i in range(8):
                x[k * part : (k + 1) * part] = float(i)
                pid = os.fork()
                if pid == 0:
                    import signal
                    signal.alarm(100)
                    parts = np.reshape(np.array(x), (3, part))
                    whole = np.all(parts == parts[:, :1]) and parts[k, 0] == i
                    good = float(xp.sum(xp.ones(part) + x[part * k])) == part * (1.0 + i)
                    os._exit(0 if whole and good else 1)
                status = os.waitpid(pid, 0)[1]
                if status: bad.append((k, i, status))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert not bad, bad
        """,
        DEFER=defer,
    )


@pytest.mark.parametrize("handler", ["__import__(next(modules))", "fork()"])
def test_fork_beside_handlers_of_signals(child, handler):
    """Handlers that run in the middle of a large call get the locks that a fork takes."""
    child(
        f"""
        import itertools, signal
        modules = itertools.cycle(["uuid", "plistlib", "csv", "fileinput", "filecmp", "mailbox"])
        done, ran = threading.Event(), []
        def fork():
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
        def handle(*_):
            {handler}
            ran.append(1)
        def forks():
            while not done.is_set():
                fork()
        signal.signal(signal.SIGALRM, handle)
        thread = threading.Thread(target=forks)
        thread.start()
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        while len(ran) < 20:
            x = xp.ones(300_000)
            for _ in range(600):
                x = xp.sin(x) + 1.0
        signal.setitimer(signal.ITIMER_REAL, 0)
        done.set()
        thread.join()
        """,
        DEFER="auto",
    )


def test_fork_beside_threads_that_start_and_end(child):
    child(
        """
        done = threading.Event()
        def starts():
            while not done.is_set():
                thread = threading.Thread(target=lambda: None)
                thread.start()
                thread.join()
        def computes():
            while not done.is_set():
                y = xp.ones(20_000)
                for _ in range(100): y = xp.sin(y) + 1.0
                float(y[0])
        threads = [threading.Thread(target=f) for f in (starts, starts, computes)]
        for t in threads: t.start()
        x = xp.ones(2_000_000)
        for _ in range(100):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
        done.set()
        for t in threads: t.join()
        """,
        DEFER="auto",
    )


def test_fork_while_the_interpreter_ends(child):
    """A thread that never comes out of its call is not waited for."""
    said = child(
        """
        import ctypes
        x = xp.asarray(np.random.default_rng(0).random(3_000_000))
        def sorts():
            while True:
                xp.sort(x)
        class Late:
            def __init__(self):
                fork = ctypes.PyDLL(None).fork  # without Python's hooks, which are gone
                self.functions = time.monotonic, fork, os._exit, os.waitpid, os.write
            def __del__(self):
                now, fork, leave, wait, write = self.functions
                start = now()
                while now() < start + 0.5:
                    pass
                pid = fork()
                if pid == 0:
                    leave(0)
                wait(pid, 0)
                write(1, b"late" if now() > start + 8 else b"forked")
        late, itself = Late(), sys.modules["__main__"]
        threading.Thread(target=sorts, daemon=True).start()
        time.sleep(0.2)
        """,
        DEFER="off",
    )
    assert said == "forked"


def test_native_fork_behind_the_interpreter(child):
    child(
        """
        import ctypes
        library = ctypes.CDLL(None)
        library.__cxa_atexit(ctypes.cast(library.fork, ctypes.c_void_p), None, None)
        x = xp.sort(xp.asarray(np.random.default_rng(0).random(100_000)))
        """,
        DEFER="auto",
    )


def test_multiprocessing_by_fork(child):
    child(
        """
        import multiprocessing
        x = xp.asarray(np.arange(20_000.0)) + 1
        def work(i):
            return float((x * i)[1])
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(8)) == [2.0 * i for i in range(8)]
        """
    )


EXITS = {
    "pending": "y = xp.exp(x) + 1",
    "many": "ys = [x + i for i in range(400)]",
    "cycle": "a = [x + 1]; a.append(a)",
    "global in builtins": "import builtins; builtins.kept = x * 2",
    "exported": "import builtins; builtins.kept = np.asarray(x * 2)",
    "capsule": "import builtins; builtins.kept = (x * 2).__dlpack__()",
    "borrowed": "import builtins; builtins.kept = xp.asarray(np.ones(9000), copy=False) + 1",
    "exception": "y = x + 1; sys.stderr = open(os.devnull, 'w')\n"
    "def f(): z = y * 2; raise SystemExit(0)\nf()",
    "atexit": "import atexit; y = x + 1; atexit.register(lambda: print(float(y[3])))",
    "in a thread": "t = threading.Thread(target=lambda: globals().update(y=x * 2)); t.start()",
    "stream": "s = runtime.Stream()\nwith s: y = x + 1\ns.record()",
}


@pytest.mark.parametrize("name", EXITS)
def test_exit_with_pending_work(child, defer, name):
    child("x = xp.asarray(np.ones(200_000))\n" + EXITS[name], DEFER=defer)


DAEMONS = {
    "flush": "x = xp.sin(x) * 0.9 + 1; float(x[3])",
    "record": "x = x * 0.9 + 1",
    "reduce": "float(xp.sum(x + 1))",
    "sort": "xp.sort(x)",
    "matmul": "m @ m",
    "export": "np.asarray(x + 1)[3]",
    "borrow": "xp.asarray(np.ones(300_000), copy=False) + x",
}


@pytest.mark.parametrize("name", DAEMONS)
def test_daemon_threads_at_exit(child, defer, name):
    code = f"""
        def work():
            x = xp.asarray(np.ones(300_000))
            m = xp.asarray(np.ones((300, 300)))
            while True:
                {DAEMONS[name]}
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
        x = xp.asarray(np.ones(1_000_000))
        y = xp.exp(x)
        """
    child(code, DEFER=defer)
