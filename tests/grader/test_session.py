"""A grade is the same however many cases run at once; what fails for the machine's sake gives none;
and what is on disk is whole at every moment. With a core that compiles and runs nothing
(grader_fake.py)."""

import fcntl
import json
import random
import signal
import stat
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grader_fake as fake
import pytest
from conftest import clean_environment
from forks import Started, fake_grader
from grader_fake import grading
from hypothesis import given, settings
from hypothesis import strategies as st

from grader import one_case
from grader.cases.model import Suite
from grader.cases.read import load_suites
from grader.errors import MachineFault, NotBuilt
from grader.record.model import Record
from grader.record.store import PARTIAL, RESULT, Store, read_record
from grader.record.student import student_view


def grade(text: str, suites: list[Suite], **more: Any) -> Record:
    record = grading(text, suites, **more).run()
    assert record.complete
    assert record.score == sum(item.score for item in record.items)
    return record


def public(*names: str, **more: Any) -> Suite:
    """Cases of these names, 11 x 11 x 11, 12 x 12 x 12, ...; `more` is of the suite."""
    asked = list(more.get("points", {}))
    return fake.suite(*(fake.case(name, size, size, size, criteria=asked)
                        for size, name in enumerate(names, 11)), **more)


def statuses(record: Record) -> str:
    return " ".join(f"{test.name}:{test.status}" for test in record.tests)


def test_shipped_suites_with_submissions_of_each_kind() -> None:
    suites = load_suites(fake.LAB, "public")
    for verb, score in (("right", 40), ("naive", 31), ("wrong", 0), ("starter", 0)):
        record = grade(verb, suites)
        assert (record.score, record.max_score) == (score, 40)
    assert {test.status for test in record.tests} == {"failed", "skipped"}


POINTS, REPAIRED = {"memory": 8.0}, {"repaired": 0.5, "gate": "public/basics/gate"}


@pytest.mark.parametrize("text, suite, found, score, reason", [
    # Before the gate is correct nothing counts; a gate that is not graded along keeps nothing back.
    ("12 12 12: wrong\nright", public("a", "gate", "c", gate="public/basics/gate", points=POINTS),
     "a:skipped gate:failed c:skipped d:passed", 4, "needs gate, which failed"),
    ("12 12 12: leak\nright", public("a", "gate", "c", gate="public/basics/gate", points=POINTS),
     "a:passed gate:partial c:passed d:passed", 16, ""),
    ("right", public("a", gate="public/basics/none"), "a:passed d:passed", 8, ""),
    # A mistake that may be repaired lets the others run, which does not make them count.
    ("11 11 11: doubled\n13 13 13: hang\nright", public("gate", "b", "c", **REPAIRED),
     "gate:failed b:skipped c:failed d:passed", 8, "all 121 are wrong"),
    ("11 11 11: doubled\nright", public("gate", "b", "c", **REPAIRED),
     "gate:failed b:skipped c:skipped d:passed", 10, "all 121 are wrong"),
    ("11 11 11: race after 9\nright", public("gate", "b", points=POINTS, **REPAIRED),
     "gate:partial b:passed d:passed", 12, "a mistake"),
    # The gate is correct by luck, and no repair is proved.
    ("11 11 11: race after 8\n34 34 34: right\nwrong", public("gate", "b", **REPAIRED),
     "gate:passed b:failed d:passed", 8, ""),
    ("fopen", public("a"), "a:failed d:failed", 0, "the submission was refused: it calls fopen"),
    ("12 12 12: copies\nright", public("a", "b", "c"), "a:failed b:failed c:failed d:failed", 0,
     "the submission was refused: it copies device"),
])
def test_what_counts(text: str, suite: Suite, found: str, score: float, reason: str) -> None:
    other = fake.suite(fake.case("d", suite="public/other"), name="public/other")
    record = grade(text, [suite, other])
    assert (statuses(record), record.score, record.build.ok) == (found, score, text != "fopen")
    assert reason in record.tests[0].reason and bool(record.refusal) == ("refused" in reason)
    if record.marks and reason.startswith("needs"):
        assert record.marks[0].lost_in == ["a", "gate", "c"]


def built(text: str, suites: list[Suite], **more: Any) -> tuple[Record, list[str]]:
    """The record, and what was compiled."""
    texts: list[str] = []

    def build(parts: Any, source: bytes, *given: Any) -> Any:
        texts.append(source.decode())
        return fake.build(parts, source, *given)

    return grade(text, suites, build=build, **more), texts


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_missing_barrier_is_put_in_and_graded_on_all_cases(jobs: int) -> None:
    suite = public("a", "b", "c", points=POINTS, repaired=0.5)
    text = "11 11 11: race after 2\n12 12 12: race after 2\nright\n"
    record, texts = built(text, [suite], jobs=jobs)
    assert texts == [text, "11 11 11: race after 2\n12 12 12: race after 2\n__syncthreads();\n" "right\n"]
    assert [test.score for test in record.tests] == [4, 4, 4]  # C is right by luck
    assert [(mark.name, mark.score) for mark in record.marks] == [("memory", 0)]  # 12 of 20: above
    text = text.replace("right", "wrong\nright").replace("wrong", "13 13 13: wrong")
    record, texts = built(text, [suite], jobs=jobs)
    assert len(texts) == 2 and record.score == 8  # another mistake
    record, texts = built("race after 9\nright 0", [suite], jobs=jobs)
    assert record.score == 20 and len(texts) == 1  # no race
    record, texts = built("13 13 13: race after 9\nright", [suite], jobs=jobs)
    assert record.score == 12 and len(texts) == 1  # no such line
    record, texts = built("13 13 13: race after 1\nright", [public("a", "c", points=POINTS)], jobs=jobs)
    assert len(texts) == 1  # the suite gives nothing for it


def test_a_repair_secures_a_share_of_what_it_gives() -> None:
    suite = public("a", "b", points=POINTS, repaired=0.6)
    record = grade("12 12 12: race after 1\nright", [suite])
    assert [mark.name for mark in record.marks] == ["memory", "repair"]
    assert record.marks[1].max_score == 0 and record.marks[1].phrase == "correct except for one mistake"
    assert (record.score, record.max_score) == (10, 16)  # 0.6 of 16 is 9.6
    assert record.marks[1].reason == "correct except for one mistake: kernel.cu:29: a mistake"
    record = grade("12 12 12: race after 1\nright", [public("a", "b", points=POINTS, repaired=0.5)])
    assert record.score == 8 and len(record.marks) == 1, "it has as much without the repair"
    record = grade("doubled", [suite])
    assert record.score == 10 and record.marks[1].reason.endswith("C is 2 times the product")
    record = grade("11 11 11: doubled\nwrong", [suite])
    assert record.score == 3  # of the 4 points of one case, which are proved
    assert record.marks[1].reason == "1 case correct except for one mistake: C is 2 times the product"
    assert record.marks[1].phrase == "a mistake that was repaired"
    hidden = fake.suite(fake.case("h", 40, suite="hidden/h", criteria=[]), name="hidden/h")
    barrier = "11 11 11: race after 4\n12 12 12: race after 4\n40 34 34: wrong\nright\n"
    assert grade(barrier, [suite, hidden]).score == 8  # not everything is correct with the barrier


def test_a_repair_that_is_wrong_goes_no_further() -> None:
    runs: list[str] = []

    def build(parts: Any, source: bytes, *given: Any) -> Any:
        return fake.Programs({"": "wrong"}) if b"__syncthreads" in source else fake.build(parts, source, *given)

    def run(parts: Any, programs: Any, which: str, problem: Any, **others: Any) -> Any:
        if programs == {"": "wrong"}:
            runs.append(f"{which} {problem.params['m']}")
        return fake.run(parts, programs, which, problem, **others)

    suite = public("a", "b", points=POINTS, repaired=0.5)
    record = grade("12 12 12: race after 1\nright", [suite], build=build, run=run, jobs=1)
    assert runs[:2] == ["plain 12", "checked 12"] and len(runs) <= 4  # what was lost comes first
    assert record.score == 8


def test_repairs_take_of_the_submissions_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one that does not compile, nothing is known; two are tried, and none after the limit."""
    monkeypatch.setattr(fake.BOX, "run", lambda command: SimpleNamespace(seconds=4.0), raising=False)
    tried = []

    def build(parts: Any, source: bytes, box: Any, work: Path) -> Any:
        box.run("c++")
        if b"__syncthreads" in source:
            tried.append(source)
            raise NotBuilt("expected ;", "kernel.cu", 2, "")
        return fake.build(parts, source, box, work)

    lines = ["11 11 11: race", *(f"{size} {size} {size}: race after {16 - size}" for size in range(12, 15))]
    suite = public(*"abcde", points=POINTS, repaired=0.5)
    for limit, repairs in ((99.0, 2), (3.0, 1)):
        tried.clear()
        record = grade("\n".join([*lines, "right"]), [suite], build=build, limit=limit, jobs=1)
        assert record.build.ok and len(tried) == repairs and record.score == 20
        behind = [text.split(b"\n").index(b"__syncthreads();") for text in tried]
        assert behind == [4, 3][:repairs], "in the order of the cases; of the first no line is known"


@pytest.mark.parametrize("verb", ["hang", "crash"])
def test_what_does_not_end_is_not_run_once_more(verb: str) -> None:
    """A crash is looked at by the checked run; a run of a kernel that does not end would end at its limit, too."""
    runs: list[str] = []

    def run(parts: Any, programs: Any, build: str, *given: Any, **others: Any) -> Any:
        runs.append(build)
        return fake.run(parts, programs, build, *given, **others)

    grade(verb, [public("a")], run=run)
    assert runs == ["plain"] + ["checked"] * (verb == "crash")


@pytest.mark.parametrize("jobs", [1, 5])
def test_the_first_refusal_counts_whichever_comes_first(jobs: int) -> None:
    """Also before that of a case that has not even begun, because it waits for the gate."""
    text = "11 11 11: right 0.1\n13 13 13: copies 0.1\n15 15 15: copies\nright"
    for gate in ("", "public/basics/a", "public/basics/d"):
        record = grade(text, [public("a", "b", "c", "d", "e", gate=gate)], jobs=jobs)
        assert record.refusal and record.refusal.tried.endswith("(13 bytes)")
    # And the gate's comes before all others.
    record = grade(text, [public("a", "b", "c", "d", "e", gate="public/basics/e")], jobs=jobs)
    assert record.refusal and record.refusal.tried.endswith("(15 bytes)")


def comparable(record: Record) -> dict[str, Any]:
    """Without what the clock says."""
    text = json.loads(record.model_dump_json())
    return text | {"seconds": 0, "started": ""}


VERBS = st.sampled_from(["right", "right", "naive", "wrong", "hang", "leak", "crash", "copies",
                        "doubled", "race after 1"])


@settings(max_examples=40, deadline=None, database=None)
@given(verbs=st.lists(VERBS, min_size=8, max_size=8), seed=st.integers(0, 2**63 - 1), gate=st.integers(0, 8))
def test_same_seed_same_grade(verbs: list[str], seed: int, gate: int) -> None:
    """Whichever is the gate, in whatever order the cases are, and however many run at once."""
    cases = [fake.case(f"c{i}", 20 + i, criteria=["memory"]) for i in range(len(verbs))]
    random.Random(seed).shuffle(cases)
    suite = fake.suite(*cases, points=POINTS, repaired=0.6, gate=f"public/basics/c{gate}")
    text = "\n".join(f"{20 + i} 34 34: {verb}" for i, verb in enumerate(verbs)) + "\nright"
    one, many = (grade(text, [suite], seed=seed, jobs=jobs) for jobs in (1, 6))
    assert comparable(one) == comparable(many)


def test_seeds_differ_from_case_to_case_and_from_run_to_run() -> None:
    first, other = ([test.seed for test in grade("right", [public("a", "b")], seed=seed).tests] for seed in (1, 2))
    assert len({*first, *other}) == 4 and all(0 <= seed < 2**63 for seed in first)


def test_cases_run_at_the_same_time() -> None:
    """Four cases in four threads that wait for each other."""
    suite, together, most = public("a", "b", "c", "d"), threading.Barrier(4), []

    def run(*arguments: Any, **more: Any) -> Any:
        most.append(together.wait(20))
        return fake.run(*arguments, **more)

    plain_only = [case.model_copy(update={"params": {"m": 9999, "k": 9999, "n": 11}}) for case in suite.cases]
    assert grade("right", [fake.suite(*plain_only)], jobs=4, run=run).score == 16
    assert sorted(most) == [0, 1, 2, 3]


def test_the_largest_case_runs_first() -> None:
    """Behind the gate: else one core would still run it when all others have nothing left to do."""
    begun = []

    def run(parts: Any, programs: Any, which: str, problem: Any, **others: Any) -> Any:
        begun.append(problem.params["m"])
        return fake.run(parts, programs, which, problem, **others)

    suite = fake.suite(*(fake.case(f"c{m}", m, m, m, criteria=[]) for m in (20, 400, 15, 500)),
                       gate="public/basics/c15")
    assert grade("right", [suite], jobs=1, run=run).score == 16
    assert list(dict.fromkeys(begun)) == [15, 500, 400, 20]


# ---- the machine ---------------------------------------------------------------------------------


def test_nothing_stays_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(one_case.tempfile, "tempdir", str(tmp_path))
    for text in ("right", "error", "12 12 12: copies\nright", "11 11 11: race after 1\nright"):
        grade(text, [public("a", "b", points=POINTS, repaired=0.5)])
        assert not list(tmp_path.iterdir())
    for text in ("machine", "no compiler"):  # as where Ctrl-C ends the compiler
        with pytest.raises(MachineFault):
            grade(text, [public("a", "b")])
        assert not list(tmp_path.iterdir())
    monkeypatch.setattr(one_case.tempfile, "tempdir", "/proc/none")
    with pytest.raises(MachineFault, match="TMPDIR names another place"):
        grade("right", [public("a")])


# ---- the store -----------------------------------------------------------------------------------


def test_results_of_another_submission_are_not_replaced(tmp_path: Path) -> None:
    record = grade("right", [public("a")])
    one, other = (record.model_copy(update={"submission": record.submission.model_copy(update={"path": path})})
                  for path in ("/s/alice/kernel.cu", "/t/alice/kernel.cu"))
    first = Store(tmp_path, one)
    first.save(one)
    second = Store(tmp_path, other)
    second.save(other)
    assert first.directory == tmp_path / "alice"
    assert second.directory.name.startswith("alice-") and len(second.directory.name) == 14
    assert [Store(tmp_path, each).directory for each in (one, other)] == [first.directory, second.directory]
    assert Store(tmp_path, other, named=True).directory == first.directory
    for unreadable in ("no JSON", "{}", "[]"):
        (tmp_path / "alice" / RESULT).write_text(unreadable)
        assert Store(tmp_path, one).directory != first.directory


def test_a_result_on_other_cases_is_kept(tmp_path: Path) -> None:
    """`make grade SUITE=all` after `make grade` loses neither; the same cases again replace."""
    record = grade("right", [public("a")])
    store = Store(tmp_path, record)
    store.save(record)
    other = record.model_copy(update={"suites": ["public/other"]})
    store.save(other)
    store.save(other.model_copy(update={"seed": 7}))
    kept = store.directory / f"result.{'+'.join(record.suites).replace('/', '-')}.cpu.json"
    assert Record.model_validate_json(kept.read_bytes()) == record
    assert Record.model_validate_json(store.result.read_bytes()).seed == 7
    assert len(list(store.directory.iterdir())) == 3  # and student.json
    store.result.write_text("no JSON")
    store.save(record.model_copy(update={"suites": ["s" * 300]}))  # longer than the name of a file may be
    assert (store.directory / "result.unreadable.json").read_text() == "no JSON"
    store.save(record)
    assert len(list(store.directory.glob("result.????????.cpu.json"))) == 1


def test_what_students_may_see_lies_beside_it(tmp_path: Path) -> None:
    """So nobody who reads it has anything to leave out."""
    record = grade("wrong", [public("a"), fake.suite(fake.case("secret", suite="hidden/x"), name="hidden/x")])
    store = Store(tmp_path, record)
    store.save(record)
    seen = read_record(store.directory / "student.json")
    assert seen.model_dump() == student_view(record).model_dump() and seen.tests[1].name == "hidden 1"
    assert sorted(path.name for path in store.directory.iterdir()) == [RESULT, "student.json"]
    for path in (store.directory, store.result):  # which a sandbox that is only another user must not read
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_what_killed_graders_left_is_swept(tmp_path: Path) -> None:
    record = grade("right", [public("a")])
    directory = Store(tmp_path, record).directory
    left, empty, written = (directory / f".{RESULT}.{name}.new" for name in ("left", "empty", "written"))
    for path in (left, written):
        path.write_text("{")
    empty.touch()  # somebody may be about to lock it
    with written.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        Store(tmp_path, record)
        assert not left.exists() and empty.exists() and written.exists()


def test_a_full_disk_is_the_machines_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = grade("right", [public("a")])
    store = Store(tmp_path, record)
    store.save(record)
    before = store.result.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.record.store.os.fsync", full)
    with pytest.raises(MachineFault, match="No space left on device; results cannot be written"):
        store.save(record.model_copy(update={"score": 0}))
    assert store.result.read_bytes() == before
    with pytest.raises(MachineFault, match="results cannot be written"):
        Store(Path("/proc/results"), record)
    assert sorted(path.name for path in store.directory.iterdir()) == [RESULT, "student.json"]


# ---- killed, and two at once ---------------------------------------------------------------------


def start(text: str, folder: Path, *words: str) -> Started:
    return fake_grader().start(fake.command(folder, text, "--jobs", "2", *words)[2:],
                               clean_environment() | {"TMPDIR": str(folder)})


def check_results(directory: Path) -> Record | None:
    """What is there is whole; temporary files aside."""
    found = None
    for path in directory.glob("*") if directory.is_dir() else []:
        if path.name in (RESULT, PARTIAL):
            record = Record.model_validate_json(path.read_bytes())
            assert record.complete == (path.name == RESULT)
            assert record.score == sum(item.score for item in record.items)
            found = record if path.name == RESULT else found
    return found


def wait_for_cases(partial: Path, seed: int) -> None:
    """Until a run with this seed has written down a case."""
    for _ in range(6000):
        try:
            record = Record.model_validate_json(partial.read_bytes())
            if record.seed == seed and record.tests:
                return
        except FileNotFoundError:
            pass
        time.sleep(0.02)
    raise AssertionError(f"{partial}: nothing of seed {seed}")


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """An earlier result survives whole, and finished cases can be read; an interrupt has a status and a line."""
    results, draw, began = tmp_path / "results" / "alice", random.Random(5), time.monotonic()
    assert start("right 0.03", tmp_path, "--seed", "1").wait(60) == 0
    whole = time.monotonic() - began
    seeds = {1}
    for seed, number in enumerate((signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL), 10):
        in_the_middle = seed < 12
        process = start("right 0.3" if in_the_middle else "right 0.03", tmp_path, "--seed", str(seed))
        if in_the_middle:
            wait_for_cases(results / PARTIAL, seed)
        else:
            time.sleep(draw.uniform(0.2, 1) * whole)
        process.send_signal(number)
        printed, errors = process.communicate(timeout=60)
        ends = {-number, 0, 130} if not in_the_middle else {130} if number == signal.SIGINT else {-number}
        assert process.returncode in ends, errors
        if process.returncode == 130:
            assert errors.startswith("grade: interrupted") and errors.count("\n") == 1 and printed == "", errors
        if in_the_middle:
            assert Record.model_validate_json((results / PARTIAL).read_bytes()).tests
        kept = check_results(results)
        seeds = {0: {seed}, 130: seeds}.get(process.returncode, {*seeds, seed})
        assert kept and kept.seed in seeds
        seeds = {kept.seed}


def test_two_at_once_end_well(tmp_path: Path) -> None:
    """Of the same submission; the results are those of one of them."""
    both = [start("right 0.02", tmp_path, "--seed", str(seed)) for seed in (1, 2, 3)]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    record = check_results(tmp_path / "results" / "alice")
    assert record and record.seed in (1, 2, 3)
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["alice"]
    assert {path.name for path in (tmp_path / "results" / "alice").iterdir()} == {
        RESULT, "student.json", "kernel.cu"}
    assert (tmp_path / "results/alice/kernel.cu").read_text() == "right 0.02"


@pytest.mark.slow  # test_two_at_once_end_well
def test_two_of_one_name_at_once_get_places_of_their_own(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for process in [start("right", tmp_path / place, "--results", str(results)) for place in "abcd"]:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    paths = {read_record(path).submission.path for path in results.glob(f"*/{RESULT}")}
    assert paths == {str(tmp_path / place / "alice" / "kernel.cu") for place in "abcd"}


def test_a_fault_of_the_machine_leaves_the_earlier_result(tmp_path: Path) -> None:
    assert start("right", tmp_path, "--seed", "1").wait(60) == 0
    before = (tmp_path / "results" / "alice" / RESULT).read_bytes()
    second = start("120 201 250: machine\nright", tmp_path, "--seed", "2")
    _, errors = second.communicate(timeout=60)
    assert (second.returncode, errors) == (3, "grade: no memory is left\n")
    assert (tmp_path / "results" / "alice" / RESULT).read_bytes() == before
    partial = Record.model_validate_json((tmp_path / "results" / "alice" / PARTIAL).read_bytes())
    assert partial.seed == 2 and not partial.complete and partial.tests
