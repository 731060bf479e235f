"""What depends on the chip: dtypes, what `info` says, what is learned from refusals."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, warnings
import numpy as np
import ascend_array_api as xp
from ascend_array_api import _core, dtypes, runtime

warnings.simplefilter("error", runtime.HostFallbackWarning)
device = runtime.Device("npu:0")
try:
    runtime.evaluate(xp.zeros(3, dtype=dtypes.bfloat16, device=device) + 1)
    bfloat16 = "there"
except (TypeError, ImportError) as error:
    bfloat16 = str(error)
runtime.set_fallback("silent")
x = xp.asarray(np.linspace(0, 1, 5000, dtype=np.float32), device=device)
before = [r.kind for r in runtime.routing("sinh", xp.float32, device)]
got = np.asarray(xp.sinh(x).to_device("cpu"))
right = bool(np.all(np.abs(got - np.sinh(np.linspace(0, 1, 5000))) < 1e-5))
after = [r.kind for r in runtime.routing("sinh", xp.float32, device)]
print(json.dumps([_core.cann_status(), bfloat16, before, right, after]))
"""
CHIPS = {
    "Ascend910B1": (True, True),
    "Ascend910B4": (True, True),
    "Ascend910_9391": (True, True),
    "Ascend910B": (False, False),
    "Ascend910ProB": (False, False),
    "Ascend310P3": (False, False),
    "Ascend950PR": (False, True),
}


def on_chip(env, double, soc, **more):
    """What a process finds on a chip of this name."""
    env = env | {"ASCEND_ARRAY_API_CANN_PATH": str(double), "CANN_DOUBLE_SOC": soc} | more
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("soc", CHIPS)
def test_a_chip_is_known_by_its_name(child_env, double, soc):
    """Without a number behind it, Ascend910B is an older chip; `info` says what is not listed."""
    pytest.importorskip("ml_dtypes")
    listed, has_bfloat16 = CHIPS[soc]
    status, bfloat16, before, right, after = on_chip(child_env, double, soc)
    assert soc in status
    assert ("the tables of operations are those of Ascend910B1 to B4" in status) != listed
    assert ("no dtype bfloat16" in bfloat16) != has_bfloat16
    assert (before, right, after) == (["native"], True, ["native"])


@pytest.mark.parametrize("soc", ["Ascend910B3", "Ascend310P3"])
def test_what_a_chip_refuses_is_learned(child_env, double, soc):
    refused = {"CANN_DOUBLE_FAULTS": "aclnnSinhGetWorkspaceSize=161002x100"}
    *_, before, right, after = on_chip(child_env, double, soc, **refused)
    assert (before, right, after) == (["native"], True, ["host"])
