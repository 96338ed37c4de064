"""Canvas's download and gradebook, in the shape that its content_zipper.rb and gradebook_exporter.rb
write and gradebook_importer.rb reads."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from downloads import KERNEL, NAMES, alone, cells, excused, got, graded, student, table, write, zipped

from course import canvas, output
from course.gather import gather
from course.jobs.results import Results
from course.model import Claim, HandIn
from course.roster import read_roster
from course.errors import BadInput
from course.settings import read_settings


def download(path: Path, *names: str) -> list[HandIn]:
    return got(zipped(path / "submissions.zip", *((name, KERNEL) for name in names)))


@pytest.mark.parametrize("name, squeezed, user, late", [
    ("lovelaceada_7_100_kernel.cu", "lovelaceada", "7", False),
    ("lovelaceada_LATE_7_100_kernel.cu", "lovelaceada", "7", True),
    ("lovelaceada_7_100_kernel-2.cu", "lovelaceada", "7", False),
    ("lovelaceada_7_100_my_1_2_kernel.cu", "lovelaceada", "7", False),
    ("müllerjörg_7_100_Kernel.CU", "müllerjörg", "7", False),
    ("王小明_7_100_my solution.cu", "王小明", "7", False),
    ("under_score_7_100_=cmd().cu", "under_score", "7", False),
    ("7_100_kernel.cu", "", "7", False),  # of a name without any letter
])  # fmt: skip
def test_names(tmp_path: Path, name: str, squeezed: str, user: str, late: bool) -> None:
    [found] = download(tmp_path, name)
    assert found.claims == (Claim(name=squeezed, canvas_id=user),)
    assert found.late is late and found.submitted is None and alone(found) == KERNEL
    assert found.source == f"submissions.zip: {name}"


def test_anonymous_ones_have_a_code(tmp_path: Path) -> None:
    """Which is not a user's number, even if it is one."""
    late, other = download(tmp_path, "anon_A1b2C_100_kernel.cu", "LATE_anon_12345_100_kernel.cu")[::-1]
    assert late.claims == (Claim(word="anon_12345"),) and late.late
    assert other.claims == (Claim(word="anon_A1b2C"),) and not other.late


def test_several_files_are_one_submission(tmp_path: Path) -> None:
    ada, bob, eve = download(
        tmp_path, "lovelaceada_7_100_report.pdf", "lovelaceada_7_101_kernel-1.cu",
        "lovelaceada_7_102_helper.cu", "hopperbob_8_103_kernel.cu", "hopperbob_8_104_kernel-1.cu",
        "eve_9_text.html")
    assert {name for name, _ in ada.files} == {"report.pdf", "kernel.cu", "helper.cu"}
    assert ada.source == "submissions.zip: user 7"
    assert [name for name, _ in bob.files] == ["hopperbob_8_103_kernel.cu", "hopperbob_8_104_kernel-1.cu"]
    assert bob.claims == (Claim(name="hopperbob", canvas_id="8"),)
    assert eve.problem == "no file was handed in" and eve.claims[0].canvas_id == "9"
    assert eve.notes == ("ignored: what was typed into Canvas",)
    [own] = download(tmp_path, "lovelaceada_7_100_text.html")  # an uploaded file of that name
    assert own.claims[0].canvas_id == "7" and [name for name, _ in own.files] == ["text.html"]


def test_odd_names_of_users(tmp_path: Path) -> None:
    """With a dot in front it is a row, but a hidden file is none. User 9, "hopperbob_8", looks like user 8,
    "hopperbob": that one's kernel.cu stays the one that is taken, and where there is none, a note says it."""
    ada, bob = download(tmp_path, "hopperbob_8_103_.kernel.cu", ".ada_7_100_kernel.cu")[::-1]
    assert ada.claims == (Claim(name=".ada", canvas_id="7"),) and alone(ada) == KERNEL
    assert bob.problem == "no file was handed in" and bob.notes == ("ignored: .kernel.cu, hidden",)
    own, other = "hopperbob_8_55_kernel.cu", "hopperbob_8_9_100_kernel.cu"
    [bob] = got(zipped(tmp_path / "submissions.zip", (other, b"other"), (own, KERNEL)))
    assert alone(bob) == KERNEL and bob.claims[0].canvas_id == "8"
    [bob] = download(tmp_path, other)
    assert bob.notes == (f"{other} may also be another user's, whose name ends in _8",)


HEADER = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Quiz (50)",
          "Matrix, product (51)", "Assignments Current Score", "Final Grade"]
ADA = student("Ada Lovelace", "ada1", login="ada1", canvas_id="7")
BOB = student("Bob Hopper", "bh", login="bh", canvas_id="8")


def gradebook(path: Path, *rows: list[str]) -> Path:
    return table(path / "gradebook.csv", HEADER,
                 ["", "", "", "", "", "", "Manual Posting", "", ""],
                 ["    Points Possible", "", "", "", "", "10", "100", "(read only)", "(read only)"],
                 *rows)


ROWS = [["Lovelace, Ada", "7", "s7", "ada1", "A and B", "1", "", "50", "F"],
        ["Hopper, Bob", "8", "s8", "bh", "A", "2", "33", "60", "E"],
        ["Else, Somebody", "9", "s9", "else", "A", "3", "12.5", "70", "D"],
        ["Student, Test", "10", "", "c0ffee", "A", "", "", "", ""]]


def test_a_run_that_was_stopped_leaves_nothing_to_import(tmp_path: Path) -> None:
    gradebook(tmp_path, *ROWS)
    (tmp_path / "class.toml").write_text('canvas = "gradebook.csv"\nassignment = "Matrix, product"\n')
    settings, results = read_settings(tmp_path), tmp_path / "results"
    output.write_all(settings, [graded(ADA, 87.0)], results)
    assert results / "canvas.csv" in output.places(settings)
    notes = output.write_all(settings, [graded(ADA, 87.0), graded(BOB, None)], results, stopped=True)
    assert notes == ["canvas.csv is not written before all are graded"]
    assert not (results / "canvas.csv").exists() and (results / "gradebook.csv").exists()
    assert results / "canvas.csv" not in output.places(settings)


def test_what_an_earlier_run_left_is_removed(tmp_path: Path) -> None:
    """Pages of who is no longer in the class, and what class.toml no longer asks for."""
    gradebook(tmp_path, *ROWS)
    (tmp_path / "class.toml").write_text('canvas = "gradebook.csv"\nassignment = "51"\nleaderboard = true\n')
    results = tmp_path / "results"
    asked = read_settings(tmp_path)
    output.write_all(asked, [graded(student("bob smith"), 25.0), graded(student("leaderboard"), 1.0)], results)

    def written() -> set[str]:
        return {path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()}

    tables = {"gradebook.csv", "attempts.csv", "class.md", "class.html"}
    pages = {"feedback/bob smith.html", "feedback/leaderboard.html"}
    assert written() == {*tables, *pages, "canvas.csv", "leaderboard.html"}
    output.write_all(asked, [graded(student("Bob Smith", "bsmith"), 25.0)], results)
    assert written() == {*tables, "feedback/bsmith.html", "canvas.csv", "leaderboard.html"}
    (tmp_path / "class.toml").write_text("")
    output.write_all(read_settings(tmp_path), [graded(student("leaderboard"), 1.0)], results)
    assert written() == {*tables, "feedback/leaderboard.html"}


def test_without_a_roster_the_gradebook_is_one(tmp_path: Path) -> None:
    gradebook(tmp_path, *ROWS)
    (tmp_path / "class.toml").write_text('canvas = "gradebook.csv"\nassignment = "51"\n')
    for name in ("ada1", "bh"):
        write(tmp_path / "submissions" / f"{name}.cu")
    asked = read_settings(tmp_path)
    standings = [replace(each, points=5.0) for each in gather(asked, Results(tmp_path / "results")).standings(None)
                 if each.attempts]
    assert [each.student.name for each in standings] == ["Ada Lovelace", "Bob Hopper"]
    assert asked.canvas
    content, notes = canvas.fill(asked.canvas, standings, "51")
    assert notes == [] and [row[5] for row in cells(content)[3:5]] == ["5", "5"]


def test_points_go_into_their_column(tmp_path: Path) -> None:
    """Only what Canvas needs is there; who has no points of ours keeps Canvas's, because an empty
    cell would delete them."""
    content, notes = canvas.fill(gradebook(tmp_path, *ROWS), [graded(ADA, 87.456), graded(BOB, None)],
                                 "Matrix, product")
    assert cells(content) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Matrix, product (51)"],
        ["", "", "", "", "", "Manual Posting"], ["    Points Possible", "", "", "", "", "100"],
        ["Lovelace, Ada", "7", "s7", "ada1", "A and B", "87.46"],
        ["Hopper, Bob", "8", "s8", "bh", "A", "33"],
        ["Else, Somebody", "9", "s9", "else", "A", "12.5"],
        ["Student, Test", "10", "", "c0ffee", "A", ""],
    ]
    assert notes == []


@pytest.mark.parametrize("cell", ["N/A", "N/A ", " N/A"])  # as a spreadsheet may leave it
def test_excused_zero_and_not_assigned(tmp_path: Path, cell: str) -> None:
    rows = [row.copy() for row in ROWS]
    rows[2][6] = cell
    other = student("Somebody Else", "else", canvas_id="9")
    content, notes = canvas.fill(gradebook(tmp_path, *rows), [excused(ADA), graded(BOB, 0.0),
                                                              graded(other, 5.0)], "51")
    assert [row[5] for row in cells(content)[3:]] == ["EX", "0", cell, ""]
    assert notes == ["Somebody Else (else), 5 points: the assignment is not assigned to them in Canvas"]


def test_whose_points_are_in_no_row_is_noted(tmp_path: Path) -> None:
    """And where a row could be of two students, or two rows of one, each stays as it was."""
    strangers = [student("Eve Stranger", "eve"), student("Ada Lovelace", "ada2", login="ada2")]
    standings = [graded(ADA, 50, possible=40), *(graded(each, 1) for each in strangers),
                 graded(student("Zoe", "zoe"), None)]
    content, notes = canvas.fill(gradebook(tmp_path, *ROWS), standings, "51")
    assert cells(content)[3][5] == "50"
    assert notes == ["Points Possible is 100, and here it is 100 or 40",
                     "Eve Stranger (eve), 1 points: no row matches",
                     "Ada Lovelace (ada2), 1 points: no row matches"]
    twins = [graded(student("Ada Lovelace", f"ada{number}"), number) for number in (1, 2)]
    content, notes = canvas.fill(gradebook(tmp_path, *ROWS), twins, "51")
    assert cells(content)[3][5] == ""
    assert notes[0] == ("line 4, Ada Lovelace: could be either of Ada Lovelace (ada1) and Ada Lovelace "
                        "(ada2); left as it was")
    rows = [["Doe, Jo", str(number), f"s{number}", f"jo{number}", "A", "", "", "", ""] for number in (1, 2)]
    content, notes = canvas.fill(gradebook(tmp_path, *rows), [graded(student("Jo Doe", "jo"), 5)], "51")
    assert [row[5] for row in cells(content)[3:]] == ["", ""]
    assert notes == ["Jo Doe (jo), 5 points: more than one row could be theirs"]


def test_names_stay_as_canvas_wrote_them(tmp_path: Path) -> None:
    """Canvas matches them by value, so nothing is defused that came from it."""
    names = ['="=cmd()"', *NAMES]
    rows = [[name, str(place + 100), f"s{place}", f"-l{place}", "@A", "", "", "", ""]
            for place, name in enumerate(names)]
    path = gradebook(tmp_path, *rows)
    students = read_roster(path)
    content, notes = canvas.fill(path, [graded(each, 1) for each in students], "51")
    assert notes == [] and len(students) == len(names)
    assert cells(content)[3:] == [[*row[:5], "1"] for row in rows]


def test_other_forms_of_the_header(tmp_path: Path) -> None:
    """As the importer reads it: names in two columns, further numbers, semicolons."""
    path = table(tmp_path / "g.csv",
                 ["LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Integration ID",
                  "Root Account", "Section", "Notes", "Lab (5)"],
                 ["    Points Possible", "", "", "", "", "", "", "", "", "100,00"],
                 ["Lovelace", "Ada", "7", "s", "ada1", "i", "x.edu", "A", "n", ""], delimiter=";")
    content, notes = canvas.fill(path, [graded(ADA, 4.5)])
    assert cells(content)[2] == ["Lovelace", "Ada", "7", "s", "ada1", "i", "x.edu", "A", "4.5"]
    assert notes == []
    path = table(tmp_path / "g.csv", ["Student", "ID", "Section", "Lab (5)"], ["Lovelace, Ada", "7", "A", "3"])
    assert canvas.fill(path, [graded(ADA, 4.5)]).content == (
        b'Student,ID,Section,Lab (5)\n"Lovelace, Ada",7,A,4.5\n')


def test_what_cannot_be_filled(tmp_path: Path) -> None:
    both = "name one of Quiz (50) and Matrix, product (51)"
    for assignment, said in (("", f"2 columns of assignments are called anything; {both}"),
                             ("Lab", f"no assignment is called Lab; {both}"),
                             ("Final Grade", "no assignment is called Final Grade")):
        with pytest.raises(BadInput, match=re.escape(said)):
            canvas.fill(gradebook(tmp_path, *ROWS), [graded(ADA, 1)], assignment)
    for header in (["Identifier", "Full name", "Section"], ["name"], ["Student", "ID", "Lab (5)"]):
        with pytest.raises(BadInput, match="line 1: not the expected table"):
            canvas.fill(table(tmp_path / "g.csv", header, ["a"] * len(header)), [])
    path = table(tmp_path / "g.csv", ["Student", "ID", "Section", "Total (5)"],
                 ["Points Possible", "", "", "(read only)"])
    with pytest.raises(BadInput, match="line 2: this column is read-only"):
        canvas.fill(path, [])
