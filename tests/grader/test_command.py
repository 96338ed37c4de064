"""`python -m grader`, and the front for pytest: exit statuses, what is printed, what is written where. Most
of it with a core that compiles and runs nothing (grader_fake.py), the last part with the real
one."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import grader_fake
import pytest
from conftest import REPOSITORY, Tree, clean_environment, heed_signals, need, sample, slow_but
from corpus import faulty
from forks import fake_grader
from grader_fake import COMMAND
from rich.cells import cell_len

from grader.build.parts import described, trusted_parts
from grader.build.submission import work_directory
from grader.record.model import Record, schema
from grader.report.terminal import next_command

SECONDS = 300


@dataclass
class Run:
    status: int
    stdout: str
    stderr: str

    @property
    def table(self) -> dict[str, str]:
        """The lines of the table by the case's name."""
        rows = re.findall(r"^(\S+) .* (passed|partial|failed|skipped) ", self.stdout, re.MULTILINE)
        return dict(rows)


def call(command: list[str], *words: str, cwd: Path | None = None, **env: str) -> Run:
    if command[:len(COMMAND)] == COMMAND:
        ran = fake_grader().run([*command[2:], *words], clean_environment(env), cwd)
    else:
        ran = subprocess.run([*command, *words], cwd=cwd, env=clean_environment(env),
                             timeout=SECONDS, stdin=subprocess.DEVNULL, capture_output=True,
                             check=False, text=True, encoding="utf-8")
    return Run(ran.returncode, ran.stdout, ran.stderr)


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "alice" / "kernel.cu"
    path.parent.mkdir()
    path.write_text("right")
    return path


def fake(kernel: Path, text: str) -> list[str]:
    """The command with the fake core; results beside the submission's directory."""
    kernel.write_text(text)
    return [*COMMAND, "--submission", str(kernel), "--results", str(kernel.parent.parent / "results")]


def grade(kernel: Path, text: str, *words: str, **env: str) -> Run:
    return call(fake(kernel, text), *words, **env)


def result(kernel: Path, name: str = "result.json") -> Record | None:
    path = kernel.parent.parent / "results" / "alice" / name
    return Record.model_validate_json(path.read_bytes()) if path.exists() else None


# ---- exit statuses -------------------------------------------------------------------------------


def test_full_marks(kernel: Path) -> None:
    run = grade(kernel, "right")
    assert (run.status, run.stderr) == (0, "")
    assert run.stdout.splitlines()[-1] == "score: 40 of 40"
    assert set(run.table.values()) == {"passed"} and len(run.table) == 10
    record = result(kernel)
    assert record and record.complete and record.score == record.max_score == 40
    assert not result(kernel, "result.partial.json")


@pytest.mark.parametrize("text", sample(["wrong", "naive", "starter", "error", "fopen", "copies",
                                         "34 34 34: crash\nright"], every=2))
def test_less(kernel: Path, text: str) -> None:
    run = grade(kernel, text)
    assert (run.status, run.stderr) == (1, "")
    record = result(kernel)
    assert record and f"score: {record.score:g} of 40" in run.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--submission", "none.cu"], "grade: none.cu: cannot read the submission: No such file"),
        (["--submission", ""], "grade: the path of the submission is empty"),
        (["--submission", "/dev/zero"], "grade: /dev/zero: a device"),
        (["--suite", "none.toml"], "grade: none.toml: cannot read this file: No such file"),
        (["--name", "../x"], "grade: name '../x': it names a directory of results"),
        (["-k", "nothing"], "grade: no case was selected; --list lists them"),
        (["--suite", ""], "grade: --suite (SUITE with make): the path is empty"),
        (["--seed", "-1"], "grade: --seed (SEED with make): '-1' is not a whole number from 0"),
        (["--jobs", "0"], "grade: --jobs (JOBS with make): '0' is not a whole number from 1"),
        (["--suite"], "expected one argument"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["--protection", "prayer"], "'prayer' is not one of auto, bubblewrap, uid, none"),
        (["--backend", "gpu"], "--backend (BACKEND with make): 'gpu' is not one of auto, cpu, cuda"),
        (["--results", ""], "--results (RESULTS with make): the path is empty"),
        (["-n", "4"], "unrecognized arguments: -n"),
    ],
)
def test_bad_input(kernel: Path, words: list[str], message: str) -> None:
    run = grade(kernel, "right", *words)
    assert run.status == 2 and run.stdout == "" and message in run.stderr
    if run.stderr.startswith("grade: "):
        assert run.stderr.count("\n") == 1
    assert not (kernel.parent.parent / "results").exists()


def test_each_mistake_is_a_line(kernel: Path, tmp_path: Path) -> None:
    """Of options and of a suite, all at once."""
    suite = tmp_path / "s.toml"
    suite.write_text('title = "T"\n[[case]]\nname = "a"\nm = 0\nk = 1\nn = 1\nfill = "x"\n')
    run = grade(kernel, "right", "--seed", "x", "--jobs", "banana", "--protection", "bogus",
                "--suite", str(suite))
    assert run.status == 2
    assert [line.split(" (")[0] for line in run.stderr.splitlines()[:3]] == [
        "grade: --seed", "grade: --jobs", "grade: --protection"]
    assert [line.split(": ")[:3] for line in run.stderr.splitlines()[3:]] == [
        ["grade", str(suite), "case 'a'"]] * 3


@pytest.mark.parametrize("text", ["no compiler", "machine", "bug", "34 34 34: machine\nright"])
def test_the_machine(kernel: Path, text: str) -> None:
    run = grade(kernel, text)
    assert run.status == 3 and run.stdout == ""
    assert re.match(r"grade: .*(no compiler|no memory|grader itself failed)",
                    run.stderr.splitlines()[-1])
    assert not result(kernel)


@pytest.mark.slow  # test_x_stops_at_the_first_failure and test_k_is_no_grade
def test_statuses_do_not_depend_on_other_options(kernel: Path) -> None:
    words = ["-x", "-k", "34"]
    assert grade(kernel, "right", *words).status == 0
    assert grade(kernel, "34 34 34: wrong\nright", *words).status == 1
    assert grade(kernel, "34 34 34: machine\nright", *words).status == 3


# ---- some of the cases ---------------------------------------------------------------------------


def test_k_is_no_grade(kernel: Path) -> None:
    """And leaves the grade that is there."""
    grade(kernel, "right", "--seed", "1")
    run = grade(kernel, "34 34 34: wrong\nright", "-k", "34", "--seed", "2")
    assert set(run.table) == {"34x34x34-ones-twos", "34x34x34-index"}
    assert "\n0 of 4 points in 2 cases; no grade, because" in run.stdout
    record, partial = result(kernel), result(kernel, "result.partial.json")
    assert record and record.seed == 1 and record.score == 40
    assert partial and partial.seed == 2 and not partial.complete


def test_k_runs_what_a_case_needs(kernel: Path) -> None:
    run = grade(kernel, "16 16 16: wrong\nright", "-k", "index")
    assert run.status == 1 and run.table == {"34x34x34-index": "skipped"}
    assert "needs 16x16x16, which failed" in run.stdout


def test_x_stops_at_the_first_failure(kernel: Path) -> None:
    run = grade(kernel, "16 16 16: wrong\nright", "-x", "--jobs", "1")
    assert run.status == 1 and "no grade, because not all cases were run" in run.stdout
    assert not result(kernel)


def test_x_and_a_refusal_is_a_grade(kernel: Path) -> None:
    """Nothing that was not run could change it."""
    run = grade(kernel, "1 1 1: copies\nright", "-x")
    record = result(kernel)
    assert run.status == 1 and record and record.refusal and record.score == 0


def test_a_list_runs_nothing(kernel: Path) -> None:
    run = grade(kernel, "machine", "--list", "-k", "34x34")
    assert run.status == 0 and run.stdout.splitlines() == [
        "public/basics/34x34x34-ones-twos", "public/basics/34x34x34-index"]
    assert not (kernel.parent.parent / "results").exists()


def test_help() -> None:
    run = call([sys.executable, "-B", "-m", "grader", "--help"], cwd=REPOSITORY)
    assert run.status == 0 and "--submission" in run.stdout and not run.stderr


def test_what_a_grade_depends_on(kernel: Path) -> None:
    """Of this machine, in JSON; and what a record says of it is the same."""
    about = grade(kernel, "right", "--about")
    assert about.status == 0 and not (kernel.parent.parent / "results").exists()
    said = json.loads(about.stdout)
    grade(kernel, "right")
    record = result(kernel)
    assert record and said == {
        **{key: getattr(record, key) for key in (
            "version", "grader", "cases", "suites", "max_score", "backend", "compiler",
            "architecture", "protection")}, "lab": "sgemm", "host": socket.gethostname()}
    assert grade(kernel, "right", "--about", "--suite", "none.toml").status == 2


def test_where_nothing_can_be_graded(tmp_path: Path) -> None:
    """A login node has no compiler: what does not depend on it is said all the same, and why."""
    asked = [sys.executable, "-B", "-m", "grader", "--about"]
    (tmp_path / "nothing").mkdir()
    here = json.loads(call(asked, cwd=REPOSITORY).stdout)
    there = call(asked, cwd=REPOSITORY, PATH=str(tmp_path / "nothing"), HOME=str(tmp_path))
    assert there.status == 3 and there.stderr.count("\n") == 1
    said = json.loads(there.stdout)
    assert there.stderr == f"grade: {said.pop('fault')}\n"
    assert said == {name: value for name, value in here.items()
                    if name not in ("compiler", "architecture", "protection")}


# ---- the front for pytest ------------------------------------------------------------------------


def by_pytest(kernel: Path, text: str, *words: str) -> Run:
    kernel.write_text(text)
    return call([*COMMAND, "pytest"], "--submission", str(kernel), "--results",
                str(kernel.parent.parent / "results"), *words, cwd=REPOSITORY)


def test_each_case_is_an_item_that_fails_with_its_reason(kernel: Path, tmp_path: Path) -> None:
    run = by_pytest(kernel, "16 16 16: race\n5 7 3: wrong\nright", "--junitxml", str(tmp_path / "j.xml"))
    assert run.status == 1 and "0 of 2 points: all 15 are wrong" in run.stdout
    cases = {case.get("name"): case for case in
             ElementTree.parse(tmp_path / "j.xml").iter("testcase")}
    assert len(cases) == 10 + 2 + 3
    memory = cases["test_points[public-basics-memory]"].find("failure")
    assert memory is not None and "0 of 11 points: kernel.cu:29: a mistake" in str(memory.text)
    assert cases["test_points[public-basics-tiled]"].find("failure") is None
    assert cases["test_points[public-basics-1x1x1]"].find("failure") is None
    untimed = cases["test_points[public-speed-speed-1024]"].find("skipped")
    assert untimed is not None and untimed.get("message") == "not timed: no GPU"
    failure = cases["test_points[public-basics-5x7x3]"].find("failure")
    assert failure is not None and "0 of 2 points: all 15 are wrong" in str(failure.text)
    points = {each.get("name"): each.get("value") for each in
              cases["test_points[public-basics-5x7x3]"].iter("property")}
    assert points == {"score": "0.0", "max_score": "2.0"}
    record = result(kernel)
    assert record and record.complete


def test_pytests_own_options_choose(kernel: Path) -> None:
    run = by_pytest(kernel, "34 34 34: wrong\nright", "-k", "34 and not index", "-x", "-v")
    assert run.status == 1 and "1 failed, 14 deselected" in run.stdout
    partial = result(kernel, "result.partial.json")
    assert partial and [test.name for test in partial.tests] == ["16x16x16", "34x34x34-ones-twos"]
    assert by_pytest(kernel, "right", "-k", "34").status == 0
    run = by_pytest(kernel, "34 34 34: leak\nright", "-k", "tiled or memory")
    assert "1 failed, 1 passed" in run.stdout


@pytest.mark.parametrize("text, words, status, said", [
    ("machine", [], 3, "grade: no memory is left"),
    ("right", ["--seed", "x"], 2, "grade: --seed (SEED with make): 'x' is not a whole number"),
])
def test_what_is_no_grade_ends_pytest(kernel: Path, text: str, words: list[str], status: int,
                                      said: str) -> None:
    run = by_pytest(kernel, text, *words)
    assert run.status == status and said in run.stdout + run.stderr


def test_plain_pytest(kernel: Path) -> None:
    """From the project's root, as everyone knows it."""
    command = [sys.executable, "-B", "-m", "pytest", "grader", "--collect-only", "-q", "-k", "34"]
    run = call(command, "--submission", str(kernel), cwd=REPOSITORY)
    assert run.status == 0
    assert run.stdout.count("test_points[public-basics-34x34x34-") == 2


# ---- what is printed -----------------------------------------------------------------------------


MIXED = "16 16 16: race\n1 1 1: leak\n35 70 20: wrong\n20 70 35: hang\n64 64 64: naive\nright"


LONG = "x" * 200
EVERY_KIND = [MIXED, "right", "wrong", "naive", "starter", "copies", "fopen", "error", "hang",
              f"error {LONG} {'word ' * 40}\n" * 40, "16 16 16: race\n1 1 1: crash\nright",
              f"wrong {'word ' * 80}\n"]


def widest(shown: str) -> int:
    """In columns, without color. The path of the record and the next command are left whole, and not counted."""
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown))
    return max(cell_len(line) for line in lines if not line.startswith(("record: ", "next: ")))


@pytest.mark.parametrize(("text", "columns"), sample(
    [(text, columns) for text in EVERY_KIND for columns in (60, 200)], every=9))
def test_no_line_is_wider_than_the_terminal(kernel: Path, text: str, columns: int) -> None:
    suite = "all" if hidden_cases() else "public"
    run = grade(kernel, text, "--suite", suite, COLUMNS=str(columns))
    assert 40 < widest(run.stdout) <= min(columns, 80)
    assert not re.search(r" $", run.stdout, re.MULTILINE)
    shown = on_a_terminal([*fake(kernel, text), "--suite", suite, "--backend", "cuda"], None,
                          COLUMNS=str(columns))
    assert 40 < widest(shown) <= min(columns, 120)


def test_a_reason_has_the_width_there_is(kernel: Path) -> None:
    """Beside its case where it fits, below it where it does not, and never in a narrow column."""
    reason = "the kernel loads 524,288 elements; at most 131,072 count as tiled"
    assert f"2/2\n    {reason}\n    hint: let each block" in grade(kernel, "naive").stdout
    shown = on_a_terminal(fake(kernel, "naive"), 1, COLUMNS="120", NO_COLOR="1")
    assert f"2/2  {reason}\r\n    hint: let each block" in shown


def test_a_long_reason_is_said_in_the_first_case_that_has_it(kernel: Path) -> None:
    lines = grade(kernel, "16 16 16: right\nhang").stdout.splitlines()
    assert lines.count("    kernel.cu:12: still running after 2 s") == 1
    rows = [line for line in lines if line.endswith("as in 1x1x1")]
    assert len(rows) == 8 and not any(row.startswith(("16x16x16", "1x1x1 ")) for row in rows)
    narrow = grade(kernel, "16 16 16: right\nhang", COLUMNS="60").stdout
    assert narrow.count("as in 1x1x1\n") == 8


def test_what_was_skipped_is_not_what_to_try_next() -> None:
    cases = grader_fake.case("small", 1, 1, 1), grader_fake.case("gate", 16, 16, 16)
    record = grader_fake.grading("wrong", [grader_fake.suite(*cases, gate=cases[1].key)]).run()
    assert [test.status for test in record.tests] == ["skipped", "failed"]
    assert "-check 16 16 16 --fill" in next_command(record, record.tests, [])


def test_hints_are_not_dim(kernel: Path) -> None:
    shown = on_a_terminal(fake(kernel, MIXED), 1)
    hints = [line for line in shown.splitlines() if "hint:" in line]
    assert len(hints) >= 4 and not any("\x1b" in line for line in hints)


@pytest.mark.parametrize("text", sample(["error", "fopen", f"error {'word ' * 40}\n" * 40], every=2))
def test_what_holds_for_all_cases_is_printed_once_and_first(kernel: Path, text: str) -> None:
    lines = grade(kernel, text).stdout.splitlines()
    above = lines[:lines.index("")]
    assert len(above) <= 15
    assert "kernel.cu does not compile" in above[0] or "refused" in above[0]
    said = "not declared" if "error" in text else "calls fopen"
    assert sum(said in line for line in lines) == 1 == sum(said in line for line in above)
    assert "hint" not in lines[lines.index("") + 1]


def hidden_cases() -> bool:
    return (REPOSITORY / "testcases" / "hidden").is_dir()


def test_the_first_finding_is_printed_as_make_check_prints_it(kernel: Path) -> None:
    run = grade(kernel, MIXED, "--seed", "5")
    finding = run.stdout[run.stdout.index("kernel.cu:29: a mistake\n    thread"):].splitlines()
    assert finding[0] == "kernel.cu:29: a mistake"
    assert finding[1] == "    thread (0,0)"
    assert finding[2].startswith("    mysgemm<<<1, 1>>>: ")
    assert re.match(r"    m=16 k=16 n=16, fill random, seed \d+$", finding[3])
    assert finding[4] == "    hint: think"
    assert "protection: none (no protection: a fake)" in finding
    assert "seed: 5 (the same seed gives the same grade)" in finding


def test_no_text_of_a_submission_is_a_command(kernel: Path) -> None:
    """Neither the terminal nor a runner of GitHub's."""
    for text in ("error", "wrong"):
        run = grade(kernel, text)
        printed = run.stdout + run.stderr
        assert "\x1b" not in printed
        assert "::" not in printed and "##[" not in printed
    assert "| : :error: :x\\x1b[2J" in grade(kernel, "error").stdout
    assert "    | 16\\x1b[2J" in grade(kernel, "wrong").stdout


def on_a_terminal(command: list[str], status: int | None = 0, **env: str) -> str:
    """What a terminal, of 100 columns unless `env` says otherwise, shows."""
    reader, writer = pty.openpty()
    environment = clean_environment({"TERM": "xterm", "COLUMNS": "100"} | env)
    with ThreadPoolExecutor() as beside:
        ended = beside.submit(fake_grader().run_on, [os.ttyname(writer)] * 2, command[2:], environment)
        ended.add_done_callback(lambda _: os.close(writer))
        shown = b""
        with contextlib.suppress(OSError):  # how the end of a terminal's output is read
            while part := os.read(reader, 65536):
                shown += part
    os.close(reader)
    assert ended.result() == status or status is None
    return shown.decode()


def test_progress_and_color_are_for_terminals(kernel: Path) -> None:
    command = fake(kernel, "right 0.05")
    shown = on_a_terminal(command)
    assert "\x1b[32m" in shown and re.search(r"\d+/13", shown)
    plain = on_a_terminal(command, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m|\d+/13", plain)
    assert "\x1b" not in call(command).stdout


def test_stages_for_the_benchmark(kernel: Path, tmp_path: Path) -> None:
    grade(kernel, "right", GRADER_STAGES=str(tmp_path / "stages.json"))
    stages = json.loads((tmp_path / "stages.json").read_text())
    assert set(stages) == {"trusted parts", "compile", "cases", "clock", "repair", "causes",
                           "report"}
    assert all(0 <= seconds < SECONDS for seconds in stages.values())


# ---- where things are ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["with space, é ü ß", "quo'te \"s\ntwo lines"])
def test_any_path(tmp_path: Path, name: str) -> None:
    kernel = tmp_path / name / "kernel.cu"
    kernel.parent.mkdir()
    kernel.write_text("right")
    for path in (kernel, kernel.parent):
        results = tmp_path / f"results {path.name}"
        run = call(COMMAND, "--submission", str(path), "--results", str(results))
        assert run.status == 0, run.stderr
        assert len(list(results.glob("*/result.json"))) == 1


def test_relative_paths_are_those_of_the_working_directory(kernel: Path) -> None:
    run = call(COMMAND, "--submission", "kernel.cu", "--results", "out", "--name", "Bob B",
               cwd=kernel.parent)
    assert run.status == 0 and (kernel.parent / "out" / "Bob B" / "result.json").exists()
    assert "record: out/Bob B/result.json" in run.stdout


def test_the_schema_describes_a_result(kernel: Path) -> None:
    printed = json.loads(call([sys.executable, "-m", "grader.record"], cwd=REPOSITORY).stdout)
    assert printed == schema()
    grade(kernel, MIXED)
    path = kernel.parent.parent / "results" / "alice" / "result.json"
    jsonschema.validate(json.loads(path.read_text()), printed)


def test_every_option_and_key_of_a_case_is_documented() -> None:
    from grader.cases.model import Case, Performance
    from grader.cases.read import OF_SUITE
    from grader.options import OF_ONE, SHARED

    text = (REPOSITORY / "docs" / "grading.md").read_text()
    for word in [*OF_SUITE, "-k", "-x", "--list", "--about", *OF_ONE, *SHARED, *Case.keys(described()), *Performance.keys(described())]:
        assert f"`{word}" in text, word


# ---- an old Python, an interrupt -----------------------------------------------------------------


@pytest.mark.parametrize("module", ["grader", "grader.batch", "grader.exporters",
                                    "grader.exporters.hand_in", "grader.exporters.guarded"])
def test_an_old_python_is_named_in_one_line(module: str, tmp_path: Path) -> None:
    """There is none here: this one says that it is 3.9. What is read before the line has the syntax
    of one, too."""
    ast.parse((REPOSITORY / "grader" / "__init__.py").read_text(), feature_version=(3, 4))
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.version_info = (3, 9, 2)\n")
    run = call([sys.executable, "-B", "-m", module], cwd=REPOSITORY, PYTHONPATH=str(tmp_path))
    assert (run.status, run.stdout) == (3, "")
    assert run.stderr == "grade: needs Python 3.10 or newer, and this is 3.9\n"


# ---- with the real core --------------------------------------------------------------------------


@pytest.fixture
def parts() -> None:
    """The grader's own parts are built."""
    for tool in ("make", "cc", "c++"):
        need(tool)
    trusted_parts()


@pytest.fixture
def real(tree: Tree, parts: None, tmp_path: Path):  # type: ignore[no-untyped-def]
    def really(*words: str) -> Run:
        return call([sys.executable, "-m", "grader"], "--results", str(tmp_path / "r"), *words,
                    cwd=tree.path)

    return really


SUITE = "all" if hidden_cases() else "public"


@pytest.mark.skipif(not hidden_cases(), reason="instructor/ is not here")
def test_a_mistake(real) -> None:  # type: ignore[no-untyped-def]
    race = real("--submission", faulty("01_first_barrier"), "--suite", SUITE)
    assert race.status == 1 and race.stdout.splitlines()[-2] == "score: 60 of 100"
    again = r"next: make sgemm-check KERNEL=\S+01_first_barrier.cu && ./sgemm-check 16 16 16 --fill random --seed \d+"
    assert re.fullmatch(again, race.stdout.splitlines()[-1])
    assert race.table["16x16x16"] == "failed"
    assert "correct except for one mistake: 01_first_barrier.cu:38: race on shared memory" in " ".join(race.stdout.split())
    assert "a __syncthreads() is missing after line 35, before line 37" in race.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hidden_cases(), reason="instructor/ is not here")
def test_solutions_and_starter(real) -> None:  # type: ignore[no-untyped-def]
    """By day test_bundles.py grades the tiled one, and the starter."""
    tiled = real("--submission", "instructor/solutions/2_tiled.cu", "--suite", SUITE)
    assert tiled.status == 0, tiled.stderr
    assert tiled.stdout.splitlines()[-1] == "score: 100 of 100"
    naive = real("--submission", "instructor/solutions/1_naive.cu", "--suite", SUITE)
    assert naive.status == 1
    lost = {name for name, status in naive.table.items() if status != "passed"}
    assert lost == {"64x64x64", "120x201x250", "primes-97-89-101", "odd-257-149-241"}
    starter = real("--suite", SUITE)
    assert starter.status == 1 and "\nscore: 0 of 100\n" in starter.stdout


def interrupted(command: list[str], seconds: float, cwd: Path, **env: str) -> Run:
    """Ctrl-C on a terminal: SIGINT for all that make has started."""
    with subprocess.Popen(command, cwd=cwd, env=clean_environment(env), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True, preexec_fn=heed_signals) as process:
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):  # it was faster
            os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    return Run(process.returncode, out.decode(), err.decode())


INTERRUPTED = [(target, seconds)
               for target in ("grade", "grade-class", "cases", "release", "gradescope")
               for seconds in (0.0, 0.02, 0.04, 0.07, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0)]
BY_DAY = [("grade", 0.07), ("grade", 2.5), ("grade-class", 0.4), ("release", 1.0)]


@pytest.mark.parametrize(("target", "seconds"),
                         slow_but(INTERRUPTED, lambda _, value: value in BY_DAY))
@pytest.mark.usefixtures("parts")
def test_ctrl_c_at_any_time(tree: Tree, tmp_path: Path, venv: Path, target: str,
                            seconds: float) -> None:
    """One line of the grader's, beside make's own; no traceback, no temporary files. Early while
    the grader's own parts are built, later while they are used."""
    pupil = tmp_path / "class" / "alice" / "kernel.cu"
    pupil.parent.mkdir(parents=True)
    pupil.write_bytes((REPOSITORY / "kernel.cu").read_bytes())
    words = {"grade": [f"SUBMISSION={pupil}", f"RESULTS={tmp_path / 'r'}"],
             "grade-class": [f"CLASS={pupil.parent.parent}", f"RESULTS={tmp_path / 'r'}"],
             "release": [f"DIR={tmp_path / 'copy'}"]}.get(target, [])
    words += [f"PYTHON={venv}/bin/python" if target == "gradescope" else f"VENV={venv}"]
    parts = {"GRADER_CACHE": str(tmp_path / "parts")} if seconds <= 0.7 else {}
    with work_directory() as temporary:  # pytest's own are closed to the sandbox's uid
        run = interrupted([need("make"), "--no-print-directory", "-o", "packages",
                           "-o", "course-packages", target, *words], seconds, tree.path, TMPDIR=temporary, **parts)
        left = list(Path(temporary).iterdir())
    said = [line for line in run.stderr.splitlines()
            if not re.match(r"make: |cases: (building|grading|\d+ of) ", line)]
    assert len(said) <= 1 and "Traceback" not in run.stdout + run.stderr, run
    assert all("interrupted" in line for line in said), run
    assert left == []
    if seconds >= 1 and run.status == -signal.SIGINT:
        assert "make: " not in run.stderr, "what the program says is the last line"


def test_an_interrupt_has_a_status_of_its_own(kernel: Path) -> None:
    process = subprocess.Popen([*fake(kernel, "right 1"), "--jobs", "1"], env=clean_environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    late = time.monotonic() + SECONDS
    while not result(kernel, "result.partial.json"):
        assert time.monotonic() < late
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"grade: interrupted; the cases so far are in ") and err.count(b"\n") == 1


@pytest.mark.slow  # test_session.py: the same seed, the same grade
def test_a_faulty_kernel_and_the_same_seed(real, tmp_path: Path) -> None:  # type: ignore
    suite = tmp_path / "suite.toml"
    suite.write_text('title = "Three"\n' + "".join(
        f'[[case]]\nname = "{size}"\nm = {size}\nk = {size}\nn = {size}\nfill = "random"\n'
        "points = 2\n" for size in (16, 34, 50)))

    def graded(jobs: str) -> dict[str, object]:
        run = real("--submission", faulty("02_second_barrier"), "--seed", "11",
                   "--jobs", jobs, "--suite", str(suite))
        assert run.status == 1, run.stderr
        assert re.search(r"^\S+\.cu:\d+: race on shared memory$", run.stdout, re.MULTILINE)
        record = json.loads((tmp_path / "r" / "02_second_barrier" / "result.json").read_text())
        for each in (record, *record["tests"]):
            each["seconds"] = 0
        return record | {"started": ""}

    assert graded("1") == graded("2")


@pytest.mark.usefixtures("parts")
def test_a_read_only_checkout(fresh_tree: Tree, tmp_path: Path) -> None:
    """Nothing is written there; results and parts lie elsewhere."""
    def listing() -> list[tuple[str, int]]:
        return sorted((str(path), path.stat().st_mtime_ns) for path in fresh_tree.path.rglob("*"))

    for path in fresh_tree.path.rglob("*"):
        path.chmod(path.stat().st_mode & ~0o222)
    fresh_tree.path.chmod(0o555)
    before = listing()
    run = call([sys.executable, "-m", "grader", "-k", "16x16x16", "--results",
                str(tmp_path / "r")], cwd=fresh_tree.path)
    assert run.status == 1, run.stderr
    assert listing() == before
    for path in [fresh_tree.path, *fresh_tree.path.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
