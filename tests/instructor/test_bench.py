"""`make bench`: what it says about times, and about kernels that are wrong; its counts and charts.

Without a GPU a fake replaces compiling and the grader's clock (grader_fake.py); with one
(marked gpu) kernels are measured.
"""

import importlib.util
import json
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grader_fake as fake
import pytest
from clocked import SUBMISSIONS
from conftest import REPOSITORY, Tree, clean_environment, finished, missing, script, strict_json
from forks import Run, python

sys.path.append(str(REPOSITORY / "instructor" / "bench"))

import cpu  # noqa: E402
import grid  # noqa: E402
import ladder  # noqa: E402
import shapes  # noqa: E402

from grader.clock.measure import Said  # noqa: E402
from grader.errors import MachineFault  # noqa: E402

SECONDS = 120  # a limit for what hangs
MACHINE = {
    "machine": {"device": 'Fake "GPU", 1', "driver": "1.2.3", "cuda_runtime": "13.0",
                "cublas": "13.1.0", "memory_bytes": "80000000000"},
    "ceilings": {"ffma_flops": 1e13, "memory_bytes_per_second": 4e12, "l2_bytes_per_second": 8e12},
}


@dataclass
class Bench:
    status: int
    table: str
    errors: list[str]
    json: Any  # None: not written
    measured: list[tuple[str, int]]  # shape and samples of each call of the clock


class Bencher:
    """Runs the ladder on files that say how each is judged, as in grader_fake.py."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any):
        self.path, self.monkeypatch, self.capsys = path, monkeypatch, capsys
        self.measured: list[tuple[str, int]] = []
        monkeypatch.chdir(path)
        for name, value in {"trusted_parts": lambda backend: fake.ON_GPU,
                            "choose_sandbox": lambda *asked: fake.BOX,
                            "describe_machine": lambda: json.loads(json.dumps(MACHINE)),
                            "cublas_times": lambda shape: [fake.CUBLAS_SECONDS] * 200, "SPLITS": 100,
                            "build_submission": fake.build, "measure": self.measure}.items():
            monkeypatch.setattr(ladder, name, value)

    def measure(self, parts: Any, programs: dict[str, str], params: dict[str, int], *, box: Any,
                samples: int) -> Said:
        shape = "{m} {k} {n}".format_map(params)
        self.measured.append((shape, samples))
        word, *more = programs.get(f"clock {shape}", programs["clock"]).split()
        if word == "machine":
            raise MachineFault("no GPU is left")
        return Said.model_validate(fake.measured(float(word)) if word[0].isdigit() else
                                   {"state": word, "reason": " ".join(more)})

    def run(self, asked: str, kernels: dict[str, str | None], **variables: str) -> Bench:
        """kernels: by path, what their files hold."""
        for path, text in kernels.items():
            if text is not None:
                Path(path).parent.mkdir(exist_ok=True)
                Path(path).write_text(text)
        given = {"SHAPES": asked, "KERNELS": " ".join(kernels), "LADDER": "out/ladder.json"}
        for name, value in (given | variables).items():
            self.monkeypatch.setenv(name, value)
        status = ladder.main()
        printed, written = self.capsys.readouterr(), Path("out/ladder.json")
        return Bench(status, printed.out, printed.err.splitlines(),
                     strict_json(written.read_text()) if written.exists() else None, self.measured)


@pytest.fixture
def bencher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Bencher:
    return Bencher(tmp_path, monkeypatch, capsys)


def result(bench: Bench, kernel: str, shape: int = 0) -> dict[str, Any]:
    return next(r for r in bench.json["shapes"][shape]["results"] if r["kernel"] == kernel)


def line(bench: Bench, kernel: str) -> str:
    return next(text for text in bench.table.splitlines() if text.startswith(kernel))


def test_file_and_table_say_what_was_measured(bencher: Bencher) -> None:
    bench = bencher.run("1000 500 700 512 512 512", {
        "half.cu": "/* intensity: 8 FLOP/byte */\nclock: 0.5", "a/half.cu": "clock: 1.25"}, SAMPLES="7")
    assert (bench.status, bench.errors, bench.json["format"]) == (0, [], 3)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bench.json["date"])
    assert {key: bench.json[key] for key in MACHINE} == MACHINE
    assert [(k["name"], k["file"], k["flop_per_byte"]) for k in bench.json["kernels"]] == [
        ("cuBLAS", None, None), ("half", "half.cu", 8), ("a/half.cu", "a/half.cu", None)]
    assert [(s["m"], s["k"], s["n"]) for s in bench.json["shapes"]] == [(1000, 500, 700), (512, 512, 512)]
    assert bench.measured == [("1000 500 700", 7)] * 2 + [("512 512 512", 7)] * 2
    half, cublas = result(bench, "half"), result(bench, "cuBLAS")
    assert half["seconds"] == pytest.approx(fake.spread(2 * fake.CUBLAS_SECONDS))
    assert half["gflops"] == pytest.approx(2 * 1000 * 500 * 700 / (2 * fake.CUBLAS_SECONDS) / 1e9)
    assert half["percent_of_cublas"] == pytest.approx(50)
    assert half["percent_of_ffma"] == pytest.approx(100 * half["gflops"] / 1e4)
    assert half["spread_percent"] == pytest.approx(1.5)
    assert cublas["percent_of_cublas"] == pytest.approx(100)
    assert cublas["seconds"] == pytest.approx(fake.spread(fake.CUBLAS_SECONDS))
    assert line(bench, "half").split() == ["half", "7,000", "50.0", "70.0", "1.5", "100.00", "us"]


def test_what_cublas_differs_from_itself_by_is_not_called_faster(bencher: Bencher, monkeypatch: Any) -> None:
    """5 % above cuBLAS is faster where that repeats its times within 2 %, and not within 10 %."""
    shown: dict[float, str] = {}
    for spread in (0.02, 0.1):
        times = [fake.CUBLAS_SECONDS * (1 + spread * (i % 2)) for i in range(200)]
        monkeypatch.setattr(ladder, "cublas_times", lambda shape, times=times: times)
        monkeypatch.setenv("FORCE_COLOR", "1")
        bench = bencher.run("64 64 64", {"k.cu": "clock: 1.05"}, SAMPLES="10")
        assert bench.json["shapes"][0]["own_error_percent"] == pytest.approx(100 * spread, rel=0.3)
        shown[spread] = next(text for text in bench.table.splitlines() if "105.0" in text)
    assert "\x1b[32m" in shown[0.02] and "\x1b[32m" not in shown[0.1], shown


def test_the_error_of_equal_times_is_zero_and_grows_with_their_spread() -> None:
    source = random.Random(1)
    errors = [ladder.own_error([source.gauss(1, sigma) for _ in range(200)], 11) for sigma in (0, 0.01, 0.05)]
    assert errors[0] == 0 and 0.3 < errors[1] < 1.5 and 2 < errors[2] < 8


def test_large_shapes_have_fewer_samples_and_the_table_fits_a_terminal(bencher: Bencher) -> None:
    bench = bencher.run("64 64 64 4096 4096 4096 8192 8192 8192", {
        "a_name_that_is_far_too_long_for_it.cu": "clock: 0.001",
        "wrong.cu": "clock: wrong " + "C is wrong " * 10})
    assert [samples for _, samples in bench.measured][::2] == [31, 21, 11]
    assert "8192 x 8192 x 8192 (m k n), 11 samples" in bench.table
    assert [text for text in bench.table.splitlines() if len(text) > 80] == []


NO_KERNELS = {
    "broken.cu": ("error", "does not compile: line 7: 'x' was not declared in this scope"),
    "opens.cu": ("fopen", "the grader refuses it: it calls fopen"),
    "missing.cu": (None, "No such file or directory"),
    "/dev": (None, "Is a directory"),
}


def test_what_fails_takes_nothing_with_it(bencher: Bencher) -> None:
    """A kernel that fails on a shape, a file that is no kernel, and a shape too large for the GPU."""
    states = ("wrong", "faulted", "refused", "impossible")
    bench = bencher.run("46000 46000 46000 64 64 64", {
        "before.cu": "clock: 0.5", **{f"{state}.cu": f"clock: {state} it is" for state in states},
        **{path: text for path, (text, _) in NO_KERNELS.items()}, "after.cu": "clock: 0.5"})
    problem = "too large: it takes 119.6 GB of the GPU's 80.0 GB"
    assert bench.status == 2 and sorted(bench.errors) == sorted([
        f"bench: 46000 x 46000 x 46000: {problem}",
        *(f"bench: {state} on 64 x 64 x 64: {state}: it is" for state in states),
        *(f"bench: {path}: {reason}" for path, (_, reason) in NO_KERNELS.items())])
    assert bench.json["shapes"][0]["problem"] == problem and problem in bench.table
    for state in states:
        bad = result(bench, state, 1)
        assert (bad["state"], bad["reason"], "gflops" in bad) == (state, "it is", False)
        assert line(bench, state) == f"{state:20} {state}: it is"
    assert {result(bench, other, 1)["state"] for other in ("cuBLAS", "before", "after")} == {"timed"}
    left_out = {kernel["file"]: kernel["left_out"] for kernel in bench.json["kernels"] if kernel.get("left_out")}
    assert left_out == {path: reason for path, (_, reason) in NO_KERNELS.items()}
    assert not any(re.search(rf"^{Path(path).stem}\b", bench.table, re.MULTILINE) for path in NO_KERNELS)


def test_a_kernel_that_hangs_is_not_tried_again(bencher: Bencher) -> None:
    bench = bencher.run("64 64 64 128 128 128", {"bad.cu": "clock: time-limit it hangs"})
    assert bench.errors == ["bench: bad on 64 x 64 x 64: time-limit: it hangs"]
    assert result(bench, "bad", 1)["reason"] == "not tried after 64 x 64 x 64"
    assert (bench.status, len(bench.measured)) == (1, 1)


NO_SHAPES = ["64 64", "64 64 64 1", "64 64 0", "64 64 x", "64 64 -1", "64 64 6.5", "* * *",
             "64 64 99999999999999999999", "1 1 1;date", "1000000 1000000 1", " "]


@pytest.mark.parametrize(("program", "name", "value"), [
    *((ladder, "SHAPES", shapes) for shapes in NO_SHAPES),
    *((ladder, "SAMPLES", samples) for samples in ("0", "1001", "x")), (ladder, "KERNELS", ""),
    (grid, "GRID_SEED", "x"), (grid, "SAMPLES", "0"), (grid, "SHAPES", "1 2"),
    (cpu, "OF", "all"), (cpu, "ROUNDS", "-1"), (cpu, "SHAPES", "1 2"),
])
def test_bad_input_is_one_line_and_measures_nothing(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path,
                                                    program: Any, name: str, value: str) -> None:
    monkeypatch.chdir(tmp_path)
    for each, usual in {"SHAPES": "64 64 64", "KERNELS": "k.cu", "LADDER": "out.json", name: value}.items():
        monkeypatch.setenv(each, usual)
    assert program.main() == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n"), [*tmp_path.iterdir()]) == ("", 1, [])
    assert name in printed.err


def test_what_was_measured_before_the_machine_failed_is_kept(bencher: Bencher) -> None:
    bench = bencher.run("64 64 64 128 128 128", {"k.cu": "clock 64 64 64: 0.5\nclock: machine"})
    assert (bench.status, bench.errors) == (3, ["bench: no GPU is left"])
    assert len(bench.json["shapes"]) == 1 and result(bench, "k")["state"] == "timed"


def test_results_that_cannot_be_written(bencher: Bencher) -> None:
    Path("out").write_text("a file")
    bench = bencher.run("64 64 64", {"good.cu": "clock: 0.5"}, LADDER="out/x/ladder.json")
    assert (bench.status, bench.errors) == (3, ["bench: out/x/ladder.json: Not a directory"])
    assert line(bench, "good")  # what was measured is at least shown


def test_without_variables_the_published_shapes_are_measured(bencher: Bencher) -> None:
    assert len(shapes.parse(ladder.PUBLISHED)) == 9
    bench = bencher.run("", {"k.cu": "clock: 0.5"})
    assert [shape for shape, _ in bench.measured][0] == "34 34 34" and len(bench.measured) == 9


# ---- make ----------------------------------------------------------------------------------------


@pytest.mark.slow
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
    done = tree.make("bench-counts", f"KERNELS={' '.join(kernels)}", f"SHAPES={shapes}", check=False)
    rows = re.findall(r"^(\w+) +([\d,]+) +([\d,]+) +([\d.]+) +([\d,]+) +([\d,]+)$", done.stdout, re.MULTILINE)
    return {row[0]: [float(figure.replace(",", "")) for figure in row[1:]] for row in rows}, done


def test_counts_need_no_gpu(tree):
    """The arithmetic of the lecture: with tiles of 16, a sixteenth of the naive kernel's loads."""
    rows, done = counts(tree, ["instructor/solutions/1_naive.cu", "instructor/solutions/2_tiled.cu"], "64 64 64")
    assert done.returncode == 0
    naive, tiled = rows["1_naive"], rows["2_tiled"]
    assert naive[:3] == [256, 2 * 64**3, 0.25]
    assert tiled[:3] == [256, 2 * 64**3 / 16, 4.0]
    assert (naive[3], tiled[3]) == (0, 2 * 64**3 / 32)  # two loads a term, of 32 threads each
    assert max(len(text) for text in done.stdout.splitlines()) <= 80


@pytest.mark.slow
def test_counts_of_what_is_wrong(tree: Tree) -> None:
    tiled = (REPOSITORY / "instructor/solutions/2_tiled.cu").read_text()
    tree.write("one_wrong.cu", tiled.replace("= sum;", "= sum + (row == 40 && col == 0);"))
    tree.write("broken.cu", tiled + "undeclared;")
    rows, done = counts(tree, ["one_wrong.cu", "broken.cu", "missing.cu",
                               "instructor/solutions/2_tiled.cu"], "64 16 16")
    assert done.returncode == 2 and "Error 2" in done.stderr
    said = [text for text in done.stderr.splitlines() if not text.startswith("make")]
    assert len(said) == 3
    assert said[0].startswith("one_wrong.cu: wrong-result: 1 of the 1024 elements")
    assert said[1].startswith("broken.cu: ") and "error" in said[1]
    assert said[2].startswith("missing.cu: no such file")
    assert list(rows) == ["2_tiled"]


def test_counts_of_no_shape(tree: Tree) -> None:
    done = tree.make("bench-counts", "SHAPES=64 64", check=False)
    assert "Error 2" in done.stderr and "bench-counts: SHAPES" in done.stderr


# ---- the grid of shapes --------------------------------------------------------------------------


def test_shapes_are_drawn_by_the_seed() -> None:
    """The ones of docs/ladder.md, and no others; each can be measured."""
    for seed, name in ((1, "grid"), (7, "grid-other-seed"), (29, "grid-third-seed"),
                       (37, "grid-fourth-seed"), (67, "grid-fifth-seed")):
        run = strict_json((REPOSITORY / f"docs/ladder/{name}.json").read_text())
        assert run["seed"] == seed
        assert [(s["m"], s["k"], s["n"]) for s in run["shapes"]] == grid.draw(seed)
    many = grid.draw(3, 1000)
    assert len(set(many)) == 1000 and grid.draw(3) == many[:200]
    assert all(m * k * n <= 2**33 and m * n < 2**31 for m, k, n in many)


@pytest.mark.parametrize(("shape", "seconds", "kind"), [
    ((34, 34, 34), 5.9e-6, "a launch"), ((1, 4096, 4096), 3e-5, "vector"),
    ((4096, 16, 1), 7e-6, "vector"), ((16, 1000, 1024), 1e-5, "thin"),
    ((1000, 33, 1000), 1e-5, "small k"), ((64, 512, 64), 1e-5, "long k"),
    ((64, 511, 64), 1e-5, "all others")])
def test_kinds_of_shapes(shape: shapes.Shape, seconds: float, kind: str) -> None:
    assert grid.kind_of(shape, seconds) == kind


FAKE_GRID = """
while read -r m k n; do
    printf '{"m": %%s, "k": %%s, "n": %%s, "right": %s, "max_u": 1, "algorithm": 3,' $m $k $n
    [ $m != 1 ] || printf '"read": {"median": 6e-6},'
    echo '"cublas": {"median": 2e-5}, "cublaslt": {"median": 1e-5}, "kernel": {"median": 8e-6}}'
done
exit %s"""


@pytest.mark.parametrize(("right", "ends", "status"), [("true", 0, 0), ("false", 0, 1), ("true", 3, 3)])
def test_a_grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, right: str, ends: int,
                status: int) -> None:
    """Each shape beside the better library; what is wrong, or was not measured, is no success."""
    monkeypatch.setattr(grid, "PROGRAM", script(tmp_path / "grid", FAKE_GRID % (right, ends)))
    monkeypatch.setattr(ladder, "describe_machine", lambda: json.loads(json.dumps(MACHINE)))
    for name, value in {"SHAPES": "7 64 7 1 4096 1000", "GRID_KERNEL": "k.cu",
                        "GRID_JSON": str(tmp_path / "out/grid.json")}.items():
        monkeypatch.setenv(name, value)
    assert grid.main() == status
    printed = capsys.readouterr()
    if status == 3:
        assert printed.err == "bench: 2 of 2 shapes were measured\n"
        return
    written = strict_json((tmp_path / "out/grid.json").read_text())
    assert [(s["kind"], s["ratio"], s["of_cublas"]) for s in written["shapes"]] == [
        ("thin", pytest.approx(1.25), pytest.approx(2.5)),
        ("vector", pytest.approx(1.25), pytest.approx(2.5))]
    assert [s.get("of_read") for s in written["shapes"]] == [None, pytest.approx(0.75)]
    assert (written["seed"], written["kernel"], written["samples"]) == (None, "k.cu", 13)
    assert re.search(r"^all +2 +125\.0 +125\.0 +2 +0 +0$", printed.out, re.MULTILINE)
    read = printed.out.split("% of a read of the matrix:\n")[1].splitlines()
    assert read[0].startswith("  1 x 4096 x 1000: 75.0 %, ")
    assert ("wrong: 7 x 64 x 7" in printed.out) == (right == "false")


# ---- this project's own speed --------------------------------------------------------------------


def fake_groups(monkeypatch: pytest.MonkeyPatch, last: str = "true") -> None:
    """Programs that say how long they took."""
    def group(asked: Any, folder: Path) -> Any:
        seconds = iter((1, 4, 3, 6, 2, 10))  # in turns
        fast, slow = (cpu.Contender(name, ["true"], seconds_in=lambda text: next(seconds),
                                    note=lambda name=name: f"{name}!")
                      for name in ("fast", "slow"))
        yield f"{asked}", 3, [fast, slow]
        yield "whole", 1, [cpu.Contender("end", ["sh", "-c", last])]

    monkeypatch.setattr(cpu, "GROUPS", {"one": group, "other": None})
    monkeypatch.setenv("OF", "one")
    monkeypatch.delenv("SHAPES", raising=False)


def test_programs_take_turns_and_stand_beside_the_first(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    fake_groups(monkeypatch)
    assert cpu.main() == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[1:5] == [["fast", "2.0000", "1.0000", "1.00"], ["fast!"],
                         ["slow", "6.0000", "4.0000", "4.00"], ["slow!"]]
    assert rows[6][0] == "whole" and rows[7][0] == "end" and float(rows[7][1]) < SECONDS


def test_a_program_that_fails_has_no_time(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    fake_groups(monkeypatch, "echo no >&2; exit 4")
    assert cpu.main() == 1
    printed = capsys.readouterr()
    assert printed.err == "bench-cpu: end: no\n" and "whole" not in printed.out


@pytest.mark.slow
def test_make_bench_cpu(tree: Tree, venv: Path) -> None:
    done = tree.make("-o", "course-packages", "bench-cpu", f"VENV={venv}", "ROUNDS=1", "OF=kernel check",
                     "SHAPES=34 35 36")
    for name in ("CPU backend, 1 core", "plain loop, 1 core", "verification", "./sgemm-check"):
        assert re.search(rf"^  {re.escape(name)} +\d", done.stdout, re.MULTILINE), done.stdout


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


def draw(path: Path, text: str | None, program: str = "charts", of: str = "ladder") -> Run:
    """In a fork of a process that has matplotlib, which takes a second to import."""
    if importlib.util.find_spec("matplotlib") is None:
        missing("matplotlib", "is not installed for this Python")
    if text is not None:
        (path / f"{of}.json").write_text(text)
    words = [str(REPOSITORY / f"instructor/bench/{program}.py"), str(path / f"{of}.json"), str(path)]
    return python(REPOSITORY, "matplotlib.pyplot").run(words, clean_environment({"MPLCONFIGDIR": str(path)}))


CHARTS = ("gflops", "percent", "roofline")


def test_charts_show_what_was_measured(tmp_path):
    shapes = [(512, 512, 512), (1000, 500, 700), (4096, 4096, 4096)]
    done = draw(tmp_path, json.dumps(made_up(["cuBLAS", "rung_a", "rung_b"], shapes)))
    assert done.returncode == 0, done.stderr
    for name in CHARTS:
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


def test_a_heat_map(tmp_path: Path) -> None:
    done = draw(tmp_path, json.dumps(made_up(["k"], []) | {"kernel": "a/k.cu", "shapes": [
        {"m": 7, "k": 64, "n": 7, "ratio": 1.21}, {"m": 2, "k": 64, "n": 7, "ratio": 1.0},
        {"m": 4096, "k": 1, "n": 4096, "ratio": 0.42}]}), "heat_map", "grid")
    assert done.returncode == 0, done.stderr
    svg = (tmp_path / "grid.svg").read_text()
    assert all(text in svg for text in ("110 %", "2: 100 to 121", "42 %", "Made Up 3000", "k:"))


@pytest.mark.parametrize(("program", "of", "text", "said"), [
    ("charts", "ladder", None, "make bench writes it"), ("charts", "ladder", "{", "no ladder.json of make bench"),
    ("charts", "ladder", "{}", "no ladder.json of make bench"),
    ("charts", "ladder", json.dumps(made_up([], [(1, 1, 1)])), "nothing was measured"),
    ("heat_map", "grid", None, "make bench GRID=1 writes it"), ("heat_map", "grid", "{", "no grid.json"),
    ("heat_map", "grid", "{}", "no grid.json"),
])
def test_no_charts(tmp_path: Path, program: str, of: str, text: str | None, said: str) -> None:
    done = draw(tmp_path, text, program, of)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr


# ---- on a GPU ------------------------------------------------------------------------------------


def bench_on_the_gpu(tree: Tree, script: str, status: int, said: str = "", **variables: str) -> Any:
    """What it writes."""
    kernel = [f"GRID_KERNEL={variables['GRID_KERNEL']}"] if "GRID_KERNEL" in variables else []
    tree.make("BACKEND=cuda", *kernel, "build/bench/ceilings", "build/bench/grid")
    variables |= {"LADDER": "build/bench/out.json", "GRID_JSON": "build/bench/out.json"}
    done = finished([sys.executable, "-B", f"instructor/bench/{script}"], tree.path, variables)
    assert done.returncode == status and said in done.stderr, done.stderr
    return strict_json((tree.path / "build/bench/out.json").read_text())


@pytest.mark.gpu
@pytest.mark.alone
def test_a_bench_on_the_gpu(gpu: None, tree: Tree) -> None:
    """What fails is named and takes no figures from the others, which are possible ones."""
    states = {"1_naive": "timed", "2_tiled": "timed"}
    kernels = [f"instructor/solutions/{name}.cu" for name in states]
    for name in ("half_of_c", "hangs", "launch_fails", "copies_to_the_host"):
        tree.write(f"{name}.cu", SUBMISSIONS[name].text)
        states[name] = SUBMISSIONS[name].state
        kernels.append(f"{name}.cu")
    bench = bench_on_the_gpu(tree, "ladder.py", 2, "bench: missing.cu: No such file", SAMPLES="5",
                             KERNELS=" ".join([*kernels, "missing.cu"]), SHAPES="64 300 64  2048 2048 2048")
    most = bench["ceilings"]
    assert most["ffma_flops"] > 1e12
    assert most["l2_bytes_per_second"] > most["memory_bytes_per_second"] > 1e11
    for shape in bench["shapes"]:
        found = {r["kernel"]: r for r in shape["results"]}
        assert {name: found[name]["state"] for name in states} == states
        for name in ("cuBLAS", "1_naive", "2_tiled"):
            assert 0 < found[name]["percent_of_ffma"] < 100


@pytest.mark.gpu
@pytest.mark.alone
def test_a_grid_on_the_gpu(gpu: None, tree: Tree) -> None:
    run = bench_on_the_gpu(tree, "grid.py", 0, SAMPLES="3",
                           GRID_KERNEL="instructor/solutions/9_every_shape/every_shape.cu",
                           SHAPES="1 1 1 1 4096 4096 33 4096 7 1025 33 1025 64 65536 64")
    assert [shape["right"] for shape in run["shapes"]] == [True] * 5
