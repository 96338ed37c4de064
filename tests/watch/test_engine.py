"""The engine without a lab: typed_arrays.c, a host whose arrays are no matrices of floats. (One that names no arrays:
engine/test_embedded.py.)"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import Tree, clean_environment

RUN_SECONDS = 60


@pytest.fixture(scope="module")
def host(tree: Tree) -> Path:
    program = "build/check/typed_arrays"
    tree.make("-f", "Makefile", "-f", "tests/watch/typed_arrays.mk", "BACKEND=cpu",
              "KERNEL=tests/watch/typed_kernel.cu", program)
    return tree.path / program


def printed(host: Path, too_far: int) -> list[str]:
    ran = subprocess.run([host, str(too_far)], env=clean_environment(), capture_output=True, text=True,
                         timeout=RUN_SECONDS, check=True)
    assert not ran.stderr, ran
    return ran.stdout.splitlines()


def test_arrays_are_counted_and_kept_by_their_element_type(host: Path) -> None:
    counts, phase, *trace = printed(host, 0)
    # 30 doubles, 30 bytes, 30 ints.
    assert counts == "30 elements, 240 bytes; 30 elements, 30 bytes; 30 elements, 120 bytes; needed 60"
    # x_s[3] is x[3], which thread 3 has stored; the block stores the first 16 elements.
    assert phase == "phase x_s f64 16 3.25 by 3, stored 1 0"
    # The last thread of the block to run: its double, its byte, its int, and what it reads of x_s.
    assert trace[:4] == ["trace 0 f64 15 1 15.25", "trace 1 u8 0 1 0", "trace 2 i32 0 1 -1",
                         "trace 8 f64 14 1 14.25"]
    assert trace[4:] == ["", "", "", "cudaSuccess"]  # no finding


def test_an_element_outside_has_an_index_for_each_dimension(host: Path) -> None:
    """In the allocation that the array is a part of, and behind that: the launch cannot go on."""
    for too_far, element, ends in ((1, "cube[2][0][0]", "cudaSuccess"), (7, "cube[2][1][1]", "cudaSuccess"),
                                   (40, "cube[4][1][4]", "cudaErrorIllegalAddress")):
        assert printed(host, too_far)[-4:] == [
            "store to cube beyond its end", element,
            f"thread (13,0) writes {element}, but cube has 2 x 3 x 5 elements", ends]
