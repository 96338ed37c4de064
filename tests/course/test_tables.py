"""What people read of a class beside its pages: the tables, and what stands on the terminal."""

import csv
import io
import re
from datetime import datetime, timezone
from pathlib import Path

import pytest

from conftest import in_terminal
from fake_class import Class, make_project
from course.gradebook import ATTEMPTS, GRADEBOOK, attempts, gradebook, summary, together
from course.model import Attempt, HandIn, Override, Standing, Student
from course.roster import read_roster
from course.record import Record
from grader.record.model import Submission
from records import make_record

WHEN = datetime(2026, 11, 20, 18, 30, 5, 999, tzinfo=timezone.utc)
RECORD = make_record([], score=36.5, max_score=40, submission=Submission(
    name="ada", path="", sha256="", bytes=1, notes=["Windows line ends"]))
ADA = Student("Ada Lovelace", "ada", id="s1815", login="lovelace", email="ada@x.edu", section="2")


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def attempt(student: Student = ADA, number: int = 1, record: Record | None = RECORD, **known: str) -> Attempt:
    hand_in = HandIn((), "zip: ada", notes=("ignored: a.txt",), submitted=WHEN)
    return Attempt(student, hand_in, number, "5ha", Path("/r/ada/5ha"), record, **known)


def test_a_row_of_the_gradebook() -> None:
    one = attempt()
    standing = Standing(ADA, "graded", (one,), one, 36.5, 29.2, 40, "2 days late", 7.3, 1,
                        notes=("=HYPERLINK(1)\nsecond line", "3 points by hand"), needs_human=True)
    [row] = read(gradebook([standing]))
    assert tuple(row) == GRADEBOOK
    note = row.pop("note")
    assert note == "'=HYPERLINK(1) second line; 3 points by hand; note: Windows line ends"
    assert row == dict(
        student="Ada Lovelace", login="lovelace", id="s1815", email="ada@x.edu", section="2",
        state="graded", points="29.2", possible="40", raw="36.5", deducted="7.3", speed="",
        late="2 days late", late_days_used="1", attempts="1", counted="1",
        submitted="2026-11-20 18:30:05+00:00", look_at="yes")


@pytest.mark.parametrize("state", ["missing", "excused", "waiting", "unusable", "fault"])
def test_no_points_are_no_zero(state: str) -> None:
    [row] = read(gradebook([Standing(ADA, state, notes=("why",))]))  # type: ignore[arg-type]
    assert row["state"] == state and row["note"] == "why"
    assert not any(row[name] for name in ("points", "raw", "possible", "deducted", "counted",
                                          "submitted", "late", "late_days_used"))
    [row] = read(gradebook([Standing(ADA, "graded", points=0.0, possible=40)]))
    assert row["points"] == "0"


def test_a_row_of_the_attempts() -> None:
    broken = Attempt(ADA, HandIn((), "zip: b", problem="two kernels"), 2, "", None)
    old = attempt(number=3, old=True, fault="no space")
    one, two, three = read(attempts([Standing(ADA, "graded", (attempt(), broken, old))]))
    assert tuple(one) == ATTEMPTS
    assert (one["points"], one["possible"], one["result"]) == ("36.5", "40", "/r/ada/5ha/result.json")
    assert one["note"].startswith("ignored: a.txt")
    assert (two["points"], two["sha256"], two["result"], two["note"]) == ("", "", "", "two kernels")
    assert three["note"].startswith("the result is from an earlier run; no space; ignored: a.txt")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1+1", "@SUM(1)", "\t=1", "a\r\n=1", 'a "b", c'])
def test_a_spreadsheet_computes_nothing(name: str) -> None:
    """A negative number is one, and not computed."""
    override = Override("ada", name)
    text = gradebook([Standing(Student(name, name, section="-0.5"), "graded", override=override)])
    [row] = read(text)
    assert not row["student"].startswith(tuple("=+-@\t\r\n")) and row["section"] == "-0.5"
    assert text.count("\n") == 2 and "\r" not in text


def test_the_summary_is_markdown() -> None:
    one = attempt()
    lines = summary([Standing(Student("<b>|*x*", "x"), "graded", (one,), one, 3, 3, 40),
                     Standing(ADA, "missing"), Standing(ADA, "graded", points=12)], "Lab |1").splitlines()
    assert lines[0] == "## Lab &#124;1: 3 students"
    assert lines[2] == "2 graded; 1 missing; median 7.5, lowest 3, highest 12 points"
    assert lines[6].startswith("| &#60;b&#62;&#124;\\*x\\* | 3/40 |  |  |")
    assert lines[7:] == ["| Ada Lovelace |  |  |  | missing |", "| Ada Lovelace | 12 |  |  |  |"]
    assert together([Standing(ADA, "missing"), Standing(ADA, "fault")]) == "1 missing; 1 fault"
    assert together([]) == ""


def test_who_has_no_name_is_known_by_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    for row, shown in (("Ada L,ada1,ada@x.edu,s1", "Ada L"), (",ada1,ada@x.edu,s1", "ada1"),
                       (",,ada@x.edu,s1", "ada@x.edu"), (",,,s1", "s1")):
        path.write_text(f"name,login,email,id\n{row}\n,other,other@x.edu,s2\n")
        [student, other] = read_roster(path)
        assert (student.known_as, other.known_as) == (shown, "other")
        assert read(gradebook([Standing(student, "missing")]))[0]["student"] == shown
        assert f"| {shown} |" in summary([Standing(student, "missing")], "x").replace("\u200b", "")


LONG = "Wolfeschlegelsteinhausenbergerdorff " * 4


@pytest.fixture
def pupils(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Class:
    """A login alone, a long name, and one whom the machine fails."""
    made = Class(make_project(tmp_path_factory.getbasetemp()), tmp_path / "the class")
    (made.folder / "roster.csv").write_text(f"login,name\nu1,\nu2,{LONG}\nu3,\nu4,\n")
    for name, order in (("u1", "score 30"), ("u2", "score 20"), ("u3", "fault 9")):
        made.add(name, order)
    return made


SUMMARY = "4 students: 2 graded; 1 fault; 1 missing; median 25, lowest 20, highest 30"


def test_without_a_terminal(pupils: Class) -> None:
    """No escape sequences; lines of at most 80 columns, but for messages (grade-class: ...) and data. Everywhere
    a login stands for a name."""
    ended = pupils.run("--jobs", "1")
    assert ended.returncode == 3 and "no grade: u3: " in ended.stderr
    assert "\x1b" not in ended.stdout + ended.stderr and "\r" not in ended.stdout
    lines = ended.stdout.splitlines()
    assert lines[0] == "[1/3] u1: 30 of 40 points" and lines[1].startswith("u3: no result: no sandbox")
    assert SUMMARY in lines
    assert [Path(line.strip()).name for line in lines if line.startswith("    ")][-3:] == [
        "class.html", "gradebook.csv", "feedback"]
    assert all(len(line) <= 80 for line in ended.stderr.splitlines() if line[:5] != "grade")
    assert set(pupils.gradebook()) == {"u1", " ".join(LONG.split()), "u3", "u4"}
    assert "<h1>sgemm: u1</h1>" in (pupils.results / "feedback/u1.html").read_text()
    names = re.findall(r'class="who"><a href="[^"]*">([^<]*)<', (pupils.results / "class.html").read_text())
    assert names[:3] == ["u1", "u3", "u4"]


MOVES = re.compile(r"\x1b\[[0-9;?]*[A-HJKhl]")
COLOR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("no_color", [False, True])
def test_on_a_terminal(pupils: Class, no_color: bool) -> None:
    """A line for each, above a bar that goes away: no line is longer than the terminal."""
    environment = {name: value for name, value in pupils.environment.items() if name != "COLUMNS"}
    shown = in_terminal(*pupils.command("--jobs", "1"), cwd=pupils.project, columns=80,
                        **environment | {"TERM": "xterm-256color"} | ({"NO_COLOR": "1"} if no_color else {}))
    assert MOVES.search(shown), "it moves"
    colors = {code for found in COLOR.findall(shown) for code in re.findall(r"\d+", found)}
    assert bool(colors - {"0", "1", "2", "22"}) != no_color
    plain = COLOR.sub("", MOVES.sub("", shown))
    lines = re.split(r"[\r\n]+", plain)
    wrapped = [line for line in lines if not line.startswith(("    ", "grade-class: "))]
    assert max(map(len, wrapped)) <= 80, max(wrapped, key=len)
    assert "u1" in plain and "Wolfeschlegelsteinhausenb" in plain and "grading" in plain
    assert SUMMARY in lines and "[1/3] u1: 30 of 40 points" in plain
    assert "no grade: u3: the machine's fault: no sandbox works here" in lines
