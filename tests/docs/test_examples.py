"""Every block of code in the README files and in docs/ runs, and prints what the page shows."""

import contextlib
import importlib
import importlib.util
import io
import os
import re
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text()
    for page in sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")])
}
# A block of Python, and the block of text behind it: its output.
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n+```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Pages that print what is recorded and runs together: without it they print something else.
ABOUT_FUSION = [
    *("docs/guide/profile.md", "docs/guide/graph.md", "docs/guide/deferred.md"),
    *(name for name in PAGES if name.startswith("README")),
]
FUSION_RULES = "docs/guide/fusion_rules.md"  # it needs fusion to run at all
FUSED = (
    os.environ.get("ASCEND_ARRAY_API_DEFER", "auto") != "off"
    and os.environ.get("ASCEND_ARRAY_API_FUSION", "on") == "on"
)
COMING_FROM = "docs/guide/coming_from.md"


def _run_blocks(name):
    """Run the blocks of a page one after the other; return their names and their failures."""
    text = PAGES[name]
    space, wrong = {"__name__": "__main__"}, []
    for match in BLOCK.finditer(text):
        code, shown = match.groups()
        line = text[: match.start()].count("\n") + 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(code, "example.py", "exec"), space)
            except Exception as error:
                error.add_note(f"in the block at {name}:{line}")
                raise
        if printed.getvalue() != (shown or ""):
            wrong.append(f"{name}:{line} prints\n{printed.getvalue()}and shows\n{shown or ''}")
    return space, wrong


@pytest.fixture(autouse=True)
def settings():
    pool = runtime.MemoryPool()
    strict, threads, limit = runtime.get_strict(), runtime.get_num_threads(), pool.get_limit()
    yield
    pool.set_limit(limit)
    runtime.set_strict(strict)
    runtime.set_num_threads(threads)


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if BLOCK.search(text)])
def test_blocks_of_a_page(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages write files
    if name == FUSION_RULES and not FUSED:
        pytest.skip("rules say what fuses")
    if any("import sklearn" in code for code, _ in BLOCK.findall(PAGES[name])):
        pytest.importorskip("sklearn")
    _, wrong = _run_blocks(name)
    assert not wrong or (name in ABOUT_FUSION and not FUSED), "\n".join(wrong)


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if SHELL.search(text)])
def test_commands_name_what_exists(name):
    for command in "".join(SHELL.findall(PAGES[name])).splitlines():
        for script in re.findall(r"python3? ([\w/-]+/[\w-]+\.py)", command):
            assert (ROOT / script).is_file(), command
        for module in re.findall(r"python3? -[mp] (\S+)", command):
            known = module in {"venv", "pytest", "sphinx"}
            assert known or importlib.util.find_spec(module), command


def test_the_reference_has_every_function_of_the_namespace():
    chapters = re.findall(
        r"^\.\. functions:: (\S+)$", PAGES["docs/reference/index.md"], re.MULTILINE
    )
    documented = {name for c in chapters for name in importlib.import_module(c).__all__}
    functions = {name for name in xp.__all__ if isinstance(getattr(xp, name), FunctionType)}
    assert documented == functions


def _rows():
    for line in PAGES[COMING_FROM].splitlines():
        if line.startswith("| `"):
            first, *_, last = [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:-1]]
            # Without a column of PyTorch the first one is not NumPy's spelling.
            numpy = first[0] if line.count("|") == 4 else None
            yield from (pytest.param(numpy, ours, id=ours) for ours in last)


@pytest.fixture(scope="module")
def names():
    return _run_blocks(COMING_FROM)[0]


@pytest.mark.parametrize(("theirs", "ours"), list(_rows()))
def test_spellings(names, theirs, ours):
    if theirs is None:
        exec(ours, names)
        return
    got, wanted = eval(ours, names), eval(theirs, names)
    if isinstance(wanted, np.ndarray):
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12, atol=1e-12)
