"""The official suite and the kit on the double of CANN, in many orders of its streams.

python tests/long/orders.py [--seeds 20] [--max-examples 100]

The NPU of the double is the default device. A seed is an order in which streams run; 0 runs
everything as late as is legal. What is no test that an NPU has to fail, a violation of CANN's
protocol and a descriptor that is left at the end of a process are failures of this run.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "cann_double"))

import cann_double  # noqa: E402

from ascend_array_api._verify_npu import EXPECTED_FAILURES  # noqa: E402


def python(env, *arguments):
    """Run Python; return its status and what it printed."""
    command = [sys.executable, "-W", "ignore", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def suite(env, examples):
    """Run the official suite; return a line, and what is wrong."""
    runner = ROOT / "array-api-tests" / "run.py"
    _, text = python(env, str(runner), "--max-examples", str(examples), "-W", "ignore")
    counts = re.search(r"official suite \(\w+\): (\d+) passed, (\d+) failed", text)
    failed = re.findall(r"^FAILED \S*?::(\w+)", text, flags=re.MULTILINE)
    wrong = [name for name in failed if name not in EXPECTED_FAILURES]
    if not counts or int(counts[2]) != len(failed):
        wrong.append(text[-2000:])
    return f"suite {counts[1]} passed, {counts[2]} failed" if counts else "no suite", wrong


def kit(env):
    """Run the conformance kit; return a line, and what is wrong."""
    status, text = python(env, "-m", "ascend_array_api", "conformance")
    counts = re.search(r"^all +(\d+) +(\d+)", text, flags=re.MULTILINE)
    line = f"kit {counts[1]} passed, {counts[2]} failed" if counts else "no kit"
    return line, [] if counts and status == 0 else [text[-4000:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many (default: 20)")
    parser.add_argument("--first", type=int, default=0, help="the first (default: 0)")
    parser.add_argument("--max-examples", type=int, default=100, help="of each test of the suite")
    options = parser.parse_args()
    double = cann_double.build()
    failed = 0
    for seed in range(options.first, options.first + options.seeds):
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as report:
            env = os.environ | {
                "ASCEND_ARRAY_API_CANN_PATH": str(double),
                "ASCEND_ARRAY_API_DEVICE": "npu:0",
                "CANN_DOUBLE_SEED": str(seed),
                "CANN_DOUBLE_REPORT": report,
            }
            parts = [suite(env, options.max_examples), kit(env)]
            violations = [path.read_text() for path in Path(report).iterdir()]
        wrong = [text for _, found in parts for text in found] + violations
        failed += bool(wrong)
        lines = "; ".join(line for line, _ in parts)
        seconds = time.monotonic() - start
        lines += f"; {len(violations)} processes with violations or leaks; {seconds:.0f} s"
        print(f"seed {seed}: {lines}", flush=True)
        print(*wrong, sep="\n", end="\n" if wrong else "", flush=True)
    print(f"{options.seeds} seeds, {failed} with something wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
