"""A class is graded to the end, whatever interrupts it: nothing is lost, and nothing done twice."""

from __future__ import annotations

import contextlib
import json
import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fake_class import REPOSITORY, Class, interrupt, json_of, make_project, only, wait_for
from records import make_record
from course.jobs import results, slurm, worker
from course.errors import BadInput


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("project") / "a project")


@pytest.fixture
def pupils(project: Path, tmp_path: Path) -> Iterator[Class]:
    made = Class(project, tmp_path / "the class")
    yield made
    assert not list(made.temporary.iterdir()), "temporary files are left"


def test_each_is_graded_once(pupils: Class) -> None:
    expected = pupils.fill(7, random.Random(1))
    ended = pupils.run()
    assert ended.returncode == 0, ended.stderr
    assert pupils.points() == expected
    assert set(pupils.counted("begun").values()) == {1}
    assert len([line for line in ended.stdout.splitlines() if line.startswith("[")]) == 7
    assert not (pupils.results / "records/student 000").joinpath("try.json").exists()


@pytest.mark.parametrize("graded, today, refused", [
    (["public/a"], ["public/a"], False), (["public/a"], ["public/a", "public/b"], False),
    (["public/a", "public/b"], ["public/a"], True), (["public/a"], ["public/a", "hidden/x"], True),
    (["public/a", "hidden/x"], ["public/a", "hidden/x", "hidden/y"], False),
])
def test_a_suite_that_was_added_is_graded(tmp_path: Path, graded: list[str], today: list[str],
                                          refused: bool) -> None:
    """But no class that was graded on public cases is suddenly graded on hidden ones."""
    folder = tmp_path / "records/ada/5ha"
    folder.mkdir(parents=True)
    record = make_record([], suites=graded)
    (folder / "result.json").write_text(record.model_dump_json())
    key = results.Key(record.lab.name, tuple(today), "c", "g", 7, record.backend, record.compiler, None, "1.0")
    with pytest.raises(BadInput, match="graded on public/a") if refused else contextlib.nullcontext():
        results.refuse_other_cases(results.Results(tmp_path), key)
    for regraded in (True, False):  # whatever its suites are called
        with pytest.raises(BadInput, match=f"of {record.lab.name}, graded .* not of scan on public/a"):
            results.refuse_other_cases(results.Results(tmp_path), replace(key, lab="scan"), regraded)
    results.refuse_other_cases(results.Results(tmp_path), key, regraded=True)


@pytest.mark.parametrize("words, says", [
    (["--suite=nowhere.toml"], "/nowhere.toml: cannot read this file: No such file or directory\n"),
    (["--suite="], "grade-class: --suite (SUITE with make): the path is empty\n"),
    (["--protection=x"], "grade-class: --protection (PROTECTION with make): 'x' is not one of")])
def test_an_option_of_the_graders(pupils: Class, words: list[str], says: str) -> None:
    """It says what is wrong with it, and nothing is begun."""
    pupils.add("alice", "score 3")
    ended = pupils.run(*words)
    assert ended.returncode == 2 and says in ended.stderr and ended.stderr.count("\n") == 1
    assert not (pupils.results / "records").exists()


@pytest.mark.parametrize("text, words, lab", [
    ("", [], "sgemm"), ('lab = "labs/scan"\n', [], "labs/scan"),
    ('lab = "labs/scan"\n', ["--lab=labs/stencil"], "labs/stencil")])
def test_the_assignment(pupils: Class, text: str, words: list[str], lab: str) -> None:
    """That of class.toml, unless the command says another."""
    pupils.add("alice", "score 3")
    (pupils.folder / "class.toml").write_text(text)
    assert pupils.run(*words).returncode == 0
    (record,) = pupils.results.rglob("result.json")
    assert json.loads(record.read_text())["lab"]["name"] == lab


def test_a_machine_that_cannot_grade(pupils: Class) -> None:
    """It says why, before the first."""
    pupils.add("alice", "score 3")
    pupils.environment["FAKE_FAULT"] = "no compiler here; install one"
    ended = pupils.run()
    assert ended.returncode == 3 and ended.stderr == "grade-class: no compiler here; install one\n"
    assert not (pupils.results / "records").exists()


def test_what_the_grader_cannot_take_is_a_row(pupils: Class) -> None:
    """With its reason, in which no folder of ours stands; it is tried once, and again when it changes, or
    the grader does; and it is no fault of the machine."""
    pupils.add("alice", "nothing it is UTF-16")
    pupils.add("bob", "score 4")
    for name in ("a.cu", "b.cu"):
        (pupils.folder / "submissions/eve" / name).parent.mkdir(exist_ok=True)
        (pupils.folder / "submissions/eve" / name).write_text("score 3\n")
    for _ in range(2):
        ended = pupils.run()
        assert ended.returncode == 0, ended.stderr
        assert pupils.counted("begun") == {"alice": 1, "bob": 1, "eve": 1}
    two = "hand-in: a directory with 2 files: which one is the submission?"
    rows = pupils.gradebook()
    assert {name: (row["state"], row["points"], row["look_at"], row["note"])
            for name, row in rows.items()} == {
        "alice": ("unusable", "", "yes", "kernel.cu: it is UTF-16"),
        "bob": ("graded", "4", "", ""), "eve": ("unusable", "", "yes", two)}
    page = (pupils.results / "feedback/eve.html").read_text()
    assert two in page and str(pupils.folder) not in page
    (pupils.folder / "submissions/eve/b.cu").unlink()
    assert pupils.run("--seed=9").returncode == 0
    assert pupils.points() == {"alice": "", "bob": "4", "eve": "3"}
    assert pupils.counted("begun") == {"alice": 2, "bob": 2, "eve": 2}


def test_of_several_attempts_the_best_is_one_that_can_be_taken(pupils: Class) -> None:
    for day, order in (("01", "score 2"), ("02", "nothing it is empty")):
        place = pupils.folder / f"submissions/zoe/2026-11-{day}_10-00-00"
        place.mkdir(parents=True)
        (place / "kernel.cu").write_text(f"{order}\n")
    assert pupils.run().returncode == 0
    assert pupils.points() == {"zoe": "2"}
    (pupils.folder / "class.toml").write_text('attempts = "last"\n')
    assert pupils.run().returncode == 0
    assert pupils.gradebook()["zoe"]["state"] == "unusable"


def test_a_hand_in_is_placed_as_it_came(pupils: Class) -> None:
    """All of its files, by their names; the grader chooses among them."""
    place = pupils.folder / "submissions/ada/src"
    place.mkdir(parents=True)
    for name in ("kernel.cu", "notes \udcff.txt", "-n"):
        (place / name).write_bytes(name.encode("utf-8", "surrogateescape"))
    assert pupils.run().returncode == 0
    [folder] = pupils.results.glob("records/ada/*/hand-in")
    assert {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
            if path.is_file()} == {f"src/{name}": name.encode("utf-8", "surrogateescape")
                                   for name in ("kernel.cu", "notes \udcff.txt", "-n")}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_again_grades_nothing(pupils: Class) -> None:
    expected = pupils.fill(3, random.Random(2))
    pupils.run()
    again = pupils.run()
    assert again.returncode == 0 and "3 submissions graded already" in again.stdout
    assert pupils.points() == expected and set(pupils.counted("begun").values()) == {1}


def test_what_is_missing_and_what_is_old_is_graded(pupils: Class) -> None:
    """A change of one kernel.cu, and then of the seed, which is a part of every result's key."""
    pupils.add("alice", "score 3")
    pupils.add("bob", "score 4")
    pupils.run()
    (pupils.folder / "submissions/bob/kernel.cu").write_text("score 5\n")
    pupils.run()
    assert pupils.points() == {"alice": "3", "bob": "5"}
    assert pupils.counted("begun") == {"alice": 1, "bob": 2}
    pupils.run("--seed", "99")
    assert pupils.counted("begun") == {"alice": 2, "bob": 3}
    history = only(list((pupils.results / "records/alice").glob("*/history/*.json")))
    now = only(list((pupils.results / "records/alice").glob("*/result.json")))
    assert json_of(history)["seed"] != 99 and json_of(now)["seed"] == 99


@pytest.mark.parametrize("text", ["", "{", '{"complete": true}'])
def test_a_damaged_result_is_no_result(pupils: Class, text: str) -> None:
    pupils.add("alice", "score 3")
    pupils.run()
    only(list((pupils.results / "records/alice").glob("*/result.json"))).write_text(text)
    assert pupils.run().returncode == 0
    assert pupils.points() == {"alice": "3"} and pupils.counted("begun") == {"alice": 2}


def test_an_attempt_that_does_not_count_needs_no_result(pupils: Class) -> None:
    """Nor does a student who handed in nothing."""
    (pupils.folder / "class.toml").write_text(
        'attempts = "last-in-time"\ndeadline = 2026-11-20T12:00:00Z\n')
    (pupils.folder / "roster.csv").write_text("name,login\nalice,alice\nbob,bob\n")
    for number, day in enumerate(("01", "02"), 1):
        place = pupils.folder / f"submissions/alice/2026-11-{day}_10-00-00"
        place.mkdir(parents=True)
        (place / "kernel.cu").write_text(f"score {number}\n")
        assert pupils.run("--seed", str(number)).returncode == 0
    assert pupils.points() == {"alice": "2", "bob": ""}
    assert pupils.gradebook()["bob"]["state"] == "missing"


# ---- faults of the machine -----------------------------------------------------------------------


@pytest.mark.parametrize("order", ["fault", "killed"])
def test_a_fault_of_the_machine_is_tried_again(pupils: Class, order: str) -> None:
    pupils.add("alice", f"{order} 2", "score 3")
    ended = pupils.run()
    assert ended.returncode == 0, ended.stderr
    assert pupils.points() == {"alice": "3"} and pupils.counted("begun") == {"alice": 3}


@pytest.mark.parametrize("order, says", [
    ("fault", "no sandbox works here"), ("killed", "the grader was killed (SIGKILL)")])
def test_one_that_stays_is_no_zero(pupils: Class, order: str, says: str) -> None:
    """Three tries, exit status 3, no points; and the same command tries again."""
    pupils.add("alice", f"{order} 4", "score 3")
    pupils.add("bob", "score 4")
    ended = pupils.run()
    assert ended.returncode == 3
    assert says in ended.stderr and "alice" in ended.stderr and "bob" not in ended.stderr
    assert pupils.counted("begun") == {"alice": 3, "bob": 1}
    row = pupils.gradebook()["alice"]
    assert (row["state"], row["points"], row["look_at"]) == ("fault", "", "yes")
    assert says in row["note"]
    assert pupils.run().returncode == 0
    assert pupils.points() == {"alice": "3", "bob": "4"}


def test_a_fault_keeps_the_points_of_before(pupils: Class) -> None:
    pupils.add("alice", "fault 3", "score 3")
    path = pupils.folder / "submissions/alice/kernel.cu"
    tried = only([pupils.results / "records/alice"])
    path.write_text("score 3\nfault 9\n")
    pupils.run()
    for each in tried.glob("*/tried-fault"):
        each.write_text("9")
    assert pupils.run().returncode == 0 and pupils.points() == {"alice": "3"}
    for each in tried.glob("*/tried-fault"):
        each.write_text("0")
    assert pupils.run("--seed", "5").returncode == 3
    row = pupils.gradebook()["alice"]
    assert row["points"] == "3" and row["look_at"] == "yes"
    assert "points from an earlier run" in row["note"] and "no sandbox works here" in row["note"]


@pytest.fixture
def small_disk(pupils: Class) -> Iterator[Path]:
    """Of 4 MB, for the results; only root may mount one."""
    pupils.results.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M,mode=700", "none",
                              str(pupils.results)], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield pupils.results
    kept = (pupils.results / "gradebook.csv").read_bytes()
    subprocess.run(["umount", str(pupils.results)], check=True)
    (pupils.results / "gradebook.csv").write_bytes(kept)


def test_a_disk_that_fills_up(pupils: Class, small_disk: Path) -> None:
    """At any moment: no points are lost, and with space again they are there."""
    expected = pupils.fill(3, random.Random(3), seconds=0.5)
    with pupils.start("--jobs", "1") as process:
        wait_for(lambda: pupils.counted("graded"))
        with contextlib.suppress(OSError), open(small_disk / "large", "wb") as file:
            while True:
                file.write(bytes(4096))
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3 and "No space left on device" in err, err
    (small_disk / "large").unlink()
    assert pupils.run().returncode == 0
    assert pupils.points() == expected and pupils.counted("graded")["student 000"] == 1


def test_too_little_space_is_said_before_the_first(pupils: Class, small_disk: Path) -> None:
    for name in "abcdef":
        pupils.add(name, "score 3", f"of {name}")
    ended = pupils.run()
    assert ended.returncode == 3 and "6 MB are needed; nothing was begun" in ended.stderr
    assert pupils.counted("begun") == {}
    (small_disk / "gradebook.csv").touch()


def test_two_runs_at_once(pupils: Class) -> None:
    pupils.add("alice", "sleep 5", "score 3")
    with pupils.start() as first:
        wait_for(lambda: pupils.counted("begun"))
        second = pupils.run()
        assert second.returncode == 2
        assert f"another run is using this folder (process {first.pid} on " in second.stderr
        interrupt(first, signal.SIGTERM)


# ---- interrupts ----------------------------------------------------------------------------------


def test_temporary_files_of_dead_runs_are_removed(pupils: Class) -> None:
    """Of writers that were killed, wherever they wrote; not those that somebody writes."""
    pupils.add("alice", "score 3")
    assert pupils.run().returncode == 0
    [record] = pupils.results.glob("records/alice/*")
    killed = "import os, pathlib, signal, sys; from course.files import write; " \
        "os.fsync = lambda fd: os.kill(os.getpid(), signal.SIGKILL); write(pathlib.Path(sys.argv[1]), b'x')"
    for place in (pupils.results / "class.md", record / "result.json"):
        subprocess.run([sys.executable, "-c", killed, place], cwd=REPOSITORY, check=False)
    assert len(list(pupils.results.rglob(".*.new"))) == 2
    with (record / ".try.json.abcdefgh.new").open("wb") as written:
        written.write(b"x")
        written.flush()
        fcntl.flock(written, fcntl.LOCK_EX)
        assert pupils.run().returncode == 0
        assert [path.name for path in pupils.results.rglob(".*.new")] == [Path(written.name).name]
    assert pupils.run().returncode == 0 and not list(pupils.results.rglob(".*.new"))


def test_ctrl_c_once_finishes_what_runs(pupils: Class) -> None:
    for name in ("a", "b", "c", "d"):
        pupils.add(name, "sleep 1", "score 3", f"of {name}")
    with pupils.start("--jobs", "2") as process:
        wait_for(lambda: len(pupils.counted("begun")) == 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "finishing what runs" in err
    assert "the same command grades the rest" in err
    assert len(pupils.counted("graded")) == 2 == len(pupils.counted("begun"))
    assert sorted(row["state"] for row in pupils.gradebook().values()) == [
        "graded", "graded", "waiting", "waiting"]


def test_ctrl_c_twice_ends_what_runs(pupils: Class) -> None:
    pupils.add("alice", "sleep 60", "score 3")
    with pupils.start() as process:
        wait_for(lambda: pupils.counted("begun"))
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        began = time.monotonic()
        assert interrupt(process, signal.SIGINT) == 130
    assert time.monotonic() - began < 20 and pupils.counted("graded") == {}
    place = only(list((pupils.results / "records/alice").iterdir()))
    assert not (place / "try.json").exists(), "an interrupt is no fault of the machine"


@pytest.mark.parametrize("hours", [-1, 1])
def test_clocks_that_differ(pupils: Class, hours: int) -> None:
    """A node or a file server whose clock is an hour off: nothing is believed because of a time."""
    pupils.add("alice", "score 3")
    pupils.add("bob", "fault 3", "score 4")
    assert pupils.run().returncode == 3
    for path in [pupils.folder, *pupils.folder.rglob("*")]:
        if pupils.temporary not in (path, path.parent):
            os.utime(path, (time.time() + 3600 * hours,) * 2)
    assert pupils.run().returncode == 0
    assert pupils.points() == {"alice": "3", "bob": "4"}
    assert pupils.counted("begun") == {"alice": 1, "bob": 4}


def test_files_that_show_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a network file system: a result is waited for where a try has not ended; one that was
    never begun is not."""
    begun, waiting = (results.Job(tmp_path / name, "x") for name in ("begun", "waiting"))
    for job in (begun, waiting):
        job.directory.mkdir()
    results.begin(begun, "run")
    looks: list[float] = []
    monkeypatch.setattr(slurm, "done", lambda job, key: job == begun and len(looks) == 3)
    grade = worker.Grade(None, "run", ())  # type: ignore[arg-type]
    assert slurm.settled([begun, waiting], grade, sleep=looks.append) == [waiting]
    assert len(looks) == 3
    assert slurm.settled([waiting], grade, sleep=looks.append) == [waiting] and len(looks) == 3


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP]


def wait_for_graders(pupils: Class) -> None:
    """Those of a run that was killed end behind it: on a busy machine later than the next one begins."""
    def left() -> bool:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if os.fsencode(pupils.results) in path.read_bytes():
                    return True
        return False

    for _ in range(1000):
        if not left():
            return
        time.sleep(0.01)
    pytest.fail("a grader goes on after its run was killed")


def interrupted_at_random(pupils: Class, times: int, students: int, seed: int) -> None:
    """Killed and started again until `times` runs have been interrupted; then to the end."""
    draw = random.Random(seed)
    expected = pupils.fill(students, draw)
    for _ in range(times):
        with pupils.start("--jobs", "2") as process:
            time.sleep(draw.uniform(0.3, 1.5))
            number = draw.choice(SIGNALS)
            if number == signal.SIGKILL:
                os.killpg(process.pid, number)
                process.communicate()
                wait_for_graders(pupils)
            else:
                interrupt(process, number)
    ended = pupils.run("--jobs", "2")
    assert ended.returncode == 0, ended.stderr
    assert pupils.points() == expected
    assert set(pupils.counted("graded").values()) == {1}, "graded twice"
    assert not list(pupils.results.glob("records/*/*/try.json"))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow)
                                       for seed in range(2, 11))])
def test_interrupted_at_random_moments(pupils: Class, seed: int) -> None:
    """50 times in all; by day twice."""
    times = 2 if seed == 1 else 5
    interrupted_at_random(pupils, times, students=8 * times, seed=seed)
