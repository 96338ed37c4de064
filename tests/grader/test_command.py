"""`python -m grader`, and the front for pytest: exit statuses, what is printed, what is written where. Most
of it with a core that compiles and runs nothing (grader_fake.py), the last part with the real
one."""

import ast
import contextlib
import functools
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
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grader_fake
import pytest
from conftest import REPOSITORY, Tree, clean_environment, finished, heed_signals, need, sample, slow_but
from corpus import BY_NAME
from forks import Run, fake_grader
from grader_fake import COMMAND, command as fake
from rich.cells import cell_len

from grader import interrupt
from grader.build.parts import described, trusted_parts
from grader.build.submission import work_directory
from grader.record.model import Record, schema
from grader.report.terminal import next_command

SECONDS = 300
PYTHON = [sys.executable, "-B", "-m"]


def table(run: Run) -> dict[str, str]:
    """Its lines by the case's name."""
    return dict(re.findall(r"^(\S+) .* (passed|partial|failed|skipped) ", run.stdout, re.MULTILINE))


def call(command: list[str], *words: str, cwd: Path | None = None, **env: str) -> Run:
    if command[:len(COMMAND)] == COMMAND:
        return fake_grader().run([*command[2:], *words], clean_environment(env), cwd)
    return finished([*command, *words], cwd or Path.cwd(), env)


def grade(folder: Path, text: str, *words: str, **env: str) -> Run:
    return call(fake(folder, text), *words, **env)


def result(folder: Path, name: str = "result.json") -> Record | None:
    path = folder / "results" / "alice" / name
    return Record.model_validate_json(path.read_bytes()) if path.exists() else None


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Run, Record]]:
    """What a text's run without further options prints and writes: each text is run once."""
    @functools.cache
    def run(text: str) -> tuple[Run, Record]:
        folder = tmp_path_factory.mktemp("graded")
        printed, record = grade(folder, text, "--seed", "5"), result(folder)
        assert record and record.complete and not result(folder, "result.partial.json")
        assert (printed.returncode, printed.stderr) == (int(record.score < record.max_score), "")
        assert f"score: {record.score:g} of 40" in printed.stdout
        return printed, record

    return run


Graded = Callable[[str], tuple[Run, Record]]


# ---- exit statuses -------------------------------------------------------------------------------


def test_full_marks(graded: Graded) -> None:
    run, record = graded("right")
    assert run.returncode == 0 and record.score == record.max_score == 40
    assert run.stdout.splitlines()[-1] == "score: 40 of 40"
    assert [line for line in run.stdout.splitlines() if "speed" in line.lower()] == [
        "Speed was not timed (no GPU); this costs no points. With a GPU: BACKEND=cuda."]
    assert set(table(run).values()) == {"passed"} and len(table(run)) == 10


@pytest.mark.parametrize("text, words, status, message", [
    ("right", ["--submission", "none.cu"], 2, "grade: none.cu: cannot read the submission: No such file"),
    ("right", ["--submission", ""], 2, "grade: the path of the submission is empty"),
    ("right", ["--name", "../x"], 2, "grade: name '../x': it names a directory of results"),
    ("right", ["--suite", ""], 2, "grade: --suite (SUITE with make): the path is empty\n"),
    ("right", ["-k", "nothing"], 2, "grade: no case was selected; --list lists them"),
    ("right", ["--subm", "kernel.cu"], 2, "unrecognized arguments: --subm"),
    ("no compiler", [], 3, "grade: no compiler here; install one"), ("bug", [], 3, "grader itself failed"),
])  # fmt: skip
def test_bad_input_and_a_bad_machine(tmp_path: Path, text: str, words: list[str], status: int, message: str) -> None:
    run = grade(tmp_path, text, *words)
    assert run.returncode == status and run.stdout == "" and not result(tmp_path)
    last = f"{run.stderr.splitlines()[-1]}\n"
    assert message in last and (last.startswith("grade: ") or words == ["--subm", "kernel.cu"])
    if status == 2:
        assert run.stderr.count("\n") == 1 or run.stderr.startswith("usage: ")
        assert not (tmp_path / "results").exists()


def test_each_mistake_is_a_line(tmp_path: Path) -> None:
    """Of options and of a suite, all at once."""
    suite = tmp_path / "s.toml"
    suite.write_text('title = "T"\n[[case]]\nname = "a"\nm = 0\nk = 1\nn = 1\nfill = "x"\n')
    run = grade(tmp_path, "right", "--seed", "-1", "--jobs", "banana", "--protection", "prayer",
                "--backend", "gpu", "--results", "", "--suite", str(suite))
    assert run.returncode == 2 and run.stdout == ""
    lines = run.stderr.splitlines()
    assert lines[:5] == [
        "grade: --seed (SEED with make): '-1' is not a whole number from 0 to 9223372036854775807",
        "grade: --jobs (JOBS with make): 'banana' is not a whole number from 1 to 1024",
        "grade: --protection (PROTECTION with make): 'prayer' is not one of auto, bubblewrap, uid, none",
        "grade: --backend (BACKEND with make): 'gpu' is not one of cpu, cuda",
        "grade: --results (RESULTS with make): the path is empty"]
    assert [line.split(": ")[:3] for line in lines[5:]] == [["grade", str(suite), "case 'a'"]] * 3


# ---- some of the cases ---------------------------------------------------------------------------


def test_k_is_no_grade(tmp_path: Path) -> None:
    """And leaves the grade that is there."""
    grade(tmp_path, "right", "--seed", "1")
    run = grade(tmp_path, "34 34 34: wrong\nright", "-k", "34", "--seed", "2")
    assert run.returncode == 1 and set(table(run)) == {"34x34x34-ones-twos", "34x34x34-index"}
    assert "\n0 of 4 points in 2 cases; no grade, because" in run.stdout
    record, partial = result(tmp_path), result(tmp_path, "result.partial.json")
    assert record and (record.seed, record.score) == (1, 40)
    assert partial and partial.seed == 2 and not partial.complete
    assert grade(tmp_path, "right", "-k", "34", "-x").returncode == 0


def test_x_stops_at_the_first_failure(tmp_path: Path) -> None:
    """That is no grade, unless nothing that was not run could change it."""
    run = grade(tmp_path, "16 16 16: wrong\nright", "-x", "--jobs", "1")
    assert run.returncode == 1 and "no grade, because not all cases were run" in run.stdout
    assert not result(tmp_path)
    run = grade(tmp_path, "1 1 1: copies\nright", "-x")
    record = result(tmp_path)
    assert run.returncode == 1 and record and record.refusal and record.score == 0


def test_what_runs_nothing(tmp_path: Path) -> None:
    run = grade(tmp_path, "machine", "--list", "-k", "34x34")
    assert run.returncode == 0 and run.stdout.splitlines() == [
        "public/basics/34x34x34-ones-twos", "public/basics/34x34x34-index"]
    assert grade(tmp_path, "right", "--about", "--suite", "none.toml").returncode == 2
    run = grade(tmp_path, "machine", "--help")
    assert run.returncode == 0 and "--submission" in run.stdout and not run.stderr
    assert not (tmp_path / "results").exists()


def test_what_a_grade_depends_on(tmp_path: Path, graded: Graded) -> None:
    """Of this machine, in JSON; and what a record says of it is the same. A login node has no compiler: what does
    not depend on it is said all the same, and why."""
    here = json.loads(grade(tmp_path, "right", "--about").stdout)
    record = graded("right")[1]
    of_a_compiler = ("compiler", "architecture", "protection")
    assert here == {key: getattr(record, key) for key in (
        "version", "grader", "cases", "suites", "max_score", "backend", *of_a_compiler)} | {
        "lab": "sgemm", "host": socket.gethostname()}
    (tmp_path / "nothing").mkdir()
    there = fake_grader().run(["-m", "grader", "--about"], clean_environment({
        "PATH": str(tmp_path / "nothing"), "HOME": str(tmp_path), "CC": "cc", "CXX": "c++"}), REPOSITORY)
    assert there.returncode == 3 and there.stderr.count("\n") == 1
    said = json.loads(there.stdout)
    assert there.stderr == f"grade: {said.pop('fault')}\n"
    assert said == {name: value for name, value in here.items() if name not in of_a_compiler}


# ---- the front for pytest ------------------------------------------------------------------------


def by_pytest(folder: Path, text: str, *words: str) -> Run:
    return call([*COMMAND, "pytest"], *fake(folder, text)[len(COMMAND):], *words, cwd=REPOSITORY)


def test_each_case_is_an_item_that_fails_with_its_reason(tmp_path: Path) -> None:
    run = by_pytest(tmp_path, "16 16 16: race\n5 7 3: wrong\nright", "--junitxml", str(tmp_path / "j.xml"))
    assert run.returncode == 1 and "0 of 2 points: all 15 are wrong" in run.stdout
    cases = {case.get("name", "")[len("test_points[public-"):-1]: case
             for case in ElementTree.parse(tmp_path / "j.xml").iter("testcase")}
    assert len(cases) == 10 + 2 + 3
    failures = {name: str(each.text) for name, case in cases.items() for each in case.iter("failure")}
    assert "0 of 11 points: kernel.cu:29: a mistake" in failures["basics-memory"]
    assert "0 of 2 points: all 15 are wrong" in failures["basics-5x7x3"]
    assert not {"basics-tiled", "basics-1x1x1"} & {*failures}
    assert [each.get("message") for each in cases["speed-speed-1024"].iter("skipped")] == ["not timed: no GPU"]
    points = {each.get("name"): each.get("value") for each in cases["basics-5x7x3"].iter("property")}
    assert points == {"score": "0.0", "max_score": "2.0"}
    record = result(tmp_path)
    assert record and record.complete


def test_pytests_own_options_choose(tmp_path: Path) -> None:
    run = by_pytest(tmp_path, "34 34 34: wrong\nright", "-k", "34 and not index", "-x", "-v")
    assert run.returncode == 1 and "1 failed, 14 deselected" in run.stdout
    partial = result(tmp_path, "result.partial.json")
    assert partial and [test.name for test in partial.tests] == ["16x16x16", "34x34x34-ones-twos"]
    run = by_pytest(tmp_path, "34 34 34: leak\nright", "-k", "tiled or memory")
    assert run.returncode == 1 and "1 failed, 1 passed" in run.stdout


@pytest.mark.parametrize("text, words, status, said", [
    ("machine", [], 3, "grade: no memory is left"),
    ("right", ["--seed", "x"], 2, "grade: --seed (SEED with make): 'x' is not a whole number"),
])
def test_what_is_no_grade_ends_pytest(tmp_path: Path, text: str, words: list[str], status: int, said: str) -> None:
    run = by_pytest(tmp_path, text, *words)
    assert run.returncode == status and said in run.stdout + run.stderr


def test_plain_pytest(tmp_path: Path) -> None:
    """From the project's root, as everyone knows it."""
    words = ["-m", "pytest", "grader", "--collect-only", "-q", "-k", "34", *fake(tmp_path, "right")[len(COMMAND):]]
    run = fake_grader().run(words, clean_environment(), REPOSITORY)
    assert run.returncode == 0
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
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, text: str, columns: int) -> None:
    run = grade(tmp_path, text, "--suite", "all", COLUMNS=str(columns))
    assert 40 < widest(run.stdout) <= min(columns, 80)
    assert not re.search(r" $", run.stdout, re.MULTILINE)
    shown = on_a_terminal([*fake(tmp_path, text), "--suite", "all", "--backend", "cuda"], None, COLUMNS=str(columns))
    assert 40 < widest(shown) <= min(columns, 120)


def test_a_reason_has_the_width_there_is(tmp_path: Path, graded: Graded) -> None:
    """Beside its case where it fits, below it where it does not, and never in a narrow column."""
    reason = "the kernel loads 524,288 elements; at most 131,072 count as tiled"
    assert f"2/2\n    {reason}\n    hint: let each block" in graded("naive")[0].stdout
    shown = on_a_terminal(fake(tmp_path, "naive"), 1, COLUMNS="120", NO_COLOR="1")
    assert f"2/2  {reason}\r\n    hint: let each block" in shown


def test_a_long_reason_is_said_in_the_first_case_that_has_it(tmp_path: Path, graded: Graded) -> None:
    lines = graded("16 16 16: right\nhang")[0].stdout.splitlines()
    assert lines.count("    kernel.cu:12: still running after 2 s") == 1
    rows = [line for line in lines if line.endswith("as in 1x1x1")]
    assert len(rows) == 8 and not any(row.startswith(("16x16x16", "1x1x1 ")) for row in rows)
    narrow = grade(tmp_path, "16 16 16: right\nhang", COLUMNS="60").stdout
    assert narrow.count("as in 1x1x1\n") == 8


def test_the_next_command_of_an_archive_names_a_file_that_is_there(tmp_path: Path) -> None:
    """The copy beside the record; without one, where only some cases were asked for, there is no such command."""
    with zipfile.ZipFile(tmp_path / "alice.zip", "w") as archive:
        archive.writestr("my work/kernel.cu", "wrong")
    command = [*COMMAND, "--submission", str(tmp_path / "alice.zip"), "--results", str(tmp_path / "results")]
    assert "next: " not in call(command, "-k", "34").stdout
    named = f"KERNEL={tmp_path}/results/alice/kernel.cu"
    assert f"next: make sgemm-check {named} && ./sgemm-check" in call(command).stdout


def test_what_was_skipped_is_not_what_to_try_next() -> None:
    cases = grader_fake.case("small", 1, 1, 1), grader_fake.case("gate", 16, 16, 16)
    record = grader_fake.grading("wrong", [grader_fake.suite(*cases, gate=cases[1].key)]).run()
    assert [test.status for test in record.tests] == ["skipped", "failed"]
    assert "-check 16 16 16 --fill" in next_command(record, record.tests, [])


@pytest.mark.parametrize("text", ["error", "fopen", f"error {'word ' * 40}\n" * 40])
def test_what_holds_for_all_cases_is_printed_once_and_first(graded: Graded, text: str) -> None:
    lines = graded(text)[0].stdout.splitlines()
    above = lines[:lines.index("")]
    assert len(above) <= 15
    assert "kernel.cu does not compile" in above[0] or "refused" in above[0]
    said = "not declared" if "error" in text else "calls fopen"
    assert sum(said in line for line in lines) == 1 == sum(said in line for line in above)
    assert "hint" not in lines[lines.index("") + 1]


def test_the_first_finding_is_printed_as_make_check_prints_it(graded: Graded) -> None:
    run, _ = graded(MIXED)
    finding = run.stdout[run.stdout.index("kernel.cu:29: a mistake\n    thread"):].splitlines()
    assert finding[:2] == ["kernel.cu:29: a mistake", "    thread (0,0)"]
    assert finding[2].startswith("    mysgemm<<<1, 1>>>: ")
    assert re.match(r"    m=16 k=16 n=16, fill random, seed \d+$", finding[3])
    assert finding[4] == "    hint: think"
    assert "protection: none (no protection: a fake)" in finding
    assert "seed: 5 (the same seed gives the same grade)" in finding


@pytest.mark.parametrize(("text", "shown"), [("error", "| : :error: :x\\x1b[2J"), ("wrong", "    | 16\\x1b[2J")])
def test_no_text_of_a_submission_is_a_command(graded: Graded, text: str, shown: str) -> None:
    """Neither the terminal nor a runner of GitHub's."""
    run, _ = graded(text)
    printed = run.stdout + run.stderr
    assert "\x1b" not in printed and "::" not in printed and "##[" not in printed
    assert shown in printed


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


def test_progress_and_color_are_for_terminals(tmp_path: Path) -> None:
    command = fake(tmp_path, "right 0.05")
    shown = on_a_terminal(command)
    assert "\x1b[32m" in shown and re.search(r"\d+/13", shown)
    plain = on_a_terminal(command, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m|\d+/13", plain)


# ---- where things are ----------------------------------------------------------------------------


def test_any_path(tmp_path: Path) -> None:
    """Relative ones are those of the working directory."""
    folder = tmp_path / "with space, é ü ß, quo'te \"s\ntwo lines"
    folder.mkdir()
    (folder / "kernel.cu").write_text("right")
    run = call(COMMAND, "--submission", str(folder), "--results", str(tmp_path / "results é"))
    assert run.returncode == 0, run.stderr
    assert len(list(tmp_path.glob("results é/*/result.json"))) == 1
    run = call(COMMAND, "--submission", "kernel.cu", "--results", "out", "--name", "Bob B", cwd=folder)
    assert run.returncode == 0 and (folder / "out" / "Bob B" / "result.json").exists()
    assert "record: out/Bob B/result.json" in run.stdout


def test_the_schema_of_a_result_is_printed() -> None:
    done = fake_grader().run(["-m", "grader.record.model"], clean_environment(), REPOSITORY)
    assert json.loads(done.stdout) == schema()


def test_every_option_and_key_of_a_case_is_documented() -> None:
    from grader.cases.model import Case, Performance
    from grader.cases.read import OF_SUITE
    from grader.options import OPTIONS

    text = (REPOSITORY / "docs" / "grading.md").read_text()
    for word in [*OF_SUITE, "-k", "-x", "--list", "--about", *OPTIONS,
                 *Case.keys(described()), *Performance.keys(described())]:
        assert f"`{word}" in text, word


def test_an_old_python_is_named_in_one_line(tmp_path: Path) -> None:
    """There is none here: this one says that it is 3.9. What is read before the line, of any module of
    the grader, has the syntax of one, too."""
    ast.parse((REPOSITORY / "grader" / "__init__.py").read_text(), feature_version=(3, 4))
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.version_info = (3, 9, 2)\n")
    run = call([*PYTHON, "grader.exporters"], cwd=REPOSITORY, PYTHONPATH=str(tmp_path))
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr == "grade: needs Python 3.10 or newer, and this is 3.9\n"


# ---- with the real core --------------------------------------------------------------------------


TWO_CASES = 'title = "Two"\nrepaired = 0.6\n' + "".join(
    f'[[case]]\nname = "{size}x{size}x{size}"\nm = {size}\nk = {size}\nn = {size}\nfill = "random"\npoints = 5\n'
    for size in (16, 34))


def test_a_mistake_in_a_read_only_checkout(fresh_tree: Tree, tmp_path: Path) -> None:
    """Nothing is written there; results and parts lie elsewhere."""
    def listing() -> list[tuple[str, int]]:
        return sorted((str(path), path.stat().st_mtime_ns) for path in fresh_tree.path.rglob("*"))

    kernel, suite = tmp_path / "01_first_barrier.cu", tmp_path / "two.toml"
    kernel.write_text(BY_NAME[kernel.stem].text)
    suite.write_text(TWO_CASES)
    subprocess.run(["chmod", "-R", "a-w", fresh_tree.path], check=True)
    before = listing()
    race = call([*PYTHON, "grader"], "--submission", str(kernel), "--suite", str(suite), "--results",
                str(tmp_path / "r"), cwd=fresh_tree.path)
    assert listing() == before
    subprocess.run(["chmod", "-R", "u+w", fresh_tree.path], check=True)
    assert race.returncode == 1 and race.stdout.splitlines()[-2] == "score: 6 of 10"
    again = r"next: make sgemm-check KERNEL=\S+01_first_barrier.cu && ./sgemm-check 16 16 16 --fill random --seed \d+"
    assert re.fullmatch(again, race.stdout.splitlines()[-1])
    assert table(race)["16x16x16"] == "failed"
    mistake = "correct except for one mistake: 01_first_barrier.cu:38: race on shared memory"
    assert mistake in " ".join(race.stdout.split())
    assert "a __syncthreads() is missing after line 35, before line 37" in race.stdout


def interrupted(command: list[str], seconds: float, cwd: Path, **env: str) -> Run:
    """Ctrl-C on a terminal: SIGINT for all that make has started."""
    with subprocess.Popen(command, cwd=cwd, env=clean_environment(env), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True, preexec_fn=heed_signals) as process:
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):  # it was faster
            os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    return Run(command, process.returncode, out.decode(), err.decode())


def test_ctrl_c_while_the_interpreter_starts() -> None:
    """At any time from the first shell on, it ends the program: none is lost on the way."""
    program = "from grader import interrupt; import signal, time; interrupt.handle(signal.SIG_DFL); time.sleep(1); 1/0"
    for step in range(40):
        run = interrupted(["sh", "grader/python.sh", "-s", "-c", program], step / 2000, REPOSITORY,
                          PYTHON=sys.executable)
        assert run.returncode in (-signal.SIGINT, interrupt.STATUS), run


INTERRUPTED = [(target, seconds)
               for target in ("grade", "grade-class", "cases", "release", "gradescope")
               for seconds in (0.0, 0.02, 0.04, 0.07, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0)]
BY_DAY = [("grade", 0.07), ("grade", 2.5), ("grade-class", 0.4), ("release", 1.0)]


@pytest.mark.parametrize(("target", "seconds"), slow_but(INTERRUPTED, lambda _, value: value in BY_DAY))
def test_ctrl_c_at_any_time(tree: Tree, tmp_path: Path, venv: Path, target: str, seconds: float) -> None:
    """One line of the grader's, beside make's own; no traceback, no temporary files. Early while
    the grader's own parts are built, later while they are used."""
    trusted_parts()
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
    if seconds >= 1 and said and run.returncode == -signal.SIGINT:
        assert "make: " not in run.stderr, "what the program says is the last line"
