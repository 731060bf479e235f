"""`set_mode`: predictive mode, and the file that keeps what it learned."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import platform
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from . import _core

_MODES = ("default", "predictive")
_VARIABLE = "ASCEND_ARRAY_API_CACHE"
# What a file holds is ignored if it was written for another meaning of keys and choices.
_FORMAT = 1
_HEAD = '{"format": '
_MOST_MACHINES = 16

# The keys and choices of one machine.
_Choices = dict[str, int]


def set_mode(mode: Literal["default", "predictive"], /) -> None:
    """Choose how recorded operations are planned, for the whole process.

    Parameters
    ----------
    mode : {"default", "predictive"}
        ``"default"``
            Each list of recorded operations is looked into before it runs.
        ``"predictive"``
            A list that has come before, as the iterations of a loop do, runs by the plan of the
            time before. The number of threads and the size of tiles that each piece of work gets
            are chosen from its own times. Results are the same to the last bit.

    Raises
    ------
    TypeError
        If `mode` is not a string.
    ValueError
        If it is neither of the two.

    Warns
    -----
    RuntimeWarning
        If the cache file cannot be read or written, or holds something else. It is ignored then;
        what is no cache file, or one of another format, is never written over.

    Notes
    -----
    A list is the same if its operations, dtypes, shapes, strides, aliasing and the arrays that
    variables still name are the same; values of Python numbers may differ. While there are fusion
    rules, or graphs are dumped, every list is planned.

    The environment variable ``ASCEND_ARRAY_API_MODE`` does the same at import, and
    ``ASCEND_ARRAY_API_CACHE`` names a file that keeps what was learned about threads and tiles. It
    is read when the mode is set, and written when the mode is left and at the end of the process.
    Several processes may use one file: each adds what it has learned.
    """
    if not isinstance(mode, str):
        raise TypeError(f"set_mode: mode must be a str, got {type(mode).__name__}")
    if mode not in _MODES:
        accepted = " or ".join(map(repr, _MODES))
        raise ValueError(f"set_mode: unknown mode {mode!r}; accepted: {accepted}")
    if mode == get_mode():
        return
    if mode == "predictive":
        _load()
        _core.set_predictive(True)
    else:
        _core.set_predictive(False)
        _save()


def get_mode() -> str:
    """Return how recorded operations are planned.

    Returns
    -------
    str
        "default" or "predictive".
    """
    return _MODES[_core.predictive()]


# ---- the cache file


def _machine() -> str:
    """Name what times depend on."""
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass  # a system without it
    return f"{model}, {_core.isa()}, {os.cpu_count()} processors, version {_core.__version__}"


def _checksum(machines: dict[str, _Choices]) -> str:
    # Imported when used: it would slow down every import.
    import hashlib

    return hashlib.sha256(json.dumps(machines, sort_keys=True).encode()).hexdigest()


class _OtherFormat(ValueError):
    """What keys and choices mean is not known."""


def _checked(content: Any) -> dict[str, _Choices]:
    """Return what a file holds; ValueError if it is damaged or of another format."""
    if not isinstance(content, dict) or "format" not in content:
        raise ValueError("it is no cache file")
    if content["format"] != _FORMAT:
        raise _OtherFormat(f"its format is {content['format']}, not {_FORMAT}")
    machines: dict[str, _Choices] = content.get("machines", {})
    if content.get("checksum") != _checksum(machines):
        raise ValueError("its checksum is wrong")
    if not isinstance(machines, dict) or not all(map(_are_choices, machines.values())):
        raise ValueError("it holds something else than choices")
    return machines


def _are_choices(choices: Any) -> bool:
    return isinstance(choices, dict) and all(
        re.fullmatch("[0-9a-f]{16}", key) and type(choice) is int and 0 <= choice < 256
        for key, choice in choices.items()
    )


def _read(path: Path) -> tuple[dict[str, _Choices], bool]:
    """Return what the file holds, and whether it may be written; warns where it is ignored."""
    text = ""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise OSError("it is no regular file")
        text = path.read_text(encoding="utf-8")
        return _checked(json.loads(text)), True
    except FileNotFoundError:
        return {}, True
    except (OSError, ValueError, TypeError, RecursionError) as error:
        warnings.warn(f"{_VARIABLE}: {path} is ignored: {error}", RuntimeWarning, stacklevel=4)
        damaged = text.startswith(_HEAD) and not isinstance(error, _OtherFormat)
        return {}, damaged or (os.path.isfile(path) and os.path.getsize(path) == 0)


# The file that was read when the mode was set.
_file: Path | None = None


def _load() -> None:
    global _file
    name = os.environ.get(_VARIABLE)
    try:
        _file = Path(name).expanduser().resolve() if name else None
    except (OSError, RuntimeError) as error:  # of an unknown user, or links in a circle
        _file = None
        warnings.warn(f"{_VARIABLE}: {name} is ignored: {error}", RuntimeWarning, stacklevel=3)
    if _file is not None:
        choices = _read(_file)[0].get(_machine(), {})
        _core.learn([(int(key, 16), choice) for key, choice in choices.items()])


def _save() -> None:
    """Put what was learned into the file, with what others have put there."""
    known = _core.learned()
    if _file is None or not known:
        return
    try:
        _file.parent.mkdir(parents=True, exist_ok=True)
        with _locked(_file.parent):
            machines, writable = _read(_file)
            if writable:
                ours = machines.pop(_machine(), {}) | {f"{key:016x}": c for key, c in known}
                others = list(machines.items())[1 - _MOST_MACHINES :]
                _replace(_file, dict(others) | {_machine(): ours})
    except OSError as error:
        warnings.warn(
            f"{_VARIABLE}: {_file} was not written: {error}", RuntimeWarning, stacklevel=4
        )


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time read, add to and write a file of the folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, machines: dict[str, _Choices]) -> None:
    """Write the file; a reader sees it before or after, never a part of it."""
    content = {"format": _FORMAT, "checksum": _checksum(machines), "machines": machines}
    new = path.with_name(path.name + ".new")
    try:
        new.write_text(json.dumps(content), encoding="utf-8")
        if path.exists():
            new.chmod(path.stat().st_mode & 0o777)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


@atexit.register
def _save_at_exit() -> None:
    if get_mode() == "predictive":
        _save()
