"""Builds the protocol double of CANN, and speaks with one that is loaded.

The double is a set of libraries of the names and the interface of CANN's, over host memory. It
computes plainly, runs work as late as is legal, and counts every violation of the protocol.

``python tests/cann_double/cann_double.py`` prints the folder of the libraries, which is the value
for ``ASCEND_ARRAY_API_CANN_PATH``.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = Path(__file__).parent / "src"
FLAGS = "-std=c++20 -O2 -fwrapv -fPIC -ffp-contract=off -Wall -Wextra -Werror".split()

RUNTIME = ("state", "memory", "streams", "runtime")
META = ("executor",)
MATH = ("values", "elementwise", "movement", "creation", "masks", "reductions", "sorting")
NN = ("indexing", "norms", "products")
# Name of a library -> its sources and the libraries it needs, in the order of linking.
FAMILIES: dict[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "split": {
        "acl_rt": (RUNTIME, ()),
        "nnopbase": (META, ("acl_rt",)),
        "opapi_math": (MATH, ("nnopbase", "acl_rt")),
        "opapi_nn": (NN, ("opapi_math", "nnopbase", "acl_rt")),
    },
    "classic": {
        "ascendcl": (RUNTIME, ()),
        "nnopbase": (META, ("ascendcl",)),
        "opapi": (MATH + NN, ("nnopbase", "ascendcl")),
    },
}


def compiler() -> str:
    """Return the C++ compiler's command."""
    for name in (os.environ.get("CXX"), "g++", "c++"):
        if name and shutil.which(name):
            return name
    raise RuntimeError("the double of CANN needs a C++ compiler: set CXX")


def cache() -> Path:
    """Return the folder of what is built or downloaded once."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return user / "ascend_array_api" / "cann_double"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")


def _object(source: str, command: str) -> Path:
    """Compile a source unless that was done before; return the object."""
    digest = hashlib.sha256(repr((command, FLAGS)).encode())
    for path in (SOURCES / f"{source}.cpp", *sorted(SOURCES.glob("*.h"))):
        digest.update(path.read_bytes())
    made = cache() / f"{source}-{digest.hexdigest()[:16]}.o"
    if not made.exists():
        unfinished = made.with_suffix(".tmp")
        _run([command, *FLAGS, "-c", str(SOURCES / f"{source}.cpp"), "-o", str(unfinished)])
        unfinished.rename(made)
    return made


def _link(folder: Path, objects: dict[str, Path], command: str) -> None:
    for family, libraries in FAMILIES.items():
        target = folder / family
        target.mkdir()
        for name, (sources, needed) in libraries.items():
            soname = f"lib{name}.so"
            _run(
                [command, "-shared", "-Wl,-z,defs", f"-Wl,-soname,{soname}"]
                + ["-Wl,-rpath,$ORIGIN", f"-L{target}", "-o", str(target / soname)]
                + [str(objects[source]) for source in sources]
                + [f"-l{other}" for other in needed]
            )


def build(family: str = "split") -> Path:
    """Build the double where its sources changed.

    Parameters
    ----------
    family : {'split', 'classic'}
        ``split``: libacl_rt.so, libnnopbase.so, libopapi_math.so and libopapi_nn.so;
        ``classic``: libascendcl.so, libnnopbase.so and libopapi.so.

    Returns
    -------
    Path
        The folder of the libraries, in a cache that is keyed by the sources and the compiler.
    """
    command, place = compiler(), cache()
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w") as lock, ThreadPoolExecutor(os.cpu_count()) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sources = (*RUNTIME, *META, *MATH, *NN)
        objects = dict(zip(sources, pool.map(lambda s: _object(s, command), sources), strict=True))
        names = "".join(path.name for path in objects.values()) + repr(FAMILIES)
        folder = place / hashlib.sha256(names.encode()).hexdigest()[:16]
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=place) as scratch:
                made = Path(scratch) / "made"
                made.mkdir()
                _link(made, objects, command)
                made.rename(folder)
    return folder / family


class Control:
    """The control functions of a double that this process has loaded, or loads now.

    Parameters
    ----------
    folder : Path
        What `build` returned.
    """

    def __init__(self, folder: Path) -> None:
        runtime = "libacl_rt.so" if (folder / "libacl_rt.so").exists() else "libascendcl.so"
        self.runtime = ctypes.CDLL(str(folder / runtime))
        for name in ("violations", "counter", "live"):
            self._function(name).restype = ctypes.c_uint64
        self._function("violation").restype = ctypes.c_char_p

    def _function(self, name: str) -> ctypes._CFuncPtr:
        return getattr(self.runtime, f"cann_double_{name}")

    def violations(self) -> list[str]:
        """Return all violations so far, as ``rule: function: what happened``."""
        number = self._function("violations")()
        return [self._function("violation")(ctypes.c_uint64(i)).decode() for i in range(number)]

    def forgive(self) -> None:
        """Forget the violations."""
        self._function("forgive")()

    def counter(self, name: str) -> int:
        """Return a counter, such as ``bytes_h2d``, ``launches.aclnnAdd``, ``device_bytes_peak``."""
        return int(self._function("counter")(name.encode()))

    def reset_counters(self) -> None:
        """Set all counters to 0, and peaks to what is held now."""
        self._function("reset_counters")()

    def live(self, kind: str) -> int:
        """Return how many objects of the kind exist: ``stream``, ``tensor``, ``executor``, ..."""
        return int(self._function("live")(kind.encode()))

    def fault(self, description: str) -> None:
        """Make a function fail: ``function=code[@calls that succeed first][xtimes]``.

        Phase 1 is ``aclnnAddGetWorkspaceSize``, phase 2 ``aclnnAdd``; with ``!`` behind the name
        (``aclnnAdd!``, ``aclrtMemcpyAsync!``) the call succeeds and its work fails.
        """
        if self._function("fault")(description.encode()) != 0:
            raise ValueError(f"not understood: {description}")

    def clear_faults(self) -> None:
        """Take back the faults that have not happened."""
        self._function("clear_faults")()

    def set_seed(self, seed: int) -> None:
        """Choose the order in which streams run: 0 is as late as legal, others run ahead."""
        self._function("set_seed")(ctypes.c_uint64(seed))

    def set_soc(self, name: str) -> None:
        """Choose what ``aclrtGetSocName`` says."""
        self._function("set_soc")(name.encode())

    def set_memory(self, size: int) -> None:
        """Choose how many bytes each device has."""
        self._function("set_memory")(ctypes.c_uint64(size))

    def other_user(self) -> None:
        """Pretend that another library of the process has initialized CANN before."""
        self._function("other_user")()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--family", choices=sorted(FAMILIES), default="split")
    print(build(parser.parse_args().family))
