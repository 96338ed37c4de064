"""A roster comes from four systems in any encoding; a hand-in is its author's or nobody's."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from downloads import NAMES, student, table, write

from course.model import Claim, Student
from course.roster import Roster, directory_name, in_order, letters, read_roster, with_folders
from course.errors import BadInput

OWN = "name,id,login,email,section,late_days\n"


def roster(path: Path, text: str, encoding: str = "utf-8") -> list[Student]:
    return read_roster(write(path / "roster.csv", text.encode(encoding)))


def test_our_own_columns_in_any_order(tmp_path: Path) -> None:
    text = "Email,color,LATE_DAYS,Name,login, id ,Section\nada@x.edu,red,3,Ada Lovelace,ada1,0015,B\n"
    assert roster(tmp_path, text) == [Student("Ada Lovelace", "ada1", "0015", "ada1", "ada@x.edu",
                                              "B", late_days=3)]
    assert roster(tmp_path, "login\nada1\n\n,\n") == [Student("", "ada1", login="ada1")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "latin-1", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_as_spreadsheets_write_it(tmp_path: Path, encoding: str, separator: str) -> None:
    text = 'name,login\r\n"Jörg, Müller",jm\r\nZoë,z\r\n'.replace(",", separator, 1)
    text = text.replace('",', f'"{separator}').replace("Zoë,", f"Zoë{separator}")
    found = roster(tmp_path, text, encoding)
    assert [(each.name, each.login) for each in found] == [("Müller Jörg", "jm"), ("Zoë", "z")]


def test_those_of_platforms(tmp_path: Path) -> None:
    """Of Canvas's, rows on assignments and its test student are left out; of Gradescope's, teachers."""
    def read(*rows: list[str]) -> list[Student]:
        return read_roster(table(tmp_path / "roster.csv", *rows))

    ada, cmd = read(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab (7)"],
                    ["", "", "", "", "", "Manual Posting"], ["    Points Possible", "", "", "", "", "100"],
                    ["Lovelace, Ada", "11", "s15", "ada1", "A and B", ""], ['="=cmd()"', "12", "s16", "cmd", "A", "3"],
                    ["Student, Test", "13", "", "c0ffee", "A", ""])
    assert ada == Student("Ada Lovelace", "ada1", "s15", "ada1", section="A and B", canvas_id="11")
    assert cmd.name == "=cmd()"
    [ada] = read(["LastName", "FirstName", "ID", "SIS Login ID", "Section"], ["Lovelace", "Ada", "11", "ada1", "A"])
    assert ada.name == "Ada Lovelace"
    assert read(["Identifier", "Full name", "ID number", "Email address", "Status", "Grade"],
                ["Participant 123", "Ada Lovelace", "s15", "Ada@x.edu", "", ""]) == [
        Student("Ada Lovelace", "Ada", "s15", email="Ada@x.edu", moodle_id="123")]
    assert read(["Identifier", "Status", "Grade", "Grade can be changed"], ["Participant 123", "", "", "Yes"]) == [
        Student("Participant 123", "Participant 123", moodle_id="123")]
    assert read(["First Name", "Last Name", "SID", "Email", "Role", "Section"],
                ["Ada", "Lovelace", "15", "ada@x.edu", "Student", "A"], ["Ta", "Helper", "", "ta@x.edu", "TA", ""]) == [
        Student("Ada Lovelace", "ada", "15", email="ada@x.edu", section="A")]


@pytest.mark.parametrize("text, said", [
    ("color,size\nred,3\n", ", line 1: no column names a student, of color and size; write name"),
    ("", ": the table is empty"), (OWN, ": no student is on this roster"),
    (OWN + "Ada,,ada,,,\nBob,,ADA,,,\n", ", line 3: the login ada is also that of line 2;"),
    (OWN + "Ada,1,a,,,\nBob,1,b,,,\n", ", line 3: the id 1 is also that of line 2;"),
    (OWN + "Ada,,,,,\nada ,,,,,\n", ", line 3: the name ada is also that of line 2;"),
    (OWN + "Ada,,a,,,-1\n", ", line 2: late_days is -1; write a whole number"),
    (OWN + "Ada,,a,,,two\n", ", line 2: late_days is two; write a whole number"),
    (OWN + "Ada,,a,,,9999\n", ", line 2: late_days is 9999; write a whole number"),
    (OWN + "Ada,,a,,,٣\n", ", line 2: late_days is ٣; write a whole number"),
    (OWN + ",,,,B,2\n", ", line 2: names nobody; write a name"),
    (OWN + "Lovelace, Ada,1,a,,B,2\n", ", line 2: 7 cells, and the header has 6; a text with"),
    (OWN + 'Ada,"1,a,,,2\nBob,,b,,,\n', ", line 3: unexpected end of data; is a quotation mark"),
])  # fmt: skip
def test_mistakes_have_a_line_and_a_remedy(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        roster(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/roster.csv{said}") and str(caught.value).isprintable()


def test_no_text(tmp_path: Path) -> None:
    for content in (b"PK\3\4\0\0\0\0", b"name\n\xff\0", b"a" * 10 + b"\0" * 9):
        with pytest.raises(BadInput, match="not a text file|no column"):
            read_roster(write(tmp_path / "roster.csv", content))
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(BadInput, match="directory"):
            read_roster(path)


@given(content=st.binary(max_size=200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = write(tmp_path_factory.getbasetemp() / "any.csv", b"name,login\n" + content)
    try:
        read_roster(path)
    except BadInput as error:
        assert str(error).isprintable()


STRANGE = [*NAMES, "ada", "Ada", "ada ", "a/b", "a_b", "", "unknown", ".", "..", "a" * 300 + "b"]


@given(names=st.lists(st.text(max_size=100), max_size=8, unique=True))
@example(names=STRANGE)
def test_folders_are_names_of_one_directory_and_unique(names: list[str]) -> None:
    roster = Roster([])
    strangers = [roster.student_of(Claim(name=name)) for name in names]
    for each in (with_folders([student(name, "x") for name in names]), strangers):
        assert len({who.folder.casefold() for who in each}) == len(names)
        assert all(who.folder == directory_name(who.folder) for who in each)
    assert names != STRANGE or strangers[0].folder == "Ada Lovelace"


def test_folders_do_not_depend_on_the_order() -> None:
    """Else a new roster would exchange two students' results."""
    rows = [student(name, "x", login=login) for name, login in (("A", "a/b"), ("B", "a_b"), ("C", "c"))]
    found, other = ({each.name: each.folder for each in with_folders(order)} for order in (rows, rows[::-1]))
    assert found == other and found["C"] == "c" and len({*found.values()}) == 3


ADA = student("Ada King Lovelace", "ada", id="15", login="al1", email="ada@x.edu", canvas_id="7", moodle_id="9")
BOB = student("Bob Hopper", "bob", id="16", login="bh1", email="bob@x.edu", canvas_id="8")
JOERG = student("Jörg Müller", "joerg")


@pytest.mark.parametrize("claim", [
    Claim(id="15"), Claim(login="AL1"), Claim(email="ADA@x.edu"), Claim(canvas_id="7"),
    Claim(moodle_id="9"), Claim(name="Participant 9", moodle_id="9"),
    Claim(name="Ada King Lovelace"), Claim(name="ada  king LOVELACE"),
    Claim(name="Lovelace, Ada King"), Claim(name="lovelaceadaking"), Claim(name="King Lovelace Ada"),
    *(Claim(word=word) for word in ("15", "al1", "ada@x.edu", "ada", "7", "9", "lovelace_ada-king")),
    Claim(name="Somebody Else", canvas_id="7"), Claim(name="Jörg Müller", canvas_id="7"),
    Claim(id="15", email="other@x.edu"),
])  # fmt: skip
def test_whose_it_is(claim: Claim) -> None:
    assert Roster([ADA, BOB, JOERG]).match(claim) is ADA


def test_accents() -> None:
    for name in ("Jorg Muller", "JÖRG MÜLLER", "Müller, Jörg", "mullerjorg", "Mu\u0308ller Jo\u0308rg", "müllerjörg"):
        assert Roster([ADA, JOERG]).match(Claim(name=name)) is JOERG


@pytest.mark.parametrize("claim", [
    Claim(), Claim(name="Ada"), Claim(word="1"), Claim(word=""), Claim(name="Ada Lovelace"),
    Claim(id="15", login="bh1"),  # of two
    Claim(name="Ada King Lovelace", canvas_id="1000"),  # another of this name
    Claim(name="Group A", moodle_id="9"),  # Moodle's number of a group
    Claim(name="Bob Hopper", id="15", canvas_id="8"),
])  # fmt: skip
def test_whose_it_is_not(claim: Claim) -> None:
    assert Roster([ADA, BOB, JOERG]).match(claim) is None


def test_two_of_one_name_never_get_each_others_points() -> None:
    first, second = student("Wei Chen", "wc1", login="wc1"), student("Wei Chen", "wc2", login="wc2")
    both = Roster([first, second])
    for claim in (Claim(name="Wei Chen"), Claim(name="chenwei"), Claim(word="wei chen"),
                  Claim(name="Wei Chen", login="wc3")):
        assert both.match(claim) is None
    assert both.match(Claim(name="Wei Chen", login="wc2")) is second
    claim = Claim(name="Wei Chen", canvas_id="5")
    who = both.student_of(claim)
    assert not who.enrolled and who.canvas_id == "5" and who.folder not in ("wc1", "wc2")
    assert both.reason(claim) == "could be either of Wei Chen (wc1) and Wei Chen (wc2)"


def test_who_is_on_no_roster_is_not_enrolled() -> None:
    claims = [Claim(word="ada"), Claim(word="eve"), Claim(name="Eve", email="eve@x.edu"),
              Claim(word="bob", name="Bobby"), Claim(word="eve")]
    roster = Roster([ADA, BOB])
    ada, eve, other, bob, again = map(roster.student_of, claims)
    assert ada is ADA and bob is BOB and again is eve
    assert (eve.name, eve.folder, eve.enrolled) == ("eve", "eve", False)
    assert Roster([]).student_of(claims[1]).enrolled, "without a roster everybody is"
    assert roster.reason(claims[1]) == "not on the roster"
    assert other.email == "eve@x.edu" and other.folder.casefold() != eve.folder.casefold()
    assert roster.students == [ADA, BOB]
    who = Roster([student("Ada", "Eve", login="x")]).student_of(Claim(email="eve@y", canvas_id="1"))
    assert not who.enrolled and who.folder.startswith("eve-"), "it is not the folder of a student"


@given(names=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=6), pick=st.integers(0, 5))
def test_any_name_is_found_or_could_be_another(names: list[str], pick: int) -> None:
    students = [student(name, str(place), login=f"student {place}") for place, name in enumerate(names)]
    mine = students[pick % len(students)]
    roster = Roster(students)
    assert roster.match(Claim(name=mine.name)) in (mine, None)
    assert not letters(in_order(mine.name)) or mine in roster.candidates(Claim(name=mine.name))
    assert roster.match(Claim(name=mine.name, login=mine.login)) is mine
