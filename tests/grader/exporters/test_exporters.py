"""Each exporter against the rules of the system that reads its output: its schema where there is
one, else what its source code does with it. Hostile text is made by hypothesis."""

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import classroom50 as demands
from conftest import REPOSITORY, clean_environment, sample, strict_json
from forks import python
from grades import RACE, make_mark, make_record, make_test, make_timing, poisoned
from nasty import NASTY

from grader.errors import BadInput, MachineFault
from grader.exporters import autolab, classroom50, github, gradescope
from grader.record.model import Build, Record, Refusal, Submission
from grader.record.store import read_record
from grader.record.student import student_view

SECRET = "printedInAHiddenCase"
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
SPEED = [make_timing("quick", 4, 4), make_timing("slow", 1.5, 4, title="a title", hint="use registers"),
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

VISIBILITIES = ["hidden", "after_published", "after_due_date", "visible"]
OF_ALL = {"score": float, "output": str, "visibility": str, "stdout_visibility": str, "execution_time": float,
          "output_format": str, "test_output_format": str, "test_name_format": str, "extra_data": dict, "tests": list}
OF_A_TEST = {"score": float, "max_score": float, "status": str, "name": str, "number": str, "output": str,
             "name_format": str, "output_format": str, "tags": list, "visibility": str, "extra_data": dict}
"""gradescope-autograders.readthedocs.io, "Output format"."""


def gradescope_results(record: Record, hidden_cases: Any = "hidden") -> Any:
    """Checked: the schema, the grade, and that nothing is taken for markup."""
    results = strict_json(gradescope.export(record, student_view(record), hidden_cases))
    for members, allowed in ((results, OF_ALL), *((test, OF_A_TEST) for test in results["tests"])):
        for key, value in members.items():
            assert isinstance(value, (float, int) if allowed[key] is float else allowed[key]), key
            assert not key.endswith("visibility") or value in VISIBILITIES
            assert not key.endswith("_format") or value == "text"
        assert members.get("status") in (None, "passed", "failed")
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


def test_gradescope_shows_no_number_of_a_refusal_in_a_hidden_case() -> None:
    """Not in the public cases, either, which are refused with the same words."""
    refusal = Refusal(tried="copies device memory to the host (7919 bytes)", file="kernel.cu", line=7927, hint="")
    cases = [make_test("a", 0, 1, reason=refusal.reason), make_test("b", 0, 1, hidden=True)]
    for hidden_cases in VISIBILITIES:
        results = gradescope_results(make_record(cases, refusal=refusal), hidden_cases)
        seen = [test for test in results["tests"] if test["visibility"] != "hidden"]
        text = json.dumps(seen) + results["output"]
        assert "copies device memory" in text and "7919" not in text and "7927" not in text


def test_gradescope_shows_a_refusal_and_a_compile_error_to_the_student() -> None:
    refused, broken = (gradescope_results(record)["tests"][0] for record in (REFUSED, BROKEN))
    assert refused["visibility"] == broken["visibility"] == "visible"
    assert "score" not in refused and broken["max_score"] == 100
    said = gradescope_results(make_record([CASES[0], CASES[4]]))["output"]
    assert "10 of 10 points" in said and "part of the grade: 1 more case, for 30 points." in said


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


def test_classroom50_gets_a_time_without_offset_of_its_runner() -> None:
    for started in ("2026-11-21T06:00:00Z", "2026-11-21T06:00:00+00:00"):
        record = FULL.model_copy(update={"started": started})
        assert classroom50_result(record)["datetime"] == "2026-11-21T06:00:00Z"
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
    for token in tokens:
        for one in [token, *(token.children or [])]:
            kind = one.type.removesuffix("_open").removesuffix("_close")
            assert kind in allowed, (one.type, one.content)
            if kind == "html_block":
                assert "<" not in OWN_HTML.sub("", one.content), one.content
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h2"]
    if any(token.type == "tr_open" for token in tokens):
        tables = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
        assert all(len({row.count("|") for row in table.splitlines()}) == 1 for table in tables)
        assert len(tables) <= 2  # cases, and what was timed
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
    for record, says in ((make_record([launched]), "curlew of 3 blocks"), (REFUSED, "calls fopen"),
                         (BROKEN, "'x' was not declared")):
        for form, text in all_forms(record).items():
            assert says in html.unescape(text), form
    text = github.summary(student_view(PUBLIC))
    assert "hello from alice" in text and "&#" not in text and "\\" not in text, "nothing is escaped without need"
    at_its_place = RACE.model_copy(update={"what": f"kernel.cu:29: {RACE.what}"})
    for finding in (RACE, at_its_place):
        forms = all_forms(make_record([make_test("x", 0, 1, finding=finding)]))
        assert not any("kernel.cu:29: kernel.cu:29" in text for text in forms.values())
        assert f"kernel.cu:29: {RACE.what}" in forms["gradescope"]
    for message in ("no", "kernel.cu:12: no"):
        build = Build(ok=False, message=message, file="kernel.cu", line=12, output="")
        assert "does not build: kernel.cu:12: no" in all_forms(make_record([], build=build))["gradescope"]


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


def test_annotations_stand_at_the_mistakes() -> None:
    """The line of a refusal may be one that only a hidden case reaches."""
    for name, record in RECORDS.items():
        found = check_annotations(record)
        assert bool(found) == (record.score < record.max_score) == (name != "full")
        if found:
            assert found[0][1].get("line") == {"broken": "12", "refused": None}.get(name, "29")


def test_annotations_are_one_a_mistake_and_say_what_the_record_says() -> None:
    """Escaping loses nothing: the runner reads the text that went in."""
    many = [make_test(f"case-{n}", 0, 1, finding=RACE) for n in range(30)]
    [(_, _, message)] = check_annotations(make_record(many))
    assert "case-0" in message and "case-29" in message
    others = [make_test(f"case-{n}", 0, 1, reason=f"reason {n}") for n in range(30)]
    assert len(check_annotations(make_record(others))) == 10
    for what in ["a:b", "a::b", "a,line=9", "100%", "%0A", "%3A", "a=b", "::error::x"]:
        test = make_test("x", 0, 1, finding=RACE.model_copy(update={"what": what}), reason=f"because {what}")
        [(_, properties, message)] = check_annotations(make_record([test]))
        assert properties == {"file": "kernel.cu", "line": "29", "title": what}
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


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS.keys())
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


def test_no_form_for_students_gives_hidden_cases_away() -> None:
    forms = all_forms(make_record(CASES[3:], performance=SPEED[3:]))
    for form in ("autolab", "classroom50", "summary", "annotations"):
        text = forms[form]
        for secret in (SECRET, "tall", "prime", "heron", "lapwing", "1111", "1999", "2.000 ms", "0.457",
                       "hidden/", "1234567", "curlew", "69"):
            assert secret not in text, (form, secret)
        assert "hidden 2" in text and "hidden speed 1" in text
    assert "line=" not in forms["annotations"]


# ---- the command ---------------------------------------------------------------------------------


def write(directory: Path, record: Record) -> str:
    for name, seen in (("result.json", record), ("student.json", student_view(record))):
        (directory / name).write_text(seen.model_dump_json(), encoding="utf-8")
    return str(directory / "result.json")


def run_exporter(*words: str, status: int = 0, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = python(REPOSITORY, "grader.exporters.__main__").run(
        ["-m", "grader.exporters", *words], clean_environment(env))
    assert done.returncode == status, done
    assert not status or done.stderr.count("\n") == 1 or "usage:" in done.stderr, done.stderr
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
    (changed('"complete":true', '"complete":false'), "the run has not ended"),
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
    assert "invalid choice" in run_exporter("html", path, status=2).stderr


def test_github_gets_a_summary_in_its_file_and_annotations_in_its_log(tmp_path: Path) -> None:
    result, page = write(tmp_path, PUBLIC), tmp_path / "page"
    page.write_text("earlier\n")
    for form in ("summary", "annotations"):
        printed = run_exporter(form, "--github", result, env={"GITHUB_STEP_SUMMARY": str(page)}).stdout
        elsewhere = run_exporter(form, "--github", result).stdout
        assert len(elsewhere) > 50 and printed == ("" if form == "summary" else elsewhere)
    assert page.read_text() == "earlier\n" + run_exporter("summary", result).stdout


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
    """The token with which commands are switched on again is new each time, and handed to nobody."""
    noise = "printf '::error::x\\n##[error]y\\n::stop-commands::z\\n::z::\\n::warning::w'; env; exit 7"
    first, second = (run_guarded("sh", "-c", noise) for _ in "ab")
    assert first.returncode == 7 and "::error::x" in first.stdout
    assert heard_by_runner(first.stdout) == []
    token = re.match(r"::stop-commands::([0-9a-f]{64})\n", first.stdout)
    assert token and first.stdout.count(token[1]) == 2 and token[1] not in second.stdout
    assert "GITHUB_ACTIONS=" in first.stdout
    assert "GITHUB_OUTPUT=" not in first.stdout and "GITHUB_TOKEN=" not in first.stdout
    assert run_guarded("echo", "x", github=False).stdout == "x\n", "elsewhere nothing is added"
