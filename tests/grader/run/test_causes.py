"""The mistake behind a finding, in the record: what `make check` proves of a public case, and never
points. A failure here means that a student is told another mistake, that a submission can write what
it likes on a page, or that this costs someone points."""

import functools
import io
import json
import os
import random
import re
import struct
from pathlib import Path
from typing import Any

import grader_fake as fake
import pytest
from kinds import CAUSES, KINDS, words_of
from conftest import slow_but
from corpus import BY_NAME, FAULTS, Fault

from grader.build.parts import trusted_parts
from grader.build.submission import Programs
from grader.errors import MachineFault
from grader.grade import MOST_CAUSES, Grading
from grader.intake.submission import Submission
from grader.jail.sandbox import Ran, choose_sandbox
from grader.record.model import Cause, Finding, Record
from grader.record.student import student_view
from grader.report.lines import lost
from grader.report.terminal import show
from grader.run.cause import ANSWER_BYTES, ask_judge, command, find_cause
from grader.run.once import memory_file

SUITE = fake.suite(*(fake.case(f"{m}", m, k, n, criteria=["memory"])
                     for m, k, n in ((34, 34, 34), (35, 70, 20), (5, 7, 3), (1030, 3, 5))))
STRIDE = BY_NAME["18_a_stride_n"].text
BY_DAY = {"18_a_stride_n", "02_block_wider_than_tile"}
PROVED = [fault for fault in FAULTS if fault.cause in CAUSES and KINDS[fault.finds].may_have_cause
          and fault.finds not in ("shared-out-of-bounds", "bad-launch")]  # which say as much


@functools.cache
def grade(text: str) -> Record:
    parts = trusted_parts()
    box = choose_sandbox("auto", False, [], parts.jail)
    source = text.encode()
    record = Grading(Submission("s", Path("kernel.cu"), source, source, []), [SUITE], 1, box, parts).run()
    assert record.complete and record.build.ok and record.refusal is None, record.build
    return record


def causes_in(record: Record) -> list[Cause | None]:
    return [test.finding.cause for test in record.tests if test.finding]


@pytest.mark.parametrize("fault", slow_but(PROVED, lambda _, fault: fault.path.stem in BY_DAY),
                         ids=lambda fault: fault.path.stem)
def test_the_record_has_the_cause_that_is_declared(fault: Fault) -> None:
    """At a line of its own, in the checker's words, and with its hint."""
    found = [cause for cause in causes_in(grade(fault.text)) if cause]
    assert {cause.kind for cause in found} == {fault.cause}
    for cause in found:
        assert cause.file == "kernel.cu" and 0 < cause.line <= fault.text.count("\n") and cause.hint
        of_another_run = not cause.kind.startswith(("grid-", "launch-", "not-", "no-"))
        assert bool(cause.detail) == (of_another_run and any(map(str.isdigit, cause.what)))


class Asked:
    """In place of find_cause: which cases it was asked about."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, parts: Any, programs: Any, source: bytes, case: Any, finding: Finding,
                 box: Any) -> Cause | None:
        self.names.append(case.name)
        return fake.cause(parts, {"cause": "row-length 3"}, source, case, finding, box)


def asked_about(text: str, *suites: Any) -> tuple[list[str], Record]:
    asked = Asked()
    record = fake.grading(text, [*suites], cause=asked).run()
    return asked.names, record


TWO = fake.suite(fake.case("a", 11, 11, 11), fake.case("b", 12, 12, 12))
HIDDEN = fake.suite(fake.case("c", 7919, 13, 13, suite="hidden/x"), name="hidden/x")


def test_nothing_is_run_for_what_cannot_have_one() -> None:
    """What is right, finds that name themselves, what is refused, and hidden cases."""
    for text in ("right", "leak", "race", "hang", "error", "copies", "7919 13 13: wrong\nright"):
        names, record = asked_about(text, TWO, HIDDEN)
        assert names == [] and not any(causes_in(record)), text


def test_findings_at_one_place_share_a_cause() -> None:
    names, record = asked_about("wrong", TWO, HIDDEN)
    assert names == ["a"]
    assert [cause and cause.line for cause in causes_in(record)] == [3, 3, 3]
    assert [cause and cause.line for cause in causes_in(student_view(record))] == [3, 3, None]


def test_what_is_printed_names_it_first() -> None:
    """On the terminal, and in what exporters make of a case."""
    record = asked_about("wrong", TWO)[1]
    printed = io.StringIO()
    show(record, None, printed)
    for said in (printed.getvalue(), "\n".join(lost(record.tests[0]))):
        assert said.index(f"kernel.cu:3: {fake.WHAT}") < said.index("symptom: all 121 are wrong")
        assert set(re.findall(r"hint: .*", said)) == {"hint: where does the next row of B begin?"}


@pytest.mark.parametrize(("formula", "said"), [("product-of-a-and-a", 1), ("factor", 2), (None, 2)])
def test_a_formula_that_is_the_cause_is_said_once(formula: str | None, said: int) -> None:
    what = "C is the product of A with itself"
    finding = Finding(**words_of("wrong-result"), what="C is wrong", formula=formula, explained=1,
                      detail=["all 121 are wrong", f"all that is wrong: {what}"])
    cause = Cause(kind="product-of-a-and-a", what=what, file="kernel.cu", line=3)
    found = finding.behind(cause)
    assert found.cause == cause and len(found.detail) == said and found.detail[0] == "all 121 are wrong"
    assert found.below == ["symptom: C is wrong", *found.detail]
    assert finding.behind(None) == finding
    launch = "mysgemm<<<(1, 1), (16, 16)>>>"
    assert finding.model_copy(update={"launch": launch}).below == [*finding.detail, launch]


def test_only_some_are_looked_for() -> None:
    """A submission may have a mistake in each case."""
    cases = [fake.case(f"c{size}", size, size, size, criteria=["memory"]) for size in range(11, 20)]

    def run(*given: Any, **more: Any) -> Any:
        finding = Finding(**words_of("out-of-bounds"), what="a load", file="kernel.cu", line=given[3].params["m"])
        return fake.run(*given, **more).model_copy(update={"finding": finding})

    asked = Asked()
    fake.grading("leak", [fake.suite(*cases)], cause=asked, run=run).run()
    assert asked.names == ["c11", "c12", "c13"] and len(asked.names) == MOST_CAUSES


def test_a_check_on_many_cores_has_addresses_for_all_their_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or it would find no cause there. What it may use is as much as on one."""
    limits = []
    programs = Programs(Path("plain"), Path("checked"))
    for cores in (1, 64):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        limits.append(command(Path("check"), programs, fake.case("a", 5, 7, 3), 3).limits)
    on_one, on_many = limits
    stacks = 1024 * 65 * 4096  # engine/cuda/runtime/block.c
    assert on_many.memory_bytes >= on_one.memory_bytes + 63 * stacks
    assert on_many.resident_bytes == on_one.resident_bytes <= on_one.memory_bytes
    assert on_many.processes == on_one.processes + 63


def test_it_changes_no_points() -> None:
    """Of a case, it changes the hint alone."""
    for verb in ("wrong", "doubled", "starter"):
        both = asked_about(verb, TWO, HIDDEN)[1], fake.grading(verb, [TWO, HIDDEN], cause=lambda *given: None).run()
        left, right = ([test.model_copy(update={"finding": None, "hint": "", "seconds": 0}) for test in record.tests]
                       for record in both)
        assert left == right and both[0].score == both[1].score


TRUE = {"name": "row-length", "file": "kernel.cu", "line": 2, "detail": ["(from a run with m=37 k=53 n=29)"],
        "what": "a row of A has k elements, but here rows are n elements apart",
        "hint": "where does the next row of A begin?"}
WRONG = Finding(**words_of("wrong-result"), what="C is wrong")
SOURCE = b"// k n\nfloat tile;\n"


def said(cause: Any = None, kind: str | None = "wrong-result", **changes: Any) -> str:
    """By the judge, which has made the words: tests/lab/test_cause_record.c."""
    return json.dumps({"finding": kind, "cause": TRUE | changes if cause is None else cause})


def taken(of_judge: str, monkeypatch: pytest.MonkeyPatch, fault: Exception | None = None,
          **ended: Any) -> Cause | None:
    """What comes of a program of whose answer the judge says this."""

    class Box:
        def run(self, command: Any) -> Ran:
            if fault:
                raise fault
            return Ran(**{"status": 1, "output": b"", "truncated": False,
                          "time_limit_hit": False, "cpu_seconds": 0.1} | ended)

    monkeypatch.setattr("grader.run.cause.check_program", lambda *given: Path("check/check"))
    monkeypatch.setattr("grader.run.cause.ask_judge", lambda *given: of_judge)
    programs: Any = type("Programs", (), {"checked": Path("submission/checked")})
    return find_cause(fake.PARTS, programs, SOURCE, fake.case(), WRONG, Box())  # type: ignore


def test_what_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    cause = taken(said(), monkeypatch)
    assert cause == Cause(kind="row-length", what=str(TRUE["what"]), file="kernel.cu", line=2,
                          detail=["(from a run with m=37 k=53 n=29)"], hint=str(TRUE["hint"]))
    other = taken(said(hint=None, detail=[]), monkeypatch)
    assert other and other.hint is None and other.detail == []


def test_what_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another finding, or at no line of this kernel.cu; and what ends badly, for which no grade fails."""
    for of_judge in ("", "null", said(kind="leak"), said(kind=None), said(file="/etc/passwd"), said(file=None),
                     said(line=0), said(line=4), said(what=None)):
        assert taken(of_judge, monkeypatch) is None, of_judge
    nothing = json.dumps({"finding": None, "cause": None})
    assert taken(nothing, monkeypatch, status=-9, time_limit_hit=True) is None
    for fault in (MachineFault("no sandbox"), OSError("no disk")):
        assert taken(said(), monkeypatch, fault=fault) is None


ANSWER = struct.Struct("=i")  # the first member of struct cause_answer


def test_the_judge_takes_no_other_bytes() -> None:
    """It says that there is no cause, and fails on nothing."""
    for answer in (
            b"", b"\0" * ANSWER_BYTES, b"\xff" * ANSWER_BYTES, ANSWER.pack(1), ANSWER.pack(-1),
            b"TEST PASSED <script>" * 100, random.Random(1).randbytes(ANSWER_BYTES),
            *(ANSWER.pack(1) + ANSWER.pack(kind) + random.Random(kind).randbytes(8000) for kind in range(1, 9))):
        with memory_file("answer", ANSWER_BYTES) as file:
            os.pwrite(file, answer, 0)
            made = json.loads(ask_judge(trusted_parts(), ["cause", file], [file], "in a test"))
        assert made["cause"] is None and set(made) == {"finding", "cause"}


FORGED = """
#include <stdio.h>
static const char forged[] =
    "{\\"finding\\": {\\"kind\\": \\"wrong-result\\", \\"cause\\": {\\"name\\": \\"sum-start\\", "
    "\\"file\\": \\"kernel.cu\\", \\"line\\": 1, \\"what\\": \\"the grid does not cover C\\", "
    "\\"hint\\": \\"\\"}}}\\n";
struct before { before() { fputs(forged, stdout); fflush(stdout); } };
static before main_begins;
#define SAY_SO fputs(forged, stdout); fflush(stdout);
"""
# On the shapes of the further runs, which are primes.
ELSEWHERE = "if (m == 37 || m == 29 || m == 53) "


@pytest.mark.parametrize("before, does, cause", [
    (FORGED, "SAY_SO", "row-length"),
    pytest.param("", f"{ELSEWHERE} for (volatile int i = 0; i >= 0; i = i) {{}}", None, marks=pytest.mark.slow),
    pytest.param("", f"{ELSEWHERE} *(volatile int *)8 = 1;", None, marks=pytest.mark.slow),
], ids=["prints a cause", "hangs", "crashes"])
def test_a_submission_that_disturbs_it(before: str, does: str, cause: str | None,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its points, and gets the cause that is true or none."""
    begin = "void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)\n{"
    assert begin in STRIDE
    honest = grade(STRIDE)
    monkeypatch.setattr("grader.run.cause.SECONDS", 3.0)
    record = grade(before + STRIDE.replace(begin, f"{begin} {does}"))
    assert record.score == honest.score > 0
    assert [each.score for each in record.tests] == [each.score for each in honest.tests]
    assert {each and each.kind for each in causes_in(record)} == {cause}
    assert {each and each.kind for each in causes_in(honest)} == {"row-length"}
