"""What a program leaves behind: python tests/faults/leaks.py [--rounds 20] [--size 6000]

Every call of everything.py is made again and again. Afterwards no memory of the pool is in use that
was not in use before (an Array holds a Storage, which is made of it), every object that the calls
could hold has the references that it had, and the interpreter has no more blocks of memory.
"""

import argparse
import gc
import sys

import everything

import ascend_array_api as xp
from ascend_array_api import _core, runtime


def watched(inputs):
    """Return objects whose references are counted."""
    objects = {name: getattr(inputs, name) for name in inputs.numpy}
    objects |= {f"NumPy's {name}": a for name, a in inputs.numpy.items()}
    objects |= {f"dtype {d}": d for d in xp.__array_namespace_info__().dtypes().values()}
    return objects | {"device": inputs.x.device, "Array": runtime.Array, "ellipsis": ...}


def references(inputs):
    """Return how often each object is held."""
    return {name: sys.getrefcount(o) for name, o in watched(inputs).items()}


def growth(call, inputs, rounds):
    """Return the bytes of the pool and the blocks of the interpreter that calls leave."""
    runtime.synchronize()
    gc.collect()
    used, blocks = _core.pool_stats("cpu")["used"], sys.getallocatedblocks()
    for _ in range(rounds):
        everything.values(call(inputs))
    runtime.synchronize()
    gc.collect()
    blocks = sys.getallocatedblocks() - blocks
    return _core.pool_stats("cpu")["used"] - used, blocks


def check(name, inputs, rounds):
    """Return what is wrong with a call, if anything is."""
    call = everything.CALLS[name]
    growth(call, inputs, 3)
    before = references(inputs)
    used, blocks = growth(call, inputs, rounds)
    now = references(inputs)
    wrong = [f"{used} bytes of the pool"] if used else []
    for key, count in before.items():
        if abs(now[key] - count) >= rounds:
            wrong.append(f"{now[key] - count} references to {key}")
    while blocks >= rounds and rounds < 1000:  # caches grow, too, but not on and on
        rounds *= 4
        blocks = growth(call, inputs, rounds)[1]
    wrong += [f"{blocks} blocks of the interpreter"] if blocks >= rounds else []
    return f"{name}: {rounds} calls leave {', '.join(wrong)}" if wrong else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--size", type=int, default=6000, help="elements of an array")
    options = parser.parse_args()
    inputs = everything.Inputs(options.size)
    gc.freeze()  # what is there is not looked at again and again
    found = [check(name, inputs, options.rounds) for name in everything.CALLS]
    wrong = [what for what in found if what]
    print("\n".join(wrong) or f"{len(found)} calls, {options.rounds} times each: nothing is left")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
