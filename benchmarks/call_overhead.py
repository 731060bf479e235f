"""What one call costs: operations on arrays of 8 float64 elements.

Targets: at most NumPy's time for each, half of it for the operators.
"""

import sys

from harness import Case, main

SETUP = """
import operator
a = xp.asarray(np.arange(1.0, 9.0))
b = xp.asarray(np.arange(8.0, 0.0, -1.0))
m = xp.asarray(np.arange(8.0).reshape(2, 4))
x = xp.asarray(np.arange(128.0).reshape(8, 16))
i = xp.asarray(np.arange(1, 9))
c = xp.asarray(np.zeros(8))
"""
OPERATORS = (
    "a + b",
    "a - b",
    "a / b",
    "a * 2.0",
    "2.0 * a",
    "a < b",
    "a == b",
    "-a",
    "abs(a)",
    "m + m",
    "i + i",
    "i & i",
    "a + m[0, 0]",
    "operator.iadd(c, b)",
    "operator.imul(c, 0.5)",
)


def cases() -> list[Case]:
    """Return the operations."""

    def case(statement: str, target: float, **spelling: str) -> Case:
        return Case(statement, SETUP, statement, target, spelling, wait=False)

    return [
        *(case(statement, 0.5) for statement in OPERATORS),
        case("xp.sum(a)", 1.0),
        case("x[3, 5:9]", 1.0),
        case("xp.sqrt(a)", 1.0),
        case("xp.astype(a, xp.float32)", 1.0, torch="a.to(xp.float32)"),
        case("m.T", 1.0),
    ]


if __name__ == "__main__":
    sys.exit(main("Call overhead, 8 float64 elements", {}, cases))
