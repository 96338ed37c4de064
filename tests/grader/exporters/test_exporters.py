"""Each exporter against the rules of the system that reads its output: its schema where there is
one, else what its source code does with it. Hostile text is made by hypothesis."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from markdown_it import MarkdownIt
from pydantic import BaseModel

import classroom50 as demands
from kinds import words_of
from conftest import REPOSITORY, clean_environment, sample, strict_json
from forks import python
from nasty import NASTY

from grader.errors import BadInput, MachineFault
from grader.exporters import autolab, classroom50, github, gradescope
from grader.record.model import (Build, Cause, Criterion, Finding, Mark, Record, Refusal, Submission, Test
                                 as Case, Times, Timing)
from grader.record.store import read_record
from grader.record.student import student_view

SECRET = "printedInAHiddenCase"
Visibility = Literal["hidden", "after_published", "after_due_date", "visible"]
VISIBILITIES = list(get_args(Visibility))

# ---- records -------------------------------------------------------------------------------------


def make_test(name: str, got: float, of: float, *, hidden: bool = False, **changes: Any) -> Case:
    status = "passed" if got == of else "partial" if got else "failed"
    lost = [] if got == of else [Criterion(name="memory", passed=False, reason="a fault", phrase="a memory fault")]
    criteria = [Criterion(name="correct", passed=got > 0, reason="" if got else "C is wrong",
                          phrase="" if got else "C is not right")]
    values: dict[str, Any] = dict(
        name=name, suite="hidden/shapes" if hidden else "public/basics", hidden=hidden,
        title="a title", params={"m": 35, "k": 70, "n": 20}, fill="random", seed=7, score=got, max_score=of,
        status=status, criteria=criteria + (lost if got else []),
        reason="" if got == of else "race on shared memory", hint="", finding=None, output="",
        seconds=0.25)
    return Case(**(values | changes))


def make_mark(name: str, got: float, of: float, *, hidden: bool = False, **changes: Any) -> Mark:
    kept = name == "repair" or got == of
    values: dict[str, Any] = dict(
        name=name, criterion=name, suite="hidden/shapes" if hidden else "public/basics", hidden=hidden,
        title="tiles" if name == "tiled" else name, params=None, score=got, max_score=of,
        status="passed" if kept else "failed", reason="" if got == of else "race on shared memory",
        phrase="" if got == of else "a memory fault", lost_in=[] if kept else ["curlew", "b", "c"])
    return Mark(**(values | changes))


def spread(median: float) -> Times:
    return Times(median=median, minimum=0.9 * median, quartile_1=median, quartile_3=2 * median)


def make_timing(name: str, got: float, of: float, state: str = "timed", *, hidden: bool = False,
                **changes: Any) -> Timing:
    timed = state == "timed"
    values: dict[str, Any] = dict(
        name=name, suite="hidden/fast" if hidden else "public/speed", hidden=hidden,
        title="a title", params={"m": 1024, "k": 1111, "n": 1999}, none=0.3, full=0.9, points=of, beside="cuBLAS",
        score=got,
        max_score=0 if state == "not-timed" else of, state=state,
        reason="" if timed and got == of else "0.45 of cuBLAS's speed", hint="", device="a GPU",
        ratio=0.4567 if timed else None, samples=11, times=spread(0.002) if timed else None,
        beside_times=spread(0.001) if timed else None, seconds=2.5)
    return Timing(**(values | changes))


def make_record(tests: list[Case], /, **changes: Any) -> Record:
    items = [*tests, *changes.get("marks", []), *changes.get("performance", [])]
    values: dict[str, Any] = dict(
        complete=True, lab={"name": "sgemm", "title": "C = A B"},
        submission=Submission(name="alice", path="/home/alice/kernel.cu", sha256="0" * 64, bytes=9,
                              notes=[]),
        suites=list(dict.fromkeys(test.suite for test in tests)), seed=1234567,
        score=sum(item.score for item in items),
        max_score=sum(item.max_score for item in items),
        build=Build(ok=True, message="", file=None, line=0, output=""), refusal=None, tests=tests,
        protection="bubblewrap", protection_note="", backend="cpu", compiler="g++ 12",
        started="2026-11-21T06:00:00Z", seconds=11.5)
    return Record(**(values | changes))


RACE = Finding(**words_of("shared-race"), what="race on shared memory", file="kernel.cu", line=29,
               detail=["thread (0,0) reads A_s[0][1]", "thread (1,0) writes it"],
               hint="a tile may be read only after every thread has stored its part")
CASES = [
    make_test("16x16x16", 10, 10),
    make_test("34x34", 4, 10, finding=RACE, output="hello from alice\n"),
    make_test("35x70x20", 0, 20, status="skipped", reason="not run, because 34x34 failed"),
    make_test("prime", 30, 30, hidden=True, output=SECRET),
    make_test("tall", 3, 30, hidden=True, output=SECRET,
              finding=RACE.model_copy(update={"launch": "curlew<<<(69, 2), (16, 16)>>>"})),
]
MIXED = make_record(CASES)
PUBLIC = make_record(CASES[:3])
FULL = make_record([CASES[0], CASES[3]])
BROKEN = make_record([], suites=["public/basics", "hidden/shapes"], max_score=100.0, build=Build(
    ok=False, message="'x' was not declared", file="kernel.cu", line=12, output="kernel.cu:12: no"))
REFUSED = make_record(CASES, score=0.0, refusal=Refusal(
    tried="calls fopen", file="kernel.cu", line=3, hint="a kernel needs no files"))
SPEED = [make_timing("quick", 4, 4), make_timing("slow", 1.5, 4, hint="use registers"),
         make_timing("tortoise", 0, 3, "wrong", reason="C[0][1] is wrong"),
         make_timing("heron", 2, 3, hidden=True),
         make_timing("lapwing", 0, 2, "skipped", hidden=True)]
TIMED = make_record(CASES, performance=SPEED)
UNTIMED = make_record(CASES[:3], performance=[make_timing("quick", 0, 4, "not-timed", reason="not timed: no GPU")])
MARKS = [make_mark("memory", 0, 11), make_mark("tiled", 9, 9), make_mark("repair", 3, 0),
         make_mark("memory", 0, 15, hidden=True), make_mark("repair", 2, 0, hidden=True)]
MARKED = make_record(CASES, marks=MARKS)
RECORDS = {"mixed": MIXED, "marked": MARKED, "public": PUBLIC, "full": FULL, "broken": BROKEN, "refused": REFUSED,
           "timed": TIMED, "untimed": UNTIMED}

every_record = pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS.keys())


def poisoned(text: str) -> list[Record]:
    """Records with this text wherever a submission may have put any."""
    finding = Finding(**words_of("wrong-result"), what=text, file=text, line=3, detail=[text], hint=text,
                      launch=text)
    cause = Cause(kind=text, what=text, file="kernel.cu", line=3, detail=[text], hint=text)
    here = finding.model_copy(update={"file": "kernel.cu", "cause": cause})
    criteria = [Criterion(name="correct", passed=False, reason=text, phrase="the result is not correct")]
    tests = [make_test(text, 1, 10 / 3, hidden=hidden, title=text, fill=text, reason=text,
                       hint=text, finding=found, output=text, criteria=criteria, status=status)
             for hidden in (False, True)
             for found, status in ((here, "failed"), (finding, "partial"), (None, "skipped"))]
    submission = Submission(name=text, path=text, sha256="", bytes=1, notes=[text])
    changes = {"submission": submission, "protection_note": text}
    speed = [make_timing(text, points, 2, state, title=text, reason=text, hint=text, device=text,
                         hidden=hidden)
             for hidden in (False, True)
             for points, state in ((1 / 3, "timed"), (0, "refused"), (0, "not-timed"))]
    marks = [make_mark(name, got, of, hidden=hidden, reason=text, hint=text, lost_in=[text])
             for name, got, of in (("memory", 0, 2), ("repair", 1, 0)) for hidden in (False, True)]
    return [
        make_record(tests, **changes, marks=marks, performance=speed),
        make_record(tests, **changes, score=0.0,
                    refusal=Refusal(tried=text, file=text, line=3, hint=text)),
        make_record([], **changes, max_score=5.0,
                    build=Build(ok=False, message=text, file=text, line=3, output=text)),
    ]


# ---- what GitHub's runner takes for a command ----------------------------------------------------


def runner_commands(log: str) -> list[tuple[str, dict[str, str], str]]:
    """As ActionCommand.cs reads a step's log: `::name key=value,...::data` at the beginning of a
    line, after blanks; `##[name key=value;...]data` anywhere in it."""
    found = []
    for line in re.split(r"\r\n|\r|\n", log):
        new = re.match(r"::([^ :]+)( [^:]*(?::(?!:)[^:]*)*)?::(.*)", line.strip(), re.DOTALL)
        old = re.search(r"##\[([^\]\s]+)[^\]]*\](.*)", line)
        if new:
            pairs = [pair.split("=", 1) for pair in (new[2] or "").strip().split(",")]
            found.append((new[1], {pair[0]: unescaped(pair[1], True) for pair in pairs if pair[1:]},
                          unescaped(new[3], False)))
        elif old:
            found.append((old[1], {}, old[2]))
    return found


def unescaped(text: str, is_property: bool) -> str:
    for code, char in [("%3A", ":"), ("%2C", ",")] if is_property else []:
        text = text.replace(code, char)
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


# ---- Gradescope ----------------------------------------------------------------------------------

TextFormat = Literal["text", "html", "simple_format", "md", "ansi"]


class GradescopeTest(BaseModel, extra="forbid", strict=True):
    score: float = 0
    max_score: float = 0
    status: Literal["passed", "failed"] = "passed"
    name: str = ""
    name_format: TextFormat = "text"
    number: str = ""
    output: str = ""
    output_format: TextFormat = "text"
    tags: list[str] = []
    visibility: Visibility = "visible"
    extra_data: dict[str, Any] = {}


class Gradescope(BaseModel, extra="forbid", strict=True):
    """gradescope-autograders.readthedocs.io, "Output format"."""

    score: float = 0
    execution_time: float = 0
    output: str = ""
    output_format: TextFormat = "text"
    test_output_format: TextFormat = "text"
    test_name_format: TextFormat = "text"
    visibility: Visibility = "visible"
    stdout_visibility: Visibility = "visible"
    extra_data: dict[str, Any] = {}
    tests: list[GradescopeTest]


def gradescope_results(record: Record, hidden_cases: Any = "hidden") -> Any:
    """Checked: the schema, the grade, and that nothing is taken for markup."""
    results = strict_json(gradescope.export(record, student_view(record), hidden_cases))
    Gradescope.model_validate(results)
    assert all(value == "text" for key, value in results.items() if key.endswith("_format"))
    total = sum(test.get("score", 0) for test in results["tests"])
    # A score at the top replaces the sum of the tests'.
    assert results.get("score", total) == pytest.approx(record.score, abs=1e-4)
    assert ("score" in results) == (abs(total - record.score) > 1e-6)
    assert sum(test.get("max_score", 0) for test in results["tests"]) == pytest.approx(record.max_score)
    return results


@pytest.mark.parametrize("hidden_cases", VISIBILITIES)
def test_gradescope_shows_hidden_cases_as_asked(hidden_cases: str) -> None:
    tests = gradescope_results(TIMED, hidden_cases)["tests"]
    hidden = [test for test in tests if not test["tags"][0].startswith("public/")]
    assert [test["visibility"] for test in hidden] == [hidden_cases] * 4
    assert all(test["visibility"] == "visible" for test in tests if test not in hidden)
    text, for_ta = json.dumps(hidden), ("m=35", "tall", "m=1024 k=1111", "heron", "2.000 ms")
    assert [word in text for word in for_ta] == [hidden_cases == "hidden"] * 5
    whole = gradescope.export(MIXED, student_view(MIXED), hidden_cases)  # type: ignore[arg-type]
    assert SECRET not in whole and "hello from alice" not in whole


@pytest.mark.parametrize("hidden_cases", VISIBILITIES)
def test_gradescope_shows_no_number_of_a_refusal_in_a_hidden_case(hidden_cases: str) -> None:
    """Not in the public cases, either, which are refused with the same words."""
    refusal = Refusal(tried="copies device memory to the host (7919 bytes)", file="kernel.cu", line=7927, hint="")
    cases = [make_test("a", 0, 1, reason=f"the submission was refused: it {refusal.tried}"),
             make_test("b", 0, 1, hidden=True)]
    results = gradescope_results(make_record(cases, refusal=refusal), hidden_cases)
    seen = [test for test in results["tests"] if test["visibility"] != "hidden"]
    text = json.dumps(seen) + results["output"]
    assert "copies device memory" in text and "7919" not in text and "7927" not in text


def test_gradescope_shows_a_refusal_and_a_compile_error_to_the_student() -> None:
    refused, broken = (gradescope_results(record)["tests"][0] for record in (REFUSED, BROKEN))
    assert refused["visibility"] == broken["visibility"] == "visible"
    said = gradescope_results(make_record([CASES[0], CASES[4]]))["output"]
    assert "10 of 10 points" in said and "part of the grade: 1 more case, for 30 points." in said
    assert "calls fopen" in refused["output"] and "score" not in refused
    assert "kernel.cu:12" in broken["output"] and broken["max_score"] == 100


# ---- Autolab -------------------------------------------------------------------------------------


def read_by_autolab(feedback: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The presentation and the scores, as assessment_autograde_core.rb and the page of feedback read them."""
    said = feedback.rstrip().split("\n")
    autoresult = re.sub(r"([a-zA-Z0-9]+):", r'"\1":', said[-1])
    scores = strict_json(autoresult)["scores"]
    assert scores, "Empty autoresult"
    presentation = strict_json(said[-2])
    assert presentation["_presentation"] == "semantic"
    assert set(presentation) == {"_presentation", "stages", *presentation["stages"]}
    for stage in presentation["stages"]:
        assert presentation[stage]
        for box in presentation[stage].values():
            assert box == {"passed": True} or set(box) == {"passed", "hint"} and not box["passed"]
    return presentation, scores


def check_autolab(record: Record) -> None:
    """There is a problem for hidden cases where there are any."""
    feedback = autolab.export(student_view(record))
    presentation, scores = read_by_autolab(feedback)
    assert sum(scores.values()) == pytest.approx(record.score, abs=1e-4)
    assert presentation["stages"][0] == "Build"
    assert not any(line.startswith("{") for line in feedback.split("\n")[:-3])
    assert all(char.isprintable() for char in feedback.replace("\n", "").replace("\t", ""))
    hidden = any(suite.startswith("hidden/") for suite in record.suites)
    assert {*scores} == ({"Public", "Hidden"} if hidden else {"Public"})


def test_autolab_may_want_one_problem() -> None:
    """With a name that does not break its line."""
    assert read_by_autolab(autolab.export(student_view(MIXED), "Matrix product"))[1] == {"Matrix product": 47}
    for problem in ("", "a: b", 'a"b', "ä", "a\n"):
        with pytest.raises(BadInput):
            autolab.export(student_view(MIXED), problem)


# ---- Classroom 50 --------------------------------------------------------------------------------


def classroom50_result(record: Record) -> Any:
    """Checked: the schema, and that its log holds no command."""
    result = strict_json(classroom50.result(student_view(record), demands.ENVIRONMENT))
    demands.check(result)
    assert result["tests"], "would be a success"
    printed = "".join(f"{test['test-name']}\n{test['message']}\n" for test in result["tests"])
    assert runner_commands(printed) == []
    return result


@pytest.mark.parametrize("got, of, score, full", [
    (3.99, 4, 3, 4), (0.1 + 0.2, 0.3, 1, 1), (2.5, 2.5, 3, 3), (2.4, 2.5, 2, 3), (2.9999999, 4, 3, 4), (0, 0, 0, 0),
])  # fmt: skip
def test_classroom50_counts_whole_points(got: float, of: float, score: int, full: int) -> None:
    status = "passed" if got >= of else "partial"
    result = classroom50_result(make_record([make_test("x", got, of, status=status)]))
    [test] = result["tests"]
    assert (test["score"], test["max-score"]) == (score, full)
    assert test["points"] == pytest.approx(got, abs=1e-6)


def test_classroom50_says_why_points_were_lost() -> None:
    test = classroom50_result(PUBLIC)["tests"][1]
    assert (test["score"], test["passed"]) == (4, False)
    assert "4 of 10 points" in test["message"] and "race" in test["message"]
    for record, says in ((REFUSED, "calls fopen"), (BROKEN, "kernel.cu:12: ")):
        [test] = classroom50_result(record)["tests"]
        assert (test["score"], test["passed"]) == (0, False) and says in test["message"]


@pytest.mark.parametrize("started", ["2026-11-21T06:00:00Z", "2026-11-21T06:00:00+00:00"])
def test_classroom50_gets_a_time_without_offset(started: str) -> None:
    record = FULL.model_copy(update={"started": started})
    assert classroom50_result(record)["datetime"] == "2026-11-21T06:00:00Z"


def test_classroom50_needs_its_runner() -> None:
    environment = {key: value for key, value in demands.ENVIRONMENT.items() if key != "OWNER"}
    with pytest.raises(MachineFault, match="^OWNER: not set"):
        classroom50.result(FULL, environment)


def test_classroom50_shows_a_page_that_github_takes(tmp_path: Path) -> None:
    long = [make_test(f"case {number}", 0, 1, output="x" * 9_000) for number in range(99)]
    classroom50.write(student_view(make_record(long)), tmp_path, demands.ENVIRONMENT)
    body = (tmp_path / "release-body.md").read_text()
    assert len(body) < 125_000 and "## 0 of 99 points" in body and "case 98" in body
    demands.check(strict_json((tmp_path / "result.json").read_text()))
    commands = runner_commands((tmp_path / "annotations").read_text())
    assert commands and all((name, place["file"]) == ("error", "kernel.cu") for name, place, _ in commands)


# ---- Markdown ------------------------------------------------------------------------------------

OWN_HTML = re.compile(r"<details><summary>|</?(details|summary|pre)>|<summary>")


def check_markdown(text: str) -> None:
    """Rendered as GitHub does (tables, HTML let through): nothing but what the exporter itself
    writes has become structure."""
    allowed = {"heading", "paragraph", "inline", "text", "text_special", "softbreak", "html_block",
               "bullet_list", "list_item", "table", "thead", "tbody", "tr", "th", "td"}
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text)
    columns = set()
    for token in tokens:
        for one in [token, *(token.children or [])]:
            kind = one.type.removesuffix("_open").removesuffix("_close")
            assert kind in allowed, (one.type, one.content)
            if kind == "html_block":
                assert "<" not in OWN_HTML.sub("", one.content), one.content
        if token.type == "tr_open":
            columns.add(0)
        if token.type == "heading_open":
            assert token.tag == "h2"
    if columns:
        tables = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
        assert all(len({row.count("|") for row in table.splitlines()}) == 1 for table in tables)
        assert len(tables) <= 2  # cases, and what was timed
    assert sum(token.type == "heading_open" for token in tokens) == 1
    assert runner_commands(text) == []
    assert not re.search(r"[@#]\w", re.sub(r"&#\d+;", "", text)), "a mention"
    assert all(char.isprintable() or char in "\n\t\u200b" for char in text)


def shown(text: str) -> str:
    """What a reader sees of a summary: Markdown rendered, and of that the text."""
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    return html.unescape(re.sub(r"<[^>]*>", "", page)).replace("\u200b", "")


@pytest.mark.parametrize("text", [
    *NASTY, "kernel.cu:29: A_s[0][1] is read (x*y, a_b, 5 < 6 && 7 > 3)", "std::vector<int>", "a\\b",
    "1. x", "12) y", "- z", "+ w", "=== v", "-- u", "__init__ _x_ a_b_", "~~gone~~", "$a$ `b`"])
def test_summary_shows_what_was_said(text: str) -> None:
    """Word for word: nothing is lost, nothing is shown that was not there."""
    plain_text = " ".join(text.split())
    said = "".join(c for c in plain_text if c.isprintable())
    if said != plain_text or not said:
        return  # escaped for other reasons
    submission = Submission(name=text, path="", sha256="", bytes=1, notes=[text])
    record = make_record([make_test("x", 0, 1, reason=text, output=text)], submission=submission)
    page = shown(github.summary(record))
    assert page.count(said) >= 4, page


@pytest.mark.parametrize("text, never", [
    ("see http://a.example", "http://"), ("HTTPS://a.example", "HTTPS://"),
    ("x www.a.example", "www."), ("mail me@a.example", "@a"), ("mailto:me@a.example", "mailto:"), ("@all", "@a"),
    ("#12", "#1"),
    ("kernel.cu:100: x", ":100:"), (":tada:", ":tada:"),
])  # fmt: skip
def test_summary_has_no_links_mentions_or_emoji(text: str, never: str) -> None:
    """Which GitHub makes of plain text, too."""
    done = github.summary(make_record([make_test("x", 0, 1, reason=text)]))
    table = done[:done.index("<details>")] if "<details>" in done else done
    assert never not in table and text in shown(done)


def test_what_is_said_of_a_finding() -> None:
    """No place twice, the launch of a public case, and what was printed."""
    launched = make_test("x", 0, 1, finding=RACE.model_copy(update={"launch": "curlew of 3 blocks"}))
    for form, text in all_forms(make_record([launched])).items():
        assert "curlew of 3 blocks" in text, form
    text = github.summary(student_view(PUBLIC))
    assert "hello from alice" in text and "&#" not in text and "\\" not in text, "nothing is escaped without need"
    at_its_place = RACE.model_copy(update={"what": f"kernel.cu:29: {RACE.what}"})
    for finding in (RACE, at_its_place):
        test = make_test("x", 0, 1, finding=finding)
        for text in all_forms(make_record([test])).values():
            assert "kernel.cu:29: kernel.cu:29" not in text
        assert f"kernel.cu:29: {RACE.what}" in gradescope.export(make_record([test]), student_view(make_record([test])))
    broken = make_record([], build=Build(ok=False, message="kernel.cu:12: no", file="kernel.cu",
                                         line=12, output=""))
    assert "does not build: kernel.cu:12: no" in gradescope.export(broken, student_view(broken))


def test_summary_stays_below_githubs_limit() -> None:
    many = make_record([make_test(f"case-{n}", 0, 1, output="`|" * 9_000) for n in range(60)])
    text = github.summary(many)
    assert len(text.encode()) < 1 << 20
    assert text.count("❌") == 60, "the table is kept"


# ---- annotations ---------------------------------------------------------------------------------


def check_annotations(record: Record) -> list[tuple[str, dict[str, str], str]]:
    text = github.annotations(student_view(record))
    found = runner_commands(text)
    assert len(found) == sum(line.startswith("::") for line in text.split("\n")) <= 10
    for command, properties, message in found:
        assert command == "error" and message
        assert set(properties) in ({"file", "title"}, {"file", "line", "title"})
        assert properties["file"] == "kernel.cu" and int(properties.get("line", 1)) > 0
    return found


@every_record
def test_annotations_stand_at_the_mistakes(record: Record) -> None:
    found = check_annotations(record)
    first = {id(MIXED): "29", id(PUBLIC): "29", id(BROKEN): "12", id(REFUSED): None,
             id(TIMED): "29", id(UNTIMED): "29", id(MARKED): "29"}
    assert bool(found) == (record.score < record.max_score)
    if found:  # the line of a refusal may be one that only a hidden case reaches
        assert found[0][1].get("line") == first[id(record)]


def test_annotations_are_one_a_mistake() -> None:
    many = [make_test(f"case-{n}", 0, 1, finding=RACE) for n in range(30)]
    [(_, _, message)] = check_annotations(make_record(many))
    assert "case-0" in message and "case-29" in message
    others = [make_test(f"case-{n}", 0, 1, reason=f"reason {n}") for n in range(30)]
    assert len(check_annotations(make_record(others))) == 10


def test_annotations_say_what_the_record_says() -> None:
    """Escaping loses nothing: the runner reads the text that went in."""
    for what in ["a:b", "a::b", "a,line=9", "100%", "%0A", "%3A", "a=b", "::error::x"]:
        finding = Finding(**words_of("wrong-result"), what=what, file="kernel.cu", line=3)
        test = make_test("x", 0, 1, finding=finding, reason=f"because {what}")
        [(_, properties, message)] = check_annotations(make_record([test]))
        assert properties == {"file": "kernel.cu", "line": "3", "title": what}
        assert message.split("\n")[0] == f"because {what}"


# ---- all of them ---------------------------------------------------------------------------------


def check_every_form(record: Record) -> None:
    for hidden_cases in VISIBILITIES:
        assert "\x1b" not in json.dumps(gradescope_results(record, hidden_cases), ensure_ascii=False)
    check_autolab(record)
    classroom50_result(record)
    page = github.summary(student_view(record))
    check_markdown(page)
    rows = [*record.tests, *record.marks, *(each for each in record.performance if each.state != "not-timed")]
    assert len(re.findall(r"^\| [✅🟡❌⏭]", page, re.MULTILINE)) == len(rows)
    check_annotations(record)


@every_record
def test_every_form_keeps_the_rules_of_its_system(record: Record) -> None:
    check_every_form(record)
    assert f"{record.score:g} of {record.max_score:g} points" in github.summary(student_view(record))
    result = classroom50_result(record)
    assert result["max-score"] == record.max_score
    assert (demands.status(result) == "success") == (record.score == record.max_score)
    assert 0 <= record.score - result["score"] < 1 + len(result["tests"]), "whole points, rounded down"


@pytest.mark.parametrize("text", sample(NASTY, every=3))
def test_no_form_is_broken_by_what_a_submission_may_say(text: str) -> None:
    for record in poisoned(text):
        check_every_form(record)


# ---- speed ---------------------------------------------------------------------------------------


def all_forms(record: Record) -> dict[str, str]:
    """As students get them."""
    seen = student_view(record)
    return {"gradescope": gradescope.export(record, seen), "autolab": autolab.export(seen),
            "classroom50": classroom50.result(seen, demands.ENVIRONMENT),
            "summary": html.unescape(re.sub(r"\\(.)", r"\1", github.summary(seen))),
            "annotations": github.annotations(seen)}


def test_every_form_shows_points_for_speed() -> None:
    for form, text in all_forms(TIMED).items():
        assert "slow" in text and "0.45 of cuBLAS's speed" in text.replace("&#39;", "'"), form
        assert "C[0][1] is wrong" in text and "tortoise" in text, form
        if form in ("gradescope", "autolab", "summary"):
            assert "2.000 ms" in text and "1.000 ms" in text and "0.457" in text, form
    tests = {test["name"]: test for test in gradescope_results(TIMED)["tests"]}
    assert (tests["slow: a title"]["score"], tests["slow: a title"]["max_score"]) == (1.5, 4)
    assert tests["heron"]["visibility"] == "hidden"
    assert read_by_autolab(autolab.export(student_view(TIMED)))[1] == {"Public": 14 + 5.5, "Hidden": 33 + 2}


def test_what_was_not_timed_is_named_and_has_no_points() -> None:
    for form, text in all_forms(UNTIMED).items():
        assert ("no GPU" in text) == (form in ("gradescope", "autolab", "summary")), form
    assert "Speed was not timed (no GPU); this costs no points." in gradescope.export(UNTIMED, student_view(UNTIMED))
    assert len(gradescope_results(UNTIMED)["tests"]) == len(CASES[:3])
    assert len(classroom50_result(UNTIMED)["tests"]) == len(CASES[:3])


@pytest.mark.parametrize("form", ["autolab", "classroom50", "summary", "annotations"])
def test_no_form_for_students_gives_hidden_cases_away(form: str) -> None:
    text = all_forms(make_record(CASES[3:], performance=SPEED[3:]))[form]
    for secret in (SECRET, "tall", "prime", "heron", "lapwing", "1111", "1999", "2.000 ms", "0.457",
                   "hidden/", "1234567", "curlew", "69"):
        assert secret not in text, secret
    assert "hidden 2" in text and "hidden speed 1" in text
    assert form != "annotations" or "line=" not in text


# ---- the command ---------------------------------------------------------------------------------


def write(directory: Path, record: Record) -> str:
    path = directory / "result.json"
    path.write_text(record.model_dump_json(), encoding="utf-8")
    seen = student_view(record).model_dump_json()
    (directory / "student.json").write_text(seen, encoding="utf-8")
    return str(path)


def run_exporter(
    *words: object, status: int = 0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = python(REPOSITORY, "grader.exporters.__main__").run(
        ["-m", "grader.exporters", *map(str, words)], clean_environment(env))
    assert done.returncode == status, done
    if status:
        assert done.stderr.count("\n") == 1 or "usage:" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    return done


def changed(old: str, new: str) -> str:
    text = TIMED.model_dump_json()
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize("text, says", [
    ("{", "not a result"), ("{}", "not a result"), ("\udcff", "not a result"), (None, "No such file"),
    (changed('"format":6', '"format":5'), "a record of another format than 6"),
    (changed('"build":{', '"build":{"unknown":[7],'), "build.unknown"),
    (changed('"score":54.5', '"score":NaN'), "score: Input should be a finite number"),
    (changed('"score":54.5', '"score":117'), "117 of 116 points"),
    (changed('"score":1.5', '"score":5'), "performance.1: Value error, 5 of 4 points"),
    (changed('"seconds":2.5', '"seconds":-1'), "performance.0.seconds"),
    (changed('"median":0.001', '"median":-1'), "performance.0.beside_times.median"),
    (changed("2026-11-21T", "yesterday "), "started"),
    (changed('"complete":true', '"complete":false'), "--partial"),
])  # fmt: skip
def test_a_file_that_is_no_result_is_refused_in_one_line(text: str | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=re.escape(says)) as refused:
        read_record(path)
    assert "\n" not in str(refused.value)


def test_the_command(tmp_path: Path) -> None:
    path = write(tmp_path, MIXED)
    for_students, for_ta = (run_exporter("summary", *more, path).stdout for more in ([], ["--ta"]))
    assert SECRET not in for_students and "hidden 2" in for_students
    assert SECRET in for_ta and "tall" in for_ta
    partial = write(tmp_path, PUBLIC.model_copy(update={"complete": False}))
    assert "has not ended" in run_exporter("summary", "--partial", partial).stdout
    assert "has not ended" in run_exporter("summary", partial, status=2).stderr
    assert "invalid choice" in run_exporter("html", path, status=2).stderr


@pytest.mark.parametrize("form", ["summary", "annotations"])
def test_github_gets_it_in_its_file(form: str, tmp_path: Path) -> None:
    """Annotations are for its log."""
    (tmp_path / "alice").mkdir()
    path = write(tmp_path / "alice", PUBLIC)
    page, result = tmp_path / "page", path
    page.write_text("earlier\n")
    printed = run_exporter(form, "--github", result, env={"GITHUB_STEP_SUMMARY": str(page)}).stdout
    assert page.read_text() == "earlier\n" + ("" if form == "annotations" else run_exporter(form, result).stdout)
    elsewhere = run_exporter(form, "--github", result).stdout
    assert len(elsewhere) > 50 and printed == (elsewhere if form == "annotations" else "")


# ---- commands to the runner switched off ---------------------------------------------------------


def run_guarded(*command: str, github: bool = True) -> subprocess.CompletedProcess[str]:
    env = {"GITHUB_OUTPUT": "/tmp/output", "GITHUB_TOKEN": "t", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "grader.exporters.guarded", *command], cwd=REPOSITORY,
        env=clean_environment(env | ({"GITHUB_ACTIONS": "true"} if github else {})),
        capture_output=True, text=True, timeout=60, check=False)


def heard_by_runner(log: str) -> list[str]:
    """The commands that the runner carries out, when it keeps to ::stop-commands::."""
    heard, token = [], None
    for line in log.split("\n"):
        if token:
            token = None if line.strip() == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        else:
            heard += [command for command, _, _ in runner_commands(line)]
    assert token is None, "commands are switched on again"
    return heard


def test_nothing_that_is_printed_is_a_command_to_the_runner() -> None:
    noise = "printf '::error::x\\n##[error]y\\n::stop-commands::z\\n::z::\\n::warning::w'; exit 7"
    done = run_guarded("sh", "-c", f"{noise}")
    assert done.returncode == 7 and "::error::x" in done.stdout
    assert heard_by_runner(done.stdout) == []


def test_the_token_is_new_each_time_and_handed_to_nobody() -> None:
    first, second = (run_guarded("env").stdout for _ in "ab")
    token = re.match(r"::stop-commands::([0-9a-f]{64})\n", first)
    assert token and token[1] not in second
    assert first.count(token[1]) == 2, "only where it switches off and on"
    assert run_guarded("echo", "x", github=False).stdout == "x\n", "elsewhere nothing is added"
    assert "GITHUB_ACTIONS=" in first
    assert "GITHUB_OUTPUT=" not in first and "GITHUB_TOKEN=" not in first
