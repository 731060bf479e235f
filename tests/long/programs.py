"""Random programs in every mode: python tests/long/programs.py [--count 100000] [--seconds N]

Each program of tests/differential/random_programs.py runs on our arrays and on NumPy's, which must
agree, and in every mode of execution, which must read the same bytes. A program that fails is
repeated by `python tests/differential/random_programs.py SEED 1`, in the mode that is named. With
`--device npu:0` on the double of CANN, each mode has the streams run in another order.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

DIFFERENTIAL = Path(__file__).parents[1] / "differential"
sys.path.append(str(DIFFERENTIAL))

from test_modes import MODES, SETTINGS  # noqa: E402

#: programs of one process
CHUNK = 100


def run(first, count, mode, device, order=0):
    """Return the hashes of programs in one mode."""
    env = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    env |= {f"ASCEND_ARRAY_API_{name}": value for name, value in mode.items()}
    env |= {"ASCEND_ARRAY_API_DEVICE": device, "CANN_DOUBLE_SEED": str(order)}
    command = [sys.executable, str(DIFFERENTIAL / "random_programs.py"), str(first), str(count)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{mode}: {done.stderr[-3000:]}"
    return done.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000, help="programs")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--device", default="cpu", help="the default device (default: cpu)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after that long")
    options = parser.parse_args()
    start, done = time.monotonic(), 0
    while done < options.count and time.monotonic() - start < options.seconds:
        first, count = options.first + done, min(CHUNK, options.count - done)
        reference = run(first, count, {}, options.device)
        assert len(reference) == count
        for order, mode in enumerate(MODES, first + 1):
            got = run(first, count, mode, options.device, order)
            other = [line for line in got if line not in reference]
            assert not other, f"{mode}, order {order}: other bytes for the programs {other}"
        done += count
    seconds = time.monotonic() - start
    print(
        f"{done} programs from seed {options.first} in {len(MODES) + 1} modes, {seconds:.0f} s: "
        "all as NumPy has it, all modes alike"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
