"""The documents name what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
# Folders whose files are listed one by one.
FOLDERS = [
    "ascend_array_api",
    "cpp/core",
    "cpp/graph",
    "cpp/runtime",
    "cpp/backend",
    "cpp/backend/cann",
    "cpp/backend/cpu",
    "cpp/backend/cpu/kernels",
    "cpp/python",
]


def _section(folder):
    text = ARCHITECTURE.read_text()
    match = re.search(rf"^### `{folder}/`.*?(?=^### )", text, re.MULTILINE | re.DOTALL)
    assert match, f"architecture.md has no section for {folder}"
    rows = [line.split("|")[1] for line in match.group().splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


@pytest.mark.parametrize("folder", FOLDERS)
def test_architecture_lists_every_file_and_no_other(folder):
    files = {f.name for f in (ROOT / folder).iterdir() if f.suffix in {".py", ".pyi", ".h", ".cpp"}}
    listed = {name for name in _section(folder) if not name.endswith("/")}
    assert listed == files


def test_every_source_folder_has_a_section():
    folders = {p.parent for p in (ROOT / "cpp").rglob("*.cpp")}
    assert {str(f.relative_to(ROOT)) for f in folders} - {"cpp/tests"} <= set(FOLDERS)


@pytest.mark.parametrize(
    "document", ["README.md", "README.zh-CN.md", "CONTRIBUTING.md", "docs/architecture.md"]
)
def test_paths_in_documents_exist(document):
    text = (ROOT / document).read_text()
    paths = set(
        re.findall(
            r"(?<![\w/])((?:cpp|ascend_array_api|docs|benchmarks|cmake|examples)/[\w./]+\w)", text
        )
    )
    assert paths
    assert [p for p in sorted(paths) if not (ROOT / p).exists()] == []


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]), ids=lambda p: p.name
)
def test_no_page_is_left_half_merged(page):
    assert re.findall(r"^(?:<{7}|>{7}|={7}$).*", page.read_text(), re.MULTILINE) == []


@pytest.mark.parametrize(
    "picture", sorted((ROOT / "docs" / "pictures").glob("*.svg")), ids=lambda p: p.name
)
def test_pictures_name_no_path_of_a_machine(picture):
    assert re.findall(r"line: /[^<,]*", picture.read_text()) == []
