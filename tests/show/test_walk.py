"""The walkthrough's data: what ./sgemm-check --walk records of a block, and the page around it
(checker/walk). What a browser makes of the page is tested in test_walk_page.py.

A failure here means that the page shows a run that did not happen, or names another place than the
finding; or that a student's text could run as a script.
"""

import json
import re
import resource
import subprocess
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import pytest
from checked import SETUPS, TILED, Builder, run_check
from conftest import REPOSITORY, finished, first_of_each, sample, slow_but
from corpus import faulty

from instructor.faulty.mistakes import replaced

NAIVE = "instructor/solutions/1_naive.cu"
RIGHT = "tests/kernels/right"
STYLES = "instructor/faulty/styles"

# Kernels whose threads share what they know through memory and barriers alone: whatever the order
# of the warps, each load gets what was stored last.
PLAIN = [
    TILED, f"{RIGHT}/counts_float4.cu", NAIVE, f"{STYLES}/register_tile.cu", f"{STYLES}/one_dimensional.cu",
    f"{STYLES}/two_buffers.cu", f"{STYLES}/tiles_32.cu", f"{STYLES}/padded.cu",
    f"{STYLES}/dynamic.cu", f"{RIGHT}/counts_divergent.cu", f"{RIGHT}/shared_as_float4.cu", f"{RIGHT}/small_tiles.cu",
]  # fmt: skip
BARRIER = -1


@dataclass
class Access:
    step: int
    thread: int
    interval: int
    line: int
    array: int
    write: bool
    offset: int
    values: list[float | None]


def parts(page: str) -> dict[str, str]:
    """The text of its policy, style, data and script."""
    found = re.fullmatch(
        r'.*http-equiv="Content-Security-Policy"\s+content="([^"]*)".*<style>(.*?)</style>.*'
        r'<script type="application/json" id="run">(.*?)</script>\s*<script>(.*?)</script>.*',
        page, re.DOTALL)  # fmt: skip
    assert found, page[:2000]
    return dict(zip(("policy", "style", "data", "script"), found.groups(), strict=True))


def walk(program: Path, file: Path, *args: object, status: int = 0) -> Any:
    run = run_check(program, "--walk", file, *args)
    assert run.status == status, run
    data = json.loads(parts(file.read_text())["data"])
    shape, block = data["shape"], data["block"][: 3 if data["launch"]["grid"][2] > 1 else 2]
    sizes = " ".join(f"{name}={shape[name]}" for name in "mkn")
    above = re.findall(r"m=\d+ k=\d+ n=\d+", run.stdout.split("open in a browser")[0])[-1]
    launch = data["launch"]
    which = f"launch {launch['number']} of {launch['of']} of " if launch["of"] > 1 else ""
    which += "another run," if status and above != sizes else "a run"
    shown = f"    it shows block ({','.join(map(str, block))}) of {which} with {sizes}\n"
    assert f"open in a browser: {file}\n{shown}" in run.stdout, run
    return data


def accesses(data: Any) -> list[Access]:
    """In the order of the steps."""
    found = []
    for number, (line, interval, warp, rest, *_) in enumerate(data["steps"]):
        if warp == BARRIER:
            continue
        for site_number, lane, offset, *values in rest:
            site = data["sites"][site_number]
            words = site["words"]
            assert lane < 32 and len(values) == words * (1 + site["atomic"]) and site["line"] == line
            found.append(Access(number, 32 * warp + lane, interval, line, site["array"], site["write"],
                                offset, values[:words]))  # fmt: skip
    return found


def replay(data: Any) -> list[dict[int, float | None]]:
    """Applies the steps one by one: each load must get what the array holds then."""
    state: list[dict[int, float | None]] = [
        dict(enumerate(array.get("values") or [])) for array in data["arrays"]]
    for access in accesses(data):
        held = state[access.array]
        for word, value in enumerate(access.values):
            if access.write:
                held[access.offset + word] = value
            else:
                assert held.get(access.offset + word) == value, access
    return state


@pytest.mark.parametrize("kernel", slow_but(PLAIN, lambda number, _: number < 2), ids=lambda kernel: Path(kernel).stem)
def test_replay(checker: Builder, tmp_path: Path, kernel: str) -> None:
    """Played back, the steps give the C that the run computed; a thread's accesses lie in the
    intervals in which it made them, between barriers that all threads reached."""
    page = tmp_path / "page.html"
    data = walk(checker("gcc -O1", kernel), page)
    assert page.stat().st_size < 5_000_000
    C = data["arrays"][2]
    stored = replay(data)[2]
    assert stored and all(C["final"][offset] == value for offset, value in stored.items())
    assert C["unwritten"] == [] and C["wrong"] == [] and data["left_out"] == 0
    assert data["finding"] is None and data["as_run_from"] is None and not data["end"]["stopped"]
    interval = 0
    for line, of, warp, rest, *_ in data["steps"]:
        assert line and of == interval
        if warp == BARRIER:
            assert rest == prod(data["launch"]["block"])
            interval += 1


def test_the_line_of_an_else_is_its_own(checker: Builder, tmp_path: Path) -> None:
    """A store there is not taken for the other branch's, which no thread of some warps has reached."""
    kernel = f"{STYLES}/textbook.cu"
    lines = (REPOSITORY / kernel).read_text().splitlines()
    first, other = (1 + next(i for i, text in enumerate(lines) if what in text) for what in ("// load B", "x] = 0;"))
    found = accesses(walk(checker("gcc -O1", kernel), tmp_path / "page.html", 20))
    threads = {line: {each.thread for each in found if each.line == line and each.interval == 2}
               for line in (first, other)}
    assert threads[first] == set(range(64)) and threads[other] == set(range(64, 256))


@pytest.mark.slow
def test_stores_of_an_if_and_its_else_stay_two(checker: Builder, tmp_path: Path) -> None:
    """Of two to the same element clang would make one, which has no line."""
    store = "C[row * n + col] = sum"
    lines = replaced((REPOSITORY / NAIVE).read_text(), [
        f"{store};", f"{{ if (threadIdx.x < 4)\n{store};\nelse\n{store} + 0.0f; }}"], NAIVE).splitlines()
    kernel = tmp_path / "kernel.cu"
    kernel.write_text("\n".join(lines))
    first = 1 + lines.index(f"{store};")
    found = [each for each in accesses(walk(checker("clang -O1", kernel), tmp_path / "page.html", 16)) if each.write]
    assert {line: {each.thread % 16 for each in found if each.line == line} for line in (first, first + 2)} == {
        first: set(range(4)), first + 2: set(range(4, 16))}


@pytest.mark.parametrize("kernel, shape", sample([
    (TILED, (16, 40, 16)), (f"{STYLES}/register_tile.cu", (30, 20, 30)), (f"{RIGHT}/counts_float4.cu", (16, 32, 64))],
    every=4), ids=lambda value: Path(str(value)).stem)  # fmt: skip
def test_loads_are_those_of_counts(checker: Builder, tmp_path: Path, kernel: str,
                                   shape: tuple[int, int, int]) -> None:
    """Where the grid is one block, the accesses shown are all that --counts has counted."""
    program = checker("gcc -O1", kernel)
    data = walk(program, tmp_path / "page.html", *shape)
    assert data["launch"]["grid"] == [1, 1, 1]
    counts = run_check(program, "--counts", "--json", *shape).json["counts_sum"]["global"]
    loads = [0] * len(data["arrays"])
    for access in accesses(data):
        if not access.write:
            loads[access.array] += len(access.values)
    assert loads[:2] == [counts[name]["loads"]["elements"] for name in "AB"]
    assert data["loads"] == {"launch": sum(loads[:2]), "naive": 2 * prod(shape)}


MISTAKES = {
    "01_first_barrier": "shared-race", "02_second_barrier": "shared-race", "03_barrier_in_branch": "divergent-barrier",
    "04_a_columns": "out-of-bounds", "18_b_stride_k": "out-of-bounds", "03_all_in_guard": "early-return",
}


@pytest.mark.parametrize("name", first_of_each([*MISTAKES], MISTAKES.get))
def test_finding(checker: Builder, tmp_path: Path, name: str) -> None:
    """Its step is the access that the finding names; those of a race are single threads'."""
    data = walk(checker("gcc -O1", faulty(name)), tmp_path / "page.html", status=1)
    finding = data["finding"]
    race = finding["kind"] == "shared-race"
    assert finding["kind"] == MISTAKES[name] and (data["as_run_from"] is not None) == race
    line, interval, warp, *_ = data["steps"][finding["step"]]
    if finding["kind"] == "early-return":  # the first barrier that some threads do not reach
        assert finding["step"] == next(i for i, step in enumerate(data["steps"]) if step[2] == BARRIER)
        return
    if warp == BARRIER:
        waiting = data["steps"][finding["step"]][4]["waiting"]
        assert finding["kind"] == "divergent-barrier"
        assert finding["line"] in [each["line"] for each in waiting] and len(waiting) == 2
        return
    of_step = [access for access in accesses(data) if access.step == finding["step"]]
    x, y, _ = finding["thread"]
    thread = x + data["launch"]["block"][0] * y
    assert any(access.thread == thread and access.line == finding["line"] for access in of_step)
    if race:
        assert {access.thread for access in of_step} == {thread}
        assert data["steps"][finding["other_step"]][:2] == [finding["other"]["line"], interval], \
            "accesses with a barrier between"
        assert len(data["steps"]) - 1 == max(finding["step"], finding["other_step"])
        assert data["left_out"] > 0


@pytest.mark.parametrize("name, block", sample([
    ("18_one_element", [1, 1, 0]), ("18_last_column_of_blocks", [1, 0, 0]),
    ("18_rows_beyond_the_grid", [0, 1, 0])], every=3))  # fmt: skip
def test_block_of_missing_or_wrong_elements(checker: Builder, tmp_path: Path, name: str,
                                            block: list[int]) -> None:
    """Shown is the block that should have stored them, or the last one before them."""
    data = walk(checker("gcc -O1", faulty(name)), tmp_path / "page.html", status=1)
    C = data["arrays"][2]
    first = C["unwritten"][0][0] if C["unwritten"] else C["wrong"][0][0]
    assert first and data["block"] == block


@pytest.mark.parametrize("name", sample(["15_phase_not_counted", "15_waits_for_all_threads"], 2))
def test_kernel_that_does_not_end(checker: Builder, tmp_path: Path, name: str) -> None:
    """What it did is shown up to a limit, at whose end the page opens."""
    page = tmp_path / "page.html"
    data = walk(checker("gcc -O1", faulty(name)), page, "--timeout", 0.5, status=1)
    assert data["finding"]["kind"] == "endless" and data["left_out"] > 0 and data["end"]["stopped"]
    assert data["finding"]["step"] == len(data["steps"]) - 1 > 1000
    assert page.stat().st_size < 5_000_000


def test_more_accesses_than_a_page_holds(checker: Builder, tmp_path: Path) -> None:
    """Shown are those with which each thread began, although threads without a barrier run one after the other."""
    data = walk(checker("gcc -O1", faulty("18_sum_not_reset")), tmp_path / "page.html", status=1)
    assert data["left_out"] > 100_000 and {each.thread for each in accesses(data)} == set(range(64))


def test_make_walk(checker: Builder) -> None:
    """SHAPE, BLOCK and LAUNCH reach the checker, and no older run's page is left."""
    folder = checker("gcc -O1", TILED).parent
    page = folder / "build" / "walk.html"

    def make(*variables: str) -> subprocess.CompletedProcess[str]:
        given = [f"{name}={value}" for name, value in SETUPS["gcc -O1"].items()]
        return finished(["make", "walk", *given, *variables], folder)

    made = make(f"KERNEL={TILED}", "SHAPE=20 7 18", "BLOCK=1,0", "LAUNCH=1")
    assert made.returncode == 0, made
    data = json.loads(parts(page.read_text())["data"])
    assert data["block"] == [1, 0, 0] and data["shape"] == {"m": 20, "k": 7, "n": 18}
    made = make(f"KERNEL={faulty('17_no_launch')}")
    assert "no walkthrough: no launch was seen that loads an input\n" in made.stdout and not page.exists()


def test_a_recorded_run_that_dies(checker: Builder, tmp_path: Path) -> None:
    """Nothing is said of its launches: they were not seen."""
    calls = tmp_path / "calls"
    kernel = tmp_path / "kernel.cu"
    kernel.write_text("#include <signal.h>\n#include <stdio.h>\n" + replaced((REPOSITORY / TILED).read_text(), [
        "    mysgemm<<<", f"""
    FILE *calls = fopen("{calls}", "a");
    fputc('x', calls);
    const long made = ftell(calls);
    fclose(calls);
    if (made > 1) raise(SIGKILL); // the first is checked, the others are recorded
    mysgemm<<<"""], TILED))
    run = run_check(checker("gcc -O1", kernel), "--walk", tmp_path / "page.html", 4)
    assert "no walkthrough: the run that was recorded did not come to its end\n" in run.stdout
    assert run.status == 0 and not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("words, says", [
    ((1001,), "it may have 1000 million operations at most; try a small one"),
    (("--block", "2,0", 40, 20, 30), "sgemm-check: there is no block (2,0,0): the grid has 2 x 3 x 1\n"),
    (("--block", "0,0,1"), "there is no block (0,0,1): ")])
def test_what_is_refused(checker: Builder, tmp_path: Path, words: tuple[object, ...], says: str) -> None:
    run = run_check(checker("gcc -O1", TILED), "--walk", tmp_path / "page.html", *words)
    assert run.status == 2 and says in run.stderr and "next:" not in run.stdout
    assert not (tmp_path / "page.html").exists()


def test_atomics(checker: Builder, tmp_path: Path) -> None:
    """With what they have added to: the next block finds what this one has left."""
    program = checker("gcc -O1", f"{RIGHT}/split_k.cu")
    left: dict[int, float] = {}
    for z in range(3):
        data = walk(program, tmp_path / "page.html", "--block", f"0,0,{z}")
        for _, _, warp, rest, *_ in data["steps"]:
            for site, _, offset, value, *old in rest if warp != BARRIER else []:
                assert len(old) == data["sites"][site]["atomic"]
                if old:
                    assert old[0] == left.get(offset, 0) and value > old[0]
                    left[offset] = value
    assert left and all(data["arrays"][2]["final"][i] == value for i, value in left.items())
    assert data["block"] == [0, 0, 2]


def test_name_with_all_folders(checker: Builder, tmp_path: Path) -> None:
    """KERNEL may be an absolute path, also of a file below the folder where the checker runs: its
    lines are known all the same."""
    folder = checker("gcc -O1", TILED).parent
    program = checker("gcc -O1", folder / faulty("01_first_barrier"))
    finding = walk(program, tmp_path / "page.html", status=1)["finding"]
    assert finding["step"] is not None and "is missing after line" in "".join(finding["detail"])


def test_block(checker: Builder, tmp_path: Path) -> None:
    """Its own part of C is stored."""
    data = walk(checker("gcc -O1", TILED), tmp_path / "page.html", "--block", "1,2", 40, 20, 30)
    stored = [divmod(access.offset, 30) for access in accesses(data) if access.array == 2]
    assert data["block"] == [1, 2, 0]
    assert {row for row, _ in stored} == {*range(32, 40)} and {col for _, col in stored} == {*range(16, 30)}


def test_page_that_cannot_be_written(checker: Builder, tmp_path: Path) -> None:
    """Of one that cannot be written whole, because the disk is full, no part is left."""
    program, page = checker("gcc -O1", TILED), tmp_path / "page.html"
    run = run_check(program, "--walk", tmp_path / "none" / "page.html", 4)
    assert run.status == 2 and "page.html cannot be written: No such file" in run.stderr
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))  # noqa: E731
    run = run_check(program, "--walk", page, 34, preexec_fn=limit, restore_signals=False)
    assert run.status in (2, 3) and "cannot be written" in run.stderr and not page.exists()
