"""What an installed distribution says and holds."""

import importlib.metadata
import re
from pathlib import Path

import pytest

import ascend_array_api


@pytest.fixture(scope="module")
def metadata():
    try:
        return importlib.metadata.metadata("ascend-array-api")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("runs from a build directory, not from an installed distribution")


def test_version_is_the_distributions(metadata):
    assert ascend_array_api.__version__ == metadata["Version"]


def test_needs_numpy_and_openblas_alone(metadata):
    requires = metadata.get_all("Requires-Dist")
    always = {re.match(r"[\w-]+", r).group() for r in requires if "extra ==" not in r}
    assert always == {"numpy", "scipy-openblas32"}
    assert metadata["Requires-Python"] == ">=3.11"


def test_licence_and_readme_are_in_it(metadata):
    assert metadata["License-Expression"] == "BSD-3-Clause"
    files = importlib.metadata.files("ascend-array-api")
    assert any(f.name == "LICENSE" for f in files)
    assert "python -m ascend_array_api demo" in metadata.get_payload()


def test_is_typed():
    assert any((Path(p) / "py.typed").is_file() for p in ascend_array_api.__path__)
