"""The kit itself: its tables are complete, its reports and reproductions tell the truth."""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from types import SimpleNamespace

import array_api_strict as strict
import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api.testing import conformance
from ascend_array_api.testing.conformance import command, layouts, report, signatures

CHECKS = conformance.checks()


def wrong(name: str, function: object) -> SimpleNamespace:
    """Return our namespace with one function replaced."""
    return SimpleNamespace(**{**vars(xp), "__name__": "wrong", name: function})


def failures(namespace: object, select: str) -> list[conformance.Result]:
    return [r for r in conformance.run(namespace, select) if r.outcome == "failed"]


def test_every_function_of_the_standard_has_checks_of_its_values() -> None:
    seen = {c.function for c in CHECKS if c.chapter != "names"}
    names = {n for text in signatures.SIGNATURES.values() for n in text.split()}
    assert {n.rpartition(".")[2] for n in names} - seen == set()


def test_the_table_of_signatures_names_what_array_api_strict_has() -> None:
    names = {n for text in signatures.SIGNATURES.values() for n in text.split()}
    for prefix, module in (("", strict), ("linalg.", strict.linalg), ("fft.", strict.fft)):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not isinstance(value, type) and "flags" not in name:
                assert prefix + name in names or name in ("Device", "__array_namespace_info__")


def test_ids_are_unique_and_groups_known() -> None:
    assert [i for i, n in Counter(c.id for c in CHECKS).items() if n > 1] == []
    assert {c.group for c in CHECKS} == set(conformance.GROUPS)


def test_version_leaves_out_what_came_later() -> None:
    old = {c.function for c in conformance.checks(version="2022.12")}
    assert "fft" in old
    assert not {"isin", "eig", "nextafter", "maximum"} & old


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4), (0, 2), (2, 1, 3, 1, 2)])
def test_layouts_hold_the_same_elements(layout: str, shape: tuple[int, ...]) -> None:
    kit = conformance.Kit(np)
    a = np.arange(np.prod(shape, dtype=int), dtype="float64").reshape(shape)
    a = layouts.repeated(a) if layout == "broadcast" else a
    x = kit.to(a, layout)
    assert np.array_equal(x, a)
    if layout == "broadcast" and max(shape, default=0) > 1 and a.size:
        assert 0 in x.strides


def test_reproduction_is_one_element_where_that_is_enough() -> None:
    xp_wrong = wrong("sin", lambda x: xp.where(x > 1000, xp.zeros_like(x), xp.sin(x)))
    results = failures(xp_wrong, "elementwise/sin/float64")
    line = results[0].reproduction
    assert line.startswith("import wrong as xp; print(xp.sin(xp.asarray([")
    scope = {"xp": xp_wrong}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(line.partition("; ")[2], scope)
    assert out.getvalue().strip() == str(xp.asarray([0.0]))


def test_reproduction_keeps_the_layout_where_that_matters() -> None:
    def flip(x: object, axis: object = None) -> object:
        return x if np.asarray(x).strides == (-8,) else xp.flip(x, axis=axis)

    line = failures(wrong("flip", flip), "manipulation/flip/float64")[0].reproduction
    assert "[::-1]" in line or line.startswith("python -m ascend_array_api conformance")


def test_reproduction_is_a_command_where_no_line_is_short() -> None:
    def total(x: object, **kw: object) -> object:
        return xp.sum(x, **kw) * (2 if x.size > 2048 else 1)

    result = failures(wrong("sum", total), "statistical/sum/int32")[0]
    want = "python -m ascend_array_api conformance --module wrong --select 'statistical/sum/int32'"
    assert result.reproduction == want


def test_reproduction_of_writes_and_errors() -> None:
    kit = conformance.Kit(xp)
    x = kit.to(np.arange(3))
    kit.put(x, slice(1, None), 7)
    source = kit.book.find(x)
    assert source is not None
    assert source.line("ascend_array_api") == (
        "import ascend_array_api as xp; x0 = xp.asarray([0, 1, 2], dtype=xp.int64); "
        "x0[1:] = 7; print(x0)"
    )


def test_advice_is_a_remark_and_no_failure() -> None:
    result = conformance.run(strict, "manipulation/reshape/copy-error")[0]
    assert result.outcome == "remark"
    assert "AttributeError" in result.message


def test_capabilities_and_dtypes_that_are_absent_are_skipped() -> None:
    info = SimpleNamespace(
        capabilities=lambda: {"data-dependent shapes": False, "max dimensions": 4},
        default_dtypes=xp.__array_namespace_info__().default_dtypes,
    )
    lazy = wrong("__array_namespace_info__", lambda: info)
    del lazy.uint16
    assert {r.outcome for r in conformance.run(lazy, "unique_values")} >= {"skipped"}
    assert conformance.run(lazy, "elementwise/add/uint16")[0].outcome == "skipped"
    assert conformance.run(lazy, "elementwise/add/promotion")[0].outcome == "passed"
    assert conformance.Kit(lazy).shapes([(1,) * 4, (1,) * 5]) == [(1,) * 4]


def test_command_writes_a_page_and_says_by_its_status_whether_all_is_well(tmp_path, capsys) -> None:
    page = tmp_path / "report.html"
    assert command.main(["--select", "isin", "--report", str(page)]) == 0
    assert "set                    " in capsys.readouterr().out
    assert "no fault found" in page.read_text()
    one = strict.asarray([1])
    faulty = bool(strict.isin(one, one, invert=True)[0])
    arguments = ["--module", "array_api_strict", "--select", "set/isin/int*", "--no-extras"]
    assert command.main([*arguments, "--report", str(page)]) == faulty
    text = page.read_text()
    assert ("4 of 4 checks failed" in text) == faulty
    assert "http" not in text, "the page must need no other file"
    assert command.main(["--select", "no such function"]) == 2


def test_command_lists_checks(capsys) -> None:
    assert command.main(["--list", "--select", "reciprocal"]) == 0
    assert "elementwise/reciprocal/float32  [standard, 2024.12]" in capsys.readouterr().out


def test_page_escapes_what_it_shows() -> None:
    check = conformance.Check("c", "f", "<name>", "standard", "2021.12", lambda kit: None)
    result = conformance.Result(check, "failed", "a < b & c", 0.0, "print('<x>')")
    page = report.html(report.Run("m", "1", "2025.12", ["standard"]), [result], 1.0)
    assert "a &lt; b &amp; c" in page
    assert "<name>" not in page
