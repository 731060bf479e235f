"""What is installed and what it runs on."""

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# The features that decide between instruction sets, as Linux names them.
_FEATURES = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "asimd")
# Libraries that compute with arrays of others, or take them.
_CONSUMERS = (
    "scipy scikit-learn array-api-compat array-api-extra xarray einops cubed dask torch jax pyarrow"
)


def _processor() -> tuple[str, list[str]]:
    """Return the processor's name and those of its features that matter here."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine(), []
    fields = {key.strip(): value.strip() for key, _, value in (x.partition(":") for x in lines)}
    present = (fields.get("flags") or fields.get("Features") or "").split()
    return fields.get("model name", platform.machine()), [f for f in _FEATURES if f in present]


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def collect() -> dict[str, Any]:
    """Return everything `info` shows."""
    import ascend_array_api
    from ascend_array_api import _core, runtime

    processor, features = _processor()
    settings = {k: v for k, v in os.environ.items() if k.startswith("ASCEND_")}
    return {
        "ascend_array_api": ascend_array_api.__version__,
        "array_api": ascend_array_api.__array_api_version__,
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "openblas": _version("scipy-openblas32"),
        "platform": platform.platform(),
        "processor": processor,
        "features": features,
        "kernels": runtime.instruction_set(),
        "cann": _core.cann_status(),
        "threads": runtime.get_num_threads(),
        "devices": [str(d) for d in ascend_array_api.__array_namespace_info__().devices()],
        "consumers": {name: v for name in _CONSUMERS.split() if (v := _version(name))},
        "environment": settings,
    }


def run(as_json: bool) -> int:
    """Print the information; return the exit status."""
    facts = collect()
    if as_json:
        print(json.dumps(facts))
        return 0
    for key, value in facts.items():
        if isinstance(value, dict):
            value = [f"{k}={v}" for k, v in value.items()]
        text = " ".join(value) if isinstance(value, list) else value
        print(f"{key:18}{'none' if text in (None, '') else text}")
    return 0
