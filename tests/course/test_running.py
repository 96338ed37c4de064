"""A class is graded to the end, whatever interrupts it: nothing is lost, and nothing done twice."""

import contextlib
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

from downloads import zipped
from fake_class import REPOSITORY, Class, interrupt, json_of, make_project, only, wait_for
from records import make_record
from course.jobs import results
from course.errors import BadInput


@pytest.fixture
def pupils(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Iterator[Class]:
    with Class(make_project(tmp_path_factory.getbasetemp()), tmp_path / "the class") as made:
        yield made


def test_each_is_graded_once(pupils: Class) -> None:
    expected = pupils.fill(7, random.Random(1))
    ended = pupils.run()
    assert ended.returncode == 0, ended.stderr
    assert len([line for line in ended.stdout.splitlines() if line.startswith("[")]) == 7
    assert not list(pupils.results.glob("records/*/*/try.json"))
    again = pupils.run()
    assert again.returncode == 0 and "7 submissions graded already" in again.stdout
    assert pupils.points() == expected and set(pupils.counted("begun").values()) == {1}


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


def test_what_the_grader_cannot_do_at_all(pupils: Class) -> None:
    """An option, or any grade on this machine: it says what is wrong, and nothing is begun."""
    pupils.add("alice", "score 3")
    for words, fault, status, says in (
        (["--suite=nowhere.toml"], "", 2, "/nowhere.toml: cannot read this file: No such file or directory\n"),
        (["--suite="], "", 2, "grade-class: --suite (SUITE with make): the path is empty\n"),
        (["--protection=x"], "", 2, "grade-class: --protection (PROTECTION with make): 'x' is not one of"),
        ([], "no compiler here; install one", 3, "grade-class: no compiler here; install one\n"),
    ):
        pupils.environment["FAKE_FAULT"] = fault
        ended = pupils.run(*words)
        assert ended.returncode == status and says in ended.stderr and ended.stderr.count("\n") == 1
        assert not (pupils.results / "records").exists()


def test_the_assignment(pupils: Class) -> None:
    """That of class.toml, unless the command says another."""
    pupils.add("alice", "score 3")
    pupils.settings('lab = "labs/scan"\n')
    for lab, words in (("labs/scan", ()), ("labs/stencil", ("--lab=labs/stencil",))):
        folder = pupils.folder / f"results of {lab.replace('/', ' ')}"
        assert pupils.run(f"--results={folder}", *words).returncode == 0
        assert json_of(only([*folder.rglob("result.json")]))["lab"]["name"] == lab


def test_a_download_beside_submissions_is_not_read_in_silence(pupils: Class) -> None:
    pupils.add("alice", "score 3")
    zipped(pupils.folder / "canvas.zip", ("lovelaceada_7_100_kernel.cu", b"score 4\n"))
    for text, names in (("", {"alice"}), ("submissions = ['submissions', 'canvas.zip']", {"alice", "lovelaceada"})):
        pupils.settings(text)
        ended = pupils.run()
        assert set(pupils.points()) == names
        assert ended.returncode == 0 and ("canvas.zip: not read" in ended.stderr) == (not text)


def test_what_the_grader_cannot_take_is_a_row(pupils: Class) -> None:
    """With its reason, in which no folder of ours stands; it is tried once, and again when it changes, or
    the grader does; and it is no fault of the machine. Of several attempts the best is another one."""
    pupils.add("alice", "nothing it is UTF-16")
    pupils.add("bob", "score 4")
    pupils.add("zoe/2026-11-01_10-00-00", "score 2")
    pupils.add("zoe/2026-11-02_10-00-00", "nothing it is empty")
    pupils.add("eve/src", "score 3")
    eve = pupils.folder / "submissions/eve"
    others = [os.fsencode(eve / name) for name in ("notes \udcff.txt", "-n")]
    for path in others:
        Path(os.fsdecode(path)).write_bytes(path)
    for _ in range(2):
        ended = pupils.run()
        assert ended.returncode == 0, ended.stderr
        assert pupils.counted("begun") == {"alice": 1, "bob": 1, "eve": 1, "zoe": 2}
    three = "hand-in: a directory with 3 files: which one is the submission?"
    rows = pupils.gradebook()
    assert {name: (row["state"], row["points"], row["look_at"], row["note"])
            for name, row in rows.items()} == {
        "alice": ("unusable", "", "yes", "kernel.cu: it is UTF-16"),
        "bob": ("graded", "4", "", ""), "eve": ("unusable", "", "yes", three), "zoe": ("graded", "2", "", "")}
    page = (pupils.results / "feedback/eve.html").read_text()
    assert three in page and str(pupils.folder) not in page

    placed = only([*pupils.results.glob("records/eve/*/hand-in")])
    assert files_in(placed) == files_in(eve) and placed.stat().st_mode & 0o777 == 0o700
    for path in others:
        os.unlink(path)
    assert pupils.run("--seed=9").returncode == 0
    assert pupils.points() == {"alice": "", "bob": "4", "eve": "3", "zoe": "2"}
    assert pupils.counted("begun") == {"alice": 2, "bob": 2, "eve": 2, "zoe": 4}


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_missing_old_or_damaged_is_graded(pupils: Class) -> None:
    """One kernel.cu changes, and then the seed, which is a part of every result's key."""
    damaged = {"dan": "", "eve": "{", "mia": '{"complete": true}'}
    for name in ("alice", "bob", *damaged):
        pupils.add(name, "score 3", f"of {name}")
    pupils.run()
    pupils.add("bob", "score 5")
    for name, text in damaged.items():
        only([*pupils.results.glob(f"records/{name}/*/result.json")]).write_text(text)
    assert pupils.run().returncode == 0
    assert pupils.points() == {"alice": "3", "bob": "5", "dan": "3", "eve": "3", "mia": "3"}
    assert pupils.counted("begun") == {"alice": 1, "bob": 2, "dan": 2, "eve": 2, "mia": 2}
    pupils.run("--seed", "99")
    assert pupils.counted("begun") == {"alice": 2, "bob": 3, "dan": 3, "eve": 3, "mia": 3}
    history = only([*pupils.results.glob("records/alice/*/history/*.json")])
    now = only([*pupils.results.glob("records/alice/*/result.json")])
    assert json_of(history)["seed"] != 99 and json_of(now)["seed"] == 99


def test_an_attempt_that_does_not_count_needs_no_result(pupils: Class) -> None:
    """Nor does a student who handed in nothing."""
    pupils.settings('attempts = "last-in-time"\ndeadline = 2026-11-20T12:00:00Z\n')
    (pupils.folder / "roster.csv").write_text("name,login\nalice,alice\nbob,bob\n")
    for number in (1, 2):
        pupils.add(f"alice/2026-11-0{number}_10-00-00", f"score {number}")
        assert pupils.run("--seed", str(number)).returncode == 0
    assert pupils.points() == {"alice": "2", "bob": ""}
    assert pupils.gradebook()["bob"]["state"] == "missing"


def test_a_fault_of_the_machine_is_tried_again_and_is_no_zero(pupils: Class) -> None:
    """Three tries; if it stays, exit status 3 and no points; and the same command tries again."""
    stays = {"eve": "no sandbox works here", "mia": "the grader was killed (SIGKILL)"}
    for name, order in (("alice", "fault 2"), ("bob", "killed 2"), ("eve", "fault 4"), ("mia", "killed 4")):
        pupils.add(name, order, "score 3")
    ended = pupils.run()
    assert ended.returncode == 3
    assert pupils.counted("begun") == dict.fromkeys(("alice", "bob", "eve", "mia"), 3)
    assert "alice" not in ended.stderr and "bob" not in ended.stderr
    for name, row in pupils.gradebook().items():
        fails = name in stays
        assert (row["state"], row["points"], row["look_at"]) == (("fault", "", "yes") if fails else ("graded", "3", ""))
        assert not fails or f"no grade: {name}: the machine's fault: {stays[name]}" in " ".join(ended.stderr.split())
        assert not fails or stays[name] in row["note"]
    assert pupils.run().returncode == 0
    assert set(pupils.points().values()) == {"3"}


def test_a_fault_keeps_the_points_of_before(pupils: Class) -> None:
    pupils.add("alice", "fault-of-seed 5", "score 3")
    assert pupils.run().returncode == 0 and pupils.points() == {"alice": "3"}
    assert pupils.run("--seed", "5").returncode == 3
    row = pupils.gradebook()["alice"]
    assert (row["points"], row["look_at"]) == ("3", "yes")
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
    subprocess.run(["umount", str(pupils.results)], check=True)


def test_a_disk_that_is_full(pupils: Class, small_disk: Path) -> None:
    """Before the first, which is said; or at any moment: no points are lost, and with space again they are there."""
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
    begun = pupils.counted("begun")
    for name in "abcdef":
        pupils.add(name, "score 3", f"of {name}")
    ended = pupils.run()
    assert ended.returncode == 3 and "9 MB are needed; nothing was begun" in ended.stderr
    assert pupils.counted("begun") == begun


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


def test_ctrl_c_once_finishes_what_runs(pupils: Class) -> None:
    for name in ("a", "b", "c", "d"):
        pupils.add(name, "sleep 1", "score 3", f"of {name}")
    with pupils.start("--jobs", "2") as process:
        wait_for(lambda: len(pupils.counted("begun")) == 2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "finishing what runs" in err
    assert "the same command grades the rest" in err
    assert len(pupils.counted("graded")) == 2 == len(pupils.counted("begun"))
    assert sorted(row["state"] for row in pupils.gradebook().values()) == ["graded", "graded", "waiting", "waiting"]


def test_ctrl_c_twice_ends_what_runs(pupils: Class) -> None:
    """Until then no other run may use the folder."""
    pupils.add("alice", "sleep 600", "score 3")
    with pupils.start() as process:
        wait_for(lambda: pupils.counted("begun"))
        second = pupils.run()
        assert second.returncode == 2
        assert f"another run is using this folder (process {process.pid} on " in second.stderr
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert interrupt(process, signal.SIGINT) == 130
    assert pupils.counted("graded") == {}
    place = only([*(pupils.results / "records/alice").iterdir()])
    assert not (place / "try.json").exists(), "an interrupt is no fault of the machine"


def test_clocks_that_differ(pupils: Class) -> None:
    """A node or a file server whose clock is an hour off: nothing is believed because of a time."""
    pupils.add("alice", "score 3")
    pupils.add("bob", "fault 3", "score 4")
    assert pupils.run().returncode == 3
    for hours in (-1, 1):
        for path in [pupils.folder, *pupils.folder.rglob("*")]:
            if pupils.temporary not in (path, path.parent):
                os.utime(path, (time.time() + 3600 * hours,) * 2)
        assert pupils.run().returncode == 0
        assert pupils.points() == {"alice": "3", "bob": "4"}
        assert pupils.counted("begun") == {"alice": 1, "bob": 4}


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP]


def wait_for_graders(pupils: Class) -> None:
    """Those of a run that was killed end behind it: on a busy machine later than the next one begins."""
    def none_is_left() -> bool:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if os.fsencode(pupils.results) in path.read_bytes():
                    return False
        return True

    wait_for(none_is_left)


@pytest.mark.parametrize("seed, times", [(1, 2), *(pytest.param(seed, 5, marks=pytest.mark.slow)
                                                   for seed in range(2, 11))])
def test_interrupted_at_random_moments(pupils: Class, seed: int, times: int) -> None:
    """Killed and started again until so many runs have been interrupted, 50 in all; then to the end."""
    draw = random.Random(seed)
    expected = pupils.fill(8 * times, draw)
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
