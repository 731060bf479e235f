"""The runner of the libraries' own tests, on the smallest suite; the table of calls, on some."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SUITES = Path(__file__).parent / "suites"


@pytest.fixture
def support(monkeypatch):
    """Return the module that makes the table of calls."""
    pytest.importorskip("array_api_strict")
    monkeypatch.syspath_prepend(str(SUITES))
    import support

    return support


@pytest.fixture
def page(support):
    """Return the module that writes the page."""
    import page

    return page


def _run(env, *arguments):
    command = [sys.executable, str(SUITES / "run.py"), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=400)


def test_all_of_array_api_compat_but_a_test_of_names(child_env, tmp_path):
    pytest.importorskip("array_api_compat.tests")
    pytest.importorskip("xdist")
    report = tmp_path / "report.json"
    done = _run(child_env, "array_api_compat", "-n", "1", "--json", str(report))
    assert done.returncode == 1, done.stdout + done.stderr
    (result,) = json.loads(report.read_text())
    assert result["passed"] >= 30
    assert [name.split("::")[-1].split("[")[0] for name in result["failures"]] == [
        "test_xp_is_array_generics"
    ]


def test_an_unknown_suite_is_an_error(child_env):
    done = _run(child_env, "matlab")
    assert done.returncode == 2
    assert "unknown: matlab; accepted: scipy" in done.stderr


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        (lambda d: d.x + 1.0, "our arrays"),
        (lambda d: np.asarray(d.x), "NumPy's arrays"),
        (lambda d: float(d.x[0, 0]), "numbers"),
        (lambda d: d.x.no_such_method() if d.xp is not np else 0, "fails"),
        (lambda d: d.x + (d.xp is np), "DIFFERS"),
    ],
)
def test_judgement(support, case, answer):
    assert support.judge(case)[0] == answer


def _result(defer, strict=False, **failures):
    return {"suite": "scipy", "strict": strict, "defer": defer, "failures": failures}


def test_page_names_tests_that_end_their_process(page):
    assert "No test ended" in page.endings([_result("auto", a="AssertionError")])
    assert "five minutes**: b." in page.endings(
        [_result("auto", a="", b="'gw0' crashed while running 'b'")]
    )


def test_page_names_tests_that_fail_in_some_deferrals(page):
    same = [_result("auto", a=""), _result("off", a="")]
    agree = "In relaxed mode, the same tests fail whatever the deferral."
    assert page.deferral(same) == agree
    assert page.deferral([*same, _result("always", a="", b="")]).endswith("deferrals only: `b`.")
    strict = _result("auto", strict=True, c="")
    assert page.deferral([*same, strict]) == agree  # one run has nothing to agree with
    differ = page.deferral([*same, strict, _result("off", strict=True)])
    assert differ == f"{agree} In strict mode, these fail in some deferrals only: `c`."


def test_calls_of_scipy(support):
    cases = support.scipy_cases()
    for name in ("scipy.special.expit", "scipy.stats.skew", "scipy.fft.rfft"):
        assert support.judge(cases[name]) == ("our arrays", "")
    assert support.judge(cases["scipy.signal.welch"])[0] == "NumPy's arrays"
