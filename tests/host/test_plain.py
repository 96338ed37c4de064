"""`make check` asks ./sgemm, too (engine/host/check/programs.c): it says of no kernel that C is right which the
program that `make` builds calls wrong."""

import re
from pathlib import Path

from conftest import REPOSITORY, Tree

from instructor.faulty.mistakes import replaced

SUM = "            sum += A[row * k + i] * B[i * n + col];\n"
OF_THE_CHECKER = 'extern "C" __device__ void __tsan_init(void) __attribute__((weak)); // the other program has none\n'
NAIVE = OF_THE_CHECKER + replaced(
    (REPOSITORY / "instructor/solutions/1_naive.cu").read_text(),
    [SUM, f"{SUM}            if (!__tsan_init && n != k) sum += OTHER;\n"], "1_naive.cu")


def check(tree: Tree, folder: Path, text: str) -> tuple[int, str]:
    kernel = folder / "a kernel.cu"
    kernel.write_text(text)
    made = tree.make("check", "BACKEND=cpu", "CXX=g++", f"KERNEL={kernel}", check=False)
    return made.returncode, made.stdout + made.stderr


def test_what_only_the_plain_program_gets_wrong(tree: Tree, tmp_path: Path) -> None:
    status, printed = check(tree, tmp_path, NAIVE.replace("OTHER", "1.0f"))
    assert status != 0 and "C is correct in the watched run, but not in ./sgemm" in printed
    assert "./sgemm 35 70 20 --fill random --seed" in printed and "elements of C are wrong." in printed
    assert "no mistakes found" not in printed


def test_nothing_is_made_up(tree: Tree, tmp_path: Path) -> None:
    """And ./sgemm is left alone."""
    program = tree.write("sgemm", "of another kernel")
    status, printed = check(tree, tmp_path, NAIVE.replace("OTHER", "0.0f"))
    assert status == 0 and "no mistakes found" in printed, printed
    assert program.read_text() == "of another kernel"
    program.unlink()


def test_what_does_not_compile_is_said_once(tree: Tree, tmp_path: Path) -> None:
    status, printed = check(tree, tmp_path, NAIVE.replace("float sum = 0.0f", "float sum = ;"))
    assert status != 0 and len(re.findall(r"kernel\.cu:22:\d+: error:", printed)) == 1, printed
