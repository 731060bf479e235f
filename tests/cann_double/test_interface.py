"""Our declarations of CANN's interface against the headers that torch-npu carries.

The headers are downloaded with pip at the first run and kept in the user's cache; without them the
tests are skipped. Nothing of them is part of this project.
"""

import ctypes
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import cann_double
import pytest

ROOT = Path(__file__).parents[2]
VERSIONS = ["2.14.0", "2.6.0"]
HEADERS = "torch_npu/include/third_party/acl/inc/"
# Holds types of pointers to functions of libnnopbase.so, which has no header there.
POINTERS = "torch_npu/include/third_party/op-plugin/op_plugin/utils/op_api_common"

# Each set of declarations: how to include it without its types, and its tables.
# @@ stands before each entry: constant; name; value, or function; name; result; arguments.
DECLARATIONS = {
    "backend": """
        #define ASC_CANN_FOREIGN_TYPES
        #include "backend/cann/symbols.h"
        #define VALUE(name, value) @@ constant; name; value
        #define LIST(type, values) values(VALUE)
        #define FUNCTION(need, result, name, arguments) @@ function; name; result; arguments
        ASC_CANN_ENUMS(LIST) ASC_CANN_ERRORS(VALUE) ASC_CANN_EVENT_FLAGS(VALUE)
        ASC_CANN_RUNTIME(FUNCTION) ASC_CANN_META(FUNCTION) @@
    """,
    "double": """
        #define CANN_DOUBLE_FOREIGN_TYPES
        #include "abi.h"
        #define VALUE(type, name, value) @@ constant; name; value
        #define FUNCTION(result, name, arguments) @@ function; name; result; arguments
        CANN_DOUBLE_ENUMS(VALUE) CANN_DOUBLE_CODES(VALUE)
        CANN_DOUBLE_RUNTIME(FUNCTION) CANN_DOUBLE_META(FUNCTION) @@
    """,
}
INCLUDES = [f"-I{ROOT / 'cpp'}", f"-I{cann_double.SOURCES}"]
# What no header of a wheel has: the operations' codes, and functions that came later or are
# declared only in headers of CANN itself.
NOT_IN_HEADERS = re.compile(r"ACLNN_ERR_\w+|[aA]cl(Create|Destroy|Get|Set)\w+|aclnn\w+")


@pytest.fixture(scope="module", params=VERSIONS)
def headers(request):
    """Give the folder of a version of torch-npu's headers."""
    cache = cann_double.cache() / "torch_npu" / request.param
    if not cache.exists():
        download(request.param, cache)
    return cache


def download(version, cache):
    """Take the headers out of the wheel, or skip."""
    scratch = cache.with_name(f"{version}.tmp")
    scratch.mkdir(parents=True, exist_ok=True)
    platforms = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", f"torch-npu=={version}", "--no-deps", "--quiet"]
        + ["--only-binary=:all:", "--python-version=311", "--retries=0", "--timeout=20"]
        + [f"--platform={platform}" for platform in platforms]
        + ["--dest", str(scratch)],
        capture_output=True,
        text=True,
    )
    wheels = list(scratch.glob("*.whl"))
    if not wheels:
        pytest.skip(f"torch-npu {version} cannot be downloaded: {done.stderr.strip()[-300:]}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = [n for n in wheel.namelist() if n.startswith((HEADERS, POINTERS))]
        wheel.extractall(scratch, names)
    wheels[0].unlink()
    scratch.rename(cache)


def entries(which, tmp_path):
    """Return the tables of declarations as tuples."""
    source = tmp_path / f"{which}.cpp"
    source.write_text(DECLARATIONS[which])
    command = [cann_double.compiler(), "-std=c++20", "-E", "-P", *INCLUDES, str(source)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [tuple(part.split(";")) for part in text.split("@@")[1:-1]]
    return [tuple(field.strip() for field in entry) for entry in found]


def names_in(folder):
    text = "".join(path.read_text() for path in (folder / HEADERS / "acl").rglob("*.h"))
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return set(re.findall(r"\w+", text))


def pointer_types(folder):
    """Return the types of functions that op-plugin looks up by name."""
    found = {}
    for path in (folder / POINTERS).parent.glob("op_api_common*.h"):
        pattern = r"typedef [^;{}]*\(\*_(acl\w+)\)\([^;{}]*\);"
        for match in re.finditer(pattern, path.read_text()):
            found.setdefault(match[1], match[0])
    return found


def program(folder, tables, opaque):
    """Return the source of the assertions, and the names that no header has."""
    known, pointers = names_in(folder), pointer_types(folder)
    types = "".join(f"struct {name};\n" for name in opaque if name not in known)
    lines, missing = [], []
    for kind, name, *rest in tables:
        if kind == "constant" and name in known:
            lines.append(f"static_assert({name} == {rest[0]}, {name!r});".replace("'", '"'))
        elif kind == "function" and (name in known or name in pointers):
            actual = f"decltype(&{name})" if name in known else f"_{name}"
            ours = f"{rest[0]} (*){rest[1]}"
            lines.append(f'static_assert(std::is_same_v<{actual}, {ours}>, "{name}");')
        else:
            missing.append(name)
    source = "#include <type_traits>\n#include <cstdint>\n#include <acl/acl.h>\n" + types
    source += "typedef int32_t aclnnStatus;\n" + "\n".join(pointers.values()) + "\n"
    return source + "\n".join(lines) + "\n", missing


OPAQUE = ["aclTensor", "aclScalar", "aclIntArray", "aclBoolArray", "aclFloatArray"]
OPAQUE += ["aclTensorList", "aclScalarList", "aclOpExecutor"]


def compiles(source, folder, tmp_path):
    path = tmp_path / "assertions.cpp"
    path.write_text(source)
    command = [cann_double.compiler(), "-std=c++20", "-fsyntax-only", "-w"]
    command += [f"-I{folder / HEADERS}", str(path)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("which", DECLARATIONS)
def test_declarations_agree_with_headers(headers, which, tmp_path):
    tables = entries(which, tmp_path)
    assert len(tables) > 50
    source, missing = program(headers, tables, OPAQUE)
    done = compiles(source, headers, tmp_path)
    assert done.returncode == 0, done.stderr
    if headers.name == VERSIONS[0]:
        assert [name for name in missing if not NOT_IN_HEADERS.fullmatch(name)] == []
    assert len(missing) < len(tables) / 2


MUTANTS = {
    "a value": ("constant", "ACL_INT64", "10"),
    "an error": ("constant", "ACL_ERROR_REPEAT_INITIALIZE", "100001"),
    "a width": ("function", "aclrtSetDevice", "aclError", "(int64_t)"),
    "an order": (
        "function",
        "aclrtMemset",
        "aclError",
        "(void*, int32_t, size_t, size_t)",
    ),
    "an enumeration": (
        "function",
        "aclrtQueryEventStatus",
        "aclError",
        "(aclrtEvent, aclrtEventStatus*)",
    ),
    "a descriptor": ("function", "aclCreateScalar", "aclScalar*", "(const void*, aclDataType)"),
}


def test_wrong_declarations_are_found(headers, tmp_path):
    found = []
    for mutant, declaration in MUTANTS.items():
        source, missing = program(headers, [declaration], OPAQUE)
        if "static assertion failed" in compiles(source, headers, tmp_path).stderr:
            found.append(mutant)
        else:
            assert missing, mutant
    assert len(found) >= len(MUTANTS) - 1


OPERATIONS = """
#define ASC_CANN_FOREIGN_TYPES
#include "backend/cann/symbols.h"
#include "abi.h"
namespace cann_double {
template <class F>
struct Phase1;
template <class... A>
struct Phase1<int(A...)> {
    using type = aclnnStatus(A..., uint64_t*, aclOpExecutor**);
};
#define X(name, arguments) extern "C" Phase1<int arguments>::type name##GetWorkspaceSize;
ASC_CANN_OPERATIONS(X)
#undef X
}
"""


@pytest.mark.parametrize("source", [*cann_double.MATH, *cann_double.NN])
def test_operations_are_declared_alike_by_backend_and_double(source, tmp_path):
    """A definition of the double conflicts with a different declaration of the backend."""
    header = tmp_path / "declared.h"
    header.write_text(OPERATIONS)
    path = cann_double.SOURCES / f"{source}.cpp"
    command = [cann_double.compiler(), "-std=c++20", "-fsyntax-only", *INCLUDES]
    command += ["-include", str(header), str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_double_has_what_the_backend_calls():
    folder = cann_double.build("split")
    libraries = [ctypes.CDLL(str(path)) for path in sorted(folder.iterdir())]
    text = (ROOT / "cpp" / "backend" / "cann" / "symbols.h").read_text()
    operations = re.findall(r"\bX\((aclnn\w+)", text)
    names = re.findall(r"\bX\((?:Required|Optional),\s*[^,]+,\s*(\w+)", text)
    names += [f"{name}{phase}" for name in operations for phase in ("", "GetWorkspaceSize")]
    assert len(names) > 100
    assert [n for n in names if not any(hasattr(lib, n) for lib in libraries)] == []
