"""What the portability checks cost small calls while they are off.

    python tests/portability/overhead.py [--rounds 15]

Calls on arrays of 8 elements are timed in new processes by turns: one that has imported the checks,
and one that has used them and left them. The figures are medians over the processes.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys

CALLS = [
    "a + b",
    "operator.iadd(a, 1.0)",
    "xp.sum(a)",
    "xp.sqrt(a)",
    "x[1]",
    "x[1] = 2.0",
    "bool(t)",
    "x.T",
]
IMPORTED = """
from ascend_array_api.testing import portability
"""
USED = """
with portability("strictest"):
    pass
"""
TIMING = """
import json, timeit
print(json.dumps([min(timeit.repeat(c, number=5000, repeat=9, globals=globals())) for c in CALLS]))
"""
SETUP = f"""
import operator
import ascend_array_api as xp
a, b, x, t = xp.ones(8), xp.ones(8), xp.ones((2, 4)), xp.asarray(True)
CALLS = {CALLS!r}
"""


def times(before):
    """Return the nanoseconds of each call in a new process."""
    command = [sys.executable, "-c", SETUP + before + TIMING]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [seconds / 5000 * 1e9 for seconds in json.loads(done.stdout)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    runs = {IMPORTED: [], IMPORTED + USED: []}
    for _ in range(options.rounds):
        for before in random.sample(list(runs), len(runs)):
            runs[before].append(times(before))
    print(f"{'call':22} {'imported':>8} {'used':>8}   ns, medians of {options.rounds} processes")
    for k, call in enumerate(CALLS):
        columns = [statistics.median(run[k] for run in some) for some in runs.values()]
        print(f"{call:22} " + " ".join(f"{ns:8.1f}" for ns in columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
