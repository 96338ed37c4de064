"""What a cluster does that one of these tests cannot do: with a Slurm that only answers."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import script
from downloads import write
from fake_class import json_of
from records import make_record
from course.jobs import results, slurm
from course.jobs.results import Job, Key, Results
from course.jobs.slurm import Cluster, Runs
from course.jobs.worker import Grade
from course.errors import MachineFault
from course.interrupt import Stop

GRADE = Grade(Key("a lab", ("x",), "c", "g", 1, "cpu", "gcc", None, "1.0"), "this run", ())


class Answers(Cluster):
    """`queue`: what squeue says, one after the other, of each array; then that it knows no such job."""

    refuses = ""

    def __init__(self, *queue: str, sacct: str | None = None, largest: int = 1001,
                 does: Callable[[], None] = lambda: None):
        super().__init__()
        self.queue, self.sacct, self.largest, self.does = queue, sacct, largest, does
        self.arrays, self.left, self.asked = 0, list[str](), list[str]()

    def ask(self, *command: str) -> str:
        self.asked += command
        if command[0] == self.refuses:
            raise MachineFault("Invalid partition name specified")
        if command[0] == "sbatch":
            self.arrays, self.left = self.arrays + 1, list(self.queue)
            self.does()
            return f"{self.arrays};cluster\n"
        if command[0] == "scontrol":
            return f"SlurmdParameters = x\nMaxArraySize            = {self.largest}\n"
        if command[0] == "squeue" and self.left:
            return self.left.pop(0)
        if command[0] == "sacct" and self.sacct is not None:
            return self.sacct
        raise MachineFault("Invalid job id specified")


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "FIRST_POLL_SECONDS", 0.001)
    monkeypatch.setattr(slurm, "POLL_SECONDS", 0.001)
    monkeypatch.setattr(slurm, "LATE_FILES_SECONDS", 0.0)
    monkeypatch.setattr(slurm, "done", lambda job, key: (job.directory / "result.json").exists())


def jobs_in(folder: Path, count: int) -> list[Job]:
    made = [Results(folder).job(f"s{number}", (("kernel.cu", b"%d" % number),)) for number in range(count)]
    for job in made:
        job.directory.mkdir(parents=True)
    return made


def run(folder: Path, jobs: Sequence[Job], cluster: Cluster) -> None:
    Runs(Results(folder), cluster, 1).run(jobs, GRADE, Stop(), lambda running, ended: None)


def messages(jobs: Sequence[Job]) -> list[str]:
    return [last.message if (last := results.last_try(job)) else "" for job in jobs]


@pytest.mark.parametrize("state", slurm.WHY)
@pytest.mark.parametrize("accounted", [False, True])
def test_why_a_task_ended_early_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str,
                                         accounted: bool) -> None:
    """From squeue, or where it has forgotten the task, from sacct; of submissions that waited for
    their turn, too, but not of one with a reason of its own."""
    monkeypatch.setattr(slurm, "USUAL_SECONDS", slurm.TASK_SECONDS / 3)
    jobs = jobs_in(tmp_path, 6)  # two tasks
    results.begin(jobs[0], GRADE.run)
    results.note_fault(jobs[1], GRADE.run, "no sandbox works here")
    seen = "0 RUNNING\n1 PENDING\n"
    cluster = Answers(seen, sacct=f"1_0|{state}\n1_1|COMPLETED\n2_0|{state}\n3_0|{state}\n") \
        if accounted else Answers(seen, f"0 {state}\n1 COMPLETED\n")
    run(tmp_path, jobs, cluster)
    assert cluster.arrays == slurm.MOST_ROUNDS_WITHOUT_RESULT
    said = messages(jobs)
    why = slurm.WHY[state].format(f"{tmp_path}/run/1_0.out")
    assert said[0] == why and said[1] == "no sandbox works here"
    assert said[2:] == [why, "", "", ""]
    assert results.last_try(jobs[0]).tries == 1, "a try is counted when it begins"  # type: ignore[union-attr]


def test_where_there_is_no_reason_to_note(tmp_path: Path) -> None:
    """Without accounting; and of an array that Slurm does not take, or that was canceled, it is said at once."""
    jobs = jobs_in(tmp_path, 1)
    run(tmp_path, jobs, Answers("0 RUNNING\n"))
    refused = Answers()
    refused.refuses = "sbatch"
    with pytest.raises(MachineFault, match="^sbatch: Invalid partition name"):
        run(tmp_path, jobs, refused)
    assert not (tmp_path / "run/job.json").exists()
    with pytest.raises(MachineFault, match="the job array was canceled"):
        run(tmp_path, jobs, Answers("0 RUNNING\n", "0 CANCELLED\n"))
    assert messages(jobs) == [""]


@pytest.mark.parametrize(("seconds", "workers", "count", "tasks"), [
    ([], 1, 11, 2), ([], 2, 11, 1), ([60.0], 1, 11, 11), ([1.0, 20.0, 300.0], 1, 11, 4), ([0.0], 1, 101, 3)])
def test_a_task_is_about_a_minute(tmp_path: Path, seconds: list[float], workers: int, count: int,
                                  tasks: int) -> None:
    """By the median of the class's grades."""
    for number, each in enumerate(seconds):
        write(tmp_path / f"records/{number}/a/result.json", make_record([], seconds=each).model_dump_json().encode())
    assert Runs(Results(tmp_path), Cluster(), workers).tasks_for(count) == tasks


@pytest.mark.parametrize("count, largest, sizes", [
    (1, 1001, [1]), (30, 1001, [30]), (31, 1001, [15, 16]), (62, 1001, [20, 21, 21]),
    (91, 1001, [22, 23, 23, 23]), (331, 1001, [27] * 5 + [28] * 7), (155, 3, [50, 50, 50])])
def test_chunks_are_balanced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, largest: int,
                             sizes: list[int]) -> None:
    monkeypatch.setattr(slurm, "USUAL_SECONDS", slurm.TASK_SECONDS / 30)
    jobs = jobs_in(tmp_path, count)
    Runs(Results(tmp_path), Answers(largest=largest), 1).submit(jobs, GRADE)
    chunks = json_of(tmp_path / "run/chunks.json")["chunks"]
    assert sorted(map(len, chunks)) == sizes
    assert len({directory for chunk in chunks for directory, _ in chunk}) == sum(sizes)
    cluster = Answers("0 COMPLETED\n", largest=largest, does=lambda: end(in_chunks(tmp_path)))
    run(tmp_path, jobs, cluster)
    assert cluster.arrays == -(-count // sum(sizes)), "the last one has what is left"


def in_chunks(folder: Path) -> list[Job]:
    """Of the array that is submitted."""
    chunks = json_of(folder / "run/chunks.json")["chunks"]
    return [Job(Path(directory), sha256) for chunk in chunks for directory, sha256 in chunk]


def test_an_array_that_was_cancelled_before_this_run_began(tmp_path: Path) -> None:
    """By Ctrl-C, and the run that did so was killed: the next one waits for what runs, and grades the rest."""
    jobs = jobs_in(tmp_path, 2)
    Runs(Results(tmp_path), Answers(), 1).submit(jobs, GRADE)
    end(jobs[:1])
    cluster = Answers("0 COMPLETED\n", does=lambda: end(jobs))
    cluster.left = ["0 RUNNING\n1 CANCELLED\n"] * 3 + ["0 COMPLETED\n1 CANCELLED\n"]
    run(tmp_path, jobs, cluster)
    assert cluster.left == [] and cluster.arrays == 1


def begin(jobs: Sequence[Job]) -> None:
    for job in jobs:
        results.begin(job, GRADE.run)


def end(jobs: Sequence[Job]) -> None:
    for job in jobs:
        (job.directory / "result.json").touch()


def test_files_that_show_late(tmp_path: Path) -> None:
    """A result is waited for where a try has begun and not ended."""
    begun, waiting = jobs_in(tmp_path, 2)
    begin([begun])
    looks = []

    def look(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            end([begun])

    for jobs in ([begun, waiting], [waiting]):
        assert slurm.settled(jobs, GRADE, 20, look) == [waiting] and len(looks) == 3


def test_a_result_that_appears_when_the_queue_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its submission is not sent again."""
    jobs, settled = jobs_in(tmp_path, 3), slurm.settled
    monkeypatch.setattr(slurm, "LATE_FILES_SECONDS", 20.0)
    monkeypatch.setattr(slurm, "settled", lambda left, grade, seconds: settled(
        left, grade, seconds, sleep=lambda _: end(left)))
    cluster = Answers("0 RUNNING\n", "0 COMPLETED\n", does=lambda: begin(jobs))
    run(tmp_path, jobs, cluster)
    assert cluster.arrays == 1


def test_one_that_never_appears_is_sent_again(tmp_path: Path) -> None:
    jobs = jobs_in(tmp_path, 1)
    cluster = Answers("0 COMPLETED\n", does=lambda: begin(jobs))
    run(tmp_path, jobs, cluster)
    assert cluster.arrays == 3 and messages(jobs) == [results.UNFINISHED]


def test_a_scheduler_that_restarts(tmp_path: Path) -> None:
    """No answer is no end."""

    class Restarts(Answers):
        failures = 3

        def ask(self, *command: str) -> str:
            if command[0] == "squeue" and len(self.left) == 1 and self.failures:
                self.failures -= 1
                raise MachineFault("Unable to contact slurm controller (connect failure)")
            return super().ask(*command)

    jobs = jobs_in(tmp_path, 2)
    cluster = Restarts("0 RUNNING\n", "0 COMPLETED\n", does=lambda: end(jobs))
    run(tmp_path, jobs, cluster)
    assert cluster.arrays == 1 and cluster.failures == 0


@pytest.mark.parametrize("prints, says", [
    (r"sbatch: error: Account needed\nsbatch: error: use --account\nsbatch: error: Batch job submission "
     r"failed: Unspecified error\n", "Account needed; use --account; Batch job submission failed: "
     "Unspecified error"),
    (r"sbatch: unrecognized option '--foo'\nTry \"sbatch --help\" for more information\n",
     "unrecognized option '--foo'; Try \"sbatch --help\" for more information"),
    (r"\033[31mred\n", "\\x1b[31mred"), ("", "status 7")])
def test_all_of_an_error_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prints: str, says: str) -> None:
    script(tmp_path / "sbatch", "printf '%b' \"$TEXT\" >&2\nexit 7")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TEXT", prints.replace('\\"', '"'))
    with pytest.raises(MachineFault) as caught:
        Cluster().ask("sbatch", "x")
    assert str(caught.value) == says


def test_what_sbatch_is_asked_for(tmp_path: Path) -> None:
    """A GPU for each task where there is one to use; a percent sign is not Slurm's."""
    for backend in ("cuda", "cpu"):
        cluster, folder = Answers(), tmp_path / f"{backend} 50%A"
        grade = replace(GRADE, key=replace(GRADE.key, backend=backend))
        Runs(Results(folder), cluster, 1).submit(jobs_in(folder, 1), grade)
        assert ("--gres=gpu:1" in cluster.asked) == (backend == "cuda")
        assert f"--output={tmp_path}/{backend} 50%%A/run/%A_%a.out" in cluster.asked
