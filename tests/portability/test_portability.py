"""Each portability check has programs that it must catch and programs that it must let pass."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import ascend_array_api as xp
from ascend_array_api import _core, runtime
from ascend_array_api.testing import (
    PortabilityError,
    PortabilityWarning,
    _portability,
    portability,
)

Program = Callable[[], Any]


def matrix() -> Any:
    return xp.reshape(xp.arange(12, dtype=xp.float64, device="cpu"), (3, 4))


# ---- programs; each is run under one check


def write_to_a_view() -> None:
    x = matrix()
    y = x[1:, :]
    y[0, 0] = 7.0


def write_under_a_view() -> None:
    x = matrix()
    y = x.T
    x[...] = 0.0
    assert float(y[0, 0]) == 0.0


def add_to_a_view() -> None:
    x = matrix()
    y = xp.permute_dims(x, (1, 0))
    y += 1.0


def add_under_an_alias() -> None:
    x = matrix()
    y = xp.asarray(x, copy=False)[...]
    x *= 2.0
    assert y.shape == (3, 4)


def write_to_a_copy() -> None:
    x = matrix()
    y = xp.asarray(x[1:, :], copy=True)
    y[0, 0] = 7.0
    y += 1.0


def write_beside_a_view() -> None:
    x = matrix()
    y = x[1:, :]
    x[0, :] = 1.0
    assert y.shape == (2, 4)


def write_after_the_view_died() -> None:
    x = matrix()
    y = x.T
    del y
    x[...] = 0.0


def add_to_an_element() -> None:
    x = matrix()
    x[1:, ::2] += 1.0
    x[0, 0] -= 3.0


def set_an_item() -> None:
    matrix()[0, 0] = 1.0


def where_instead() -> None:
    x = matrix()
    x = xp.where(x > 3, x, 0)
    x = x + 1


def add_in_place() -> None:
    x = matrix()
    x += 1.0


def truth_of_a_result() -> None:
    if xp.any(matrix() > 3):
        pass


def number_of_a_result() -> None:
    float(xp.sum(matrix()))


def length_of_an_unknown_shape() -> None:
    len(xp.nonzero(matrix())[0])


def shapes_are_known() -> None:
    x = matrix()
    assert len(x) == 3
    assert x.shape == (3, 4)
    assert x.ndim == 2
    xp.where(xp.any(x > 3), x, 0)


def boolean_index() -> None:
    x = matrix()
    x[x > 3]


def unique() -> None:
    xp.unique_values(matrix())


def repeat_by_an_array() -> None:
    xp.repeat(matrix(), xp.asarray([1, 2, 0]), axis=0)


def repeat_by_a_number() -> None:
    x = xp.repeat(matrix(), 2, axis=0)
    x[xp.asarray([0, 2]), xp.asarray([0, 1])]


def integers_and_floats() -> None:
    with runtime.strict(False):
        xp.asarray([1, 2]) * xp.asarray([0.5, 0.5])


def integers_and_a_float() -> None:
    with runtime.strict(False):
        xp.asarray([1, 2]) * 0.5


def floats_and_a_bool() -> None:
    with runtime.strict(False):
        xp.add(xp.asarray([0.5]), True)


def one_kind() -> None:
    x = xp.asarray([1.0, 2.0])
    x * 2 + xp.astype(xp.asarray([1, 2]), xp.float64)
    x + 1j
    xp.astype(x, xp.float32) + x
    xp.asarray([1], dtype=xp.int8) + xp.asarray([1], dtype=xp.uint8)


def new_function() -> None:
    xp.isin(xp.asarray([1]), xp.asarray([1, 2]))


def scalar_in_a_function() -> None:
    xp.add(xp.asarray([1.0]), 1.0)


def array_as_index() -> None:
    xp.asarray([1, 2, 3])[xp.asarray([0, 2])]


def old_functions() -> None:
    xp.asarray([1.0, 2.0])[::-1] + 1
    xp.concat([xp.zeros(2), xp.ones(2)])


def use_linalg() -> None:
    xp.linalg.inv(xp.eye(2))


def use_fft() -> None:
    xp.fft.rfft(xp.ones(4))


def main_namespace() -> None:
    xp.matmul(xp.eye(2), xp.eye(2))


def use_float64() -> None:
    xp.astype(xp.asarray([1, 2]), xp.float64)


def use_float32() -> None:
    xp.sqrt(xp.asarray([1.0, 2.0], dtype=xp.float32))


def zeros_by_default() -> None:
    xp.zeros(3)


def list_by_default() -> None:
    xp.asarray([1.0, 2.0])


def dtypes_given() -> None:
    x = xp.zeros(3, dtype=xp.float32)
    xp.asarray(x)
    xp.ones_like(x)
    xp.asarray([True])


def numbers_beside_another_device() -> None:
    x = xp.ones(4, device="cpu:1")
    x + xp.asarray([1.0] * 4).to_device(x.device)


def work_on_another_device() -> None:
    x = xp.ones(4, device="cpu:1")
    y = xp.sum(xp.where(x > 0, x, 0.0)) + x * 2
    assert y.to_device("cpu").device == "cpu"


def creation_on_the_default_device() -> None:
    x = matrix()
    x + xp.ones(4)


def creation_beside_an_array() -> None:
    x = matrix()
    x + xp.ones(4, device=x.device) + xp.zeros_like(x)


def backwards() -> None:
    xp.asarray([1, 2, 3])[::-1]


def flipped() -> None:
    xp.flip(xp.asarray([1, 2, 3]))[::2]


#: Check, its settings, what it must catch, what it must let pass.
PROGRAMS: dict[str, tuple[dict[str, Any], list[Program], list[Program]]] = {
    "aliased_writes": (
        {},
        [write_to_a_view, write_under_a_view, add_to_a_view, add_under_an_alias],
        [
            write_to_a_copy,
            write_beside_a_view,
            write_after_the_view_died,
            add_to_an_element,
            where_instead,
        ],
    ),
    "item_writes": ({}, [set_an_item, add_to_an_element], [where_instead, add_in_place]),
    "operator_writes": ({}, [add_in_place, add_to_an_element], [where_instead, set_an_item]),
    "synchronization": (
        {},
        [truth_of_a_result, number_of_a_result, length_of_an_unknown_shape],
        [shapes_are_known],
    ),
    "data_dependent_shapes": (
        {},
        [boolean_index, unique, repeat_by_an_array, length_of_an_unknown_shape],
        [repeat_by_a_number, shapes_are_known],
    ),
    "mixed_kinds": ({}, [integers_and_floats, integers_and_a_float, floats_and_a_bool], [one_kind]),
    "newer": (
        {"version": "2023.12"},
        [new_function, scalar_in_a_function, array_as_index],
        [old_functions],
    ),
    "extensions": ({}, [use_linalg, use_fft], [main_namespace]),
    "missing_dtypes": ({"missing": ("float64",)}, [use_float64], [use_float32]),
    "default_dtypes": ({}, [zeros_by_default, list_by_default], [dtypes_given]),
    "device_changes": (
        {},
        [creation_on_the_default_device, numbers_beside_another_device],
        [creation_beside_an_array, work_on_another_device],
    ),
    "negative_steps": ({}, [backwards], [flipped]),
}


def cases(which: int) -> list[Any]:
    return [
        pytest.param(check, kw, program, id=f"{check}-{program.__name__}")
        for check, (kw, *programs) in PROGRAMS.items()
        for program in programs[which]
    ]


def test_every_check_has_programs() -> None:
    assert set(PROGRAMS) == set(_portability.CHECKS)


@pytest.mark.parametrize(("check", "kw", "program"), cases(0))
def test_caught(check: str, kw: dict[str, Any], program: Program) -> None:
    with portability(**kw, **{check: "error"}) as seen, pytest.raises(PortabilityError) as caught:
        program()
    lines, first = inspect.getsourcelines(program)
    finding = seen.findings[0]
    assert finding.check == check
    assert finding.filename == __file__
    assert first < finding.line < first + len(lines)
    assert str(caught.value) == str(finding)


@pytest.mark.parametrize(("check", "kw", "program"), cases(0))
def test_warned(check: str, kw: dict[str, Any], program: Program) -> None:
    with portability(**kw, **{check: "warn"}), pytest.warns(PortabilityWarning) as caught:
        program()
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("check", "kw", "program"), cases(1))
def test_let_pass(check: str, kw: dict[str, Any], program: Program) -> None:
    with portability(**kw, **{check: "error"}) as seen:
        program()
    assert seen.findings == []


@pytest.mark.parametrize(("check", "kw", "program"), cases(0))
def test_ignored_by_default(check: str, kw: dict[str, Any], program: Program) -> None:
    with portability(**kw) as seen:
        program()
    assert seen.findings == []


def test_what_the_library_does_itself_is_not_reported() -> None:
    x = matrix()
    with portability("strictest", extensions="ignore", missing=(), newer="ignore") as seen:
        xp.linalg.pinv(x)
        xp.tensordot(x, x, axes=((0,), (0,)))
        repr(x)
    assert seen.findings == []


@pytest.mark.parametrize("profile", _portability.PROFILES)
def test_profiles_name_what_exists(profile: str) -> None:
    chosen = _portability.settings(profile)
    assert set(chosen.levels) == set(_portability.CHECKS)
    assert any(level != "ignore" for level in chosen.levels.values())


def test_profiles_say_what_the_libraries_lack() -> None:
    with portability("jax", missing=()), pytest.raises(PortabilityError, match="item_writes"):
        set_an_item()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PortabilityWarning)
        with portability("jax"):
            truth_of_a_result()
    quiet = {"default_dtypes": "ignore", "device_changes": "ignore"}
    one = portability("jax-jit", missing=(), **quiet)
    with one, pytest.raises(PortabilityError, match="synchronization"):
        truth_of_a_result()
    with portability("torch-mps", **quiet), pytest.raises(PortabilityError, match="missing_dtypes"):
        use_float64()


def test_bad_settings_say_what_there_is() -> None:
    with pytest.raises(ValueError, match="no profile 'tensorflow'; there are jax"):
        portability("tensorflow").__enter__()
    with pytest.raises(TypeError, match="no check 'speed'; there are aliased_writes"):
        portability(speed="warn").__enter__()
    with pytest.raises(ValueError, match="expected ignore or warn or error"):
        portability(newer="maybe").__enter__()
    with pytest.raises(ValueError, match="no version"):
        portability(version="2030.12").__enter__()


def test_nothing_is_left_behind() -> None:
    names = ("__add__", "__iadd__", "__getitem__", "__setitem__", "__bool__", "T")
    before = [_core.Array.__dict__.get(n) for n in names] + [xp.sum, xp.linalg.inv, xp.fft.fft]
    with portability("strictest"):
        assert xp.sum is not before[len(names)]
        with portability("jax"):
            pass
        assert xp.sum is not before[len(names)]
    after = [_core.Array.__dict__.get(n) for n in names] + [xp.sum, xp.linalg.inv, xp.fft.fft]
    assert all(a is b for a, b in zip(after, before, strict=True))
    assert inspect.signature(xp.sum) == inspect.signature(before[len(names)])


def test_other_threads_are_left_alone() -> None:
    seen: list[BaseException] = []

    def work() -> None:
        try:
            set_an_item()
        except BaseException as e:
            seen.append(e)

    with portability(item_writes="error"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == []


def test_environment_variable(child_env: dict[str, str]) -> None:
    code = "import ascend_array_api as xp\nx = xp.zeros(3)\nx[0] = 1.0"
    env = {**child_env, "ASCEND_ARRAY_API_PORTABILITY": "item_writes=error"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "PortabilityError: <string>:3: x[key] = value" in done.stderr
    env["ASCEND_ARRAY_API_PORTABILITY"] = "item_writes=warn,version=2023.12,missing=float64+int64"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0
    assert "<string>:3: PortabilityWarning" in done.stderr


def test_pytest_plugin(tmp_path: Any, child_env: dict[str, str]) -> None:
    (tmp_path / "test_it.py").write_text(
        "def test_write(xp):\n    x = xp.zeros(3)\n    x[0] = 1.0\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "ascend_array_api.testing.pytest_plugin"]
    env = {**child_env, "PYTEST_ADDOPTS": ""}
    env.pop("PYTEST_XDIST_WORKER", None)

    def run(*options: str) -> str:
        done = subprocess.run(
            [*command, *options, os.fspath(tmp_path)], env=env, capture_output=True, text=True
        )
        return done.stdout

    assert "1 passed" in run()
    assert "test_it.py:3: x[key] = value" in run("--xp-portability=item_writes=error")
    assert "1 passed" in run("--xp-portability=cupy")
    (tmp_path / "test_it.py").write_text(
        "def test_sum(xp, xp_device):\n"
        "    x = xp.ones(3, device=xp_device)\n"
        "    assert (x + xp.zeros(3)).device == xp_device\n"
    )
    shown = run("-rA")
    assert "1 passed" in shown
    assert "2 failed" in shown
    assert "FAILED" in shown
    assert "test_sum[cpu:1]" in shown
    assert "add: the arrays are on the devices cpu:2 and cpu" in shown
