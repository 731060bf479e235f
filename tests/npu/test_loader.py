"""Finding CANN: whatever is or is not installed, the CPU works and `info` says what was found.

The libraries here are empty shells, made from the table of symbols: they only answer the calls of
the loader.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SYMBOLS = Path(__file__).parents[2] / "cpp" / "backend" / "cann" / "symbols.h"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(not COMPILER, reason="shells of libraries need a C compiler")


def required(table):
    """The names of the functions that one table of symbols.h requires."""
    text = re.search(rf"#define {table}\(X\)(.*?)\n\n", SYMBOLS.read_text(), re.S).group(1)
    return re.findall(r"X\(\s*Required,[^,]+,\s*\\?\s*(\w+)", text)


def shell(folder, name, functions, code=""):
    """Build a library whose functions return 0 unless `code` defines them."""
    source = folder / "shell.c"
    plain = [f for f in functions if f not in code]
    source.write_text(code + "".join(f"long {f}() {{ return 0; }}\n" for f in plain))
    subprocess.run(
        [COMPILER, "-w", "-shared", "-fPIC", "-o", folder / name, source], check=True, timeout=60
    )


def installation(
    folder, code="", leave_out=(), operations=("libopapi.so",), runtime="libascendcl.so"
):
    """Build shells of all libraries in a folder."""
    folder.mkdir(exist_ok=True)
    names = [f for f in required("ASC_CANN_RUNTIME") if f not in leave_out]
    shell(folder, runtime, names, code)
    shell(folder, "libnnopbase.so", required("ASC_CANN_META"))
    for name in operations:
        shell(folder, name, [])
    return folder


def info(env, **variables):
    """What `info` says, in a process with these variables; nothing goes to the error output."""
    for name in ("ASCEND_ARRAY_API_CANN_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        env = {k: v for k, v in env.items() if k != name}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "ascend_array_api", "info", "--json"],
        env=env | {k: str(v) for k, v in variables.items()},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    facts = json.loads(done.stdout)
    assert "cpu" in facts["devices"]
    return facts


def test_a_folder_without_libraries_is_a_sentence(child_env, tmp_path):
    status = info(child_env, ASCEND_ARRAY_API_CANN_PATH=tmp_path)["cann"]
    assert status.startswith("not found: no libacl_rt.so or libascendcl.so")


def test_what_is_no_library_is_a_sentence(child_env, tmp_path):
    (tmp_path / "libascendcl.so").write_text("not a library")
    status = info(child_env, ASCEND_ARRAY_API_CANN_PATH=tmp_path)["cann"]
    assert status.startswith("not usable: ")
    assert "libascendcl.so" in status


STUB = "int aclInit(const char* p) { return 100039; }\n"
NO_DEVICE = "int aclrtGetDeviceCount(unsigned* n) { *n = 0; return 207004; }\n"


@needs_compiler
@pytest.mark.parametrize(
    ("code", "said"),
    [
        (NO_DEVICE, "found, but no device (ACL_ERROR_RT_NO_DEVICE, 207004)"),
        (STUB, "a stub to compile with"),
        ("int aclInit(const char* p) { return 500000; }\n", "aclInit: error 500000"),
        (NO_DEVICE + "int aclInit(const char* p) { return 100002; }\n", "found, but no device"),
        (
            "#include <string.h>\nint aclsysGetVersionStr(char* n, char* v)"
            '{ strcpy(v, "7.0.1"); return 0; }\n',
            "version 7.0.1 is too old",
        ),
    ],
)
def test_each_obstacle_is_a_sentence(child_env, tmp_path, code, said):
    installation(tmp_path, code)
    assert said in info(child_env, ASCEND_ARRAY_API_CANN_PATH=tmp_path)["cann"]


@needs_compiler
def test_a_missing_function_is_named(child_env, tmp_path):
    installation(tmp_path, leave_out=["aclrtMemcpyAsync"])
    status = info(child_env, ASCEND_ARRAY_API_CANN_PATH=tmp_path)["cann"]
    assert "lack aclrtMemcpyAsync" in status
    assert "CANN 8.0 or later is needed" in status


@needs_compiler
def test_half_of_a_family_of_operations_is_not_used(child_env, tmp_path):
    installation(tmp_path, NO_DEVICE, operations=["libopapi_math.so"])
    status = info(child_env, ASCEND_ARRAY_API_CANN_PATH=tmp_path)["cann"]
    assert "neither libopapi_math.so and libopapi_nn.so nor libopapi.so" in status


@needs_compiler
@pytest.mark.parametrize("variable", ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"])
def test_the_toolkit_is_found_by_its_variables(child_env, tmp_path, variable):
    installation(tmp_path / "lib64", NO_DEVICE, operations=["libopapi_math.so", "libopapi_nn.so"])
    assert "found, but no device" in info(child_env, **{variable: tmp_path})["cann"]


@needs_compiler
def test_our_own_variable_comes_first_and_alone(child_env, tmp_path):
    installation(tmp_path / "lib64", NO_DEVICE)
    empty = tmp_path / "empty"
    empty.mkdir()
    status = info(child_env, ASCEND_ARRAY_API_CANN_PATH=empty, ASCEND_HOME_PATH=tmp_path)["cann"]
    assert status.startswith("not found")


@needs_compiler
def test_the_new_name_of_the_runtime_is_preferred(child_env, tmp_path):
    installation(tmp_path, NO_DEVICE, runtime="libacl_rt.so")
    shell(tmp_path, "libascendcl.so", ["aclInit"], STUB)
    assert "found, but no device" in info(child_env, ASCEND_ARRAY_API_CANN_PATH=tmp_path)["cann"]
