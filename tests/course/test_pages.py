"""A class's pages: what students and staff find there, and what students must not find.

A failure here means that a page says something else than the record, gives a hidden case or another
student away, can be changed by what a submission says, asks for anything from outside, or cannot be
used by everybody.
"""

import base64
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from course.model import Attempt, HandIn, Override, Standing, Student
from course.pages import write_class_page, write_feedback, write_leaderboard
from grader.record.model import Build, Cause, Finding, Loads, Refusal
from grades import RACE, make_mark, make_record, make_test, make_timing, poisoned
from nasty import NASTY
from records import read, seen_of

KERNEL = "".join(f"line {number};\n" for number in range(1, 41))
WHEN = datetime(2026, 11, 20, 18, 30, tzinfo=timezone.utc)
ADA = Student("Ada Lovelace", "ada", id="s1815", login="lovelace", email="ada@analytical.example",
              canvas_id="77001", moodle_id="88002")
LOADS = Loads(all=120_000, naive=524_288, once_per_block=32_768, exchanged=0, most=131_072)

FULL = make_record([make_test("16x16", 40, 40)])
PARTIAL = make_record([make_test("16x16", 10, 10), make_test("34x34", 4, 30, finding=RACE)])
REFUSED = make_record([make_test("a", 0, 10, finding=RACE), make_test("b", 0, 10, finding=RACE)],
                      refusal=Refusal(tried="calls fopen", file="kernel.cu", line=3, hint=""))
BROKEN = make_record([], max_score=40, build=Build(ok=False, message="'x' was not declared", file=None, line=0,
                                                   output=""))

WHAT = "a row of B has n elements, but here rows are k elements apart"
CAUSE = Cause(kind="row-length", what=WHAT, file="kernel.cu", line=20,
              detail=["(from a run with m=37 k=53 n=29)"], hint="where does the next row of B begin?")
LOAD = Finding(kind="out-of-bounds", what="load from B beyond its last row", file="kernel.cu", line=31,
               detail=["thread (0,4) reads B[70][0]"], hint="is every index within?", cause=CAUSE)


def changed(model: Any, **changes: Any) -> Any:
    return model.model_copy(update=changes)


def standing(record: Any, student: Student = ADA, content: str = KERNEL, seen: Any = None, **changes: Any) -> Standing:
    """Of a record of the grader's; or, with what a student may have `seen` of it, of one that course/ has read."""
    hand_in = HandIn((), "somewhere", (("kernel.cu", content.encode()),), submitted=WHEN)
    attempt = Attempt(student, hand_in, 1, "0" * 64, Path("/results/records") / student.folder,
                      record if seen or not record else read(record), seen or record and seen_of(record),
                      source=content.encode())
    values: dict[str, Any] = dict(attempts=(attempt,), counted=attempt)
    if record:
        values |= {"raw": record.score, "points": record.score, "possible": record.max_score}
    return Standing(student, changes.pop("state", "graded"), **values | changes)


class Read(HTMLParser):
    """What a browser makes of a page: elements, and the text outside of them."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.said.append("" if tag in ("a", "span", "code", "strong") else " ")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.said).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def feedback(which: Standing, folder: Path) -> Read:
    """The student's page."""
    write_feedback(which, "SGEMM", folder)
    return Read((folder / f"{which.student.folder}.html").read_text())


def class_page(standings: Sequence[Standing], folder: Path) -> Read:
    write_class_page(standings, "SGEMM", folder / "class.html")
    return Read((folder / "class.html").read_text())


def assert_marked(folder: Path, line: str, said: str) -> None:
    """In the source on Ada's page."""
    assert re.search(rf'<li class="mistake"><code>{line}</code><strong.*?{said}<', (folder / "ada.html").read_text())


# ---- feedback ------------------------------------------------------------------------------------


def test_a_mistake_stands_at_its_line(tmp_path: Path) -> None:
    record = make_record([make_test("16x16", 10, 10),
                          make_test("34x34", 4, 10, finding=RACE, output="hello from alice\n")])
    page = feedback(standing(record), tmp_path)
    said = page.text
    assert "kernel.cu:29: race on shared memory" in said and "thread (1,0) writes it" in said
    assert RACE.hint and RACE.hint in said and "hello from alice" in said
    assert "14 of 20 points" in said and "34x34" in said
    assert page.elements.count(("li", {"class": "mistake"})) == 2  # in the excerpt, and in the whole file
    assert_marked(tmp_path, "line 29;", "race on shared memory")
    assert [each["start"] for each in page.all("ol")] == ["25", "1"]


def test_the_mistake_stands_above_its_symptom(tmp_path: Path) -> None:
    """At its own line, with its own hint, and once for all cases that it cost."""
    wrong = changed(LOAD, kind="wrong-result", what="5 of 9 are wrong", line=0)
    tests = [make_test("a", 0, 1, finding=LOAD), make_test("b", 0, 1, finding=wrong),
             make_test("c", 0, 1, hidden=True, finding=LOAD)]
    page = feedback(standing(make_record(tests)), tmp_path)
    said = page.text
    assert (said.index(f"kernel.cu:20: {WHAT}") < said.index("(from a run with m=37 k=53 n=29)")
            < said.index("symptom: kernel.cu:31: load from B beyond its last row"))
    assert "thread (0,4) reads B[70][0]" in said and "You lost points for this in a, b." in said
    assert "Hint: where does the next row of B begin?" in said
    assert "is every index within?" not in said and "5 of 9" not in said
    assert len(page.all("article")) == 1 and "Fix the first" not in said
    assert_marked(tmp_path, "line 20;", WHAT)
    page = feedback(standing(make_record([*tests, make_test("d", 0, 1, finding=RACE)])), tmp_path)
    assert len(page.all("h3")) == 2 and "Fix the first of these first" in page.text


def test_a_number_is_said_to_who_wrote_the_line_and_not_of_a_class(tmp_path: Path) -> None:
    """On the class's page, where numbers differ, there is an N in its place, or the criterion's phrase."""
    far = changed(LOAD, cause=changed(CAUSE, what="the loop runs to 53"))
    untiled = make_test("b", 1, 2, criteria=[
        {"name": "tiled", "passed": False, "reason": "9 loads", "phrase": "loads too much"}])
    which = standing(make_record([make_test("a", 0, 1, finding=far), untiled]))
    feedback(which, tmp_path)
    assert_marked(tmp_path, "line 20;", "the loop runs to 53")
    said = class_page([which], tmp_path).text
    assert "the loop runs to N" in said and "tiled: loads too much" in said


SHOWN_BY_COUNTS = make_test("a", 1, 2, criteria=[
    {"name": "correct", "passed": True, "reason": ""}, {"name": "tiled", "passed": False, "reason": "9 loads"}])
MARKS = [make_mark("memory", 0, 11), make_mark("tiled", 9, 9),
         make_mark("repair", 3, 0, reason="correct except for one mistake")]
LATENESS = "2 days late, 20 % deducted (2.8 points)"
LATE = standing(PARTIAL, points=11.2, late=LATENESS, deducted=2.8)
TWO_KERNELS = Attempt(ADA, HandIn((), "somewhere", problem="it holds two kernel.cu"), 1, "", None)
UNUSABLE = Standing(ADA, "unusable", (TWO_KERNELS,), TWO_KERNELS, possible=40)
SECOND = replace(LATE.attempts[0], number=2, record=read(FULL))
NASTY_NAME = "<b>&amp;</b> \"x\" 'y' {{ z }} ]]>"


@pytest.mark.parametrize("which, words", [
    (standing(FULL), ["Nothing to fix"]), (standing(BROKEN), ["Try next: make All cases get 0"]),
    (standing(REFUSED), ["Try next: make grade"]),
    # The command shows the same inputs again.
    (standing(make_record([make_test("a", 0, 1, finding=RACE, fill="index")])),
     ["make sgemm-check && ./sgemm-check 35 70 20 --fill index --seed 7"]),
    (standing(make_record([SHOWN_BY_COUNTS])), ["./sgemm-check 35 70 20 --counts"]),
    # What all cases keep together, and what a repair adds, which is no points that could be missing.
    (standing(make_record([make_test("a", 1, 2)], marks=MARKS)), [
        "✓ correct", "✗ memory", "memory all cases together 0/11 race on shared memory; in curlew, b and 1 more",
        "tiles all cases together 9/9", "repair all cases together +3 correct except for one mistake"]),
    # How the points come about.
    (LATE, ["11.2 of 40 points", f"for the cases 14 {LATENESS} −2.8"]),
    (replace(LATE, override=Override("ada", "was ill", extension=2.0)), ["11.2 of 40", "You had 2 more days: was ill"]),
    (replace(LATE, points=13.0, override=Override("ada", "the room was closed", points=13.0)),
     ["13 of 40 points", "changed by hand: the room was closed", f"for the cases 14 {LATENESS} −2.8"]),
    # All attempts, and which counts; the time with its zone.
    (replace(LATE, attempts=(LATE.attempts[0], SECOND), counted=SECOND),
     ["1 2026-11-20 18:30 UTC 14 of 40 2 2026-11-20 18:30 UTC 40 of 40 counts"]),
    # Why there is no grade, and whether there are points all the same.
    (Standing(ADA, "missing"), ["Nothing was handed in."]), (Standing(ADA, "waiting"), ["Not graded yet."]),
    (Standing(ADA, "fault"), ["This costs you no points."]), (Standing(ADA, "excused"), ["does not count for you"]),
    (UNUSABLE, ["is unusable", "it holds two kernel.cu", "It earns no points as it is. Hand in kernel.cu again, alone "
                "or in a zip (deadline: Friday, November 20, 2026, 18:30 UTC)."]),
    (replace(UNUSABLE, points=0.0), ["is unusable", "It earns no points as it is.", "0 of 40 points"]),
    # Word for word; what cannot be seen is shown by its code.
    (standing(FULL, replace(ADA, name=NASTY_NAME)), [NASTY_NAME]),
    (standing(FULL, replace(ADA, name="a\u202eb\0c\x1bd")), [r"a\u202eb\x00c\x1bd"]),
], ids=lambda value: value[0] if isinstance(value, list) else "")
def test_what_a_page_says(tmp_path: Path, which: Standing, words: list[str]) -> None:
    write_feedback(which, "SGEMM", tmp_path, WHEN)
    said = Read((tmp_path / "ada.html").read_text()).text
    assert [each for each in words if each not in said] == []
    assert which.points is not None or "of 40 points" not in said
    assert "None" not in feedback(which, tmp_path).text, "where no deadline is known"


def test_hidden_cases_show_points_and_the_kind_of_a_mistake(tmp_path: Path) -> None:
    record = make_record([make_test("16x16", 10, 10), make_test(
        "tall", 3, 30, hidden=True, finding=changed(RACE, what="race on B_s"))])
    page = feedback(standing(record), tmp_path)
    said = page.text
    assert "hidden 1" in said and "3/30" in said and RACE.headline in said
    assert "1 of the 1 hidden ones lost points" in said and "B_s" not in said
    assert "a fault" not in said
    assert not page.all("article")
    assert ("li", {"class": "mistake"}) not in page.elements


def test_loads_beside_the_naive_kernels(tmp_path: Path) -> None:
    page = feedback(standing(make_record([make_test("64x64", 2, 6, loads=LOADS)])), tmp_path)
    for count in ("524,288", "120,000", "131,072", "32,768"):  # 131,072 is what tiled asks for
        assert count in page.text
    bars = [each for each in page.all("rect") if each.get("class")]
    assert [(each["class"], each["width"]) for each in bars] == [
        ("naive", "100.00%"), ("own", "22.89%"), ("limit", "25.00%"), ("once", "6.25%")]


def test_pages_take_who_it_is_from_the_student_alone(tmp_path: Path) -> None:
    """Renamed, nothing is left of the name, whatever the hand-in is called."""
    told = "lovelace Ada Lovelace s1815 ada@analytical.example 77001 88002"
    known = standing(PARTIAL, late="1 day late", needs_human=True)
    nobody = Student("Student 017", "student-017")
    attempt = replace(known.attempts[0], student=nobody, directory=None, hand_in=replace(
        known.attempts[0].hand_in, source=f"canvas.zip: {told}", notes=(f"ignored {told}",)))
    renamed = replace(known, student=nobody, attempts=(attempt,), counted=attempt)
    feedback(renamed, tmp_path)
    class_page([renamed], tmp_path)
    for name in ("student-017.html", "class.html"):
        said = (tmp_path / name).read_text().casefold()
        assert "student 017" in said
        assert [word for word in told.casefold().split() if word in said.replace("adapt", "")] == []


# ---- whatever a submission says ------------------------------------------------------------------

TAGS = set("html head meta title style body svg pattern path rect main header section article footer "
           "nav div h1 h2 h3 p a br span strong code pre ol ul li table caption colgroup col thead tbody "
           "tr th td details summary".split())
ATTRIBUTES = set("lang charset name content http-equiv class width height aria-hidden id patternunits d "
                 "fill aria-labelledby scope start role aria-label tabindex href".split())


def check_page(page: Read) -> None:
    assert {tag for tag, _ in page.elements} <= TAGS
    assert {name for _, attributes in page.elements for name in attributes} <= ATTRIBUTES
    for attributes in page.all("a"):
        assert re.match(r"#s\d+$|#[a-z]+$|feedback/[^/:]*\.html$|\.\./[^:]*/result\.json$",
                        attributes["href"]), attributes
    assert all("scope" in each for each in page.all("th"))
    said = "".join(page.said)
    assert all(char.isprintable() or char in "\n\t" for char in said)


@pytest.mark.parametrize("text", NASTY)
def test_no_page_is_broken_by_what_a_submission_may_say(text: str, tmp_path: Path) -> None:
    student = Student(text, "somebody", section=text)
    for record in poisoned(text):
        which = standing(
            record, student, content=f"{text}\nx\n{text}\ny", late=text, notes=(text,),
            needs_human=True, override=Override(text, text, extension=1))
        problem = replace(which.attempts[0], hand_in=HandIn((), text, problem=text, notes=(text,)),
                          record=None, fault=text)
        for each in (which, replace(which, attempts=(problem,), counted=problem, state="unusable")):
            check_page(feedback(each, tmp_path))
        check_page(class_page([which], tmp_path))


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    """Windows line ends, old Macintosh ones, form feeds and Unicode's own: as compilers count. A line that is not
    there marks nothing."""
    content = "one\r\ntwo\x0c\rthree \u2028 \x85\n" + "x\n" * 25 + "here\n" + "x\n" * 5
    page = feedback(standing(PARTIAL, content=content), tmp_path)
    assert_marked(tmp_path, "here", "race on shared memory")
    assert len(page.all("li")) == 9 + 34
    for line, content in ((41, KERNEL), (29, ""), (29, "\0\0")):
        record = make_record([make_test("a", 0, 1, finding=changed(RACE, line=line))])
        page = feedback(standing(record, content=content), tmp_path)
        assert ("li", {"class": "mistake"}) not in page.elements and f"kernel.cu:{line}" in page.text


# ---- the class -----------------------------------------------------------------------------------


def student(number: int, name: str = "") -> Student:
    return Student(name or f"Student {number}", f"student {number} #?%")


def a_class() -> list[Standing]:
    """The same race in two cases of two students each, a refusal, a time limit, and so on."""
    slow = changed(RACE, kind="time-limit", headline="time limit exceeded", what="time limit exceeded", line=0)
    twice = make_record([make_test("a", 0, 10, finding=RACE), make_test("b", 0, 10, finding=RACE)])
    once = make_record([make_test("a", 10, 10), make_test("b", 5, 10, finding=RACE)])
    stopped = make_record([make_test("a", 10, 10), make_test("b", 0, 10, finding=slow)],
                          needs_review=["stopped at a time limit in 1 case"])
    full = make_record([make_test("a", 10, 10), make_test("b", 10, 10)])
    broken = Attempt(student(6), HandIn((), "x", problem="two kernel.cu"), 1, "", None)
    return [
        standing(once, student(2, "Zuse"), late="1 day late", deducted=1.0),
        standing(twice, student(1, "Ada")), standing(stopped, student(3), needs_human=True),
        standing(full, student(4)),
        standing(REFUSED, student(5), needs_human=True),
        Standing(student(6), "unusable", (broken,), broken, notes=("two kernel.cu",),
                 needs_human=True),
        Standing(student(7), "missing"),
        standing(None, student(8), state="fault", notes=("no memory is left",), needs_human=True),
    ]


def rows(page: Path) -> list[list[str]]:
    """Of all tables, the text of each cell."""
    found = []
    for row in re.findall(r"<tr.*?</tr>", page.read_text(), re.DOTALL):
        cells = re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
        found.append([Read(cell).text for cell in cells])
    return found


def test_the_class_in_figures(tmp_path: Path) -> None:
    page = class_page(a_class(), tmp_path)
    assert ("8 students: 5 graded (1 of them refused), 1 missing, 1 unusable, "
            "1 not graded: the machine failed") in page.text
    assert ("Mean 9, standard deviation 8.94; median 10, quartiles 0 and 15, lowest 0, highest 20, "
            "of 20 points.") in page.text
    found = rows(tmp_path / "class.html")
    histogram = {row[0]: row[1] for row in found if " to below " in row[0] or row[0] == "20: all"}
    assert len(histogram) == 11 and sum(map(int, histogram.values())) == 5
    assert [each for each in histogram.items() if each[1] != "0"] == [
        ("0 to below 2", "2"), ("10 to below 12", "1"), ("14 to below 16", "1"), ("20: all", "1")]
    [a] = [row for row in found if row[0] == "public/basics/a"]
    [b] = [row for row in found if row[0] == "public/basics/b"]
    assert (a[2], a[4:]) == ("60 %", ["0", "2", "0", "4"])
    assert (b[2], b[4:]) == ("20 %", ["1", "3", "0", "7"])


def of_array(name: str) -> Finding:
    return changed(LOAD, cause=changed(CAUSE, what=f"a row of {name} has another length"))


def of_step(number: int) -> Finding:
    return changed(LOAD, cause=Cause(kind="phase-step", what=f"the tile moves on by {number}", file="kernel.cu",
                                     line=number))


def of_kind(kind: str, what: str = "", line: int = 29) -> Finding:
    return changed(RACE, kind=kind, headline=kind, what=what or kind, line=line)


BELOW = changed(LOAD, cause=changed(CAUSE, line=21))
UNKNOWN = changed(LOAD, cause=None)
WRONG = changed(LOAD, kind="wrong-result")


@pytest.mark.parametrize("students, expected", [
    # A student counts once, in two cases or at two lines; the most frequent mistake is first.
    ([[of_kind("leak")], [of_kind("endless")] * 2, [of_kind("race"), of_kind("race", line=31)],
      [of_kind("endless")], [of_kind("race")], [of_kind("endless")]],
     [["endless endless", "3", "line 29; (3)"], ["race race", "2", "line 29; (2) line 31; (1)"],
      ["leak leak", "1", "line 29; (1)"]]),
    # Words with numbers are the same for all numbers.
    ([[of_kind("wrong-result", "1 of 9 are wrong")], [of_kind("wrong-result", "2 of 9 are wrong")]],
     [["wrong-result wrong-result", "2", "line 29; (2)"]]),
    # Where the cause is known, it is one row, whatever it did to which case; where not, the finding is.
    ([[LOAD, WRONG], [LOAD, BELOW], [LOAD, UNKNOWN], [WRONG, WRONG], [of_step(8)], [of_step(16)]],
     [[f"{WHAT} row-length, seen as out-of-bounds (3), wrong-result (2)", "4", "line 20; (4) line 21; (1)"],
      ["the tile moves on by N phase-step, seen as out-of-bounds (2)", "2", "line 8; (1) line 16; (1)"],
      ["load from B beyond its last row out-of-bounds", "1", "line 31; (1)"]]),
    # One cause with other words is one row: of row lengths there are A's, B's and C's.
    ([[of_array(name)] for name in "AABC"],
     [["a row of A has another length a row of B has another length (1) a row of C has another length (1) "
       "row-length, seen as out-of-bounds (4)", "4", "line 20; (4)"]]),
], ids=["once each", "numbers", "causes", "words"])
def test_mistakes_of_the_class(tmp_path: Path, students: list[list[Finding]], expected: list[list[str]]) -> None:
    class_page([standing(make_record([make_test(name, 0, 1, finding=each)
                                      for name, each in zip("ab", findings)]), student(number))
                for number, findings in enumerate(students, 1)], tmp_path)
    found = rows(tmp_path / "class.html")
    table = [row for row in found if len(row) == 4 and row[0] != "Mistake"]
    assert [row[:3] for row in table] == expected
    both = any(len(findings) == 2 for findings in students)
    assert table[0][3] == ("public/basics/a, public/basics/b" if both else "public/basics/a")
    firsts = [row[5] for row in found if row[0].startswith("Student ")]
    assert all(first and first in " ".join(label for label, *_ in table) for first in firsts)


def test_who_needs_a_person_is_late_or_missing(tmp_path: Path) -> None:
    """A refusal is for review, and no mistake among others."""
    standings = a_class()
    text = class_page(standings, tmp_path).text
    section = re.search(r"Needs review (?!\()(.*) Late Zuse: 1 day late Missing (.*) All students", text)
    assert section and section[2] == "Student 7"
    assert section[1] == ("Student 3: stopped at a time limit in 1 case "
                          "Student 5: refused, 0 points: kernel.cu:3: it calls fopen "
                          "Student 6: two kernel.cu Student 8: no memory is left")
    found = rows(tmp_path / "class.html")
    assert [row[5] for row in found if row[0] == "Student 5"] == ["refused: see Needs review"]
    assert not [row for row in found if len(row) == 4 and "refused" in row[0]]
    marked = class_page([replace(standings[3], needs_human=True)], tmp_path).text
    assert "Needs review Student 4: graded Late" in marked


def test_sections_and_days(tmp_path: Path) -> None:
    standings = a_class()
    page = class_page(standings, tmp_path).text
    assert "Sections" not in page and "Fri 2026-11-20" in page
    for number, section in enumerate(["b", "b", "A"]):
        standings[number] = replace(standings[number], student=replace(standings[number].student, section=section))
    class_page(standings, tmp_path)
    found = rows(tmp_path / "class.html")
    assert [row for row in found if row[0] in ("A", "b", "none")] == [
        ["A", "1", "1", "10", "10"], ["b", "2", "2", "7.5", "7.5"], ["none", "5", "2", "10", "10"]]
    assert ["Fri 2026-11-20", "6", ""] in found


def test_what_is_not_known_or_cannot_be_compared_is_told_once(tmp_path: Path) -> None:
    standings = [replace(each, time_unknown=each.state == "graded") for each in a_class()[:3]]
    page = class_page([*standings, *a_class()[3:4]], tmp_path).text
    assert page.count("on time") == 1 and "3 of 4 submissions count as on time, because" in page
    one, other = (standing(make_record([make_test("x", 3, of)]), student(of)) for of in (4, 8))
    by_hand = Standing(student(3), "graded", points=2)
    assert "They were not all graded on the same cases" in class_page([one, other], tmp_path).text
    assert "the same cases" not in class_page([one, by_hand], tmp_path).text
    assert "Nobody was graded." in class_page([], tmp_path).text


def of_speed(number: int, comment: str, ratio: float, **changes: Any) -> Standing:
    seen = make_record([], performance=[make_timing("a", 1, 1, ratio=ratio, device="H100"),
                                        make_timing("b", 1, 1, ratio=1.0, device="H100")])
    return standing(seen, student(number), f"{KERNEL}// {comment}\n", **changes)


def test_the_leaderboard(tmp_path: Path) -> None:
    """Nobody is there who has not asked for it, and nothing of those who have but what they say."""
    slow = make_record([], performance=[make_timing("a", 0, 1, "wrong")])
    write_leaderboard([
        of_speed(1, "leaderboard: <b>Warp Drive</b>", 0.25), of_speed(2, "Leaderboard:", 1.0),
        of_speed(3, "no leaderboard", 4.0), of_speed(4, "leaderboard: twin", 0.25),
        of_speed(5, "leaderboard: cheat", 9.0, needs_human=True),
        standing(slow, student(6), "// leaderboard: wrong\n"), Standing(student(7), "missing"),
    ], "SGEMM", tmp_path / "leaderboard.html")
    assert rows(tmp_path / "leaderboard.html")[1:] == [
        ["1", "No. 0", "100.0", "H100", "2026-11-21 06:00"],
        ["2", "<b>Warp Drive</b>", "50.0", "H100", "2026-11-21 06:00"],
        ["2", "twin", "50.0", "H100", "2026-11-21 06:00"]]
    assert "Student" not in (tmp_path / "leaderboard.html").read_text()
    write_leaderboard([], "SGEMM", tmp_path / "leaderboard.html")
    assert "Nobody is listed yet." in (tmp_path / "leaderboard.html").read_text()


def test_rows_are_sorted_by_name_and_lead_to_pages_and_records(tmp_path: Path) -> None:
    """Nobody is ranked."""
    found, pages = [], tmp_path / "pages"
    pages.mkdir()
    for each in a_class():
        if each.counted and each.counted.record:
            folder = tmp_path / "results" / each.student.folder
            folder.mkdir(parents=True)
            (folder / "result.json").touch()
            attempt = replace(each.counted, directory=folder)
            each = replace(each, attempts=(attempt,), counted=attempt)
        write_feedback(each, "SGEMM", pages / "feedback")
        found.append(each)
    page = class_page(found, pages)
    links = [each["href"] for each in page.all("a")]
    anchors = {f"#{attributes['id']}" for _, attributes in page.elements if "id" in attributes}
    assert sum(link.startswith("feedback/") for link in links) == 8
    assert sum(link.endswith("result.json") for link in links) == 5
    for link in links:
        assert link in anchors or (pages / unquote(urlsplit(link).path)).is_file(), link
    names = [row[0] for row in rows(pages / "class.html")[-8:]]
    assert names == sorted(names) and names[0] == "Ada" and names[-1] == "Zuse"
    assert "not graded: the machine failed no memory is left" in page.text


# ---- files ---------------------------------------------------------------------------------------


def both_pages(folder: Path) -> list[Path]:
    """Of a student with all that a page may show, and of a class."""
    beyond = changed(RACE, line=12, what="load from B beyond its last column")
    tests = [make_test("34x34", 4, 10, finding=RACE, loads=LOADS),
             make_test("9x9", 0, 1, finding=beyond), make_test("prime", 30, 30, hidden=True),
             make_test("tall", 3, 30, hidden=True, finding=RACE)]
    timings = [make_timing("slow", 1.5, 4, hint="use registers"), make_timing("heron", 2, 3, hidden=True)]
    rich = standing(make_record(tests, performance=timings), late="1 day late", deducted=1.0,
                    override=Override("ada", "was ill", points=20.0))
    write_feedback(rich, "SGEMM", folder / "feedback")
    write_class_page([*a_class(), rich], "SGEMM", folder / "class.html")
    return [folder / "feedback" / "ada.html", folder / "class.html"]


def test_nothing_is_asked_for_from_outside(tmp_path: Path) -> None:
    """And no script can run: the policy allows the page's own style and nothing else."""
    for path in both_pages(tmp_path):
        source = path.read_text()
        page = Read(source)
        [policy] = [each["content"] for each in page.all("meta") if "http-equiv" in each]
        [style] = re.findall(r"<style>(.*?)</style>", source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert policy == (f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
                          "form-action 'none'")
        assert not re.search(r"https?:|//|@import|url\((?!#)", source.replace(digest, ""))
        assert "script" not in {tag for tag, _ in page.elements} and " style=" not in source


def test_a_page_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    paths = both_pages(tmp_path)
    before = [path.read_bytes() for path in paths]
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError):
        feedback(standing(FULL), tmp_path / "feedback")
    with pytest.raises(OSError):
        class_page([], tmp_path)
    assert [path.read_bytes() for path in paths] == before
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2
