"""Principal components on Cubed, whose chunks are arrays of the module in its environment variable.

The same lines run on any executor of Cubed: "threads", "processes", "lithops", "ray", "spark", ...
Processes are spawned, Cubed's own choice: a fork of a process in which Zarr's threads run can hang.
"""

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("CUBED_BACKEND_ARRAY_API_MODULE", "ascend_array_api")
# Cubed divides sums by integer counts, which strict mode refuses.
os.environ.setdefault("ASCEND_ARRAY_API_STRICT", "0")

import cubed
import cubed.array_api as xp
from dataset import COLUMNS, KEPT, upright

import ascend_array_api


def components(table: Path, scores: Path, executor: str, limit: int) -> Any:
    """Write the scores of all rows to a Zarr store; return the variances of the components."""
    spec = cubed.Spec(
        work_dir=str(scores.parent / "work"),
        allowed_mem=limit // 4,
        executor_name=executor,
        executor_options={"max_workers": 2},
    )
    x = cubed.from_zarr(str(table), spec=spec)
    mean = xp.mean(x, axis=0)
    deviation = xp.std(x, axis=0)
    mean, deviation = (cubed.from_array(v, spec=spec) for v in cubed.compute(mean, deviation))
    standard = (x - mean) / deviation
    products = xp.matmul(xp.permute_dims(standard, (1, 0)), standard)
    correlation = ascend_array_api.asarray(products.compute()) / x.shape[0]
    variances, vectors = ascend_array_api.linalg.eigh(correlation)
    kept = upright(vectors)[:, : -KEPT - 1 : -1]
    directions = cubed.from_array(kept, chunks=(COLUMNS, KEPT), spec=spec)
    cubed.to_zarr(xp.matmul(standard, directions), str(scores))
    return variances[: -KEPT - 1 : -1]
