"""The engine without a lab: tests/checker/no_arrays.cu, a host that names no arrays."""

from __future__ import annotations

import subprocess

import pytest
from conftest import Tree, clean_environment

RUN_SECONDS = 60
KERNELS = {
    # What a kernel of the corpus is, and what the memory itself says of it.
    "instructor/solutions/2_tiled.cu": ("none", ""),
    "instructor/faulty/01_first_barrier.cu": ("shared-race", "A_s[0][1]"),
    "instructor/faulty/07_load_commented_out.cu": ("uninitialised-shared", "b_tile[0][7]"),
    "instructor/faulty/04_no_guards.cu": ("out-of-bounds", "byte 4624 of the 4624 allocated"),
}  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_mistakes_are_found_where_no_array_is_named(tree: Tree, kernel: str) -> None:
    tree.make("-f", "Makefile", "-f", "tests/checker/hosts.mk", "BACKEND=cpu",
                    f"KERNEL={kernel}", "build/check/no_arrays")
    ran = subprocess.run(["build/check/no_arrays"], cwd=tree.path, env=clean_environment(),
                         capture_output=True, text=True, timeout=RUN_SECONDS, check=True)
    kind, element = KERNELS[kernel]
    finding, launch = ran.stdout.splitlines()
    found, line, at = finding.split(" ", 2)
    assert (found, at[: len(element)]) == (kind, element), ran
    assert (int(line) > 0) == (kind != "none"), ran
    # There is no output whose size a launch could be compared with.
    assert launch == "" if kind == "none" else launch.startswith("mysgemm<<<"), ran
    assert ";" not in launch, ran
