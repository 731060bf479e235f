"""Draw the pictures of the guide, and print its table: ``python docs/draw.py``."""

import tempfile
from pathlib import Path

import ascend_array_api as xp
from ascend_array_api import __main__, graph, runtime
from ascend_array_api.profiler import Profiler

PICTURES = Path(__file__).parent / "pictures"


def draw_graph() -> None:
    """Draw the program of the page "See the graph"."""
    x = xp.reshape(xp.linspace(0.0, 1.0, 100_000), (1000, 100))
    w = xp.reshape(xp.linspace(-1.0, 1.0, 5_000), (100, 50))
    runtime.evaluate(x, w)
    hidden = xp.exp(x @ w - 1.0)
    y = xp.sqrt(hidden * hidden + hidden * hidden)
    xp.sin(x)
    del hidden
    graph.dump(PICTURES / "graph_before.svg", fused=False)
    graph.dump(PICTURES / "graph_after.svg")
    runtime.evaluate(y)


def profile() -> Profiler:
    """Profile products, row-wise work and a sort, on two streams."""
    x = xp.reshape(xp.linspace(-1.0, 1.0, 1_000_000), (1000, 1000))
    stream = runtime.Stream()
    runtime.evaluate(x)
    with Profiler() as profiler:
        for _ in range(2):
            y = xp.maximum(x @ x, 0.0)
            with stream:
                e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
                e = e / xp.sum(e, axis=1, keepdims=True)
            float(xp.sum(y))
            float(e[0, 0])
        xp.sort(x, axis=1)
    return profiler


if __name__ == "__main__":
    draw_graph()
    profiled = profile()
    profiled.summary()
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/trace.json"
        profiled.export_chrome_trace(trace)
        # A picture names files of the project, wherever the checkout is.
        written = Path(trace).read_text()
        Path(trace).write_text(written.replace(f"{Path(__file__).resolve().parents[1]}/", ""))
        output = str(PICTURES / "timeline.svg")
        __main__.main(["trace", trace, "-o", output, "--title", "Two streams and a sort"])
