"""The engine without a lab: own_hosts.c, whose arrays are no matrices of floats, and which launches several
kernels. (A host that names no arrays: engine/test_embedded.py.)"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import Tree, clean_environment

RUN_SECONDS = 60


@pytest.fixture(scope="module")
def hosts(tree: Tree) -> Path:
    program = "build/check/own_hosts"
    tree.make("-f", "Makefile", "-f", "tests/watch/own_hosts.mk", "BACKEND=cpu",
              "KERNEL=tests/watch/own_kernels.cu", program)
    return tree.path / program


def printed(program: Path, *args: object) -> list[str]:
    ran = subprocess.run([program, *map(str, args)], env=clean_environment(), capture_output=True, text=True,
                         timeout=RUN_SECONDS, check=True)
    assert not ran.stderr, ran
    return ran.stdout.splitlines()


def test_arrays_are_counted_and_kept_by_their_element_type(hosts: Path) -> None:
    counts, phase, *trace = printed(hosts, "types", 0)
    # 30 doubles, 30 bytes, 30 ints.
    assert counts == "30 elements, 240 bytes; 30 elements, 30 bytes; 30 elements, 120 bytes; needed 60"
    # x_s[3] is x[3], which thread 3 has stored; the block stores the first 16 elements.
    assert phase == "phase x_s f64 16 3.25 by 3, stored 1 0"
    # The last thread of the block to run: its double, its byte, its int, and what it reads of x_s.
    assert trace[:4] == ["trace 0 f64 15 1 15.25", "trace 1 u8 0 1 0", "trace 2 i32 0 1 -1",
                         "trace 8 f64 14 1 14.25"]
    assert trace[4:] == ["", "", "", "cudaSuccess"]  # no finding


def test_an_element_outside_has_an_index_for_each_dimension(hosts: Path) -> None:
    """In the allocation that the array is a part of, and behind that: the launch cannot go on."""
    for too_far, element, ends in ((1, "cube[2][0][0]", "cudaSuccess"), (7, "cube[2][1][1]", "cudaSuccess"),
                                   (40, "cube[4][1][4]", "cudaErrorIllegalAddress")):
        assert printed(hosts, "types", too_far)[-4:] == [
            "store to cube beyond its end", element,
            f"thread (13,0) writes {element}, but cube has 2 x 3 x 5 elements", ends]


PHASES, ALL_BLOCKS, ONE_BLOCK = 2, 4, 8  # enum engine_keeps
NINE = [0, 3, 4, 0, 5, 6, 7, 8, 9]


def kept(hosts: Path, keeps: int, launch: int, counts: list[int]) -> list[tuple[list[int], int]]:
    """Of the trace, which has all accesses of a launch, and of the phases: the launches, and the one that is shown."""
    traced, phases = (line.split() for line in printed(hosts, "launches", keeps, launch, *counts))
    numbers, loading = ([int(re.split("[:/]", word)[0]) for word in line[:-2]] for line in (traced, phases))
    assert traced[:-2] == [f"{number}:{2 * counts[number - 1] or 8}" for number in numbers]
    assert phases[:-2] == [f"{number}/{len(counts)}:1" for number in loading]
    return [(numbers, int(traced[-1])), (loading, int(phases[-1]))]


def test_which_launches_are_kept(hosts: Path) -> None:
    """The first eight; of phases those that load x: one that does not has none to show."""
    loads = [number for number, count in enumerate(NINE, 1) if count]
    for launch, shown in ((0, 2), (1, 1), (4, 4), (8, 8)):
        assert kept(hosts, PHASES | ALL_BLOCKS, launch, NINE) == [
            ([*range(1, 9)], shown), (loads, shown if shown in loads else 0)]
    # The one that is asked for in any case, in the place of the eighth.
    assert kept(hosts, PHASES | ALL_BLOCKS, 11, [1] * 12) == [([*range(1, 8), 11], 11)] * 2
    assert kept(hosts, ALL_BLOCKS, 13, [1] * 12)[0] == ([*range(1, 9)], 0)
    # The first that loads an input, too.
    assert kept(hosts, PHASES | ALL_BLOCKS, 0, [0] * 9 + [5, 6]) == [([*range(1, 8), 10], 10), ([10, 11], 10)]


def test_of_a_single_block_one_launch_is_kept(hosts: Path) -> None:
    for launch, shown in (0, 2), (1, 1), (9, 9):
        assert kept(hosts, ONE_BLOCK, launch, NINE)[0] == ([shown], shown)
    # Nothing is shown of launches that load no input, unless one is asked for.
    assert kept(hosts, ONE_BLOCK, 0, [0, 0])[0][1] == 0
    assert kept(hosts, ONE_BLOCK, 3, [1, 1])[0] == ([], 0)
