"""The hand-written types of the compiled core name what is in it."""

import ast
from pathlib import Path

import pytest

import ascend_array_api
from ascend_array_api import _core


def stub():
    path = Path(ascend_array_api.__file__).with_name("_core.pyi")
    return ast.parse(path.read_text()).body


def public_names(kind):
    return {
        name
        for name in dir(_core)
        if not name.startswith("_")
        and callable(value := getattr(_core, name))
        and isinstance(value, type) == kind
    }


def test_functions():
    declared = {node.name for node in stub() if isinstance(node, ast.FunctionDef)}
    assert declared == public_names(False)


def test_classes():
    declared = {node.name for node in stub() if isinstance(node, ast.ClassDef)}
    assert declared == public_names(True)


@pytest.mark.parametrize("class_name", sorted(public_names(True)))
def test_members(class_name):
    (found,) = [
        node for node in stub() if isinstance(node, ast.ClassDef) and node.name == class_name
    ]
    for node in found.body:
        name = node.name if isinstance(node, ast.FunctionDef) else node.target.id
        assert hasattr(getattr(_core, class_name), name), name


def test_array_has_only_what_the_standard_names():
    public = {name for name in dir(_core.Array) if not name.startswith("_")}
    assert public == {"T", "device", "dtype", "mT", "ndim", "shape", "size", "to_device"}


def test_array_cannot_be_made_or_subclassed():
    with pytest.raises(TypeError):
        _core.Array()
    with pytest.raises(TypeError):
        type("Other", (_core.Array,), {})
