"""What `import ascend_array_api` takes beyond `import numpy`: python benchmarks/imports.py

Each import is in a process of its own, in turns; medians of elapsed and of processor time. The
bytecode is there, as in an installation.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import json, sys, time
begin, used = time.perf_counter(), time.process_time()
import {module}
print(json.dumps([time.perf_counter() - begin, time.process_time() - used]))
"""


def seconds(module: str, bytecode: str) -> list[float]:
    """Return elapsed and processor seconds of one import, which must print nothing else."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM.format(module=module)]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = bytecode
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print both medians for both modules, and the differences."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=20, help="of each (default: 20)")
    repeat = parser.parse_args().repeat
    times: dict[str, list[list[float]]] = {"numpy": [], "ascend_array_api": []}
    with tempfile.TemporaryDirectory() as bytecode:
        for module in times:
            seconds(module, bytecode)
        for _ in range(repeat):
            for module, found in times.items():
                found.append(seconds(module, bytecode))
    medians = {
        module: [1e3 * statistics.median(column) for column in zip(*found, strict=True)]
        for module, found in times.items()
    }
    medians["difference"] = [
        own - of_numpy
        for own, of_numpy in zip(medians["ascend_array_api"], medians["numpy"], strict=True)
    ]
    for name, (elapsed, used) in medians.items():
        print(f"{name:<18}{elapsed:8.1f} ms elapsed {used:8.1f} ms of processor time")


if __name__ == "__main__":
    main()
