"""A device that is lost says so, and the others work on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os
from pathlib import Path
import numpy as np
import pytest
from cann_double import Control
from npu_arrays import back, on_npu
import ascend_array_api as xp
from ascend_array_api import runtime

control = Control(Path(os.environ["ASCEND_ARRAY_API_CANN_PATH"]))
a = np.arange(5000, dtype=np.float32)
x, kept = on_npu(a, device="npu:1"), on_npu(a, device="npu:1")
control.fault("aclnnSin!={code}")
with pytest.raises(RuntimeError, match="{code}"):
    back(xp.sin(x))
for _ in range(2):
    with pytest.raises(RuntimeError, match="npu:1 is lost"):
        back(x + 1)
with pytest.raises(RuntimeError, match="npu:1 is lost"):
    on_npu(a, device="npu:1")
with pytest.raises(RuntimeError, match="npu:1 is lost"):
    runtime.MemoryPool("npu:1").free_all_blocks()
assert "npu:1" in repr(x.device)
del x, kept
y = on_npu(a)
np.testing.assert_array_equal(back(y * 2 + y), a * 3)
assert control.violations() == [], control.violations()
"""


@pytest.mark.parametrize("code", [107022, 507054])
def test_a_lost_device_says_so_and_others_work(code):
    path = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{code}", str(code))],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
