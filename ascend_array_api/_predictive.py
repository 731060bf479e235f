"""`set_mode`: predictive mode, and the file that keeps what it learned."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import platform
import tempfile
import warnings
from pathlib import Path
from typing import Any, Literal

from . import _core

_MODES = ("default", "predictive")
_VARIABLE = "ASCEND_ARRAY_API_CACHE"
# What a file holds is ignored if it was written for another meaning of keys and choices.
_FORMAT = 1
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
        If the cache file cannot be read or written, or holds something else. It is ignored then.

    Notes
    -----
    A list is the same if its operations, dtypes, shapes, strides, aliasing and the arrays that
    variables still name are the same; values of Python numbers may differ. While there are fusion
    rules, or graphs are dumped, every list is planned.

    The environment variable ``ASCEND_ARRAY_API_MODE`` does the same at import, and
    ``ASCEND_ARRAY_API_CACHE`` names a file that keeps what was learned about threads and tiles. It
    is read when the mode is set, and written when the mode is left and at the end of the process.
    Several processes may use one file.
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
    else:
        _save()
    _core.set_predictive(mode == "predictive")


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
    return hashlib.sha256(json.dumps(machines, sort_keys=True).encode()).hexdigest()


def _checked(content: Any) -> dict[str, _Choices]:
    """Return what a file holds; ValueError if it is damaged, nothing if of another format."""
    if not isinstance(content, dict) or "format" not in content:
        raise ValueError("it is no cache file")
    if content["format"] != _FORMAT:
        return {}
    machines: dict[str, _Choices] = content.get("machines", {})
    if content.get("checksum") != _checksum(machines):
        raise ValueError("its checksum is wrong")
    return machines


def _read(path: Path) -> dict[str, _Choices]:
    """Return what the file holds, nothing where it is missing; warns where it is damaged."""
    try:
        return _checked(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, RecursionError) as error:
        warnings.warn(f"{_VARIABLE}: {path} is ignored: {error}", RuntimeWarning, stacklevel=4)
        return {}


def _path() -> Path | None:
    name = os.environ.get(_VARIABLE)
    return Path(name) if name else None


def _load() -> None:
    path = _path()
    if path is not None:
        choices = _read(path).get(_machine(), {})
        _core.learn([(int(key, 16), choice) for key, choice in choices.items()])


def _save() -> None:
    """Put what was learned into the file, with what others have put there."""
    path, known = _path(), _core.learned()
    if path is None or not known:
        return
    machines = _read(path)
    ours = machines.pop(_machine(), {}) | {f"{key:016x}": choice for key, choice in known}
    machines = dict(list(machines.items())[1 - _MOST_MACHINES :]) | {_machine(): ours}
    content = {"format": _FORMAT, "checksum": _checksum(machines), "machines": machines}
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A reader sees the file before or after, never a part of it.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            temporary = file.name
            json.dump(content, file)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        warnings.warn(f"{_VARIABLE}: {path} was not written: {error}", RuntimeWarning, stacklevel=4)


@atexit.register
def _save_at_exit() -> None:
    if get_mode() == "predictive":
        _save()
