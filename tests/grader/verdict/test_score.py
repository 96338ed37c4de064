"""From outcomes to points, and what of them a student may see.

Each criterion is lost for one reason; of a hidden case a student sees the kind of the mistake and
nothing else; no text of a submission is a command to a terminal or a CI runner."""

import json
import re
import textwrap
from dataclasses import replace
from typing import Any

import pytest
from kinds import KINDS, words_of
from conftest import REPOSITORY
from grader_fake import case, measured, outcome, problem, shape, suite
from grades import make_record
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from grader.cases.model import Case
from grader.clock.measure import Said
from grader.record.model import Build, Finding, Loads, Mark, Record, Refusal, Submission, Test
from grader.record.student import student_view
from grader.run.outcome import Outcome
from grader.text import harmless
from grader.verdict import repair
from grader.verdict.points import (behind_gate, judge_case, marks_of, needs_review, no_points, refused, repair_marks,
                                   skipped, speed_points, timing_of, totals, used_up, wants_checked, wants_counts)

FULL = ["memory", "tiled"]


def full_case(**more: Any) -> Case:
    return case(points=10.0, criteria=FULL, hint="think of the case", **more)


def runs(verb: str, **changes: Any) -> tuple[Outcome, Outcome]:
    plain, checked = (outcome(verb, build, problem(), True) for build in ("plain", "checked"))
    return plain, checked.model_copy(update=changes)


def judge(plain: Outcome, checked: Outcome | None) -> tuple[Test, str]:
    """The test, and the criteria that were kept."""
    test = judge_case(full_case(), plain, checked)
    assert test.score == (10 if test.criteria[0].passed else 0) and test.max_score == 10
    assert all(each.passed != bool(each.reason) == bool(each.phrase) for each in test.criteria)
    return test, " ".join(each.name for each in test.criteria if each.passed)


# ---- criteria ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verb", "kept", "reason", "kind", "hint"), [
    ("right", "correct memory tiled", "", None, ""),
    ("naive", "correct memory", "the kernel loads 78,608 elements; at most",
     None, "let each block load tiles"),
    ("wrong", "", "all 1156 are wrong", "wrong-result", "is it?"),
    ("starter", "", "basicSgemm launches no kernel", "no-launch", "basicSgemm chooses"),
    ("hang", "", "kernel.cu:12: still running after 2 s", "endless", "which loop"),
    ("crash", "", "it crashed: Segmentation fault", "host-fault", "think of the case"),
    ("leak", "correct tiled", "kernel.cu:29: a mistake", "leak", "think"),
    ("race", "correct", "kernel.cu:29: a mistake", "shared-race", "think"),
])  # fmt: skip
def test_what_is_lost_and_why(verb: str, kept: str, reason: str, kind: str | None, hint: str) -> None:
    plain, checked = runs(verb)
    if verb == "race":
        checked = checked.model_copy(update={"loads": None})
    test, really_kept = judge(plain, checked)
    assert really_kept == kept
    assert reason in test.reason and hint in test.hint
    assert bool(test.reason) == bool(test.hint) == (verb != "right")
    assert (test.finding.kind if test.finding else None) == kind
    assert test.status == ("passed" if verb == "right" else "partial" if kept else "failed")


def finding(kind: str) -> Finding:
    return Finding(**words_of(kind), what="a mistake", file="kernel.cu", line=3)


def test_each_kind_of_finding() -> None:
    """A correct C in spite of a fault that hardware may get away with keeps `correct`; everything
    else that the checker stops does not."""
    for name, kind in KINDS.items():
        plain, checked = runs("right", ended="stopped", right=False, loads=None, finding=finding(name))
        assert judge(plain, checked)[1] == ("correct" if kind.may_be_right else ""), name


SLOW = {"ended": "time-limit", "right": False, "loads": None, "file": "kernel.cu", "line": 9,
        "detail": "the checked run did not finish in 8 s"}


def test_a_slow_checked_run_costs_what_needs_it_and_hides_no_mistake() -> None:
    """What it found before its time was over counts, and what the plain run found."""
    test, kept = judge(*runs("right", **SLOW))
    assert kept == "correct"
    assert test.reason == "kernel.cu:9: the checked run did not finish in 8 s"
    assert test.finding and test.finding.kind == "time-limit"
    assert test.finding.hint and test.finding.hint.startswith("without checks it ends: ")
    for kind, still_kept in (("shared-race", "correct"), ("input-written", "")):
        assert judge(*runs("right", **SLOW, finding=finding(kind)))[1] == still_kept
    plain, checked = runs("wrong")
    test, kept = judge(plain, checked.model_copy(update=SLOW | {"explanation": None}))
    assert kept == "" and test.finding and test.finding.kind == "wrong-result"


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
    assert kept == "" and words in test.criteria[0].reason


@pytest.mark.parametrize(
    ("changes", "words", "kind"),
    [
        ({"inputs_changed": 3}, "changed 3 elements of A and B", "input-written"),
        ({"inputs_changed": 1}, "changed 1 element of A and B", "input-written"),
        ({"guards_changed": 2}, "wrote 2 numbers outside A, B and C", "out-of-bounds"),
        ({"unwritten": 1156}, "1156 of 1156 elements of C are wrong or were", "unwritten"),
        ({"wrong": 1}, "1 of 1156 elements of C is wrong or was", "wrong-result"),
        ({}, "the result is less precise than float32", "not-float32"),
        ({"ended": "exited"}, "it ended the program instead of returning", "host-fault"),
        ({"ended": "stopped", "detail": "a fault"}, "a fault", "kernel-fault"),
    ],
)
def test_a_wrong_c_without_an_explanation(changes: dict[str, Any], words: str, kind: str) -> None:
    plain = runs("right")[0].model_copy(update={"right": False} | changes)
    test, kept = judge(plain, None)
    assert kept == "" and words in test.reason
    assert test.finding and test.finding.kind == kind


def test_the_formula_of_a_wrong_c_comes_before_what_else_went_wrong() -> None:
    """It explains all of it: a kernel that doubles C has mistaken what it is to compute."""
    test, _ = judge(runs("right")[0].model_copy(update=WRONG | {"inputs_changed": 3}), None)
    assert test.finding == TWICE


def test_no_checked_run_no_points_for_it() -> None:
    test, kept = judge(runs("right")[0], None)
    assert kept == "correct"
    assert "not examined" in test.reason


@pytest.mark.parametrize(("criterion", "limits", "counted", "reason"), [
    ("tiled", {}, {"all": 19652}, ""),  # a quarter of the naive 78608 at most
    ("tiled", {}, {"all": 19653}, "the kernel loads 19,653 elements; at most 19,652 count as tiled"),
    ("tiled", {}, {"all": 2312}, ""),  # as many as A and B have elements
    ("tiled", {}, {"all": 2311}, "its loads were not all seen"),
    ("tiled", {}, {"exchanged": 9900}, ""),
    ("tiled", {}, {"exchanged": 9899}, "threads read 9899 elements that others of their block have stored, and load"),
    ("tiled", {}, {"threads": 10}, ""),  # one for every 128 elements of C
    ("tiled", {}, {"threads": 9}, "only 9 threads did the work; at least 10 must"),
    # A suite may ask for more, or for less.
    ("tiled", {"reuse": 8}, {"all": 9826}, ""), ("tiled", {"reuse": 8}, {"all": 9827}, "the kernel loads 9827"),
    ("tiled", {"reuse": 2.5}, {"all": 31443}, ""), ("tiled", {"reuse": 2.5}, {"all": 31444}, "the kernel loads 31,444"),
    # By what is read of shared memory; a kernel without tiles has none of it.
    ("registers", {}, {"exchanged": 39304}, ""), ("registers", {}, {"exchanged": 39305}, "threads read"),
    ("registers", {"exchanged": 0.25}, {"exchanged": 19652}, ""),
    ("registers", {"exchanged": 0.25}, {"exchanged": 19653}, "threads read"),
    ("registers", {}, {"all": 19653, "exchanged": 0}, "the kernel loads 19,653"),
    ("registers", {}, {"exchanged": 0}, "threads read 0"),
])  # fmt: skip
def test_what_the_loads_cost(criterion: str, limits: dict[str, float], counted: dict[str, int], reason: str) -> None:
    """As the handout has it, whatever a block could have loaded once: that is no limit."""
    handout = (REPOSITORY / "handout.md").read_text()
    assert re.search(r"^\| tiles: .*at most a quarter of the naive kernel's loads", handout, re.MULTILINE)
    usual = {"all": 9900, "naive": 78608, "once_per_block": 1228, "threads": 1156,
             "exchanged": 99999 if criterion == "tiled" else 9900}
    asked = case(criteria=[criterion], limits=limits)
    test = judge_case(asked, *runs("right", loads=Loads(**usual | counted)))
    assert [each.passed for each in test.criteria] == [True, not reason]
    assert test.reason.startswith(reason) and bool(test.reason) == bool(reason)
    assert not reason.startswith("only 9 threads") or "an element of C" in test.hint
    assert criterion != "tiled" or test.loads and test.loads.most == 78608 // limits.get("reuse", 4)


def test_behind_a_gate_each_criterion_keeps_the_reason_for_which_it_was_lost() -> None:
    gate = judge_case(case("okapi"), *runs("wrong"))
    lost = judge_case(full_case(), *runs("leak", loads=runs("naive")[1].loads))
    seen = behind_gate(lost, gate)
    correct, memory, tiled = (each.reason for each in lost.criteria)
    assert not correct and memory == lost.reason != tiled
    assert [each.reason for each in seen.criteria] == [memory, memory, tiled]
    assert [each.phrase for each in seen.criteria] == [
        "needs an earlier case", *(each.phrase for each in lost.criteria[1:])]
    assert (seen.score, seen.status, seen.reason) == (0, "failed", memory)


def test_the_record_has_the_loads_that_were_counted() -> None:
    """Exactly; and a student sees none of a hidden case, which would tell its shape."""
    plain, checked = runs("naive")
    assert checked.loads
    limited = checked.loads.model_copy(update={"most": 78608 // 4})
    assert judge_case(case(), plain, checked).loads == checked.loads
    assert judge(plain, None)[0].loads is None
    public = judge_case(full_case(), plain, checked)
    hidden = judge_case(full_case(suite="hidden/zebra"), plain, checked)
    seen = student_view(record_of(public, hidden)).tests
    assert [test.loads for test in seen] == [limited, None]


def test_which_cases_have_a_checked_run() -> None:
    """All but large ones: it also shows what a right C hides."""
    large = {"m": 2000, "k": 2000, "n": 2000}
    assert wants_checked(case()) and not wants_counts(case())
    assert wants_checked(case(m=360, k=360, n=360))
    assert not wants_checked(case(**large))
    assert wants_checked(case(**large, criteria=["memory"]))
    assert wants_counts(case(criteria=["tiled"]))


# ---- one mistake ---------------------------------------------------------------------------------

TWICE = Finding(**words_of("wrong-result"), what="all 1156 elements of C are wrong", hint="once?",
                claim="C is 2 times the product",
                detail=["the first: C[0][0]", "C is 2 times the product: this explains all 1156."],
                formula="factor", products=1.0)
WRONG = {"right": False, "wrong": 1156, "explanation": TWICE}


def by_a_formula(of_plain: dict[str, Any] | None = None,
                 of_checked: dict[str, Any] | None = None) -> repair.Explained | None:
    """Of a C that one formula explains, but for these changes."""
    plain, checked = runs("right")
    return repair.explain(full_case(), plain.model_copy(update=WRONG | (of_plain or {})),
                          checked.model_copy(update=WRONG | (of_checked or {})))


def kept_by(found: repair.Explained | None) -> str:
    assert found
    return " ".join(each.name for each in found.test.criteria if each.passed)


def test_a_mistake_that_explains_all_that_is_wrong_is_one() -> None:
    found = by_a_formula()
    assert found and (found.formula, found.mistake) == ("factor", "C is 2 times the product")
    assert kept_by(found) == "correct memory tiled" and repair.clean(found.test)
    assert by_a_formula({"explanation": TWICE.model_copy(update={"products": 0.5})})


OTHER = TWICE.model_copy(update={"formula": "offset"})


@pytest.mark.parametrize(("of_plain", "of_checked"), [
    ({"explanation": TWICE.model_copy(update={"products": 0.49})}, {}),
    ({}, {"explanation": TWICE.model_copy(update={"products": 0.49})}),
    ({"explanation": None}, {}), ({}, {"explanation": None}), ({}, {"explanation": OTHER}),
    ({"inputs_changed": 1}, {}), ({}, {"inputs_changed": 1}),
    ({"guards_changed": 1}, {}), ({}, {"guards_changed": 1}), ({"launches": 0}, {}),
    ({"ended": "crashed"}, {}), ({}, {"ended": "crashed"}), ({}, {"ended": "endless"}),
    ({}, {"finding": finding("leak")}), ({}, {"finding": finding("out-of-bounds")}),
    ({}, SLOW | {"finding": finding("shared-race")}),
    ({}, {"right": True, "wrong": 0, "explanation": None}),
    ({"right": True, "wrong": 0, "explanation": None}, {}),
])  # fmt: skip
def test_what_is_not_one_mistake(of_plain: dict[str, Any], of_checked: dict[str, Any]) -> None:
    assert by_a_formula(of_plain, of_checked) is None


def test_a_formula_proves_no_tiles_and_nothing_that_was_not_examined() -> None:
    naive = by_a_formula(of_checked={"loads": Loads(
        all=78608, naive=78608, once_per_block=4913, exchanged=78608, threads=1156)})
    assert kept_by(naive) == "correct memory"
    assert kept_by(by_a_formula(of_checked=SLOW | {"explanation": None})) == "correct"
    alone = repair.explain(full_case(), runs("right")[0].model_copy(update=WRONG), None)
    assert kept_by(alone) == "correct"


def test_a_formula_repairs_what_it_explains() -> None:
    """Of several, that of most cases; nothing else is proved."""
    right, found = judge(*runs("right"))[0], by_a_formula()
    wrong = judge(*(run.model_copy(update=WRONG) for run in runs("right")))[0]
    assert found
    both = repair.without_formula({"a": right, "b": wrong, "c": wrong}, {"b": found, "c": found})
    assert both and both.mistake == found.mistake
    assert both.tests == {"a": right, "b": found.test, "c": found.test}
    one = repair.without_formula({"a": right, "b": wrong, "c": wrong}, {"b": found})
    assert one and one.tests == {"a": right, "b": found.test, "c": wrong}
    tests, other = dict.fromkeys("abc", wrong), replace(found, formula="offset", mistake="c is more")
    most = repair.without_formula(tests, {"a": found, "b": other, "c": other})
    assert most and most.mistake == "c is more"
    assert most.tests == {"a": wrong, "b": found.test, "c": found.test}
    assert repair.without_formula({"a": wrong}, {}) is None


# ---- what a whole suite keeps --------------------------------------------------------------------


def marks(*verbs: str, **more: Any) -> list[tuple[float, str, list[str]]]:
    cases = [case(f"c{number}", points=10.0, criteria=FULL) for number in range(len(verbs))]
    tests = {each.key: judge_case(each, *runs(verb, **(more if verb == "race" else {})))
             for each, verb in zip(cases, verbs, strict=True)}
    of = marks_of(suite(*cases, points={"memory": 11.0, "tiled": 9.0}), tests)
    assert [each.max_score for each in of] == [11, 9]
    assert [each.status for each in of] == ["passed" if each.score else "failed" for each in of]
    return [(each.score, each.reason, each.lost_in) for each in of]


def test_one_case_loses_what_the_suite_has_for_it() -> None:
    loads = "the kernel loads 78,608 elements; at most 19,652 count as tiled"
    assert marks("right", "right") == [(11, "", []), (9, "", [])]
    assert marks("right", "naive") == [(11, "", []), (0, loads, ["c1"])]
    assert marks("leak", "right", "leak") == [(0, "kernel.cu:29: a mistake", ["c0", "c2"]), (9, "", [])]
    wrong = "all 1156 are wrong"
    assert marks("right", "wrong") == [(0, wrong, ["c1"]), (0, wrong, ["c1"])]
    a, b = case("a", criteria=FULL), case("b", criteria=FULL)
    both = suite(a, b, points={"memory": 1.0})
    assert marks_of(both, {a.key: judge_case(a, *runs("right"))}) == [], "not all its cases are known"


def test_what_could_not_be_counted_costs_no_tiles_where_another_case_shows_them() -> None:
    mistake = "kernel.cu:29: a mistake"
    assert marks("right", "race", loads=None) == [(0, mistake, ["c1"]), (9, "", [])]
    assert marks("race", "race", loads=None) == [(0, mistake, ["c0", "c1"])] * 2


def test_what_a_student_sees_of_hidden_marks() -> None:
    hidden = case("quagga", criteria=FULL, suite="hidden/zebra")
    asked = suite(hidden, name="hidden/zebra", points={"memory": 2.0, "tiled": 3.0}, repaired=0.6)
    test, right = judge_case(hidden, *runs("leak")), judge_case(hidden, *runs("right"))
    found = [*marks_of(asked, {hidden.key: test}),
             *repair_marks([asked], {hidden.key: test}, {hidden.key: right}, "okapi")]
    record = record_of(test).model_copy(update={"marks": found, "score": 7.0, "max_score": 9.0})
    seen = student_view(record)
    assert [(mark.name, mark.suite, mark.score, mark.reason) for mark in seen.marks] == [
        ("memory", "hidden", 0, "a memory fault, or the result is not correct"), ("tiled", "hidden", 3, "")]
    assert found[0].lost_in == ["quagga"]
    assert not [secret for secret in SECRETS if secret in seen.model_dump_json()]
    open_to_all = case("gnu", criteria=FULL, suite="public")
    shown = judge_case(open_to_all, *runs("leak"))
    marks = marks_of(suite(open_to_all, name="public", points={"memory": 2.0}), {open_to_all.key: shown})
    assert marks[0].reason != marks[0].phrase
    seen = student_view(record_of(test, shown).model_copy(update={"marks": [*found, *marks]}))
    assert seen.marks[-1] == marks[0], "a criterion of a public case keeps its words"


def test_sums_are_those_of_decimal_numbers() -> None:
    tests = [no_points(case(points=0.1), "refused", "x") for _ in range(10)]
    assert totals(tests) == (0, 1)


def test_points_beyond_what_there_is_are_refused() -> None:
    """A mark for a repair alone may be above its points."""
    one = case(criteria=FULL)
    [kept] = marks_of(suite(one, points={"tiled": 1.0}), {one.key: judge_case(one, *runs("right"))})
    for score in (-0.01, 1.01):
        for item in (kept, make_record([])):
            with pytest.raises(ValidationError, match=f"{score:g} of 1 points"):
                type(item).model_validate(item.model_dump() | {"score": score, "max_score": 1.0})
    assert Mark.model_validate(kept.model_dump() | {"criterion": "repair", "score": 2.0}).score == 2


def test_all_points_for_speed_are_those_of_the_suite() -> None:
    """Whatever their decimals; a part of them is whole hundredths."""
    fast = shape(points=3.333, none=0.3, full=0.9)
    assert [speed_points(fast, ratio) for ratio in (0.2, 0.6, 0.9, 2.0)] == [0, 1.67, 3.333, 3.333]


@pytest.mark.parametrize(("ratio", "words"), [(0.2, "above 0.3"), (0.3, "above 0.3"), (0.31, "0.9 is full")])
def test_what_is_said_of_a_slow_kernel(ratio: float, words: str) -> None:
    """Where it has no points, where they begin; else where they end."""
    said = Said.model_validate(measured(ratio))
    assert words in timing_of(shape(points=3.0, none=0.3, full=0.9), said, 1.0).reason


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


def test_a_hidden_case_that_was_not_run_does_not_say_which_one_failed() -> None:
    failed = judge_case(full_case(suite="hidden/zebra"), *runs("wrong"))
    waits = no_points(full_case(suite="hidden/zebra"), "skipped", "needs okapi, which failed")
    seen = student_view(record_of(failed, waits)).tests[1]
    assert {seen.reason, *(each.reason for each in seen.criteria)} == {"needs an earlier hidden case, which failed"}


SECRETS = ("zebra", "quagga", "okapi", "7919", "7927", "7933", "104729", "leopard", "/home/ta")


def secret_test(status: str, verb: str) -> Test:
    hidden = case("quagga", 7919, 7927, 7933, suite="hidden/zebra", title="okapi okapi",
                  seed=104729, hint="leopard", criteria=FULL, points=10.0)
    if status == "skipped":
        parent = no_points(case("zebra", suite="hidden/zebra"), "refused", "")
        return skipped(hidden, parent)
    plain, checked = runs(verb, output="okapi 7919")
    plain = plain.model_copy(update={"output": "7919 leopard"})
    test = judge_case(hidden, plain, checked)
    marked = test.finding and test.finding.model_copy(update={
        "detail": ["m=7919"], "hint": "okapi", "line": 7927, "formula": "zebra"})
    return test.model_copy(update={"reason": test.reason and f"{test.reason} 7919 okapi", "finding": marked})


def record_of(*tests: Test, **changes: Any) -> Record:
    about = Submission(name="alice", path="/home/ta/alice/kernel.cu", sha256="0" * 64, bytes=3, notes=[])
    return make_record(list(tests), submission=about, suites=["public/basics", "hidden/zebra"], seed=104729, **changes)


VERBS = ["right", "naive", "wrong", "starter", "hang", "crash", "leak", "race"]


def public_test() -> Test:
    return judge_case(full_case(name="p"), *runs("wrong"))


def test_what_needs_a_review() -> None:
    """What was stopped at a time limit, and may only be slow: what does not end is another mistake. And what is
    correct in public cases alone."""
    right, wrong, endless = (judge(*runs(verb))[0] for verb in ("right", "wrong", "hang"))
    slow = endless.model_copy(update={"finding": Finding(**words_of("time-limit"), what="too slow")})
    hidden, missed = (test.model_copy(update={"hidden": True}) for test in (right, wrong))
    assert needs_review([wrong, slow, used_up(case(), 5.0)], 5.0) == ["stopped at a time limit in 2 cases"]
    assert needs_review([right, right, missed, missed], 5.0) == ["correct in every public case, in no hidden one"]
    for tests in ([wrong, endless], [right, right], [right, wrong, missed], [right, missed, hidden], [right, hidden]):
        assert needs_review(tests, 5.0) == []


@pytest.mark.parametrize("verb", [*VERBS, "skipped"])
def test_hidden_cases_stay_hidden(verb: str) -> None:
    record = record_of(public_test(), secret_test("skipped" if verb == "skipped" else "", verb))
    before = record.model_dump_json()
    seen = student_view(record)
    assert record.model_dump_json() == before, "the record itself must stay"
    text = seen.model_dump_json()
    assert [secret for secret in SECRETS if secret in text] == [] and seen.seed == 0
    assert (seen.score, seen.max_score) == (record.score, record.max_score)
    assert seen.tests[0] == record.tests[0].model_copy(update={"output": ""})
    hidden, original = seen.tests[1], record.tests[1]
    assert (hidden.name, hidden.suite, hidden.hidden) == ("hidden 1", "hidden", True)
    assert (hidden.score, hidden.status) == (original.score, original.status)
    assert bool(hidden.reason) == bool(original.reason)
    assert [c.passed for c in hidden.criteria] == [c.passed for c in original.criteria]
    if original.finding:
        assert original.finding.launch or verb in ("starter", "hang", "crash")
        assert hidden.finding and hidden.finding.launch is None
        assert hidden.finding and hidden.finding.kind == original.finding.kind
    assert Record.model_validate_json(text).model_dump() == seen.model_dump()


def test_a_refusal_gives_no_hidden_case_away() -> None:
    refusal = Refusal(tried="copies device memory to the host (7919 bytes)", file="kernel.cu", line=7927, hint="no")
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


def test_a_finding_of_c_has_the_launch_of_its_run() -> None:
    for said_by in ("plain", "checked"):
        plain, checked = (each.model_copy(update={"launch": each.build if each.build == said_by else None})
                          for each in runs("wrong"))
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
    record = record_of(refused(full_case(suite="hidden/zebra"), refusal), build=build, refusal=refusal)
    seen = student_view(record)
    assert seen.refusal == refusal
    assert seen.tests[0].reason == "the submission was refused: it calls fopen"


# ---- text that is not ours -----------------------------------------------------------------------


@given(st.lists(st.one_of(st.text(st.sampled_from(":#[\x1b\n\r\u202e\x9b")), st.text(),
                          st.sampled_from(["std::", "a" * 55, "a" * 75, " ", "-", '"::error::', "operator=="]))
                ).map("".join))
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
    for text in ("it uses std::ofstream: files", "calling (std::array::operator[]); M::mul, too",
                 'identifier "H::t" is undefined', "calls std::type_info::operator==", "a::b::c"):
        assert harmless(text) == text
    assert "::" not in harmless(":::::") + harmless("x" * 60 + "::error::x") + harmless("\u6f22" * 38 + "::error::x")
    assert harmless("a\n::error::b\x1b[2J") == "a\\n::error::b\\x1b[2J"
    assert harmless("a\n ::error::b") == "a\\n : :error: :b"
