"""`make bench`: what it says about times, and about kernels that are wrong or break it.

Without a GPU the ladder is run with a worker that only says what a real one would
(bench/fake_worker.py); with one (marked gpu) the kernels of bench/kernels are measured, and the
verdict of grader/clock/product.h is held against support.h's.
"""

from __future__ import annotations

import csv
import ctypes
import importlib.util
import json
import math
import os
import pty
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, Tree, clean_environment, find_nvcc, locked, missing, strict_json
from hypothesis import given, settings
from hypothesis import strategies as st

HERE = REPOSITORY / "tests" / "instructor" / "bench"
SECONDS = 120  # a limit for what hangs


# ---- grader/clock/samples.c ----------------------------------------------------------------------


class Summary(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int), ("median", ctypes.c_double), ("minimum", ctypes.c_double),
                ("quartile_1", ctypes.c_double), ("quartile_3", ctypes.c_double)]


@pytest.fixture(scope="session")
def samples(programs: Path) -> ctypes.CDLL:
    library = programs / "samples.so"
    with locked(programs / "samples.lock"):
        if not library.exists():
            subprocess.run(["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared",
                            "-fPIC", REPOSITORY / "grader/clock/samples.c", "-o", library, "-lm"],
                           check=True, timeout=SECONDS)
    loaded = ctypes.CDLL(str(library))
    loaded.summarise.restype = Summary
    loaded.spread_percent.restype = ctypes.c_double
    loaded.times_agree.restype = ctypes.c_bool
    loaded.times_agree.argtypes = [ctypes.c_double, ctypes.c_double]
    loaded.fastest_possible.restype = ctypes.c_double
    loaded.fastest_possible.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_double]
    return loaded


def summarise(samples: ctypes.CDLL, times: list[float]) -> Summary:
    return samples.summarise((ctypes.c_double * len(times))(*times), len(times))


TIMES = st.lists(st.floats(1e-9, 1e3), min_size=2, max_size=60)


@settings(deadline=None, max_examples=200)
@given(times=TIMES)
def test_statistics_are_those_of_python(samples, times):
    summary = summarise(samples, times)
    first, second, third = statistics.quantiles(times, n=4, method="inclusive")
    assert summary.n == len(times)
    assert summary.minimum == min(times)
    assert summary.median == pytest.approx(statistics.median(times), rel=1e-12)
    assert summary.median == pytest.approx(second, rel=1e-12)
    assert summary.quartile_1 == pytest.approx(first, rel=1e-12)
    assert summary.quartile_3 == pytest.approx(third, rel=1e-12)
    spread = samples.spread_percent(ctypes.byref(summary))
    assert spread == pytest.approx(100 * (third - first) / second, rel=1e-9, abs=1e-9)


def test_one_time_is_all_of_its_statistics(samples):
    summary = summarise(samples, [0.25])
    assert (summary.n, summary.median, summary.minimum) == (1, 0.25, 0.25)
    assert (summary.quartile_1, summary.quartile_3) == (0.25, 0.25)


@pytest.mark.parametrize("times", [[], [0.0], [1.0, -1.0], [1.0, math.nan], [math.inf]], ids=str)
def test_what_is_no_time_has_no_statistics(samples, times):
    summary = summarise(samples, times)
    assert (summary.n, summary.median) == (0, 0)
    assert samples.spread_percent(ctypes.byref(summary)) == 0


@pytest.mark.parametrize(("event", "host", "agree"), [
    (20e-6, 78e-6, True),  # as an H200 does: the hold, and being woken
    (20e-6, 25e-6, True),  # without a hold
    (0.190, 0.1901, True),
    (20e-6, 400e-6, False),  # something ran that the events do not enclose
    (1.2e-6, 3.1e-3, False),  # a side stream
    (10e-3, 20e-3, False),
    (20e-6, 10e-6, False),  # the events cannot last longer than what encloses them
    (10e-3, 5e-3, False),
    (0.0, 1e-5, False),
    (math.nan, 1.0, False),
    (1.0, math.nan, False),
])
def test_clocks_that_cannot_both_be_right(samples, event, host, agree):
    assert samples.times_agree(event, host) == agree


def test_no_machine_is_faster_than_its_peak(samples):
    assert samples.fastest_possible(1000, 700, 500, 7e11) == pytest.approx(1e-3)
    assert samples.fastest_possible(40000, 40000, 40000, 1.28e14) == pytest.approx(1.0)


# ---- build/bench/ladder with a worker that needs no GPU ------------------------------------------


@pytest.fixture(scope="session")
def ladder(tree, programs: Path) -> Path:
    program = programs / "ladder"
    with locked(programs / "ladder.lock"):
        if not program.exists():
            tree.make("BACKEND=cpu", "build/bench/ladder")
            program.write_bytes((tree.path / "build/bench/ladder").read_bytes())
            program.chmod(0o755)
    return program


@dataclass
class Bench:
    status: int
    table: str
    errors: list[str]  # what stands on standard error and is no progress
    json: Any  # None: not written
    rows: list[dict[str, str]]


class Bencher:
    """Runs the ladder in a directory of its own, on kernels that end as they are told to."""

    def __init__(self, path: Path, program: Path):
        self.path, self.program = path, program
        worker = path / "worker"
        worker.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S '{HERE}/fake_worker.py' \"$@\"\n")
        worker.chmod(0o755)
        (path / "out").mkdir()

    def kernel(self, name: str, what: str | None, head: str = "") -> list[str]:
        """Its two arguments; None: it did not compile."""
        (self.path / name).write_text(f"/* {head} */\n")
        library = f"{name}.so"
        if what is not None:
            (self.path / library).write_text(what)
        return [name, library]

    def command(self, shapes: str, kernels: list[list[str]], *options: str) -> list[str]:
        words = ["--worker", "./worker", "--out", "out", "--shapes", shapes, *options, "--"]
        return [str(self.program), *words, *(word for kernel in kernels for word in kernel)]

    def run(self, shapes: str, kernels: list[list[str]], *options: str,
            env: dict[str, str] | None = None) -> Bench:
        done = subprocess.run(
            self.command(shapes, kernels, *options), cwd=self.path, env=clean_environment(env),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False)
        errors = [line for line in done.stderr.splitlines() if line.startswith("bench: ")]
        written = self.path / "out" / "ladder.json"
        rows: list[dict[str, str]] = []
        if written.exists():
            with open(self.path / "out" / "ladder.csv", newline="") as file:
                rows = list(csv.DictReader(file))
        return Bench(done.returncode, done.stdout, errors,
                     strict_json(written.read_text()) if written.exists() else None, rows)


@pytest.fixture
def bencher(tmp_path: Path, ladder: Path) -> Bencher:
    return Bencher(tmp_path, ladder)


def result(bench: Bench, kernel: str, shape: int = 0) -> dict[str, Any]:
    return next(r for r in bench.json["shapes"][shape]["results"] if r["kernel"] == kernel)


def line(bench: Bench, kernel: str) -> str:
    return next(text for text in bench.table.splitlines() if text.startswith(kernel))


GOOD = "right 0.002"


def test_figures_are_what_the_samples_say(bencher):
    """JSON, CSV and the table tell the same, and it is right."""
    kernel = bencher.kernel("half.cu", GOOD, "intensity: 8 FLOP/byte")
    bench = bencher.run("1000 500 700", [kernel], "--samples", "7")
    assert (bench.status, bench.errors) == (0, [])
    half, cublas = result(bench, "half"), result(bench, "cuBLAS")
    times = [s["event_seconds"] for s in half["samples"]]
    assert len(times) == 7 and half["samples"][3]["round"] == 3
    quartiles = statistics.quantiles(times, n=4, method="inclusive")
    assert half["seconds"] == pytest.approx(
        {"median": statistics.median(times), "minimum": min(times), "quartile_1": quartiles[0],
         "quartile_3": quartiles[2]})
    assert half["gflops"] == pytest.approx(2 * 1000 * 500 * 700 / quartiles[1] / 1e9)
    assert half["percent_of_cublas"] == pytest.approx(50)
    assert cublas["percent_of_cublas"] == pytest.approx(100)
    assert half["percent_of_ffma"] == pytest.approx(100 * half["gflops"] / 1e4)
    assert (half["max_error_u"], half["rms_error_u"]) == (1.5, 0.25)
    assert [float(row["event_seconds"]) for row in bench.rows if row["kernel"] == "half"] == times
    assert float(bench.rows[-1]["host_seconds"]) == pytest.approx(times[-1] + 50e-6)
    words = line(bench, "half").split()
    assert words[1:4] == [f"{half['gflops']:.0f}", "50.0", f"{half['percent_of_ffma']:.1f}"]
    assert float(words[4]) == pytest.approx(half["spread_percent"], abs=0.05)
    assert words[5:] == [f"{1e3 * quartiles[1]:.3f}", "ms"]


def test_who_measured_what(bencher):
    kernels = [bencher.kernel("half.cu", GOOD, "intensity: 8 FLOP/byte"),
               bencher.kernel("kernel.cu", GOOD)]
    bench = bencher.run("64 64 64 512 512 512", kernels, "--launch", "plain")
    run = bench.json
    assert (run["format"], run["launch"]) == (1, "plain")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", run["date"])
    assert run["machine"]["device"] == 'Fake "GPU", 1' == bench.rows[0]["device"]
    assert run["machine"]["driver"] == "1.2.3"
    assert run["ceilings"] == {"ffma_flops": 1e13, "memory_bytes_per_second": 4e12,
                               "l2_bytes_per_second": 8e12}
    assert [(k["name"], k["file"], k["flop_per_byte"]) for k in run["kernels"]] == [
        ("cuBLAS", None, None), ("half", "half.cu", 8), ("kernel", "kernel.cu", None)]
    assert [(s["m"], s["k"], s["n"]) for s in run["shapes"]] == [(64, 64, 64), (512, 512, 512)]
    assert len(bench.rows) == 2 * 3 * 31


def test_a_small_shape_goes_through_a_graph(bencher):
    """And that is said, as it is of a kernel that cannot."""
    kernels = [bencher.kernel("graph.cu", GOOD), bencher.kernel("waits.cu", "right 0.002 call")]
    bench = bencher.run("34 34 34", kernels)
    assert "each a graph of 20 calls: time per call" in bench.table
    assert line(bench, "waits").endswith(" *")
    assert not line(bench, "graph").endswith(" *")
    assert "* one plain call" in bench.table
    assert result(bench, "graph")["calls_per_sample"] == 20
    assert result(bench, "graph")["through_a_graph"]
    assert not result(bench, "waits")["through_a_graph"]
    assert {(row["kernel"], row["how"]) for row in bench.rows} == {
        ("cuBLAS", "graph"), ("graph", "graph"), ("waits", "call")}


def test_the_table_fits_a_terminal(bencher):
    kernels = [bencher.kernel("a_name_that_is_far_too_long_for_it.cu", "right 0.02"),
               bencher.kernel("slow.cu", "right 123.456"), bencher.kernel("wrong.cu", "wrong"),
               bencher.kernel("crash.cu", "crash"), bencher.kernel("waits.cu", "right 0.1 call")]
    bench = bencher.run("34 34 34 2048 2048 2048 8192 8192 8192", kernels, "--samples", "3")
    assert [text for text in bench.table.splitlines() if len(text) > 80] == []


@pytest.mark.parametrize(("what", "state", "reason"), [
    ("wrong", "wrong", "C[1][2] is 3, not 4"),
    ("crash", "faulted", "Segmentation fault"),
    ("hang", "time limit", "nothing came of it for"),
    ("nothing", "wrong", "no element of C is written"),
    ("wrong-timed", "wrong", "never written"),
    ("crash-timed", "faulted", "Segmentation fault"),
    ("hang-timed", "time limit", "nothing came of it for"),
    ("disagree", "unsteady", "it took too little"),
    ("impossible", "impossible", "it took too little"),
])
def test_a_kernel_that_fails_takes_no_other_with_it(bencher, what, state, reason):
    kernels = [bencher.kernel("before.cu", GOOD), bencher.kernel("bad.cu", what),
               bencher.kernel("after.cu", GOOD)]
    bench = bencher.run("64 64 64", kernels, "--samples", "5", "--patience", "0.7")
    assert bench.status == 1
    assert len(bench.errors) == 1
    assert bench.errors[0].startswith(f"bench: bad on 64 x 64 x 64: {state}: ")
    assert reason in bench.errors[0]
    bad = result(bench, "bad")
    assert (bad["state"], "gflops" in bad) == (state, False)
    assert reason in bad["reason"]
    assert state in line(bench, "bad")
    for other in ("cuBLAS", "before", "after"):
        assert len(result(bench, other)["samples"]) == 5
    assert {row["kernel"] for row in bench.rows} == {"cuBLAS", "before", "after"}


def test_a_kernel_that_crashes_is_tried_on_the_other_shapes(bencher):
    bench = bencher.run("64 64 64 128 128 128", [bencher.kernel("bad.cu", "crash")])
    assert [result(bench, "bad", i)["state"] for i in (0, 1)] == ["faulted", "faulted"]
    assert len(bench.errors) == 2


def test_a_kernel_that_hangs_is_not_tried_again(bencher):
    bench = bencher.run("64 64 64 128 128 128", [bencher.kernel("bad.cu", "hang")],
                        "--patience", "0.7")
    assert result(bench, "bad", 1)["reason"] == "not tried after 64 x 64 x 64"
    assert len(bench.errors) == 1 and bench.status == 1


@pytest.mark.parametrize(("what", "log", "reason"), [
    ("unusable", None, "it does not define basicSgemm"),
    (None, "x.cu(3): error: identifier \"y\" is undefined\n1 error\n",
     "it does not compile: x.cu(3): error: identifier"),
    (None, None, "it does not compile"),
])
def test_a_file_that_is_no_kernel(bencher, what, log, reason):
    kernels = [bencher.kernel("bad.cu", what), bencher.kernel("good.cu", GOOD)]
    if log:
        (bencher.path / "bad.cu.so.log").write_text(log)
    bench = bencher.run("64 64 64", kernels)
    assert bench.status == 2
    assert len(bench.errors) == 1 and bench.errors[0].startswith(f"bench: bad.cu: {reason}")
    assert result(bench, "good")["state"] == "measured"
    assert reason in bench.json["kernels"][1]["left_out"]
    assert "bad" not in bench.table


def test_a_file_that_is_not_there(bencher):
    bench = bencher.run("64 64 64", [["missing.cu", "missing.so"], bencher.kernel("good.cu", GOOD)])
    assert bench.status == 2
    assert bench.errors == ["bench: missing.cu: No such file or directory"]
    assert result(bench, "good")["state"] == "measured"


def test_a_directory_is_no_kernel(bencher):
    (bencher.path / "folder").mkdir()
    bench = bencher.run("64 64 64", [["folder", "folder.so"], bencher.kernel("good.cu", GOOD)])
    assert (bench.status, bench.errors) == (2, ["bench: folder: is no file"])


def test_the_kernel_that_is_handed_out_is_no_failure(bencher):
    kernels = [bencher.kernel("good.cu", GOOD), bencher.kernel("kernel.cu", "nothing")]
    bench = bencher.run("64 64 64", kernels)
    assert bench.status == 0
    assert bench.errors == ["bench: kernel.cu writes nothing, as it was handed out: left out"]
    assert not any(text.startswith("kernel") for text in bench.table.splitlines())


def test_two_files_of_one_name_are_told_apart(bencher):
    (bencher.path / "a").mkdir()
    kernels = [bencher.kernel("k.cu", GOOD), bencher.kernel("a/k.cu", "right 0.004")]
    bench = bencher.run("64 64 64", kernels)
    assert [k["name"] for k in bench.json["kernels"]] == ["cuBLAS", "k", "a/k.cu"]
    assert result(bench, "a/k.cu")["percent_of_cublas"] == pytest.approx(25)


def test_a_shape_too_large_for_the_gpu_is_left_out(bencher):
    bench = bencher.run("46000 46000 46000 64 64 64", [bencher.kernel("good.cu", GOOD)])
    assert bench.status == 2
    assert bench.errors == ["bench: 46000 x 46000 x 46000: too large: it takes 3.0 GB of the GPU's "
                            "memory, of which 2.0 GB are free"]
    assert bench.json["shapes"][0]["problem"].startswith("too large: it takes")
    assert result(bench, "good", 1)["state"] == "measured"


@pytest.mark.parametrize("options", [
    ["--shapes", "64 64"], ["--shapes", "64 64 64 1"], ["--shapes", ""], ["--shapes", "64 64 0"],
    ["--shapes", "64 64 x"], ["--shapes", "64 64 -1"], ["--shapes", "64 64 6.5"],
    ["--shapes", "64 64 99999999999999999999"], ["--shapes", "1 64 64x"],
    ["--shapes", "1000000 1000000 1"], ["--samples", "0"], ["--samples", "x"], ["--samples", ""],
    ["--launch", "fast"], ["--patience", "nan"],
], ids=" ".join)
def test_bad_input_is_one_line_and_measures_nothing(bencher, options):
    bench = bencher.run("64 64 64", [bencher.kernel("good.cu", GOOD)], *options)
    assert (bench.status, len(bench.errors), bench.table) == (2, 1, "")
    assert bench.json is None


def test_a_machine_without_a_gpu(bencher):
    bench = bencher.run("64 64 64", [bencher.kernel("good.cu", GOOD)], env={"FAKE_FAULT": "1"})
    assert bench.status == 3
    assert bench.errors == ["bench: no GPU answers: no CUDA-capable device is detected"]


def test_a_worker_that_is_not_there(bencher):
    bench = bencher.run("64 64 64", [bencher.kernel("good.cu", GOOD)], "--worker", "./nowhere")
    assert bench.status == 3
    assert bench.errors == ["bench: ./nowhere: No such file or directory"]


def test_results_that_cannot_be_written(bencher):
    bench = bencher.run("64 64 64", [bencher.kernel("good.cu", GOOD)], "--out", "nowhere")
    assert (bench.status, bench.errors) == (3, ["bench: nowhere: No such file or directory"])
    assert line(bench, "good")  # what was measured is at least shown


def on_a_terminal(command: list[str], path: Path, env: dict[str, str]) -> str:
    """Its standard output, a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=path, env=clean_environment(env), stdin=subprocess.DEVNULL,
                          stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                text += os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                break
        process.wait(SECONDS)
    os.close(ours)
    return text.decode()


@pytest.mark.parametrize("no_colour", [False, True])
def test_colours_are_for_those_who_want_them(bencher, no_colour):
    kernels = [bencher.kernel("fast.cu", "right 0.0005"), bencher.kernel("bad.cu", "wrong")]
    env = {"TERM": "xterm"} | ({"NO_COLOR": "1"} if no_colour else {})
    text = on_a_terminal(bencher.command("64 64 64", kernels), bencher.path, env)
    assert "fast" in text
    assert ("\033[32mfast" in text, "\033[31mbad" in text) == (not no_colour, not no_colour)


# ---- make ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["BACKEND=cpu", "NVCC="])
def test_make_bench_without_a_gpu_says_so(tree, variable):
    done = tree.make("bench", variable, check=False)
    assert done.returncode == 2  # make's own status; the recipe's is 3
    said, made = done.stderr.splitlines()
    assert said.startswith("make bench: nothing to measure on (")
    assert "make bench-counts" in said
    assert "Error 3" in made
    assert done.stdout == ""


def counts(tree, kernels: list[str], shapes: str) -> tuple[dict[str, list[float]], Any]:
    done = tree.make("bench-counts", f"KERNELS={' '.join(kernels)}", f"SHAPES={shapes}",
                     check=False)
    rows = re.findall(r"^(\w+) +([\d,]+) +([\d,]+) +([\d.]+) +([\d,]+) +([\d,]+)$",
                      done.stdout, re.MULTILINE)
    return {row[0]: [float(figure.replace(",", "")) for figure in row[1:]] for row in rows}, done


def test_counts_need_no_gpu(tree):
    """The arithmetic of the lecture: with tiles of 16, a sixteenth of the naive kernel's loads."""
    rows, done = counts(tree, ["instructor/solutions/1_naive.cu", "instructor/solutions/2_tiled.cu",
                               "kernel.cu"], "64 64 64")
    assert done.returncode == 0
    naive, tiled = rows["1_naive"], rows["2_tiled"]
    assert naive[:3] == [256, 2 * 64**3, 0.25]
    assert tiled[:3] == [256, 2 * 64**3 / 16, 4.0]
    assert (naive[3], tiled[3]) == (0, 2 * 64**3 / 32)  # two loads a term, of 32 threads each
    assert "kernel.cu: launches nothing, and is left out" in done.stderr
    assert max(len(text) for text in done.stdout.splitlines()) <= 80


def test_counts_of_what_is_wrong(tree):
    bad = "tests/instructor/bench/kernels"
    kernels = [f"{bad}/one_wrong.cu", f"{bad}/does_not_compile.cu", "missing.cu",
               "instructor/solutions/2_tiled.cu"]
    rows, done = counts(tree, kernels, "64 16 16")
    assert done.returncode == 2 and "Error 2" in done.stderr
    said = [text for text in done.stderr.splitlines() if not text.startswith("make")]
    assert len(said) == 3
    assert said[0].startswith(f"{bad}/one_wrong.cu: wrong-result: 1 of the 1024 elements")
    assert said[1].startswith(f"{bad}/does_not_compile.cu: ") and "error" in said[1]
    assert said[2].startswith("missing.cu: no such file")
    assert list(rows) == ["2_tiled"]


NO_SHAPES = ["64 64", "64 64 0", "a b c", "1 1 1.5", "* * *", "1 1 1;date"]


@pytest.mark.parametrize("shapes", NO_SHAPES)
def test_counts_of_no_shape(tree, shapes):
    done = tree.make("bench-counts", f"SHAPES={shapes}", check=False)
    assert "Error 2" in done.stderr and "bench-counts: SHAPES" in done.stderr


# ---- charts --------------------------------------------------------------------------------------


def made_up(kernels: list[str], shapes: list[tuple[int, int, int]]) -> dict[str, Any]:
    """A ladder.json of no machine."""
    results = [{"kernel": name, "state": "measured", "reason": None, "gflops": 1000.0 * (1 + i),
                "percent_of_cublas": 20.0 * (i + 1)} for i, name in enumerate(kernels)]
    return {
        "format": 1, "date": "2026-01-02T03:04:05Z", "launch": "held",
        "machine": {"device": "Made Up 3000", "driver": "1.2", "cuda_runtime": "13.0"},
        "ceilings": {"ffma_flops": 6e13, "memory_bytes_per_second": 4e12,
                     "l2_bytes_per_second": 8e12},
        "kernels": [{"name": name, "file": f"{name}.cu", "flop_per_byte": 2.0**i, "left_out": None}
                    for i, name in enumerate(kernels)],
        "shapes": [{"m": m, "k": k, "n": n, "problem": None, "results": results}
                   for m, k, n in shapes],
    }


def draw(path: Path, text: str | None) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("matplotlib") is None:
        missing("matplotlib", "is not installed for this Python")
    if text is not None:
        (path / "ladder.json").write_text(text)
    return subprocess.run(
        [sys.executable, "-B", REPOSITORY / "instructor/bench/ladder/charts.py",
         path / "ladder.json", path],
        capture_output=True, text=True, timeout=SECONDS, check=False,
        env=clean_environment({"MPLCONFIGDIR": str(path)}))


CHARTS = ("gflops", "percent", "roofline")


def test_charts_show_what_was_measured(tmp_path):
    shapes = [(512, 512, 512), (1000, 500, 700), (4096, 4096, 4096)]
    done = draw(tmp_path, json.dumps(made_up(["cuBLAS", "rung_a", "rung_b"], shapes)))
    assert done.returncode == 0, done.stderr
    for name in CHARTS:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        svg = (tmp_path / f"{name}.svg").read_text()
        assert svg.rstrip().endswith("</svg>")
        for text in ("cuBLAS", "rung_a", "rung_b", "Made Up 3000", "2026-01-02"):
            assert text in svg, (name, text)
    gflops, percent, roofline = ((tmp_path / f"{n}.svg").read_text() for n in CHARTS)
    assert "FFMA ceiling, measured: 60,000" in gflops and ">GFLOP/s<" in gflops
    assert "% of cuBLAS" in percent
    assert all(f">{size}<" in gflops for size in (512, 4096, 1000))
    assert "L2 cache: 8,000 GB/s" in roofline and "memory: 4,000 GB/s" in roofline
    assert "roofline at 4096³" in roofline


def test_charts_of_one_odd_shape_and_of_a_kernel_that_failed(tmp_path):
    run = made_up(["cuBLAS", "rung_a"], [(1000, 500, 700)])
    run["shapes"][0]["results"][1] = {"kernel": "rung_a", "state": "wrong", "reason": "it is"}
    done = draw(tmp_path, json.dumps(run))
    assert done.returncode == 0, done.stderr
    assert "rung_a" not in (tmp_path / "gflops.svg").read_text()


@pytest.mark.parametrize(("text", "said"), [
    (None, "make bench writes it"),
    ("{", "no ladder.json of make bench"),
    ("{}", "no ladder.json of make bench"),
    (json.dumps(made_up([], [(1, 1, 1)])), "nothing was measured"),
], ids=["missing", "broken", "empty", "nothing"])
def test_no_charts(tmp_path, text, said):
    done = draw(tmp_path, text)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr


# ---- on a GPU ------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_the_gpus_verdict_is_that_of_the_cpu(gpu, fresh_tree):
    nvcc = find_nvcc()
    parts = ["build/libclock.a", "build/libsupport.a"]
    fresh_tree.make("BACKEND=cuda", *parts)
    subprocess.run([str(nvcc), "-arch=native", "tests/instructor/bench/product.cu", *parts,
                    "-lcublas", "-o", "product-test"], cwd=fresh_tree.path, check=True,
                   timeout=SECONDS)
    done = subprocess.run(["./product-test"], cwd=fresh_tree.path, capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("\nok ") > 50


@pytest.fixture(scope="module")
def gpu_bench(gpu, tmp_path_factory) -> Bench:
    """All kernels of bench/kernels beside two that are right, in one run."""
    path = tmp_path_factory.mktemp("a bench")
    tree = Tree(path, path)
    names = sorted(file.name for file in (HERE / "kernels").glob("*.cu"))
    kernels = [f"tests/instructor/bench/kernels/{name}" for name in names]
    kernels += ["missing.cu", "kernel.cu", "instructor/solutions/1_naive.cu",
                "instructor/solutions/2_tiled.cu"]
    # PYTHON: no charts, and no packages downloaded for them.
    done = tree.make("bench", "BACKEND=cuda", f"KERNELS={' '.join(kernels)}", "SAMPLES=5",
                     "PATIENCE=10", "SHAPES=34 34 34  64 300 64  2048 2048 2048", "PYTHON=false",
                     check=False)
    errors = [text for text in done.stderr.splitlines() if text.startswith("bench: ")]
    written = strict_json((path / "build/bench/ladder.json").read_text())
    return Bench(done.returncode, done.stdout, errors, written, [])


LARGE = 2  # of the shapes above


@pytest.mark.gpu
@pytest.mark.alone
@pytest.mark.parametrize(("kernel", "state"), [
    ("crash", "faulted"), ("stray", "faulted"), ("too_many_threads", "faulted"),
    ("resets", "faulted"),
    ("endless", "time limit"), ("eleven_bits", "wrong"), ("first_call_only", "wrong"),
    ("one_wrong", "wrong"), ("side_stream", "unsteady"), ("scratch", "measured"),
    ("waits", "measured"), ("1_naive", "measured"), ("2_tiled", "measured"), ("cuBLAS", "measured"),
])
def test_what_becomes_of_a_kernel_on_the_gpu(gpu_bench, kernel, state):
    assert result(gpu_bench, kernel, LARGE)["state"] == state


@pytest.mark.gpu
@pytest.mark.alone
def test_a_bench_with_bad_kernels_ends_with_its_status(gpu_bench):
    assert gpu_bench.status == 2 and "missing.cu" in " ".join(gpu_bench.errors)
    left_out = {k["name"]: k["left_out"] for k in gpu_bench.json["kernels"] if k["left_out"]}
    assert set(left_out) == {"does_not_compile", "no_wrapper", "missing", "kernel"}
    assert "undeclared" in left_out["does_not_compile"]


@pytest.mark.gpu
@pytest.mark.alone
def test_what_can_be_captured_goes_through_a_graph(gpu_bench):
    how = {r["kernel"]: r["through_a_graph"] for r in gpu_bench.json["shapes"][0]["results"]
           if r["state"] == "measured"}
    assert how["cuBLAS"] and how["2_tiled"]
    assert not how["waits"] and not how["scratch"]


@pytest.mark.gpu
@pytest.mark.alone
def test_figures_are_possible(gpu_bench):
    ceiling = gpu_bench.json["ceilings"]
    assert ceiling["ffma_flops"] > 1e12
    assert ceiling["l2_bytes_per_second"] > ceiling["memory_bytes_per_second"] > 1e11
    for shape in gpu_bench.json["shapes"]:
        for r in shape["results"]:
            assert r["state"] != "measured" or 0 < r["percent_of_ffma"] < 100
    mhz = float(gpu_bench.json["machine"]["mhz_under_load"])
    assert mhz <= 1.02 * float(gpu_bench.json["machine"]["boost_mhz"])
    peak = 256e6 * mhz * int(gpu_bench.json["machine"]["multiprocessors"])
    assert 0.45 * peak < ceiling["ffma_flops"] <= 1.02 * peak
