"""A class as a job array of a real Slurm, of one node with several slots, which these tests start:
whatever happens to tasks, the node or the run that submitted them, nothing is lost or done twice."""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import slurm_cluster
from fake_class import Class, interrupt, json_of, make_project, wait_for
from slurm_cluster import Slurm


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    """In a folder with a short path: sockets' names have 108 bytes."""
    lacking = slurm_cluster.missing_program()
    if lacking:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            f"{lacking}: is not installed (Debian: slurm-wlm, munge)")
    if os.geteuid() != 0:
        pytest.skip("only root can start Slurm's daemons")
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    try:
        with slurm_cluster.running(folder) as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def pupils(slurm: Slurm, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Iterator[Class]:
    project = make_project(tmp_path_factory.getbasetemp())
    with Class(project, tmp_path / "the class 50%j", slurm.environment) as made:
        yield made
    wait_for(lambda: slurm.jobs() == [])  # a probe of a run that was killed ends by itself


SLURM = ("--queue", "slurm")


def arrays(pupils: Class) -> list[list[str]]:
    """The tasks of each array, by what they printed."""
    outputs: dict[str, list[str]] = {}
    for path in sorted(pupils.results.glob("run/*_*.out")):
        array, _, task = path.stem.partition("_")
        outputs.setdefault(array, []).append(task)
    return list(outputs.values())


def test_a_class_is_graded(pupils: Class) -> None:
    """Where the machine fails, another task tries again."""
    expected = pupils.fill(16, random.Random(1), seconds=0.02)
    pupils.add("alice", "fault 2", "score 3")
    pupils.add("bob", "killed 1", "score 4")
    pupils.add("eve", "fault 9", "score 5")
    ended = pupils.run(*SLURM)
    assert ended.returncode == 3 and "no grade: eve" in ended.stderr
    assert pupils.points() == expected | {"alice": "3", "bob": "4", "eve": ""}
    assert pupils.counted("begun") == dict.fromkeys(expected, 1) | {"alice": 3, "bob": 2, "eve": 3}
    three_minutes_of_work, *tried_again = arrays(pupils)
    assert three_minutes_of_work == ["0", "1", "2"], "MaxArraySize is 3"
    assert tried_again == [["0"], ["0"]]
    assert not (pupils.results / "run/job.json").exists()


@pytest.mark.slow
def test_a_regrade_is_taken_up_again(pupils: Class, slurm: Slurm) -> None:
    pupils.fill(4, random.Random(8), seconds=0.5)
    assert pupils.run(*SLURM).returncode == 0
    before = (pupils.results / "gradebook.csv").read_bytes()
    with pupils.start(*SLURM, "--seed=5", what="regrade") as process:
        wait_for(lambda: 2 in pupils.counted("graded").values())
        interrupt(process, signal.SIGKILL)
    assert (pupils.results / "gradebook.csv").read_bytes() == before
    ended = pupils.run(*SLURM, "--seed=5", "--accept", what="regrade")
    assert ended.returncode == 0, ended.stderr
    assert set(pupils.counted("begun").values()) == {2}
    assert {json_of(path)["seed"] for path in pupils.results.glob("records/*/*/result.json")} == {5}


def test_a_run_that_was_killed_is_taken_up_again(pupils: Class, slurm: Slurm) -> None:
    """The array goes on without it, with the options that sbatch was given; this machine does not grade
    beside it; the next run waits for it, and submits nothing."""
    expected = pupils.fill(3, random.Random(3)) | {"zoe": "3"}
    pupils.add("zoe", "sleep 8", "score 3")
    options = "--slurm=--comment='of the class' --nice=7 --time=20"
    with pupils.start(*SLURM, "--jobs", "2", options) as process:
        wait_for(lambda: pupils.counted("begun"))
        assert interrupt(process, signal.SIGKILL) == -signal.SIGKILL
    shown = slurm.call("scontrol", "show", "job")
    assert "Comment=of the class" in shown and "Nice=7" in shown and "CPUs/Task=2" in shown
    assert "TimeLimit=00:20:00" in shown
    for ended in (pupils.run(), pupils.run(*SLURM, what="regrade")):
        assert ended.returncode == 2 and "finish it with `make grade-class CLASS=... QUEUE=slurm`" \
            in " ".join(ended.stderr.split())
    assert pupils.run(*SLURM).returncode == 0
    assert pupils.points() == expected and set(pupils.counted("begun").values()) == {1}
    assert len(arrays(pupils)) == 1


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_ctrl_c(pupils: Class, slurm: Slurm, times: int) -> None:
    """Once: the submission that runs is finished, what waits is taken back, also of its task. Twice:
    all of it is cancelled."""
    pupils.fill(18, random.Random(7), seconds=0.2)
    one_at_a_time = f"--cpus-per-task={slurm_cluster.SLOTS}"
    with pupils.start(*SLURM, f"--slurm={one_at_a_time}") as process:
        wait_for(lambda: pupils.counted("begun"))
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        process.communicate(timeout=60)
    assert process.returncode == 130
    wait_for(lambda: slurm.jobs() == [])
    graded = len(pupils.counted("graded"))
    assert graded < 6, "less than the first of three tasks"
    assert times == 2 or graded == len(pupils.counted("begun"))
    assert pupils.run(*SLURM).returncode == 0
    assert set(pupils.counted("graded").values()) == {1}


def test_a_cancelled_array_is_not_submitted_again(pupils: Class, slurm: Slurm) -> None:
    """Somebody wanted it to end."""
    expected = pupils.fill(6, random.Random(4), seconds=0.5)
    with pupils.start(*SLURM) as process:
        wait_for(lambda: pupils.counted("graded"))
        slurm.call("scancel", slurm.jobs()[0].partition("_")[0])
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3 and "the job array was canceled" in err
    assert pupils.run(*SLURM).returncode == 0
    assert pupils.points() == expected and set(pupils.counted("graded").values()) == {1}


EVENTS = ["kill", "interrupt", "cancel", "requeue", "down"]


def happen(event: str, process: subprocess.Popen[str], slurm: Slurm) -> None:
    if event == "kill":
        with suppress(ProcessLookupError):  # the class may be done
            os.killpg(process.pid, signal.SIGKILL)
    elif event == "interrupt":
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
    elif event == "down":
        slurm.ask("scontrol", "update", f"nodename={slurm.host}", "state=down", "reason=test")
        time.sleep(1)
        slurm.ask("scontrol", "update", f"nodename={slurm.host}", "state=resume")
    for task in slurm.jobs()[:1]:
        if event == "cancel":
            slurm.ask("scancel", task.partition("_")[0])
        elif event == "requeue":
            slurm.ask("scontrol", "requeue", task)


@pytest.mark.parametrize("seed, events", [(36, 1), *(
    pytest.param(seed, 5, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_whatever_happens_at_random_moments(pupils: Class, slurm: Slurm, seed: int, events: int) -> None:
    """50 times in all, one after another, while the same class is graded; by day a task goes back into the
    queue, and the run is killed."""
    draw = random.Random(seed)
    expected = pupils.fill(8 * events, draw, seconds=0.2)
    for _ in range(events):
        with pupils.start(*SLURM, "--jobs", "2") as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(draw.uniform(1, 6))
            happen(draw.choice(EVENTS), process, slurm)
            if process.poll() is None and draw.random() < 0.5:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=120)
        slurm.wait_for_node("idle", "mixed", "allocated")
    ended = pupils.run(*SLURM, "--jobs", "2")
    assert ended.returncode == 0, ended.stderr
    assert pupils.points() == expected
    assert set(pupils.counted("graded").values()) == {1}, "graded twice"
    assert not list(pupils.results.glob("records/*/*/try.json"))
