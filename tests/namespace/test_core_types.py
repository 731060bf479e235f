"""The hand-written types of the compiled core name what is in it."""

import ast
from pathlib import Path

import pytest

import ascend_array_api
from ascend_array_api import _core


def stub():
    path = Path(ascend_array_api.__file__).with_name("_core.pyi")
    return ast.parse(path.read_text()).body


def test_functions():
    declared = {node.name for node in stub() if isinstance(node, ast.FunctionDef)}
    public = {name for name in dir(_core) if not name.startswith("_")}
    present = {name for name in public if callable(getattr(_core, name))}
    assert declared == present - {"Array"}


def test_array_members():
    (array,) = [node for node in stub() if isinstance(node, ast.ClassDef)]
    for node in array.body:
        name = node.name if isinstance(node, ast.FunctionDef) else node.target.id
        assert hasattr(_core.Array, name), name


def test_array_has_only_what_the_standard_names():
    public = {name for name in dir(_core.Array) if not name.startswith("_")}
    assert public == {"T", "device", "dtype", "mT", "ndim", "shape", "size", "to_device"}


def test_array_cannot_be_made_or_subclassed():
    with pytest.raises(TypeError):
        _core.Array()
    with pytest.raises(TypeError):
        type("Other", (_core.Array,), {})
