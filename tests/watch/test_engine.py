"""The engine without a lab: tests/watch/no_arrays.cu, a host that names no arrays, typed_arrays.c, one
whose arrays are no matrices of floats, and kept_launches.c, one that launches several kernels."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import Tree, clean_environment, sample
from corpus import faulty

RUN_SECONDS = 60
KERNELS = {
    # What a kernel of the corpus is, and what the memory itself says of it.
    "instructor/solutions/2_tiled.cu": ("none", ""),
    faulty("01_first_barrier"): ("shared-race", "A_s[0][1]"),
    faulty("07_load_commented_out"): ("uninitialized-shared", "b_tile[0][7]"),
    faulty("04_no_guards"): ("out-of-bounds", "byte 4624 of memory[i] of 4624 bytes"),
}  # fmt: skip


def run_host(tree: Tree, host: str, kernel: str, *args: object) -> list[str]:
    """What this host prints about the kernel, in lines."""
    program = f"build/check/{host}"
    tree.make("-f", "Makefile", "-f", "tests/watch/hosts.mk", "BACKEND=cpu", f"KERNEL={kernel}", program)
    ran = subprocess.run([program, *map(str, args)], cwd=tree.path, env=clean_environment(),
                         capture_output=True, text=True, timeout=RUN_SECONDS, check=True)
    assert not ran.stderr, ran
    return ran.stdout.splitlines()


@pytest.mark.parametrize("kernel", sample([*KERNELS], every=3), ids=lambda kernel: Path(kernel).stem)
def test_mistakes_are_found_where_no_array_is_named(tree: Tree, kernel: str) -> None:
    kind, element = KERNELS[kernel]
    ran = finding, launch = run_host(tree, "no_arrays", kernel)
    found, line, at = finding.split(" ", 2)
    assert (found, at[: len(element)]) == (kind, element), ran
    assert (int(line) > 0) == (kind != "none"), ran
    # There is no output whose size a launch could be compared with.
    assert launch == "" if kind == "none" else launch.startswith("mysgemm<<<"), ran
    assert ";" not in launch, ran


def test_arrays_are_counted_and_kept_by_their_element_type(tree: Tree) -> None:
    counts, moved, phase, *trace = run_host(tree, "typed_arrays", "tests/watch/typed_kernel.cu")
    # 30 doubles, 30 bytes, 30 ints: each an element, of its own size.
    assert counts == "elements 30 30 30 needed 60"
    assert moved == "bytes 240 30 120"
    # x_s[3] is x[3], which thread 3 has stored; the block stores the first 16 elements.
    assert phase == "phase x_s f64 16 3.25 by 3, stored 1 0"
    # The last thread of the block to run: its double, its byte, its int, and what it reads of x_s.
    assert trace[:4] == ["trace 0 f64 15 1 15.25", "trace 1 u8 0 1 0", "trace 2 i32 0 1 -1",
                         "trace 8 f64 14 1 14.25"]
    assert trace[4:] == ["", "", "", "cudaSuccess"]  # no finding


PHASES, ALL_BLOCKS, ONE_BLOCK = 2, 4, 8  # enum engine_keeps
NINE = [0, 3, 4, 0, 5, 6, 7, 8, 9]
ACCESSES = {count: 2 * count or 8 for count in range(10)}


def kept(tree: Tree, keeps: int, launch: int, counts: list[int]) -> tuple[list[str], list[str]]:
    ran = run_host(tree, "kept_launches", "tests/watch/copy_kernel.cu", keeps, launch, *counts)
    return ran[0].split(), ran[1].split()


def traced(counts: list[int], numbers: list[int], shows: int) -> list[str]:
    return [*(f"{n}:{ACCESSES[counts[n - 1]]}" for n in numbers), "shows", str(shows)]


@pytest.mark.parametrize("launch, shows", [(0, 2), (1, 1), (4, 4), (8, 8)])
def test_the_first_eight_launches_are_kept(tree: Tree, launch: int, shows: int) -> None:
    trace, phases = kept(tree, PHASES | ALL_BLOCKS, launch, NINE)
    assert trace == traced(NINE, list(range(1, 9)), shows)
    # Phases: of those that load x. One that does not has none to show.
    loads = [n for n, count in enumerate(NINE, 1) if count]
    assert phases == [*(f"{n}/9:1" for n in loads), "shows", str(shows if shows in loads else 0)]


def test_the_launch_that_is_asked_for_is_always_kept(tree: Tree) -> None:
    """In the place of the eighth."""
    counts = [1] * 12
    trace, phases = kept(tree, PHASES | ALL_BLOCKS, 11, counts)
    assert trace == traced(counts, [*range(1, 8), 11], 11)
    assert phases == [*(f"{n}/12:1" for n in [*range(1, 8), 11]), "shows", "11"]
    assert kept(tree, ALL_BLOCKS, 13, counts)[0] == traced(counts, list(range(1, 9)), 0)


def test_the_first_launch_that_loads_an_input_is_always_kept(tree: Tree) -> None:
    counts = [0] * 9 + [5, 6]
    trace, phases = kept(tree, PHASES | ALL_BLOCKS, 0, counts)
    assert trace == traced(counts, [*range(1, 8), 10], 10)
    assert phases == ["10/11:1", "11/11:1", "shows", "10"]


def test_of_a_single_block_one_launch_is_kept(tree: Tree) -> None:
    for launch, shows in (0, 2), (1, 1), (9, 9):
        assert kept(tree, ONE_BLOCK, launch, NINE)[0] == traced(NINE, [shows], shows)
    # Nothing is shown of launches that load no input, unless one is asked for.
    assert kept(tree, ONE_BLOCK, 0, [0, 0])[0][-1] == "0"
    assert kept(tree, ONE_BLOCK, 3, [1, 1])[0] == ["shows", "0"]


# In the allocation that the array is a part of, and behind that: the launch cannot go on.
@pytest.mark.parametrize(("too_far", "element", "ends"), [
    (1, "cube[2][0][0]", "cudaSuccess"),
    (7, "cube[2][1][1]", "cudaSuccess"),
    (40, "cube[4][1][4]", "cudaErrorIllegalAddress"),
])
def test_an_element_outside_has_an_index_for_each_dimension(
    tree: Tree, too_far: int, element: str, ends: str
) -> None:
    *_, what, named, detail, ended = run_host(tree, "typed_arrays", "tests/watch/typed_kernel.cu", too_far)
    assert (what, named, ended) == ("store to cube beyond its end", element, ends)
    assert detail == f"thread (13,0) writes {element}, but cube has 2 x 3 x 5 elements"
