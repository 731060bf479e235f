"""Fail when a kernel object defines a symbol outside its own instruction set's namespace."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


def foreign_symbols(symbols: Iterable[str], isa: str) -> list[str]:
    """Return those of the mangled names that are not in namespace asc::cpu::<isa>."""
    # What may come before the nested name: vtables, type data, guards, statics of functions.
    own = re.compile(rf"_Z(TV|TI|TS|GV)?Z?NK?3asc3cpu{len(isa)}{isa}")
    # Of the sanitizers and of exception handling: data that is the same on every CPU.
    harmless = ("__odr_asan", "___asan_", "DW.ref.")
    return [name for name in symbols if not own.match(name) and not name.startswith(harmless)]


def defined_symbols(nm: str, path: str) -> list[str]:
    """Return the mangled names of the external symbols that an object file defines."""
    command = [nm, "--defined-only", "--extern-only", "--format=posix", path]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in output.splitlines() if line]


def main() -> int:
    """Check every object given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--isa", required=True)
    parser.add_argument("--stamp", type=Path, help="file to touch when all is well")
    parser.add_argument("objects", nargs="+")
    args = parser.parse_args()
    bad = [
        f"{path}: {name}"
        for path in args.objects
        for name in foreign_symbols(defined_symbols(args.nm, path), args.isa)
    ]
    if bad:
        print(f"Symbols outside asc::cpu::{args.isa}:", *bad, sep="\n  ", file=sys.stderr)
        return 1
    if args.stamp:
        args.stamp.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
