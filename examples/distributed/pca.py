"""Standardise a table and find its principal components, in less memory than the table takes.

The table is a Zarr store on disk. Cubed or Dask compute on its chunks, as arrays of
ascend_array_api, in a process with a resource limit; NumPy computes without one, for comparison.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from dataset import COLUMNS, reference, write

EXECUTORS = (
    "cubed:threads",
    "cubed:processes",
    "dask:threads",
    "dask:processes-fork",
    "dask:processes-spawn",
    "dask:cluster",
)
# Dask's own processes pass every chunk through the parent: they need more than the default limit.
BY_DEFAULT = [e for e in EXECUTORS if not e.startswith("dask:processes")]
TOLERANCE = 1e-9
# Chunks that are freed go back to the system, so that Zarr, too, gets their memory: the pool would
# keep them, and so would glibc, one heap for each thread.
GIVE_BACK = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(2**20),
    "ASCEND_ARRAY_API_POOL": "off",
}


def compare(executor: str, limit: int, table: Path, wanted: tuple[Any, Any]) -> bool:
    """Compute with one executor in a process of its own; return whether NumPy's result is met."""
    with tempfile.TemporaryDirectory(dir=table.parent) as name:
        folder = Path(name)
        (folder / "table.zarr").symlink_to(table)
        script = Path(__file__).with_name("limited.py")
        command = [sys.executable, str(script), executor, str(limit), str(folder)]
        child = subprocess.run(command, env=os.environ | GIVE_BACK)
        if child.returncode:
            print(f"{executor}: FAILED with exit status {child.returncode}")
            return False
        result = np.load(folder / "result.npz")
        scores: Any = zarr.open_array(folder / "scores.zarr", mode="r")[:]
    difference = max(
        float(np.max(np.abs(got - want)) / np.max(np.abs(want)))
        for got, want in zip((result["variances"], scores), wanted, strict=True)
    )
    whole = "does not fit" if result["too_large"] else "would fit"
    agree = difference <= TOLERANCE
    print(
        f"{executor}: {result['seconds']:.1f} s; the whole table {whole} into the limit; "
        f"difference to NumPy {difference:.1e}: {'they agree' if agree else 'THEY DIFFER'}",
        flush=True,
    )
    return agree


def main() -> int:
    """Run the executors that are asked for; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "executor",
        nargs="*",
        help=f"some of {', '.join(EXECUTORS)} (default: all but dask:processes-*)",
    )
    parser.add_argument("--table", type=int, default=640, help="MiB of the table (default: 640)")
    parser.add_argument("--limit", type=int, default=512, help="MiB of each process (default: 512)")
    args = parser.parse_args()
    if unknown := set(args.executor) - set(EXECUTORS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; accepted: {', '.join(EXECUTORS)}")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.zarr"
        write(table, args.table * 2**20 // (8 * COLUMNS))
        wanted = reference(table)
        limit = args.limit * 2**20
        agree = [compare(e, limit, table, wanted) for e in args.executor or BY_DEFAULT]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
