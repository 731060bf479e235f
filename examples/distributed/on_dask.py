"""Principal components on Dask: arrays of ours are what tasks pass to each other.

The same tasks run on threads, on processes, and on any cluster that a `distributed.Client` knows.
"""

import operator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import numpy as np
import zarr
from dataset import KEPT, ROWS_OF_CHUNK, upright

import ascend_array_api as xp


def read(table: Path, start: int) -> Any:
    """Read some rows."""
    return xp.asarray(zarr.open_array(table, mode="r")[start : start + ROWS_OF_CHUNK])


def finished(result: Any) -> Any:
    """Compute a task's result: while it is only recorded, it keeps the rows that it is made of."""
    xp.runtime.evaluate(result)
    return result


def total(rows: Any) -> Any:
    """Sum the columns."""
    return finished(xp.sum(rows, axis=0))


def products(rows: Any, mean: Any) -> Any:
    """Multiply the columns with each other, without their means."""
    centred = rows - mean
    return finished(centred.T @ centred)


def store(scores: Path, start: int, rows: Any, mean: Any, directions: Any) -> None:
    """Write the scores of some rows."""
    result: Any = zarr.open_array(scores, mode="r+")
    result[start : start + rows.shape[0]] = np.asarray((rows - mean) @ directions)


def added(parts: list[Any]) -> Any:
    """Add results in pairs."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [dask.delayed(operator.add)(*pair) for pair in pairs] + parts[len(parts) // 2 * 2 :]
    return parts[0]


def components(table: Path, scores: Path, executor: str, limit: int) -> Any:
    """Write the scores of all rows to a Zarr store; return the variances of the components."""
    rows = zarr.open_array(table, mode="r").shape[0]
    starts = range(0, rows, ROWS_OF_CHUNK)
    zarr.create_array(scores, shape=(rows, KEPT), chunks=(ROWS_OF_CHUNK, KEPT), dtype="float64")
    blocks = [dask.delayed(read)(table, start) for start in starts]
    name, _, method = executor.partition("-")
    with ExitStack() as stack:
        if name == "cluster":
            from dask.distributed import Client, LocalCluster

            cluster = LocalCluster(
                n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=None
            )
            stack.enter_context(Client(stack.enter_context(cluster)))
        else:
            stack.enter_context(dask.config.set({"scheduler": name, "num_workers": 2}))
            if method:
                stack.enter_context(dask.config.set({"multiprocessing.context": method}))
        mean = added([dask.delayed(total)(block) for block in blocks]).compute() / rows
        covariance = added([dask.delayed(products)(block, mean) for block in blocks]).compute()
        deviations = xp.sqrt(xp.linalg.diagonal(covariance) / rows)
        correlation = covariance / rows / deviations / deviations[:, None]
        variances, vectors = xp.linalg.eigh(correlation)
        kept = xp.asarray(upright(vectors)[:, : -KEPT - 1 : -1])
        directions = kept / deviations[:, None]
        tasks = zip(starts, blocks, strict=True)
        dask.compute(
            *(dask.delayed(store)(scores, start, b, mean, directions) for start, b in tasks)
        )
    return variances[: -KEPT - 1 : -1]
