"""A grade is the same however many cases run at once; what fails for the machine's sake gives none;
and what is on disk is whole at every moment. With a core that compiles and runs nothing
(grader_fake.py)."""

from __future__ import annotations

import fcntl
import json
import random
import signal
import stat
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grader_fake as fake
import pytest
from conftest import clean_environment, sample
from grader_fake import grading
from hypothesis import given, settings
from hypothesis import strategies as st

from grader import one_case
from grader.audit import neighbors
from grader.cases.model import Suite
from grader.cases.read import load_suites
from grader.errors import MachineFault, NotBuilt
from grader.grade import seed_for
from grader.record.model import Record
from grader.record.store import PARTIAL, RESULT, Store, read_record
from grader.record.student import student_view


def grade(text: str, suites: list[Suite], **more: Any) -> Record:
    record = grading(text, suites, **more).run()
    assert record.complete
    assert record.score == sum(test.score for test in record.tests)
    return record


def public(*names: str, **more: Any) -> Suite:
    """Cases of these names, 11 x 11 x 11, 12 x 12 x 12, ..."""
    return fake.suite(*(fake.case(name, size, size, size, **more)
                        for size, name in enumerate(names, 11)))


def statuses(record: Record) -> str:
    return " ".join(f"{test.name}:{test.status}" for test in record.tests)


# ---- the grade -----------------------------------------------------------------------------------


def test_shipped_suites_with_submissions_of_each_kind() -> None:
    suites = load_suites("public")
    possible = sum(case.points for suite in suites for case in suite.cases)
    right, naive, wrong = (grade(verb, suites) for verb in ("right", "naive", "wrong"))
    tiled = sum(case.criteria.get("tiled", 0) for suite in suites for case in suite.cases)
    assert (right.score, right.max_score) == (possible, possible)
    assert naive.score == possible - tiled and tiled > 0
    assert wrong.score == 0
    assert grade("starter", suites).score == 0
    assert {test.status for test in wrong.tests} == {"failed", "skipped"}


def test_a_failed_parent_skips_its_children_with_a_reason() -> None:
    suite = fake.suite(
        fake.case("child", depends=["public/basics/parent"]),
        fake.case("parent", 11, depends=["public/basics/grandparent"]),
        fake.case("grandparent", 12), fake.case("alone", 13),
    )
    record = grade("12 34 34: wrong\nright", [suite])
    assert statuses(record) == "child:skipped parent:skipped grandparent:failed alone:passed"
    assert record.tests[0].reason == "needs parent, which failed"
    assert record.tests[1].reason == "needs grandparent, which failed"
    record = grade("11 34 34: naive\nright", [suite])
    assert statuses(record) == "child:passed parent:passed grandparent:passed alone:passed"
    orphan = fake.suite(fake.case("a", depends=["public/basics/not-graded-along"]))
    assert grade("right", [orphan]).score == 4


def test_a_parent_with_one_mistake_carries_its_children() -> None:
    """Which are judged by themselves. Nothing is timed that is not right."""
    suite = fake.suite(
        fake.case("parent", 11, nearly=0.5), fake.case("child", depends=["public/basics/parent"]),
        fake.shape("fast", depends=["public/basics/parent"], suite="public/basics"))
    record = grade("11 34 34: doubled\nright", [suite], gpu=True)
    assert statuses(record) == "parent:partial child:passed" and record.score == 6
    assert (record.performance[0].state, record.performance[0].score) == ("skipped", 0)
    record = grade("11 34 34: doubled\nwrong", [suite])
    assert statuses(record) == "parent:partial child:failed" and record.score == 2
    free = suite.cases[0].model_copy(update={"points": 0.0, "criteria": {"correct": 0.0}})
    record = grade("11 34 34: doubled\nright", [fake.suite(free, suite.cases[1])])
    assert statuses(record) == "parent:partial child:passed" and record.score == 4


def built(text: str, suites: list[Suite], **more: Any) -> tuple[Record, list[str]]:
    """The record, and what was compiled."""
    texts: list[str] = []

    def build(parts: Any, source: bytes, box: Any, work: Path) -> Any:
        texts.append(source.decode())
        return fake.build(parts, source, box, work)

    return grade(text, suites, build=build, **more), texts


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_missing_barrier_is_put_in_and_costs_the_rest(jobs: int) -> None:
    suite = public("a", "b", "c", nearly=0.25, criteria={"memory": 4.0})
    text = "11 11 11: race after 2\n12 12 12: race after 2\nright\n"
    record, texts = built(text, [suite], jobs=jobs)
    assert texts == [text, "11 11 11: race after 2\n12 12 12: race after 2\n__syncthreads();\n"
                           "right\n"]
    assert [test.score for test in record.tests] == [1, 1, 4]
    record, texts = built("race after 9\nright 0", [suite], jobs=jobs)
    assert record.score == 12 and len(texts) == 1  # no race, and no such line
    record, texts = built("13 13 13: race after 9\nright", [suite], jobs=jobs)
    assert record.score == 8 and len(texts) == 1
    record, texts = built("13 13 13: race behind 1\nright", [public("a", "b", "c")], jobs=jobs)
    assert len(texts) == 1  # a share of nothing


def test_a_repair_that_is_wrong_goes_no_further() -> None:
    """It is not even run in the checked build."""
    runs: list[tuple[str, bool]] = []

    def build(parts: Any, source: bytes, box: Any, work: Path) -> Any:
        programs = fake.build(parts, source, box, work)
        programs.repaired = b"__syncthreads" in source
        return programs

    def run(parts: Any, programs: Any, which: str, *more: Any, **others: Any) -> Any:
        runs.append((which, programs.repaired))
        if programs.repaired:
            programs = fake.Programs({"": "wrong"})
        return fake.run(parts, programs, which, *more, **others)

    suite = public("a", nearly=0.25, criteria={"memory": 4.0})
    record = grade("11 11 11: race after 1\nright", [suite], build=build, run=run)
    assert runs == [("plain", False), ("checked", False), ("plain", True)]
    assert record.score == 0


def test_repairs_take_of_the_submissions_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one that does not compile, nothing is known."""
    monkeypatch.setattr(fake.BOX, "run", lambda command: SimpleNamespace(seconds=4.0), raising=False)
    tried = []

    def build(parts: Any, source: bytes, box: Any, work: Path) -> Any:
        box.run("c++")
        if b"__syncthreads" in source:
            tried.append(source)
            raise NotBuilt("expected ;", "kernel.cu", 2, "")
        return fake.build(parts, source, box, work)

    lines = [f"{size} {size} {size}: race after {size - 10}" for size in range(11, 15)]
    suite = public(*"abcde", nearly=0.5, criteria={"memory": 4.0})
    for limit, repairs, last in ((99.0, 4, "passed"), (6.0, 2, "failed")):
        tried.clear()
        record = grade("\n".join([*lines, "right"]), [suite], build=build, limit=limit, jobs=1)
        assert record.build.ok and len(tried) == repairs
        assert statuses(record) == f"a:failed b:failed c:failed d:failed e:{last}"


def test_a_submission_that_does_not_compile() -> None:
    record = grade("error", [public("a", "b")])
    assert (record.score, record.max_score, record.build.ok) == (0, 8, False)
    assert statuses(record) == "a:failed b:failed"
    assert record.tests[0].reason == (
        "does not compile: kernel.cu:7: 'x' was not declared in this scope")


def test_a_refused_submission_gets_nothing_for_any_case() -> None:
    record = grade("fopen", [public("a", "b")])
    assert record.refusal and record.refusal.tried == "calls fopen" and not record.build.ok
    record = grade("12 12 12: copies\nright", [public("a", "b", "c")])
    assert record.score == 0 and record.refusal and record.build.ok
    assert statuses(record) == "a:failed b:failed c:failed"
    assert "the submission was refused: it copies device" in record.tests[0].reason


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_the_first_refusal_counts_whichever_comes_first(jobs: int) -> None:
    """Also before that of a case that has not even begun, because it waits for another."""
    text = "11 11 11: right 0.1\n13 13 13: copies 0.1\n15 15 15: copies\nright"
    suite = public("a", "b", "c", "d", "e")
    waits = suite.cases[2].model_copy(update={"depends": ["public/basics/a"]})
    for cases in (suite.cases, [*suite.cases[:2], waits, *suite.cases[3:]]):
        record = grade(text, [fake.suite(*cases)], jobs=jobs)
        assert record.refusal and record.refusal.tried.endswith("(13 bytes)")
    # And where a case comes before its parents, which the other refusal would keep from running.
    a, b, c = suite.cases[:3]
    child = fake.case("child", 10, depends=["public/basics/c"])
    c = c.model_copy(update={"depends": ["public/basics/b"]})
    text = "10 34 34: copies\n11 11 11: copies\n12 12 12: right 0.1\nright"
    record = grade(text, [fake.suite(child, a, b, c)], jobs=jobs)
    assert record.refusal and record.refusal.tried.endswith("(10 bytes)")


def comparable(record: Record) -> dict[str, Any]:
    """Without what the clock says."""
    text = json.loads(record.model_dump_json())
    return text | {"seconds": 0, "started": ""}


VERBS = st.sampled_from(["right", "right", "naive", "wrong", "hang", "leak", "crash", "copies"])


@settings(max_examples=40, deadline=None, database=None)
@given(verbs=st.lists(VERBS, min_size=8, max_size=8), seed=st.integers(0, 2**63 - 1),
       edges=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=8))
def test_same_seed_same_grade(verbs: list[str], seed: int, edges: list[tuple[int, int]]) -> None:
    """Whatever depends on what, in whatever order the cases are, and however many run at once."""
    cases = []
    for i in range(len(verbs)):
        depends = [f"public/basics/c{a}" for a, b in edges if b == i and a < b]
        cases.append(fake.case(f"c{i}", 20 + i, depends=depends))
    random.Random(seed).shuffle(cases)
    text = "\n".join(f"{20 + i} 34 34: {verb}" for i, verb in enumerate(verbs)) + "\nright"
    one, many = (grade(text, [fake.suite(*cases)], seed=seed, jobs=jobs) for jobs in (1, 6))
    assert comparable(one) == comparable(many)


def test_seeds() -> None:
    """A case's own stays; others differ from case to case and from run to run."""
    suite = fake.suite(fake.case("a"), fake.case("b"), fake.case("own", seed=5))
    first, again, other = (grade("right", [suite], seed=seed) for seed in (1, 1, 2))
    seeds = [test.seed for test in first.tests]
    assert len(set(seeds)) == 3 and seeds[2] == 5
    assert all(isinstance(seed, int) and 0 <= seed < 2**63 for seed in seeds)
    assert seeds == [test.seed for test in again.tests]
    assert not set(seeds[:2]) & {test.seed for test in other.tests}


def test_cases_run_at_the_same_time() -> None:
    """Four cases in four threads that wait for each other."""
    suite, together, most = public("a", "b", "c", "d"), threading.Barrier(4), []

    def run(*arguments: Any, **more: Any) -> Any:
        most.append(together.wait(20))
        return fake.run(*arguments, **more)

    plain_only = [case.model_copy(update={"m": 9999, "k": 9999}) for case in suite.cases]
    assert grade("right", [fake.suite(*plain_only)], jobs=4, run=run).score == 16
    assert sorted(most) == [0, 1, 2, 3]


# ---- the machine ---------------------------------------------------------------------------------


def test_nothing_stays_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(one_case.tempfile, "tempdir", str(tmp_path))
    for text in ("right", "error", "12 12 12: copies\nright", "11 11 11: race after 1\nright"):
        grade(text, [public("a", "b", nearly=0.5)])
        assert not list(tmp_path.iterdir())
    for text in ("machine", "no compiler"):  # as where Ctrl-C ends the compiler
        with pytest.raises(MachineFault):
            grade(text, [public("a", "b")])
        assert not list(tmp_path.iterdir())


def test_no_room_for_building(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_case.tempfile, "tempdir", "/proc/none")
    with pytest.raises(MachineFault, match="TMPDIR names another place"):
        grade("right", [public("a")])


# ---- the audit -----------------------------------------------------------------------------------


def both() -> list[Suite]:
    return [public("a", "b"),
            fake.suite(fake.case("h", 40, suite="hidden/h"), name="hidden/h")]


KNOWS = "11 11 11: right\n12 12 12: right\n40 34 34: right\n"


def test_answers_for_published_shapes_only_are_refused() -> None:
    most = [public("a", "b", "c"), *both()[1:]]  # 11, 12, 13
    for otherwise, suites in (("wrong", both()), ("crash", both()), ("hang", both()),
                              ("starter", both()), ("wrong", most)):
        record = grade(KNOWS + otherwise, suites)
        assert record.refusal and record.refusal.tried == "answers only the published shapes"
        assert record.score == 0
    assert not grade("11 11 11: right\nwrong", most).refusal
    large = fake.suite(*(fake.case(str(size), size, size, size, nearly=0.5) for size in (51, 53)))
    knows = "51 51 51: doubled\n53 53 53: doubled\n"
    assert grade(knows + "wrong", [large, both()[1]]).refusal
    assert not grade(knows + "doubled", [large, both()[1]]).refusal


def test_the_audit_refuses_no_others() -> None:
    assert grade("right", both()).score == 12
    nearly = [public("a", "b", nearly=0.5, criteria={"memory": 4.0}), both()[1]]
    assert grade("doubled", nearly).score == 4
    assert grade("11 11 11: right\nrace after 1", nearly).refusal is None
    assert grade(KNOWS + "wrong", both()[:1]).score == 8  # no hidden suite: practice
    record = grade("11 11 11: right\nwrong", both())  # right on half of what is public
    assert not record.refusal and record.score == 4
    near = neighbors(both()[0].cases, both()[0].cases, seed_for(7, "neighbors"))[0]
    shapes = f"{near.m} {near.k} {near.n}: right"
    assert not grade(f"{KNOWS}{shapes}\nwrong", both()).refusal  # one neighbor is enough
    known = [replace(suite, cases=tuple(
        case.model_copy(update={"fill": "ones-twos"}) for case in suite.cases))
        for suite in both()[:1]]
    assert not grade(KNOWS + "wrong", [*known, *both()[1:]]).refusal  # right by a mistake


SHAPES_OF_NEIGHBORS = [fake.case("a", 35, 70, 20), fake.case("b", 120, 201, 250),
                        fake.case("c", 1, 1, 1), fake.case("d", 64, 64, 64)]


@given(st.integers(0, 2**63 - 1))
def test_neighbors_are_like_the_public_shapes(seed: int) -> None:
    """Nothing that is smaller is right by a mistake that the larger one does not forgive."""
    cases = SHAPES_OF_NEIGHBORS
    found = neighbors(cases, cases, seed)
    assert found == neighbors(cases, cases, seed) and len(found) == 3
    for new in found:
        assert any(
            all(16 < now <= old and now % min(old & -old, 32) == 0
                for now, old in zip((new.m, new.k, new.n), (old.m, old.k, old.n)))
            and (new.m < new.k, new.k < new.n, new.m < new.n)
            == (old.m < old.k, old.k < old.n, old.m < old.n) for old in cases)
        assert max(new.m, new.k, new.n) <= 60
    assert 0 <= seed_for(seed, "x") < 2**63


def test_neighbors_are_not_published() -> None:
    free = {5, 23, 42}
    cases = [fake.case(f"c{i}", i, i, i) for i in range(2, 61) if i not in free]
    found = [new.m for seed in range(5) for new in neighbors(cases, cases, seed)]
    assert found and {*found} <= free


def test_no_neighbors_no_refusal() -> None:
    """One whole tile proves nothing: a kernel of one block is not a cheat."""
    tile = [fake.suite(fake.case("t", 16, suite="public/p"), name="public/p"), *both()[1:]]
    assert not grade("16 16 16: right\nwrong", tile).refusal


# ---- the store -----------------------------------------------------------------------------------


def test_results_of_another_submission_are_not_replaced(tmp_path: Path) -> None:
    record = grade("right", [public("a")])

    def at(path: str) -> Record:
        about = record.submission.model_copy(update={"path": path})
        return record.model_copy(update={"submission": about})

    one, other = at("/s/alice/kernel.cu"), at("/t/alice/kernel.cu")
    first = Store(tmp_path, one)
    first.save(one)
    assert first.directory == tmp_path / "alice"
    second = Store(tmp_path, other)
    assert second.directory.name.startswith("alice-") and len(second.directory.name) == 14
    second.save(other)
    assert Store(tmp_path, one).directory == first.directory
    assert Store(tmp_path, other).directory == second.directory
    assert Store(tmp_path, other, named=True).directory == first.directory
    (tmp_path / "alice" / RESULT).write_text("no JSON")
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
    store.save(record)
    assert (store.directory / "result.unreadable.json").read_text() == "no JSON"


def test_what_students_may_see_lies_beside_it(tmp_path: Path) -> None:
    """Of a run that goes on, too; so nobody who reads it has anything to leave out."""
    record = grade("wrong", [public("a"), fake.suite(fake.case("secret", suite="hidden/x"),
                                                     name="hidden/x")])
    store = Store(tmp_path, record)
    for complete, name in ((False, "student.partial.json"), (True, "student.json")):
        (store.save if complete else store.save_partial)(record)
        seen = read_record(store.directory / name)
        assert seen.model_dump() == student_view(record).model_dump() != record.model_dump() and seen.tests[1].name == "hidden 1"
    assert sorted(path.name for path in store.directory.iterdir()) == [RESULT, "student.json"]


def test_results_are_private(tmp_path: Path) -> None:
    """A sandbox that is only another user must not read them."""
    record = grade("right", [public("a")])
    store = Store(tmp_path / "new" / "results", record)
    store.save(record)
    for path in (tmp_path / "new" / "results", store.directory, store.result):
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
    assert sorted(path.name for path in store.directory.iterdir()) == [RESULT, "student.json"]


@pytest.mark.parametrize("results", ["file", "/proc/results"])
def test_results_that_cannot_be_written(tmp_path: Path, results: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineFault, match="results cannot be written"):
        Store(tmp_path / results, grade("right", [public("a")]))


# ---- killed, and two at once ---------------------------------------------------------------------


def start(text: str, folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Of folder/alice; results are beside it."""
    path = folder / "alice" / "kernel.cu"
    path.parent.mkdir(exist_ok=True, parents=True)
    if text:
        path.write_text(text)
    return subprocess.Popen(
        [*fake.COMMAND, "--submission", str(path), "--results", str(folder / "results"), "--jobs", "2",
         *words],
        env=clean_environment() | {"TMPDIR": str(folder)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)  # fmt: skip


def check_results(directory: Path) -> Record | None:
    """What is there is whole; temporary files aside."""
    found = None
    for path in directory.glob("*") if directory.is_dir() else []:
        if path.name in (RESULT, PARTIAL):
            record = Record.model_validate_json(path.read_bytes())
            assert record.complete == (path.name == RESULT)
            assert record.score == sum(test.score for test in record.tests)
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
        time.sleep(0.005)
    raise AssertionError(f"{partial}: nothing of seed {seed}")


@pytest.mark.parametrize("number", sample([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], 3))
def test_killed_at_random_moments(tmp_path: Path, number: int) -> None:
    """An earlier result survives whole, and finished cases can be read."""
    results = tmp_path / "results" / "alice"
    began = time.monotonic()
    first = start("right 0.03", tmp_path, "--seed", "1")
    first.communicate(timeout=60)
    whole = time.monotonic() - began
    assert first.returncode == 0
    before = check_results(results)
    assert before and before.seed == 1
    draw, cases_seen = random.Random(5), set()
    for attempt in range(4):
        process = start("", tmp_path, "--seed", str(10 + attempt))
        if attempt % 2:
            time.sleep(draw.uniform(0.2, 1) * whole)
        else:  # surely in the middle
            wait_for_cases(results / PARTIAL, 10 + attempt)
            time.sleep(draw.uniform(0, 0.05))
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        kept = check_results(results)
        assert kept and kept.seed in (before.seed, 10 + attempt)
        assert process.returncode in (0, 130, -number), errors
        if process.returncode == 130:
            assert kept.seed == before.seed and errors.startswith(b"grade: interrupted"), errors
        elif process.returncode == 0:
            assert kept.seed == 10 + attempt
        before = kept
        partial = results / PARTIAL
        if partial.exists():
            cases_seen.add(len(Record.model_validate_json(partial.read_bytes()).tests))
    assert cases_seen, "no run was met in the middle"


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


def test_two_of_one_name_at_once_get_places_of_their_own(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for process in [start("right", tmp_path / place, "--results", str(results)) for place in "abcd"]:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    paths = {Record.model_validate_json(path.read_bytes()).submission.path
             for path in results.glob(f"*/{RESULT}")}
    assert paths == {str(tmp_path / place / "alice" / "kernel.cu") for place in "abcd"}


def test_a_fault_of_the_machine_leaves_the_earlier_result(tmp_path: Path) -> None:
    first = start("right", tmp_path, "--seed", "1")
    assert first.wait(60) == 0
    before = (tmp_path / "results" / "alice" / RESULT).read_bytes()
    second = start("120 201 250: machine\nright", tmp_path, "--seed", "2")
    _, errors = second.communicate(timeout=60)
    assert second.returncode == 3
    assert errors.decode() == "grade: no memory is left\n"
    assert (tmp_path / "results" / "alice" / RESULT).read_bytes() == before
    partial = Record.model_validate_json((tmp_path / "results" / "alice" / PARTIAL).read_bytes())
    assert partial.seed == 2 and not partial.complete and partial.tests


