"""A table that is larger than the memory for it, in a Zarr store, and NumPy's result for it."""

import resource
from pathlib import Path
from typing import Any

import numpy as np
import zarr

COLUMNS = 64
KEPT = 2  # principal components
ROWS_OF_CHUNK = 16_384  # 8 MiB


def write(path: Path, rows: int) -> None:
    """Write a table of shape (rows, columns): a few common causes, and noise, in odd units."""
    rng = np.random.default_rng(5)
    causes = rng.standard_normal((5, COLUMNS)) * np.asarray([[5.0], [4.0], [1.0], [1.0], [1.0]])
    units = 10.0 ** rng.uniform(-3, 3, COLUMNS)
    means = rng.uniform(-10, 10, COLUMNS)
    chunks = (min(ROWS_OF_CHUNK, rows), COLUMNS)
    table: Any = zarr.create_array(
        store=path, shape=(rows, COLUMNS), chunks=chunks, dtype="float64", compressors=None
    )
    for start in range(0, rows, chunks[0]):
        count = min(chunks[0], rows - start)
        noise = rng.standard_normal((count, COLUMNS))
        table[start : start + count] = (
            rng.standard_normal((count, 5)) @ causes + noise + means
        ) * units


def limit_memory(size: int) -> None:
    """Set the resource limit of this process and of those that it starts: bytes of data each."""
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def reference(path: Path) -> tuple[Any, Any]:
    """Compute the components with NumPy, all in memory; return variances and scores."""
    table: Any = zarr.open_array(path, mode="r")[:]
    variances, vectors = np.linalg.eigh(np.corrcoef(table, rowvar=False))
    table -= table.mean(axis=0)
    table /= table.std(axis=0)
    return variances[: -KEPT - 1 : -1], table @ upright(vectors[:, : -KEPT - 1 : -1])


def upright(vectors: Any) -> Any:
    """Return eigenvectors with the sign that makes the largest element of each positive."""
    vectors = np.asarray(vectors)
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return vectors * np.sign(largest)
