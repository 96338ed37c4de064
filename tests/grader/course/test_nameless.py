"""Anonymous pages and tables: nothing in them names a student, whatever the student wrote."""

from __future__ import annotations

import re
from pathlib import Path

from test_exporters import RACE, make_record, make_test

from grader.course.model import Attempt, Claim, HandIn, Override, Standing, Student
from grader.course.nameless import scrub_for
from grader.course.output import without_names, write_tables
from grader.course.settings import read_settings
from grader.record.model import Build, Submission

ADA = Student("Ada Müller-Lovelace", "ada", id="s1815", login="alove",
              email="ada.l@analytical.example", canvas_id="77001", moodle_id="88002")
PARTNER = Claim(name="Grace Hopper", email="hopper@navy.example", word="pair_7_kernel")
SECRET = r"ada|m.ller|lovelace|alove|s1815|analytical|77001|88002|grace|hopper|navy|pair_7"
CODE = """// Ada Müller-Lovelace (aLove, S1815) and GRACE HOPPER <hopper@navy.example>
__global__ void lovelace_kernel(int m) // 77001
{
    ada_tile[m] = 0; // adapted, with a mullerian cascade: not names
}
"""


def a_standing() -> Standing:
    """With the name wherever it can be."""
    told = f"{ADA.name} {ADA.login} {ADA.email}"
    finding = RACE.model_copy(update={"line": 4, "launch": "lovelace_kernel<<<1, 1>>>",
                                      "detail": [told]})
    record = make_record(
        [make_test("a", 0, 1, finding=finding, reason=told, output=told)],
        submission=Submission(name=told, path=f"/x/{told}", sha256="0", bytes=9, notes=[told]),
        build=Build(ok=True, message="", file=None, line=0, output=told))
    hand_in = HandIn((PARTNER,), told, CODE.encode(), notes=(told,))
    attempt = Attempt(ADA, hand_in, 1, "0", Path("/results/ada"), record)
    return Standing(ADA, "graded", (attempt,), attempt, 0.0, 0.0, 1.0, needs_human=True,
                    notes=(told,), override=Override("ada", told, extension=1))


def test_nothing_names_a_student(tmp_path: Path) -> None:
    standings, names = without_names([a_standing()], tmp_path)
    (tmp_path / "class").mkdir()
    settings = read_settings(tmp_path / "class", tmp_path / "results")
    write_tables(settings, standings, tmp_path / "results")
    files = [path for path in (tmp_path / "results").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".html", ".md", ".csv"}
    for path in files:
        text = re.sub("adapted|mullerian|cascade", "", path.read_text())
        assert not re.search(SECRET, f"{path.relative_to(tmp_path)} {text}", re.IGNORECASE), path
    assert "Ada Müller-Lovelace" in names and "Student 001" in names


def test_the_numbers_cannot_be_computed_from_names(tmp_path: Path) -> None:
    """Not even where class.toml names the seed; and in one folder they stay."""
    pupils = [Standing(Student(name, name), "missing") for name in map(str, range(50))]
    names = [without_names(pupils, tmp_path / place)[1] for place in ("one", "other", "one")]
    assert names[0] == names[2] != names[1]


def test_all_else_stays() -> None:
    scrub = scrub_for(ADA, HandIn((PARTNER,), ""))
    assert scrub(CODE) == """// ___________________ (_____, _____) and ____________ <___________________>
__global__ void _________kernel(int m) // _____
{
    ____tile[m] = 0; // adapted, with a mullerian cascade: not names
}
"""
    short = Student("Bo Li", "kernel", id="7", login="int")
    code = "int kernel(float b) { return 7; } // Bo Li"
    assert scrub_for(short, HandIn((), ""))(code) == "int kernel(float b) { return 7; } // _____"
