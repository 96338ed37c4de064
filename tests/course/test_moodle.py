"""Moodle's download and grading worksheet, in the shape that mod/assign writes and reads."""

import zipfile
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from downloads import KERNEL, NAMES, UTC, alone, cells, excused, got, graded, student, table, zipped

from course import moodle
from course.gather import gather
from course.jobs.results import Results
from course.model import Claim, Standing
from course.roster import read_roster
from course.errors import BadInput
from course.settings import read_settings


@pytest.mark.parametrize("name", [
    "Ada Lovelace_123_assignsubmission_file/kernel.cu",
    "Ada Lovelace_123_assignsubmission_file_/kernel.cu",
    "Ada Lovelace_123_assignsubmission_file_/my work/src/kernel.cu",
    "Ada Lovelace_123_assignsubmission_file_kernel.cu",
    "Ada Lovelace_123_assignsubmission_file_solution.cu",
    # The name of a file is not another student's.
    *(f"Ada Lovelace_123_assignsubmission_file{between}Eve_1_assignsubmission_file_kernel.cu"
      for between in ("_", "/", "_/")),
])
def test_folders_and_flat_files(tmp_path: Path, name: str) -> None:
    [found] = got(zipped(tmp_path / "CS1-Lab-77.zip", (name, KERNEL)))
    assert found.claims == (Claim(name="Ada Lovelace", moodle_id="123"),)
    assert alone(found) == KERNEL and found.submitted is None and found.late is None
    assert found.source == "CS1-Lab-77.zip: Ada Lovelace_123"


def test_what_was_typed_is_ignored(tmp_path: Path) -> None:
    ada, bob = got(zipped(tmp_path / "m.zip",
                          ("Ada_1_assignsubmission_file/kernel.cu", KERNEL),
                          ("Ada_1_assignsubmission_onlinetext/onlinetext.html", b"<p>"),
                          ("Bob_2_assignsubmission_onlinetext/onlinetext.html", b"<p>")))
    assert ada.files and ada.notes == ("ignored: onlinetext, typed into Moodle",)
    assert bob.problem == "no file was handed in" and bob.claims[0].moodle_id == "2"


def test_names(tmp_path: Path) -> None:
    """Moodle's clean_filename() leaves no slash in them."""
    names = [name for name in NAMES if "/" not in name]
    found = got(zipped(tmp_path / "m.zip", *(
        (f"{name}_{number}_assignsubmission_file/kernel.cu", KERNEL)
        for number, name in enumerate(names, 1))))
    assert [each.claims[0] for each in found] == [
        Claim(name=name, moodle_id=str(number)) for number, name in enumerate(names, 1)]
    [blind] = got(zipped(tmp_path / "m.zip", ("Participant_5_assignsubmission_file/kernel.cu", KERNEL)))
    assert blind.claims == (Claim(moodle_id="5"),)


@pytest.mark.parametrize("unpack", [False, True])
def test_a_name_with_a_dot_in_front_is_a_row(tmp_path: Path, unpack: bool) -> None:
    """The student's, who is taken; or the file's, which is hidden, and not."""
    path = zipped(tmp_path / "m.zip",
                  (".Ada_1_assignsubmission_file/kernel.cu", KERNEL),
                  ("Bob_2_assignsubmission_file/.kernel.cu", KERNEL),
                  ("Eve_3_assignsubmission_file/kernel.cu", KERNEL),
                  ("Eve_3_assignsubmission_file/._kernel.cu", b"x"),
                  ("Eve_3_assignsubmission_file/.git/config", b"x"),
                  ("Eve_3_assignsubmission_file/.notes", b"x"),
                  ("._Mia_4_assignsubmission_file_kernel.cu", b"x"),
                  ("__MACOSX/Mia_4_assignsubmission_file/kernel.cu", b"x"))
    if unpack:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(tmp_path / "m")
        table(tmp_path / "m" / "Grades-CS1-Lab-77.csv", ["Identifier"])
    ada, bob, eve = sorted(got(tmp_path / "m" if unpack else path), key=lambda each: each.claims[0].moodle_id)
    assert ada.claims[0].name == ".Ada" and alone(ada) == KERNEL
    assert bob.problem == "no file was handed in"
    assert bob.notes == ("ignored: .kernel.cu, hidden",)
    assert alone(eve) == KERNEL and eve.notes == ("ignored: .notes, hidden",)


HEADER = ["Identifier", "Full name", "ID number", "Email address", "Status", "Grade",
          "Maximum Grade", "Grade can be changed", "Last modified (submission)",
          "Last modified (grade)", "Feedback comments"]
ADA = student("Ada Lovelace", "ada", id="s1", email="ada@x.edu")
BOB = student("Bob Hopper", "bob", moodle_id="2")
DATE = "Friday, 20 November 2026, 11:10 PM"


def row(number: int, name: str, *, email: str = "", grade: str = "", most: str = "100.00",
        change: str = "Yes", date: str = DATE, comments: str = "") -> list[str]:
    return [f"Participant {number}", name, f"s{number}", email, "Submitted for grading", grade, most,
            change, date, "-", comments]


def worksheet(path: Path, *rows: list[str]) -> Path:
    return table(path / "Grades.csv", HEADER, *rows)


def test_grades_and_feedback(tmp_path: Path) -> None:
    rows = [row(1, "Ada Lovelace", comments="<p>old</p>"), row(2, "Bob Hopper", comments="kept"),
            row(3, "Somebody Else", grade="5.00"), row(4, "No Points", grade="6.00")]
    late = Standing(ADA, "graded", points=80.5, possible=100, late="1 day late, 10 % deducted")
    content, notes = moodle.fill(worksheet(tmp_path, *rows), [
        late, graded(BOB, 0), graded(student("No Points", "np"), None)])
    rows[0][5], rows[0][10], rows[1][5] = "80.5", "1 day late, 10 % deducted", "0"
    assert cells(content) == [HEADER, *rows] and notes == []


def test_feedback_is_html_and_no_formula(tmp_path: Path) -> None:
    """A student's words may be in it."""
    path = worksheet(tmp_path, row(1, "Ada Lovelace"))
    for said, cell in (("=1+1", "'=1+1"), ("<script>&\nx", "&lt;script&gt;&amp;<br />x"),
                       ("+1", "'+1"), ("\tx", "'\tx"), ("fine", "fine")):
        content, _ = moodle.fill(path, [graded(ADA, 1)], lambda _, said=said: said)
        assert cells(content)[1][10] == cell


def test_rows_that_moodle_would_not_take_stay(tmp_path: Path) -> None:
    rows = [row(1, "Ada Lovelace", change="No", grade="1.00", comments="old"),
            row(2, "Bob Hopper", most="40.00", grade="2.00"), row(3, "Eve", grade="3.00")]
    standings = [graded(ADA, 90, late="late"), graded(BOB, 90), excused(student("Eve", "eve")),
                 graded(student("Nobody", "nobody"), 7)]
    content, notes = moodle.fill(worksheet(tmp_path, *rows), standings)
    assert cells(content) == [HEADER, *rows]
    assert notes == [
        "Ada Lovelace (ada), 90 points: Moodle says that the grade cannot be changed",
        "Bob Hopper (bob), 90 points: above Moodle's maximum grade 40, which Moodle would skip",
        "Eve (eve), excused: a worksheet cannot excuse; do it in Moodle",
        "Nobody (nobody), 7 points: no row matches"]


def test_everything_else_stays(tmp_path: Path) -> None:
    """With blind marking, and with newer columns, too."""
    rows = [row(number, name, email=f"=e{number}@x", comments='"a"\n,;') for number, name in enumerate(NAMES, 1)]
    path = worksheet(tmp_path, *rows)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    content, notes = moodle.fill(path, [graded(each, 1) for each in read_roster(path)])
    assert cells(content) == [HEADER, *([*each[:5], "1", *each[6:]] for each in rows)] and notes == []
    blind = [["Identifier", "Status", "Marker", "Grade", "Maximum grade", "Marking workflow state",
              "Grade can be changed", "Last modified (submission)", "Last modified (grade)"],
             ["Participant 2", "", "m", "", "100,00", "", "Yes", DATE, "-"]]
    content, notes = moodle.fill(table(tmp_path / "w.csv", *blind), [graded(BOB, 3.25, late="late")])
    assert cells(content)[1][3] == "3.25" and notes == []


@pytest.mark.parametrize("header, said", [
    (["Identifikator", "Vollständiger Name", "Bewertung"], "no column names a student"),
    (["Identifier", "Full name", "Status"], "or it has no column Grade; download the grading worksheet"),
    (["name", "Grade"], "not the expected table"),
    (["Identifier", "Full name", "Grade", "Scale"], "by a scale; set its type to Point"),
])  # fmt: skip
def test_another_table(tmp_path: Path, header: list[str], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        moodle.fill(table(tmp_path / "w.csv", header), [])
    assert said in str(caught.value)


def test_dates_in_english() -> None:
    for text in (DATE, "Friday, November 20, 2026, 11:10 PM", "20 November 2026, 11:10 PM",
                 "Friday, 20 November 2026, 11:10\u202fPM", "Friday, 20 November 2026, 23:10"):
        assert moodle.time_of(text, UTC) == datetime(2026, 11, 20, 23, 10, tzinfo=UTC)
    for text in ("", "-", "Freitag, 20. Dezember 2026, 23:10", "tomorrow"):
        assert moodle.time_of(text, UTC) is None


def test_times_of_hand_ins(tmp_path: Path) -> None:
    zone = ZoneInfo("Europe/Vienna")
    sheet = worksheet(tmp_path, row(1, "Ada Lovelace"), row(2, "Bob", date="-"), row(4, "Dan Dare"),
                      row(5, "Eve Ho"))
    handed_in = tmp_path / "submissions"
    handed_in.mkdir()
    zipped(tmp_path / "m.zip", *((f"{name}_{number}_assignsubmission_file/kernel.cu", KERNEL)
                                 for number, name in ((1, "Ada Lovelace"), (2, "Bob"), (3, "C"))))
    for name in ("Dan Dare", "Eve Ho/2026-11-01_10-00-00", "Eve Ho/2026-11-02_10-00-00"):
        (handed_in / name).mkdir(parents=True)
        (handed_in / name / "kernel.cu").write_bytes(KERNEL + name.encode())
    (tmp_path / "class.toml").write_text(
        f'submissions = ["m.zip", "submissions"]\ntimezone = "Europe/Vienna"\nmoodle = "{sheet.name}"\n')
    found = gather(read_settings(tmp_path), Results(tmp_path / "results"))
    by_name = {student.name: found.handed_in[student.folder] for student in found.students}
    when = datetime(2026, 11, 20, 23, 10, tzinfo=zone)
    assert [each.submitted for each in by_name["Ada Lovelace"]] == [when]
    assert by_name["Bob"][0].submitted is by_name["C"][0].submitted is None
    assert [each.submitted for each in by_name["Dan Dare"]] == [when], "a folder has it, too"
    assert {*found.names().values()} >= {"Eve Ho, attempt 1", "Eve Ho, attempt 2"}
    assert when not in [each.submitted for each in by_name["Eve Ho"]], "which of two is not known"
