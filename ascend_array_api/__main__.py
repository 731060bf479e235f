"""Command line: `python -m ascend_array_api demo`, `info`, `bench`, `accuracy`, `trace`, ..."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from ascend_array_api import __version__, _bench, _timeline, _verify_npu
from ascend_array_api.testing import _accuracy
from ascend_array_api.testing.conformance import command


def _run_demo(args: argparse.Namespace) -> int:
    from ascend_array_api import _demo  # imports scikit-learn

    return _demo.run(args.repeat)


def _run_info(args: argparse.Namespace) -> int:
    from ascend_array_api import _info

    return _info.run(args.json)


def _parser() -> argparse.ArgumentParser:
    """Return the parser; the arguments of a command say which function runs it."""
    parser = argparse.ArgumentParser(
        prog="ascend-array-api",
        description="An array library with the Python array API standard as its interface.",
        epilog="Exit status: 0 if all is well, 1 if results are wrong, 2 for a bad argument.",
    )
    parser.add_argument("--version", action="version", version=f"ascend_array_api {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="run scikit-learn on ascend_array_api and on NumPy")
    demo.add_argument("--repeat", type=int, default=7, help="timed runs of each (default: 7)")
    demo.set_defaults(run=_run_demo)
    info = commands.add_parser("info", help="show versions, processor features and kernels")
    info.add_argument("--json", action="store_true", help="print one JSON object")
    info.set_defaults(run=_run_info)
    bench = commands.add_parser("bench", help="time works beside the libraries installed here")
    _bench.configure(bench)
    bench.set_defaults(run=_bench.run)
    kit = commands.add_parser("conformance", help="test a namespace against the standard")
    command.configure(kit)
    kit.set_defaults(run=command.run)
    accuracy = commands.add_parser("accuracy", help="measure the error of the math functions")
    _accuracy.configure(accuracy)
    accuracy.set_defaults(run=_accuracy.run)
    trace = commands.add_parser("trace", help="draw a profiler's trace as a picture")
    _timeline.configure(trace)
    trace.set_defaults(run=_timeline.run)
    npu = commands.add_parser("verify-npu", help="try an NPU, and write a report of it")
    _verify_npu.configure(npu)
    npu.set_defaults(run=_verify_npu.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    args = _parser().parse_args(argv)
    status: int = 128 + signal.SIGPIPE
    try:
        status = args.run(args)
        print(end="", flush=True)
    except BrokenPipeError:  # who reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ImportError) as error:  # a file or a module that was asked for
        print(f"{args.command}: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
