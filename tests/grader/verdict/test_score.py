"""From outcomes to points, and what of them a student may see.

Each criterion is lost for one reason; of a hidden case a student sees the kind of the mistake and
nothing else; no text of a submission is a command to a terminal or a CI runner."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import pytest
from kinds import KINDS, words_of
from conftest import REPOSITORY
from grader_fake import case, outcome
from hypothesis import given
from hypothesis import strategies as st

from grader.cases.model import Case
from grader.record.model import Build, Finding, Loads, Record, Refusal, Submission, Test
from grader.record.student import student_view
from grader.report.lines import lost
from grader.run.limits import Problem
from grader.run.outcome import Outcome
from grader.text import harmless
from grader.verdict.case import against_loads, judge_case, most_loads, wants_checked, wants_counts
from grader.verdict.points import carries, is_right, needs_review, nothing, refused, skipped, totals, used_up

FULL = {"builds": 1.0, "correct": 2.0, "memory": 3.0, "tiled": 4.0}


def full_case(**more: Any) -> Case:
    return case(points=10.0, criteria=FULL, hint="think of the case", **more)


def runs(verb: str, **changes: Any) -> tuple[Outcome, Outcome]:
    problem = Problem(m=34, n=34, k=34, fill="random", seed=1, tolerance=None, time_limit=2)
    plain, checked = (outcome(verb, build, problem, True) for build in ("plain", "checked"))
    return plain, checked.model_copy(update=changes)


def judge(plain: Outcome, checked: Outcome | None) -> tuple[Test, str]:
    """The test, and the criteria that were kept."""
    test = judge_case(full_case(), plain, checked)
    assert test.score == sum(each.score for each in test.criteria)
    assert all(each.passed != bool(each.reason) for each in test.criteria)
    assert all(each.score == (each.max_score if each.passed else 0) for each in test.criteria)
    return test, " ".join(each.name for each in test.criteria if each.passed)


# ---- criteria ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verb", "kept", "reason", "kind", "hint"), [
    ("right", "builds correct memory tiled", "", None, ""),
    ("naive", "builds correct memory", "78608 loads from global memory; tiles need at most",
     None, "let each block load tiles"),
    ("wrong", "builds", "all 1156 are wrong", "wrong-result", "is it?"),
    ("starter", "", "basicSgemm launches no kernel", "no-launch", "basicSgemm chooses"),
    ("hang", "builds", "kernel.cu:12: still running after 2 s", "endless", "which loop"),
    ("crash", "builds", "it crashed: Segmentation fault", "host-fault", "think of the case"),
    ("leak", "builds correct tiled", "kernel.cu:29: a mistake", "leak", "think"),
    ("race", "builds correct", "kernel.cu:29: a mistake", "shared-race", "think"),
])  # fmt: skip
def test_what_is_lost_and_why(
    verb: str, kept: str, reason: str, kind: str | None, hint: str
) -> None:
    plain, checked = runs(verb)
    if verb == "race":
        checked = checked.model_copy(update={"loads": None})
    test, really_kept = judge(plain, checked)
    assert really_kept == kept
    assert reason in test.reason and hint in test.hint
    assert bool(test.reason) == bool(test.hint) == (verb != "right")
    assert (test.finding.kind if test.finding else None) == kind
    assert test.status == ("passed" if verb == "right" else "partial" if kept else "failed")


@pytest.mark.parametrize(("asked", "threads", "kept"), [
    ({"criteria": {"tiled": 10.0}}, 1, "tiled"), ({"criteria": {"parallel": 10.0}}, 1155, ""),
    ({"criteria": {"parallel": 10.0}}, 1156, "parallel"),
    ({"criteria": {"parallel": 10.0}, "parallel": 0.5}, 578, "parallel"),
    ({"criteria": {"tiled": 10.0}, "parallel": 0.5}, 577, ""),
    ({"criteria": {"tiled": 10.0}, "parallel": 0.5}, 578, "tiled"),
])  # fmt: skip
def test_threads_that_share_in_the_work(asked: dict[str, Any], threads: int, kept: str) -> None:
    plain, checked = runs("right")
    assert checked.loads
    checked = checked.model_copy(update={
        "loads": checked.loads.model_copy(update={"threads": threads})})
    test = judge_case(case(points=10.0, **asked), plain, checked)
    assert " ".join(each.name for each in test.criteria if each.passed) == kept
    if not kept:
        shared = "1 thread" if threads == 1 else f"{threads} threads"
        assert test.reason.startswith(f"{shared} shared in the work; at least ")
        assert "an element of C" in test.hint


def finding(kind: str) -> Finding:
    return Finding(**words_of(kind), what="a mistake", file="kernel.cu", line=3)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_finding(kind: str) -> None:
    """A right C in spite of a fault that hardware may get away with keeps `correct`; everything
    else that the checker stops does not."""
    plain, checked = runs("right", ended="stopped", right=False, loads=None, finding=finding(kind))
    _, kept = judge(plain, checked)
    assert kept == ("builds correct" if KINDS[kind].may_be_right else "builds")


def test_what_cannot_go_well_on_a_gpu() -> None:
    fatal = {"host-pointer-on-device", "device-pointer-on-host", "device-variable-on-host",
             "host-function", "misaligned", "freed-memory", "deadlock", "endless", "time-limit", "kernel-fault",
             "host-fault", "bad-launch", "no-launch", "input-written", "wrong-result", "unwritten",
             "not-float32", "unseen"}
    assert fatal < KINDS.keys() and not any(KINDS[kind].may_be_right for kind in fatal)


SLOW = {"ended": "time-limit", "right": False, "loads": None, "file": "kernel.cu", "line": 9,
        "detail": "the checked run did not finish in 8 s"}


def test_a_slow_checked_run_costs_what_needs_it_and_hides_no_mistake() -> None:
    """What it found before its time was over counts, and what the plain run found."""
    test, kept = judge(*runs("right", **SLOW))
    assert kept == "builds correct"
    assert test.reason == "kernel.cu:9: the checked run did not finish in 8 s"
    assert test.finding and test.finding.kind == "time-limit"
    for kind, still_kept in (("shared-race", "builds correct"), ("input-written", "builds")):
        assert judge(*runs("right", **SLOW, finding=finding(kind)))[1] == still_kept
    plain, checked = runs("wrong")
    test, kept = judge(plain, checked.model_copy(update=SLOW | {"explanation": None}))
    assert kept == "builds" and test.finding and test.finding.kind == "wrong-result"


@pytest.mark.parametrize(("changes", "words"), [
    ({"right": False, "wrong": 5}, "in the checked build: 5 of 1156 elements"),
    ({"ended": "crashed", "right": False}, "in the checked build: it crashed"),
    ({"ended": "deadlock", "right": False}, "in the checked build: deadlock: threads of a block"),
    ({"ended": "exited", "right": False}, "in the checked build: it ended the program"),
    ({"finding": finding("input-written")}, "kernel.cu:3: a mistake"),
])  # fmt: skip
def test_the_checked_run_counts_too(changes: dict[str, Any], words: str) -> None:
    """A kernel that behaves differently when it is watched is not right."""
    test, kept = judge(*runs("right", **changes))
    assert kept == "builds" and words in test.criteria[1].reason


@pytest.mark.parametrize(
    ("changes", "words", "kind"),
    [
        ({"inputs_changed": 3}, "changed 3 elements of A and B", "input-written"),
        ({"inputs_changed": 1}, "changed 1 element of A and B", "input-written"),
        ({"guards_changed": 2}, "wrote 2 numbers outside A, B and C", "out-of-bounds"),
        ({"unwritten": 1156}, "1156 of 1156 elements of C are wrong or were", "unwritten"),
        ({"wrong": 1}, "1 of 1156 elements of C is wrong or was", "wrong-result"),
        ({"not_float32": True}, "C is less precise than float32", "not-float32"),
        ({"ended": "exited"}, "it ended the program instead of returning", "host-fault"),
        ({"ended": "stopped", "detail": "a fault"}, "a fault", "kernel-fault"),
    ],
)
def test_a_wrong_c_without_an_explanation(changes: dict[str, Any], words: str, kind: str) -> None:
    plain = runs("right")[0].model_copy(update={"right": False} | changes)
    test, kept = judge(plain, None)
    assert kept == "builds" and words in test.reason
    assert test.finding and test.finding.kind == kind


def test_no_checked_run_no_points_for_it() -> None:
    test, kept = judge(runs("right")[0], None)
    assert kept == "builds correct"
    assert "not examined" in test.reason


@pytest.mark.parametrize(
    ("all_loads", "exchanged", "reason"),
    [
        (19652, 19652, ""),  # a quarter of the naive 78608 at most
        (19653, 99999, "19653 loads from global memory; tiles need at most 19652"),
        (2312, 2312, ""),  # as many as A and B have elements
        (2311, 99999, "its loads were not all seen"),
        (9900, 9900, ""),
        (9900, 9899, "threads read 9899 elements that others of their block have stored, and load"),
        (9900, 0, "threads read 0 elements that others of their block have stored, and load 9900"),
    ],
)
@pytest.mark.parametrize("once", [1228, 9900])
def test_really_tiled(all_loads: int, exchanged: int, reason: str, once: int) -> None:
    """Whatever a block could have loaded once: that is no limit."""
    loads = Loads(all=all_loads, naive=78608, once_per_block=once, exchanged=exchanged)
    test, kept = judge(*runs("right", loads=loads))
    assert ("tiled" in kept) == (not reason) and test.reason.startswith(reason)


def test_the_limit_is_the_handouts() -> None:
    """And the only one."""
    row = next(line for line in (REPOSITORY / "handout.md").read_text().splitlines()
               if line.startswith("| tiles: "))
    assert "at most a quarter of the naive kernel's loads" in row
    for naive in (2, 1000, 78608):
        for once in (0, 1, naive // 16, naive):
            loads = Loads(all=naive // 4, naive=naive, once_per_block=once, exchanged=naive // 4)
            assert most_loads(loads) == naive // 4 and not against_loads(loads)


def test_the_record_has_the_loads_that_were_counted() -> None:
    """Exactly; and a student sees none of a hidden case, which would tell its shape."""
    plain, checked = runs("naive")
    assert checked.loads == Loads(all=78608, naive=78608, once_per_block=4913, exchanged=78608,
                                  threads=1156)
    limited = checked.loads.model_copy(update={"most": 78608 // 4})
    assert judge(plain, checked)[0].loads == limited
    assert judge_case(case(), plain, checked).loads == checked.loads
    assert judge(plain, None)[0].loads is None
    assert judge(*runs("race", loads=None))[0].loads is None
    public = judge_case(full_case(), plain, checked)
    hidden = judge_case(full_case(suite="hidden/zebra"), plain, checked)
    seen = student_view(record_of(public, hidden)).tests
    assert [test.loads for test in seen] == [limited, None]


def test_which_cases_have_a_checked_run() -> None:
    """All but large ones: it also shows what a right C hides."""
    large = {"m": 2000, "k": 2000, "n": 2000}
    assert wants_checked(case()) and not wants_counts(case())
    assert not wants_checked(case(**large))
    assert wants_checked(case(**large, criteria={"memory": 4.0}))
    assert wants_counts(case(criteria={"tiled": 4.0}))


# ---- one mistake ---------------------------------------------------------------------------------

TWICE = Finding(**words_of("wrong-result"), what="1156 of the 1156 elements of C are wrong", hint="once?",
                claim="C is 2 times the product",
                detail=["the first: C[0][0]", "C is 2 times the product: this explains all 1156."],
                formula="factor", products=1.0)
WRONG = {"right": False, "wrong": 1156, "explanation": TWICE}


def but_for_a_formula(of_plain: dict[str, Any] | None = None,
                      of_checked: dict[str, Any] | None = None, nearly: float = 0.4) -> Test:
    """A C that one formula explains, but for these changes."""
    plain, checked = runs("right")
    return judge_case(full_case(nearly=nearly),
                              plain.model_copy(update=WRONG | (of_plain or {})),
                              checked.model_copy(update=WRONG | (of_checked or {})))


def by_criterion(test: Test) -> str:
    assert test.score == pytest.approx(sum(each.score for each in test.criteria))
    assert test.nearly == any(each.nearly for each in test.criteria)
    assert all(each.passed != bool(each.reason) for each in test.criteria)
    return " ".join(f"{each.name}:{each.score:g}" for each in test.criteria)


def test_a_mistake_that_explains_all_that_is_wrong_costs_a_share() -> None:
    test = but_for_a_formula()
    assert by_criterion(test) == "builds:1 correct:0.8 memory:1.2 tiled:1.6"
    assert (test.score, test.status) == (4.6, "partial")
    assert test.reason == "right but for one mistake: C is 2 times the product"
    assert test.hint == "once?" and test.finding and test.finding.formula == "factor"
    assert carries(test) and not is_right(test) and not test.nothing_lost
    assert but_for_a_formula(nearly=0.0).reason == TWICE.what
    half = but_for_a_formula({"explanation": TWICE.model_copy(update={"products": 0.5})})
    assert half.nearly


OTHER = TWICE.model_copy(update={"formula": "offset"})


@pytest.mark.parametrize(("of_plain", "of_checked", "nearly"), [
    ({}, {}, 0.0),
    ({"explanation": TWICE.model_copy(update={"products": 0.49})}, {}, 0.4),
    ({}, {"explanation": TWICE.model_copy(update={"products": 0.49})}, 0.4),
    ({"explanation": None}, {}, 0.4), ({}, {"explanation": None}, 0.4), ({}, {"explanation": OTHER}, 0.4),
    ({"inputs_changed": 1}, {}, 0.4), ({}, {"inputs_changed": 1}, 0.4),
    ({"guards_changed": 1}, {}, 0.4), ({}, {"guards_changed": 1}, 0.4), ({"launches": 0}, {}, 0.4),
    ({"ended": "crashed"}, {}, 0.4), ({}, {"ended": "crashed"}, 0.4), ({}, {"ended": "endless"}, 0.4),
    ({}, {"finding": finding("leak")}, 0.4), ({}, {"finding": finding("out-of-bounds")}, 0.4),
    ({}, SLOW | {"finding": finding("shared-race")}, 0.4),
    ({}, {"right": True, "wrong": 0, "explanation": None}, 0.4),
    ({"right": True, "wrong": 0, "explanation": None}, {}, 0.4),
])  # fmt: skip
def test_what_is_not_one_mistake_costs_all(of_plain: dict[str, Any], of_checked: dict[str, Any],
                                           nearly: float) -> None:
    test = but_for_a_formula(of_plain, of_checked, nearly)
    launches = of_plain.get("launches", 1)
    assert by_criterion(test) == f"builds:{launches:g} correct:0 memory:0 tiled:0"
    assert not carries(test) and "one mistake" not in test.reason


def test_a_share_is_of_what_the_mistake_alone_has_cost() -> None:
    """Not of tiles that there are none of, nor of what was not examined."""
    naive = but_for_a_formula(of_checked={"loads": Loads(
        all=78608, naive=78608, once_per_block=4913, exchanged=78608, threads=1156)})
    assert by_criterion(naive) == "builds:1 correct:0.8 memory:1.2 tiled:0"
    slow = but_for_a_formula(of_checked=SLOW | {"explanation": None})
    assert by_criterion(slow) == "builds:1 correct:0.8 memory:0 tiled:0"
    plain = runs("right")[0].model_copy(update=WRONG)
    alone = judge_case(full_case(nearly=0.4), plain, None)
    assert by_criterion(alone) == "builds:1 correct:0.8 memory:0 tiled:0"


def test_a_missing_barrier_costs_a_share() -> None:
    """Where C is right by luck, and where it is not; only if nothing else is wrong."""
    plain, checked = runs("race", loads=None)
    wrong = plain.model_copy(update={"right": False, "wrong": 7})
    repaired = runs("right")
    asked = full_case(nearly=0.4)
    lucky = judge_case(asked, plain, checked, repaired)
    assert by_criterion(lucky) == "builds:1 correct:2 memory:1.2 tiled:1.6"
    test = judge_case(asked, wrong, checked, repaired)
    assert by_criterion(test) == "builds:1 correct:0.8 memory:1.2 tiled:1.6"
    assert test.reason == "right but for one mistake: kernel.cu:29: a mistake"
    assert test.seconds == pytest.approx(0.04)
    naive = judge_case(asked, wrong, checked, runs("naive"))
    assert by_criterion(naive) == "builds:1 correct:0.8 memory:1.2 tiled:0"
    for other in (None, runs("leak"), runs("race"), runs("wrong")):
        test = judge_case(asked, wrong, checked, other)
        assert by_criterion(test) == "builds:1 correct:0 memory:0 tiled:0"
        assert test.reason == "kernel.cu:29: a mistake"
    assert not judge_case(full_case(), wrong, checked, repaired).nearly


def test_of_one_mistake_in_a_hidden_case_the_kind_is_shown() -> None:
    hidden = full_case(suite="hidden/zebra", nearly=0.4)
    plain, checked = (run.model_copy(update=WRONG) for run in runs("right"))
    [seen] = student_view(record_of(judge_case(hidden, plain, checked))).tests
    assert seen.reason == "right but for one mistake: the result is wrong"
    assert seen.criteria[1].nearly and seen.criteria[1].reason == "C is not right"
    assert lost(seen)[0] == seen.reason
    assert "2 times" not in seen.model_dump_json() and "1156" not in seen.model_dump_json()


# ---- points --------------------------------------------------------------------------------------


def test_sums_are_those_of_decimal_numbers() -> None:
    tests = [nothing(case(points=0.1), "failed", "x") for _ in range(10)]
    assert totals(tests) == (0, 1)


def test_a_parent_without_points_for_tiles_still_carries() -> None:
    naive, _ = judge(*runs("naive"))
    wrong, _ = judge(*runs("wrong"))
    assert carries(naive) and not carries(wrong)
    left = skipped(case(), wrong)
    assert (left.status, left.reason) == ("skipped", "needs c, which failed")
    assert not carries(left)


# ---- what a student sees -------------------------------------------------------------------------

def test_what_was_printed_is_shown_briefly_and_never_beside_a_hidden_case() -> None:
    plain, checked = runs("right")
    printed = plain.model_copy(update={"output": "\n".join(["é\x07" + "x" * 999] * 50)})
    public = judge_case(full_case(), printed, checked)
    alone = record_of(public).model_copy(update={"suites": ["public/basics"]})
    [shown] = student_view(alone).tests
    assert shown.output == "\n".join(["??" + "x" * 198] * 10)
    hidden = judge_case(full_case(suite="hidden/zebra"), printed, checked)
    for seen in student_view(record_of(public, hidden)).tests:
        assert seen.output == ""


SECRETS = ("zebra", "quagga", "okapi", "7919", "7927", "7933", "104729", "leopard", "/home/ta")


def secret_test(status: str, verb: str) -> Test:
    hidden = case("quagga", 7919, 7927, 7933, suite="hidden/zebra", title="okapi okapi",
                  seed=104729, hint="leopard", criteria=FULL, points=10.0)
    if status == "skipped":
        parent = nothing(case("zebra", suite="hidden/zebra"), "failed", "")
        return skipped(hidden, parent)
    plain, checked = runs(verb, output="okapi 7919")
    plain = plain.model_copy(update={"output": "7919 leopard"})
    test = judge_case(hidden, plain, checked)
    marked = test.finding and test.finding.model_copy(update={
        "detail": ["m=7919"], "hint": "okapi", "line": 7927, "formula": "zebra"})
    return test.model_copy(update={"reason": test.reason and f"{test.reason} 7919 okapi",
                                   "finding": marked})


def record_of(
    *tests: Test, build: Build | None = None, refusal: Refusal | None = None
) -> Record:
    points, possible = totals(tests)
    return Record(
        complete=True, submission=Submission(name="alice", path="/home/ta/alice/kernel.cu",
                                             sha256="0" * 64, bytes=3, notes=[]),
        suites=["public/basics", "hidden/zebra"], seed=104729, score=points, max_score=possible,
        build=build or Build(ok=True, message="", file=None, line=0, output=""), refusal=refusal,
        tests=list(tests), protection="none", protection_note="", backend="cpu", compiler="gcc",
        started="2026-01-01T00:00:00+00:00", seconds=1.0,
    )  # fmt: skip


VERBS = ["right", "naive", "wrong", "starter", "hang", "crash", "leak", "race"]


def public_test() -> Test:
    return judge_case(full_case(name="p"), *runs("wrong"))


def test_what_was_stopped_at_a_time_limit_needs_a_review() -> None:
    """It may only be slow; what does not end is another mistake."""
    wrong, endless = (judge(*runs(verb))[0] for verb in ("wrong", "hang"))
    slow = endless.model_copy(update={"finding": Finding(**words_of("time-limit"), what="too slow")})
    left = used_up(case(), 5.0)
    assert needs_review([wrong, endless], 5.0) == []
    assert needs_review([wrong, slow, left], 5.0) == ["stopped at a time limit in 2 cases"]


@pytest.mark.parametrize("verb", [*VERBS, "skipped"])
def test_hidden_cases_stay_hidden(verb: str) -> None:
    record = record_of(public_test(), secret_test("skipped" if verb == "skipped" else "", verb))
    before = record.model_dump_json()
    seen = student_view(record)
    assert record.model_dump_json() == before, "the record itself must stay"
    text = seen.model_dump_json()
    assert [secret for secret in SECRETS if secret in text] == []
    assert (seen.score, seen.max_score) == (record.score, record.max_score)
    assert seen.tests[0] == record.tests[0].model_copy(update={"output": ""})
    hidden, original = seen.tests[1], record.tests[1]
    assert (hidden.name, hidden.suite, hidden.hidden) == ("hidden 1", "hidden", True)
    assert (hidden.score, hidden.status) == (original.score, original.status)
    assert bool(hidden.reason) == bool(original.reason)
    assert [c.score for c in hidden.criteria] == [c.score for c in original.criteria]
    if original.finding:
        assert original.finding.launch or verb in ("starter", "hang", "crash")
        assert hidden.finding and hidden.finding.launch is None
        assert hidden.finding and hidden.finding.kind == original.finding.kind
    assert Record.model_validate_json(text).model_dump() == seen.model_dump()


def test_a_refusal_gives_no_hidden_case_away() -> None:
    refusal = Refusal(tried="copies device memory to the host (7919 bytes)", file="kernel.cu",
                      line=7927, hint="no")
    tests = [secret_test("", "wrong"), refused(full_case(suite="hidden/zebra"), refusal)]
    text = student_view(record_of(*tests, refusal=refusal)).model_dump_json()
    assert "copies device memory to the host" in text
    assert [secret for secret in SECRETS if secret in text] == []


def test_two_hidden_mistakes_of_a_kind_look_alike() -> None:
    """Nothing but the number differs, whatever the shapes were."""
    first, second = secret_test("", "wrong"), judge_case(
        case("another", 3, 4, 5, suite="hidden/zebra", criteria=FULL, points=10.0),
        *runs("wrong", wrong=1))
    seen = student_view(record_of(first, second)).tests
    assert seen[0].model_dump() == seen[1].model_dump() | {"name": "hidden 1"}


@pytest.mark.parametrize("said_by", ["plain", "checked"])
def test_a_finding_of_c_has_the_launch_of_its_run(said_by: str) -> None:
    plain, checked = runs("wrong")
    plain, checked = (each.model_copy(update={"launch": each.build if each.build == said_by else None})
                      for each in (plain, checked))
    test = judge_case(full_case(), plain, checked)
    assert test.finding and test.finding.launch == said_by


def test_a_public_record_is_shown_as_it_is() -> None:
    test = public_test().model_copy(update={"output": "i = 3\nj = 4"})
    record = record_of(test).model_copy(update={"suites": ["public/basics"]})
    assert student_view(record) == record


def test_a_refusal_at_compile_time_keeps_its_line() -> None:
    """It was found in the text, before any hidden case."""
    refusal = Refusal(tried="calls fopen", file="kernel.cu", line=3, hint="no")
    build = Build(ok=False, message="", file=None, line=0, output="")
    record = record_of(refused(full_case(suite="hidden/zebra"), refusal), build=build,
                       refusal=refusal)
    seen = student_view(record)
    assert seen.refusal == refusal
    assert seen.tests[0].reason == "the submission was refused: it calls fopen"


# ---- text that is not ours -----------------------------------------------------------------------


@given(st.lists(st.one_of(st.text(st.sampled_from(":#[\x1b\n\r\u202e\x9b")), st.text(),
                          st.sampled_from(["std::", "a" * 75, " ", "-"]))).map("".join))
def test_harmless_text_is_no_command(text: str) -> None:
    shown = harmless(text)
    assert shown.isprintable() and "##[" not in shown
    for line in textwrap.wrap(shown, 78):
        assert not line.lstrip().startswith("::")
    shown.encode()
    json.dumps(shown)


def test_ordinary_text_stays_as_it_is() -> None:
    for text in ("kernel.cu:29: race on shared memory", "A_s[0][1] of 3 × 4", "é", ""):
        assert harmless(text) == text
    assert harmless("it uses std::ofstream: files") == "it uses std::ofstream: files"
    assert "::" not in harmless(":::::")
    assert harmless("a\n::error::b\x1b[2J") == "a\\n: :error: :b\\x1b[2J"
