"""Compute with one executor under a memory limit, in a process of its own: `pca.py` starts it.

Not started by multiprocessing: at the end of such a process Python removes the semaphores of its
pools while their workers may still be starting, and then waits for them; Cubed leaves such workers.
"""

import importlib
import sys
import time
from pathlib import Path

import numpy as np
import zarr
from dataset import limit_memory


def refuses_whole(table: Path) -> bool:
    """Return whether the limit keeps the table from being read at once."""
    try:
        zarr.open_array(table, mode="r")[:]
    except MemoryError:
        return True
    return False


def main(executor: str, limit: int, folder: Path) -> None:
    """Save the variances, the seconds, and whether the table is too large for the limit."""
    limit_memory(limit)
    system, _, name = executor.partition(":")
    module = importlib.import_module(f"on_{system}")
    table = folder / "table.zarr"
    too_large = refuses_whole(table)
    start = time.perf_counter()
    variances = module.components(table, folder / "scores.zarr", name, limit)
    seconds = time.perf_counter() - start
    np.savez(folder / "result.npz", variances=variances, seconds=seconds, too_large=too_large)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
