"""Every call with arguments that are pending: python tests/engine/pending_inputs.py [SIZE...]

One array of the arguments, or all of them, are results of recorded work that has not run when the
function is called, and large enough for several threads. The results are those of the same call on
finished arrays.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "faults"))

import everything

import ascend_array_api as xp
from ascend_array_api import runtime


class Watched:
    """Inputs of which some arrays are replaced, and which knows what was asked for."""

    def __init__(self, inputs, replaced=()):
        self.inputs, self.replaced, self.asked = inputs, dict(replaced), set()

    def __getattr__(self, name):
        self.asked.add(name)
        return self.replaced.get(name, getattr(self.inputs, name))


def pending(x):
    """Return the result of recorded work, equal to x."""
    return ~(~x) if x.dtype == xp.bool else x * 1


def failures(name, inputs):
    """Yield what is wrong with a call where one of its arrays, or all of them, are pending."""
    call = everything.CALLS[name]
    watched = Watched(inputs)
    want = everything.values(call(watched))
    arrays = sorted(watched.asked & inputs.numpy.keys())
    for names in [[one] for one in arrays] + [arrays]:
        replaced = {one: pending(getattr(inputs, one)) for one in names}
        try:
            got = everything.values(call(Watched(inputs, replaced)))
        except Exception as error:
            yield f"{name}, {names}: {type(error).__name__}: {error}"
            continue
        if got != want:
            yield f"{name}: other values where {names} are pending"
        runtime.synchronize()


def main():
    runtime.set_num_threads(4)
    found = []
    for size in map(int, sys.argv[1:] or ["300000"]):
        inputs = everything.Inputs(size)
        for name in everything.CALLS:
            found += failures(name, inputs)
    print("\n".join(found) or "all as on finished arrays")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
