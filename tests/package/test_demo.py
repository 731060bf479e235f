"""The demonstration must say so when results differ."""

import types

import numpy as np
import pytest

from ascend_array_api import _demo


def test_a_wrong_namespace_is_reported(capsys, monkeypatch):
    pytest.importorskip("sklearn")
    generic = [job for job in _demo._jobs() if job.call is _demo.class_probabilities]
    assert len(generic) == 1
    monkeypatch.setattr(_demo, "_jobs", lambda: generic)
    wrong = types.SimpleNamespace(
        __name__="wrong", __version__="0", asarray=lambda a: np.asarray(a) + 1 - (a == 0)
    )
    assert not _demo.compare(wrong, repeat=1)
    assert capsys.readouterr().out.rstrip().endswith("NO")


def test_numpy_against_itself_agrees():
    pytest.importorskip("sklearn")
    assert _demo.compare(np, repeat=1)
