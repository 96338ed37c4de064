"""Points for speed: what the clock says is taken apart strictly, what is the machine's fault costs
nobody points, and on a machine without a GPU nothing is lost. The clock itself is docs/clock.md's;
here programs stand in for it that say what a test wants to be said."""

import fcntl
import io
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import grader_fake as fake
import pytest
from conftest import REPOSITORY, clean_environment, script
from forks import Run, fake_grader
from grader_fake import grading

from grader.build.parts import Parts
from grader.build.submission import Programs
from grader.cases.model import LEAST_TIMED, Performance
from grader.cases.read import load_suites
from grader.clock.measure import Said, run_clock, said_by
from grader.errors import MachineFault
from grader.jail.sandbox import Command, Ran
from grader.one_case import time_performance
from grader.record.model import Record, Timing
from grader.record.student import SPEED, student_view
from grader.report.terminal import show
from grader.run.once import on_the_gpu
from grader.verdict.points import full_marks, timing_of

ASKED = fake.shape()  # 4 points, from 0.25 to 0.75

# ---- points --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ratio", "points"), [
    (1e-9, 0), (0.25, 0), (0.26, 0.08), (0.375, 1), (0.5, 2), (0.7499, 4), (0.75, 4), (9.0, 4)])
def test_points_lie_on_a_line_and_end_at_both_ends(ratio: float, points: float) -> None:
    timing = timing_of(ASKED, Said.model_validate(fake.measured(ratio)), 1.0)
    assert (timing.state, timing.score, timing.max_score) == ("timed", points, 4)
    assert timing.ratio == pytest.approx(ratio, abs=1e-4) and timing.seconds == 1.0
    assert bool(timing.reason) == bool(timing.hint or points < 4) == (points < 4)
    assert timing.nothing_lost == (points == 4)


# ---- what the clock says -------------------------------------------------------------------------

GOOD = fake.measured(0.5)
UNUSABLE: list[Any] = [
    "", "{", "[]", "NaN", json.dumps(GOOD) + "{}", {"state": "wrong"}, {"state": "wrong", "reason": ""},
    GOOD | {"state": "fast"}, GOOD | {"score": 100},
    GOOD | {"samples": 0}, GOOD | {"device": None}, GOOD | {"seconds": None}, GOOD | {"beside_seconds": None},
    GOOD | {"seconds": fake.spread(0.0)}, GOOD | {"seconds": fake.spread(float("nan"))},
]


def test_what_it_says_is_taken_as_it_is() -> None:
    answer = json.dumps(GOOD | {"launches": 2, "reason": ""})
    said = said_by(0, answer, "a warning\n")
    assert (said.state, said.ratio, said.samples, said.launches) == ("timed", 0.5, 11, 2)
    for state in ("refused", "wrong", "faulted", "time-limit", "impossible"):
        answer = json.dumps({"state": state, "reason": "because\x1b[2J", "device": "G", "seconds": None})
        timing = timing_of(ASKED, said_by(0, answer, ""), 2.0)
        assert (timing.state, timing.score, timing.max_score) == (state, 0, 4)
        assert timing.reason == "because\\x1b[2J" and timing.times is None and timing.device == "G"


@pytest.mark.parametrize(("status", "answer", "complaints", "words"), [
    *((0, answer, "", "^the clock ended with 0 and printed nothing that") for answer in UNUSABLE),
    (3, {"state": "machine", "reason": "no memory on the GPU"}, "", "measure: no memory on"),
    (0, {"state": "machine", "reason": "no memory on the GPU"}, "", "measure: no memory on"),
    (2, GOOD, "", "measure: status 2"),
    (2, "", "usage: clock ...\n", "ended with 2 and printed nothing that can be used: usage"),
    (-signal.SIGSEGV, GOOD, "", "the clock crashed: Segmentation fault"),
    (-signal.SIGABRT, "", "a\nfree(): bad\n", r"crashed: Aborted: free\(\): bad"),
])  # fmt: skip
def test_a_clock_that_fails_is_the_machines_fault(status: int, answer: Any, complaints: str, words: str) -> None:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    with pytest.raises(MachineFault, match=words):
        said_by(status, text, complaints)


# ---- the two programs ----------------------------------------------------------------------------


class Box:
    """In which the recorder "runs": writes these bytes and ends so."""

    def __init__(self, recording: bytes, ran: Ran):
        self.recording, self.ran = recording, ran

    def run(self, command: Command) -> Ran:
        program, m, k, n, descriptor, seconds = command.argv
        assert (m, k, n) == ("1024", "1024", "1024") and float(seconds) > 0
        assert command.pass_fds == (int(descriptor),) and not command.writable
        assert command.limits.file_bytes <= 4 << 20
        os.write(int(descriptor), self.recording)
        return self.ran


WELL = Ran(0, b"", False, False, 0.1)


def timed(tmp_path: Path, text: str, recording: bytes = b"launches", ran: Ran = WELL) -> Timing:
    made = script(tmp_path / "clock", text)
    parts = Parts(fake.LAB, tmp_path, tmp_path, tmp_path, "fake", "cuda", made)
    box: Any = Box(recording, ran)
    return time_performance(parts, programs_in(tmp_path), ASKED, box=box)


def programs_in(path: Path) -> Programs:
    return Programs(path / "plain", path / "checked", path / "recorder", path / "kernels")


def test_the_clock_gets_the_kernels_the_recording_and_the_shape(tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    answer.write_text(json.dumps(GOOD))
    timing = timed(tmp_path, f'echo "$@" >{tmp_path}/words; cat "$2" >{tmp_path}/recording; '
                             f"env >{tmp_path}/environment; cat {answer}; echo hm >&2")
    assert (timing.state, timing.score) == ("timed", 2)
    words = (tmp_path / "words").read_text().split()
    assert words[0] == str(tmp_path / "kernels") and words[2:5] == ["1024"] * 3
    assert words[5:] == ["11", "60"]
    assert (tmp_path / "recording").read_bytes() == b"launches"
    names = {line.split("=")[0] for line in (tmp_path / "environment").read_text().splitlines()}
    assert names <= {"PATH", "LC_ALL", "LD_LIBRARY_PATH", "PWD", "OLDPWD", "SHLVL", "_"}


@pytest.mark.parametrize("end, words", [
    ("exit 1", "could not measure"), ("sleep 60", "the clock has not ended after 0.5 s"),
    ("exec >&-; exec sleep 60", "the clock has not ended after 0.5 s")])
def test_nothing_of_the_clock_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str,
                                      words: str) -> None:
    """Nor of what it had started, whether it ended or not."""
    monkeypatch.setattr("grader.clock.measure.CLOCK_SECONDS", 0.5)
    text = f"sleep 60 >&- 2>&- & echo $! >{tmp_path}/child; echo '{json.dumps(GOOD)}'; {end}"
    with pytest.raises(MachineFault, match=words):
        timed(tmp_path, text)
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    for _ in range(200):
        if not child.exists() or child.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.01)
    raise AssertionError(f"{end}: {child} is still there")


def test_a_clock_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MachineFault, match="the clock cannot be started: No such file"):
        run_clock([str(tmp_path / "none")], 0)


@pytest.mark.parametrize(("recording", "ran", "state", "words"), [
    (b"", Ran(-signal.SIGSEGV, b"", False, False, 0.1), "faulted", "basicSgemm crashed: Segmentation fault"),
    (b"x", Ran(-signal.SIGKILL, b"", False, False, 0.1, True), "faulted", "more memory"),
    (b"x", Ran(-signal.SIGKILL, b"", False, True, 0.1), "time-limit", "still running"),
    (b"", Ran(0, b"", False, False, 0.1), "refused", "nothing was recorded"),
    (b"", Ran(1, b"", False, False, 0.1), "faulted", "ended the program"),
    (b"forged", Ran(3, b"", False, False, 0.1), "refused", "nothing was recorded"),
])  # fmt: skip
def test_recordings_that_fail(tmp_path: Path, recording: bytes, ran: Ran, state: str, words: str) -> None:
    """A bad end is believed; and the clock looks at whatever else there is."""
    refuses = """echo '{"state": "refused", "reason": "nothing was recorded"}'"""
    timing = timed(tmp_path, refuses, recording, ran)
    assert timing.state == state and words in timing.reason
    assert (timing.score, timing.max_score) == (0, 4)


def test_a_recording_that_was_sealed_by_the_submission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the grader could not; that is not the machine's fault."""
    write = os.write

    def write_and_seal(descriptor: int, content: bytes) -> int:
        done = write(descriptor, content)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)
        return done

    monkeypatch.setattr(os, "write", write_and_seal)
    timing = timed(tmp_path, "exit 1")
    assert (timing.state, timing.reason) == ("refused", "the recording was tampered with")


@pytest.mark.parametrize(("ran", "words"), [
    (Ran(3, b"no CUDA-capable device\n", False, False, 0.1), "recorded: no CUDA-capable device"),
    (Ran(3, b"", False, False, 0.1), "recorded: it needs CUDA 12.4 or newer"),
    (Ran(-signal.SIGKILL, b"", False, False, 0.1), "killed from outside"),
])  # fmt: skip
def test_a_machine_on_which_nothing_can_be_recorded(tmp_path: Path, ran: Ran, words: str,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even of a kernel that is known to work; else the recorder only says so."""
    monkeypatch.setattr("grader.run.outcome.known_to_work", lambda parts, box, work: programs_in(tmp_path))
    with pytest.raises(MachineFault, match=words):
        timed(tmp_path, "exit 0", b"", ran)
    rans = [ran, ran, WELL]
    monkeypatch.setattr(Box, "ran", property(lambda box: rans.pop(0), lambda box, ran: None), raising=False)
    assert timed(tmp_path, f"echo '{json.dumps(GOOD)}'", b"").state == "faulted" and not rans


# ---- a grade -------------------------------------------------------------------------------------


def speed(record: Record) -> str:
    return " ".join(f"{timing.name}:{timing.state}:{timing.score:g}/{timing.max_score:g}"
                    for timing in record.performance)


def public(*shapes: Performance) -> list[Any]:
    return [fake.suite(fake.case("a"), fake.case("b", 11)), fake.suite(*shapes, name="public/speed")]


TWO = (fake.shape("one"), fake.shape("two", 2048))


def on_gpu(text: str, suites: list[Any] | None = None, **more: Any) -> Record:
    record = grading_on_gpu(text, suites or public(*TWO), **more).run()
    assert record.complete and record.score == sum(item.score for item in (*record.tests, *record.performance))
    return record


def grading_on_gpu(text: str, suites: list[Any], **more: Any) -> Any:
    return grading(text, suites, gpu=True, **more)


def test_speed_counts_on_a_gpu() -> None:
    record = on_gpu("clock 1024 1024 1024: 0.9\nclock: 0.4\nright")
    assert speed(record) == "one:timed:4/4 two:timed:1.2/4"
    assert (record.score, record.max_score) == (13.2, 16) and not full_marks(record)
    assert full_marks(on_gpu("clock: 0.9\nright"))
    # The limit of a submission is of runs on cases: of none, none are left out.
    assert speed(on_gpu("clock: 0.9\nright", [fake.suite(fake.shape(), name="public/speed")])) == "fast:timed:4/4"
    assert Record.model_validate_json(record.model_dump_json()).performance[0].times


def test_without_a_gpu_nothing_is_lost() -> None:
    """However the submission does, and without a call of the clock."""
    for text in ("right", "wrong", "error", "clock: machine\nright"):
        record = grading(text, public(*TWO)).run()
        assert speed(record) == "one:not-timed:0/0 two:not-timed:0/0"
        assert {timing.reason for timing in record.performance} == {"not timed: no GPU"}
        assert [timing.points for timing in record.performance] == [4, 4]
        assert record.max_score == 8 and full_marks(record) == (text[-5:] == "right")


BOTH_TIMED = "one:timed:2/4 two:timed:2/4"
SKIPPED, REFUSED = "one:skipped:0/4 two:skipped:0/4", "one:refused:0/4 two:refused:0/4"


@pytest.mark.parametrize("text, both, reason", [
    ("clock 2048 2048 2048: impossible a reason\nright", "one:timed:2/4 two:impossible:0/4", "a reason"),
    # A public case failed, even by luck or by a mistake that is repaired.
    ("11 34 34: wrong\nright", SKIPPED, "needs b, which failed"),
    ("34 34 34: wrong\nright", SKIPPED, "needs a, which failed"),
    ("11 34 34: doubled\nright", SKIPPED, "needs b, which failed"),
    ("wrong", SKIPPED, "needs b, which failed"),  # the suite's first, in whatever order they ran
    # It is not tiled, has a leak, or is wrong in a hidden case alone.
    ("11 34 34: naive\nright", BOTH_TIMED, ""), ("leak", BOTH_TIMED, ""), ("40 34 34: wrong\nright", BOTH_TIMED, ""),
    ("fopen", REFUSED, "calls fopen"), ("11 34 34: copies\nright", REFUSED, "copies device memory"),
    ("error", "one:unbuilt:0/4 two:unbuilt:0/4", ""),
])
def test_what_is_not_timed_for_the_submissions_sake_costs_its_points(text: str, both: str, reason: str) -> None:
    cases = fake.suite(fake.case("b", 11), fake.case("a"), fake.case("large", 80))
    hidden = fake.suite(fake.case("h", 40, suite="hidden/h"), name="hidden/h")
    record = on_gpu(text, [cases, *public(*TWO)[1:], hidden])
    assert speed(record) == both and reason in record.performance[1].reason
    assert record.max_score == 24 and (record.score == 0 or not record.refusal)


def test_nothing_else_runs_while_the_clock_does() -> None:
    """Cases are all over by then, however many run at a time, and shapes come one by one."""
    running, seen, lock = 0, [], threading.Lock()

    def counted(call: Any) -> Any:
        def run(*arguments: Any, **more: Any) -> Any:
            nonlocal running
            with lock:
                running += 1
                seen.append((call.__name__, running))
            try:
                return call(*arguments, **more)
            finally:
                with lock:
                    running -= 1
        return run

    cases = fake.suite(*(fake.case(f"c{i}", 20 + i) for i in range(8)))
    shapes = fake.suite(*(fake.shape(f"s{i}", 1024 + i) for i in range(3)), name="public/speed")
    on_gpu("right 0.01", [shapes, cases], jobs=4, run=counted(fake.run), clock=counted(fake.clock))
    assert [name for name, _ in seen[-3:]] == ["clock"] * 3
    assert [count for name, count in seen if name == "clock"] == [1] * 3
    assert max(count for _, count in seen) > 1


def test_two_graders_at_once_do_not_share_the_gpu_with_a_clock(tmp_path: Path) -> None:
    """Cases may use it together; a clock is alone."""
    parts = Parts(fake.LAB, tmp_path, tmp_path, tmp_path, "fake", "cuda", script(tmp_path / "clock", ":"))
    there: list[str] = []
    most: list[set[str]] = []

    def stay(who: str) -> None:
        with on_the_gpu(parts, alone=who.startswith("clock")):
            there.append(who)
            most.append(set(there))
            time.sleep(0.02)
            most.append(set(there))
            there.remove(who)

    threads = [threading.Thread(target=stay, args=(f"{who}{i}",)) for i in range(6) for who in ("case", "clock")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(seen) == 1 for seen in most if any(who.startswith("clock") for who in seen))
    assert len(most) == 24


def test_only_some_are_no_grade() -> None:
    """And what they depend on; nor is a run up to the first failure, such as a shape that loses points."""
    for keys, shapes in ((["public/speed/one"], "one:timed:2/4"), (["public/basics/a", "public/basics/b"], "")):
        record = grading_on_gpu("right", public(*TWO)).run(keys)
        assert not record.complete and speed(record) == shapes
        assert [test.name for test in record.tests] == ["a", "b"]
    record = grading_on_gpu("right", public(*TWO)).run(until_first=True)
    assert not record.complete and speed(record) == "one:timed:2/4"
    assert grading_on_gpu("clock: 0.9\nright", public(*TWO)).run(until_first=True).complete


# ---- what students see ---------------------------------------------------------------------------

HIDDEN = [fake.suite(fake.case("a")), fake.suite(
    fake.shape("zebra", 1601, suite="hidden/z", title="stripes", hint="think of a zebra"),
    fake.shape("yak", 1709, suite="hidden/z"), name="hidden/z")]


@pytest.mark.parametrize("state", ["0.5", "0.9", "refused at 1601 zebra", "time-limit at 1601 zebra"])
def test_hidden_shapes_stay_hidden(state: str) -> None:
    record = on_gpu(f"clock: {state}\nright", HIDDEN)
    seen = student_view(record)
    text = seen.model_dump_json()
    for secret in ("zebra", "yak", "1601", "1709", "stripes", "beside_times\":{", "times\":{",
                   "hidden/z", f'"ratio":{state}'):
        assert secret not in text, secret
    assert [timing.name for timing in seen.performance] == ["hidden speed 1", "hidden speed 2"]
    assert (seen.score, seen.max_score) == (record.score, record.max_score)
    first = seen.performance[0]
    assert first.reason == ("" if state == "0.9" else SPEED[first.state])


def test_why_a_hidden_shape_was_not_timed() -> None:
    seen = student_view(on_gpu("wrong", HIDDEN))
    assert seen.performance[1].reason == "needs a, which failed"  # a public case
    seen = student_view(grading("right", HIDDEN).run())
    assert {timing.reason for timing in seen.performance} == {"not timed: no GPU"}
    seen = student_view(on_gpu("34 34 34: copies\nright", HIDDEN))
    assert {timing.reason for timing in seen.performance} == {
        "the submission was refused: it copies device memory to the host"}
    assert set(SPEED) == set(Timing.model_fields["state"].annotation.__args__)


# ---- the command ---------------------------------------------------------------------------------


def command(tmp_path: Path, text: str, *words: str) -> Run:
    return fake_grader().run(fake.command(tmp_path, text, "--suite", "public", *words)[2:], clean_environment())


def test_the_table_of_speed(tmp_path: Path) -> None:
    """In 80 columns: shape, time, cuBLAS's time, ratio, points; below a row its reason and hint."""
    text = "clock 1024 1024 1024: 0.9\nclock 2048 2048 2048: wrong C[0][1] is wrong\nclock: 0.45\nright"
    ran = command(tmp_path, text, "--backend", "cuda")
    assert ran.returncode == 1 and ran.stderr == ""
    lines = ran.stdout.splitlines()
    table = lines[[line.startswith("speed ") for line in lines].index(True):]
    assert max(map(len, lines[:len(lines) - len(table) + 5])) <= 80
    assert table[0].split() == ["speed", "m", "k", "n", "time", "cuBLAS", "ratio", "points", "reason"]
    assert [" ".join(line.split()) for line in table if line.startswith("speed-")] == [
        "speed-1024 1024 1024 1024 0.056 ms 0.050 ms 0.900 4/4",
        "speed-1023-1025-1027 1023 1025 1027 0.111 ms 0.050 ms 0.450 0.75/3",
        "speed-2048 2048 2048 2048 wrong 0/3"]
    assert table[4] == "    0.45 of cuBLAS's speed; 0.9 is full"
    assert table[5].startswith("    hint: ") and table[7] == "    C[0][1] is wrong"
    assert "timed on a fake GPU, medians of 11 calls, alternating with cuBLAS" in table
    assert lines[-1] == "score: 44.75 of 50"


def test_long_names_and_large_shapes_fit_the_table() -> None:
    shapes = [fake.shape("n" * 40, 16384, points=999.5), fake.shape("m" * 40, 16383)]
    record = on_gpu("clock: 0.5\nclock 16383 16383 16383: time-limit slow\nright", public(*shapes))
    stream = io.StringIO()
    show(record, None, stream)
    lines = [line for line in stream.getvalue().splitlines() if "16384" in line or "speed" in line]
    assert len(lines) > 1 and max(map(len, lines)) <= 80
    assert "16384 16384 16384" in stream.getvalue() and "499.75/999.5" in stream.getvalue()


def test_shapes_are_selected_like_cases(tmp_path: Path) -> None:
    ran = command(tmp_path, "clock: 1.0\nright", "--backend", "cuda", "-k", "speed-1024")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1].startswith("4 of 4 points in 1 case; no grade")
    ran = command(tmp_path, "clock: 0.4\nright", "--backend", "cuda", "-k", "speed-2048")
    assert ran.returncode == 1 and "0.40 of cuBLAS's speed" in ran.stdout
    ran = command(tmp_path, "clock: 0.4\nright", "-k", "speed")
    assert ran.returncode == 0 and "not timed (no GPU)" in ran.stdout


# ---- what is shipped -----------------------------------------------------------------------------


def test_who_is_timed_beside_more_than_a_copy_names_it() -> None:
    folders = [REPOSITORY / "lab", *(path.parent for path in sorted(REPOSITORY.glob("labs/*/lab.c")))]
    named = {folder.name for folder in folders if ".beside = " in (folder / "lab.c").read_text()}
    assert named == {folder.name for folder in folders if (folder / "speed.cu").is_file()} and "lab" in named


def test_what_is_shipped_is_public_and_large_enough() -> None:
    shapes = [each for suite in load_suites(fake.LAB, "public") for each in suite.performance]
    assert sum(each.points for each in shapes) == 10
    for each in shapes:
        assert each.sizes.operations >= LEAST_TIMED and not each.hidden
        assert each.none >= 0.3, "a kernel without tiles reaches 0.28 of cuBLAS"
    assert any(all(size % 16 for size in each.params.values()) for each in shapes)
