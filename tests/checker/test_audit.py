"""checker/audit.c: what the compiler does not announce to the checker is found all the same. (That
right kernels are not accused, the tests of all of them say.)"""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from checked import Builder, run_check
from conftest import REPOSITORY, sample

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has an audit")

NAIVE = (REPOSITORY / "instructor/solutions/1_naive.cu").read_text()
HIDDEN = '__attribute__((no_sanitize("thread")))'


RUNS = 8
"""Blocks are drawn at random, and where in a block an audit begins."""


def findings(program: Path, *shape: int) -> list[tuple[str, int]]:
    """Kinds and lines, of several runs."""
    runs = [run_check(program, "--json", *shape) for _ in range(RUNS)]
    assert {run.status for run in runs} <= {0, 1}
    return [(run.finding["kind"], run.finding["line"]) for run in runs if run.finding]


def test_an_index_that_leads_far_away(checker: Builder) -> None:
    cheat = REPOSITORY / "instructor/cheats/39_zero_length_array.cu"
    lines = cheat.read_text().splitlines()
    here = next(i for i, line in enumerate(lines, 1) if "<- here" in line)
    found = findings(checker("gcc -O1", cheat), 34, 35, 36)
    assert len(found) > RUNS / 2 and {*found} == {("unseen", here)}


@pytest.mark.parametrize(("setup", "shape"), sample(  # each of both once
    [(setup, shape) for setup in ("gcc -O1", "clang -O1") for shape in ((34, 35, 36), (5, 100, 3))],
    every=3))
def test_a_kernel_without_announcements(checker: Builder, setup: str, shape: tuple[int, ...],
                                        tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    assert NAIVE.count("__global__ void") == 1
    path.write_text(NAIVE.replace("__global__ void", f"{HIDDEN} __global__ void"))
    found = findings(checker(setup, path), *shape)
    assert found and {kind for kind, _ in found} == {"unseen"}


@pytest.mark.parametrize("setup", ["gcc -O1", "clang -O1"])
def test_one_load_in_many(checker: Builder, setup: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    tiled = (REPOSITORY / "instructor/solutions/2_tiled.cu").read_text()
    text = tiled.replace("__global__ void", f"{HIDDEN} __attribute__((noinline)) static float hidden"
                         "(const float *p) { return *p; }\n__global__ void", 1)
    text = text.replace("    float sum = 0.0f;\n", "    float sum = 0.0f * hidden(A);\n", 1)
    assert text.count("hidden(") == 2
    path.write_text(text)
    found = findings(checker(setup, path), 20, 20, 20)
    assert found and {kind for kind, _ in found} == {"unseen"}
