"""Command line: `python -m ascend_array_api demo`, `info`, `bench`, `accuracy`, `trace`, ..."""

import argparse
import sys
from collections.abc import Sequence

from ascend_array_api import _bench, _timeline, _verify_npu
from ascend_array_api.testing import _accuracy
from ascend_array_api.testing.conformance import command


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ascend_array_api")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="run scikit-learn on ascend_array_api and on NumPy")
    demo.add_argument("--repeat", type=int, default=7, help="timed runs of each (default: 7)")
    info = commands.add_parser("info", help="show versions, processor features and kernels")
    info.add_argument("--json", action="store_true", help="print one JSON object")
    accuracy = commands.add_parser("accuracy", help="measure the error of the math functions")
    _accuracy.configure(accuracy)
    bench = commands.add_parser("bench", help="time works beside the libraries installed here")
    _bench.configure(bench)
    kit = commands.add_parser("conformance", help="test a namespace against the standard")
    command.configure(kit)
    trace = commands.add_parser("trace", help="draw a profiler's trace as a picture")
    _timeline.configure(trace)
    npu = commands.add_parser("verify-npu", help="try an NPU, and write a report of it")
    _verify_npu.configure(npu)
    args = parser.parse_args(argv)
    if args.command == "trace":
        return _timeline.run(args)
    if args.command == "conformance":
        return command.run(args)
    if args.command == "accuracy":
        return _accuracy.run(args)
    if args.command == "bench":
        return _bench.run(args)
    if args.command == "verify-npu":
        return _verify_npu.run(args)
    if args.command == "demo":
        from ascend_array_api import _demo

        return _demo.run(args.repeat)
    from ascend_array_api import _info

    return _info.run(args.json)


if __name__ == "__main__":
    sys.exit(main())
