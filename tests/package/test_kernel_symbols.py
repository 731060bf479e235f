"""The build's check that the kernels of one instruction set define nothing others could pick up."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = os.environ.get("CXX", "c++")
OWN = """
namespace asc::cpu::v3 {
template <class T> struct Base {
    virtual ~Base() {}
    virtual T f() { static T calls; return ++calls; }
};
template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
int table[3] = {twice(1), twice(2), Base<int>().f()};
void fill_own(Base<int>& b) { b.f(); }
}
"""
LEAKS = {
    "inline": """
        inline __attribute__((noinline)) int leak() { return 1; }
        namespace asc::cpu::v3 { int use() { return leak(); } }""",
    "template": """
        namespace std { template <class T> T leak(T x) { return x; } }
        namespace asc::cpu::v3 { int use() { return std::leak(1); } }""",
    "template over own type": """
        namespace asc::cpu::v3 { struct T {}; }
        template <class T> void leak(T*) {}
        namespace asc::cpu::v3 { void use() { T t; leak(&t); } }""",
    "other variant": "namespace asc::cpu::v4 { int leak() { return 1; } }",
    "parent": "namespace asc::cpu { int leak() { return 1; } }",
    "C name": 'extern "C" int leak() { return 1; }',
}

needs_compiler = pytest.mark.skipif(
    shutil.which(COMPILER) is None or shutil.which("nm") is None, reason="needs a compiler and nm"
)


def _check(tmp_path, source):
    (tmp_path / "kernel.cpp").write_text(source)
    command = [COMPILER, "-std=c++20", "-O0", "-c", "kernel.cpp", "-o", "kernel.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    script = ROOT / "cmake" / "check_kernel_symbols.py"
    command = [sys.executable, str(script), "--isa", "v3", "--stamp", "stamp", "kernel.o"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


@needs_compiler
def test_symbols_of_its_own_namespace_pass(tmp_path):
    done = _check(tmp_path, OWN)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "stamp").exists()


@needs_compiler
@pytest.mark.parametrize("source", LEAKS.values(), ids=LEAKS)
def test_a_leak_is_named(tmp_path, source):
    done = _check(tmp_path, OWN + source)
    assert done.returncode == 1
    assert "leak" in done.stderr
    assert not (tmp_path / "stamp").exists()


def test_every_build_runs_the_check():
    rules = (ROOT / "CMakeLists.txt").read_text()
    assert "add_dependencies(_core check_kernel_symbols)" in rules
