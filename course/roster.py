"""Who is in the class, and whose a hand-in is.

A roster is a CSV file of our own (columns name, id, login, email, section, late_days, in any order,
others ignored), or what a platform exports, known by its header:

    Canvas       gradebook: Student, ID, SIS User ID, SIS Login ID, Section, ... (canvas.py)
    Moodle       grading worksheet: Identifier, Full name, Email address, ... (moodle.py)
    Gradescope   roster or grades: Name or First Name and Last Name, SID, Email, ... (gradescope.py)

Names and identifiers are matched without regard to case. What could be either of two students is
nobody's: no points ever go to the wrong one of them.
"""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from .errors import BadInput
from .model import Claim, Student
from .table import Table, read_table, simple
from .text import listed, one_line, printable

IDENTIFIERS = ("login", "id", "email", "canvas_id", "moodle_id")  # unique in a class
MOST_LATE_DAYS = 365
LONGEST_NAME = 80  # bytes of a folder's name
HASH_LENGTH = 8  # hexadecimal digits: against accidents, which are no attacks


@dataclass(frozen=True)
class Columns:
    """What a kind of roster calls them; the first name that there is counts."""

    name: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    login: tuple[str, ...] = ()
    email: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    canvas_id: tuple[str, ...] = ()
    moodle_id: tuple[str, ...] = ()
    late_days: tuple[str, ...] = ()


OWN = Columns(name=("name",), id=("id",), login=("login",), email=("email",),
              section=("section",), late_days=("late_days", "late days"))
CANVAS = Columns(name=("Student",), last=("LastName",), first=("FirstName",), canvas_id=("ID",),
                 id=("SIS User ID",), login=("SIS Login ID",), section=("Section",))
MOODLE = Columns(name=("Full name",), moodle_id=("Identifier",), id=("ID number",),
                 login=("Username",), email=("Email address",))
GRADESCOPE = Columns(name=("Name", "Full Name"), first=("First Name",), last=("Last Name",),
                     id=("SID", "Student ID"), email=("Email",), section=("Section", "Sections"))


# ---- reading -------------------------------------------------------------------------------------


def read_roster(path: Path) -> list[Student]:
    """In the file's order. Raises BadInput: with the line, what is wrong with it, what to do."""
    table = read_table(path)
    found = rows_of(table, columns_of(table))
    refuse_twins(table, found)
    if not found:
        raise BadInput(f"{path}: no student is on this roster")
    return with_folders([student for _, student in found])


def columns_of(table: Table) -> Columns:
    """The kind of roster. Raises BadInput."""
    names = [simple(column) for column in table.columns]
    if names[1:2] == ["id"] and names[0] == "student" or names[:2] == ["lastname", "firstname"]:
        return CANVAS
    if "identifier" in names and {"full name", "grade can be changed"} & set(names):
        return MOODLE
    if {"sid", "email"} <= set(names):
        return GRADESCOPE
    if {"name", "login", "email", "id"} & set(names):
        return OWN
    raise table.refuse(1, f"no column names a student, of {listed(table.columns)}; write name, login, "
                       "email or id into the first line, or take a roster that Canvas, Moodle or "
                       "Gradescope exported")


def rows_of(table: Table, columns: Columns) -> list[tuple[int, Student]]:
    """Of each row that is a student, its line, and the student, whose folder isn't named yet. Raises
    BadInput."""
    places = {each.name: table.column(*getattr(columns, each.name)) for each in fields(columns)}
    role = table.column("Role")
    found = []
    for line, cells in table.rows:
        cell = {name: "" if place is None else cells[place].strip()
                for name, place in places.items()}
        if columns is CANVAS and not of_a_student(cell):
            continue
        if columns is GRADESCOPE and role is not None and simple(cells[role]) != "student":
            continue
        student = student_of(table, line, cell)
        if not (student.name or any(getattr(student, field) for field in IDENTIFIERS)):
            raise table.refuse(line, "names nobody; write a name, login, email or id, or delete it")
        found.append((line, student))
    return found


def of_a_student(cell: dict[str, str]) -> bool:
    """Canvas's gradebook also has a row or two on the assignments, and one of a student who is a
    test, without an identifier of the institution."""
    name = cell["name"] or cell["last"]
    test = simple(cell["name"]) == "student, test" and not cell["id"]
    return bool(cell["canvas_id"] or cell["login"]) and name != "Points Possible" and not test


def student_of(table: Table, line: int, cell: dict[str, str]) -> Student:
    digits = re.search(r"\d+$", cell["moodle_id"])  # Participant 123; all there is if marking is blind
    return Student(
        name=(in_order(unquoted(cell["name"])) or f"{cell['first']} {cell['last']}".strip()
              or cell["moodle_id"]),
        folder="", id=cell["id"], login=cell["login"], email=cell["email"],
        section=cell["section"], canvas_id=cell["canvas_id"],
        moodle_id=digits.group() if digits else "",
        late_days=late_days(table, line, cell["late_days"]))


def late_days(table: Table, line: int, text: str) -> int | None:
    if not text:
        return None
    if re.fullmatch("[0-9]{1,3}", text) and int(text) <= MOST_LATE_DAYS:
        return int(text)
    raise table.refuse(line, f"late_days is {one_line(text, 40)}; write a whole number from 0 to "
                       f"{MOST_LATE_DAYS}, or nothing")


def unquoted(name: str) -> str:
    """Canvas writes ="=name" where a name begins with an equals sign."""
    return name[2:-1] if name.startswith('="') and name.endswith('"') else name


def in_order(name: str) -> str:
    """Lovelace, Ada: Ada Lovelace."""
    last, _, first = name.partition(",")
    return " ".join(f"{first} {last}".split())


def refuse_twins(table: Table, found: Sequence[tuple[int, Student]]) -> None:
    """Two rows with one identifier, or of whom nothing but the same name is known. Raises
    BadInput."""
    seen: dict[tuple[str, str], int] = {}
    for line, student in found:
        keys = [(field, key) for field in IDENTIFIERS if (key := folded(getattr(student, field)))]
        for field, key in keys or [("name", letters(student.name))]:
            if (field, key) in seen:
                raise table.refuse(line, f"the {field} {one_line(key, 80)} is also that of line "
                                   f"{seen[field, key]}; each student needs one row, and a login, "
                                   "email or id of their own")
            seen[field, key] = line


# ---- folders -------------------------------------------------------------------------------------


def with_folders(students: Sequence[Student]) -> list[Student]:
    """The same students, each with the name of a folder. Where several would get the same one, a
    hash of who they are is appended to each of these: none depends on the order."""
    wanted = [directory_name(called(student)) for student in students]
    count = Counter(name.casefold() for name in wanted)
    return [replace(student, folder=name if count[name.casefold()] == 1 else hashed(name, student))
            for student, name in zip(students, wanted, strict=True)]


def directory_name(text: str) -> str:
    """`text` with as few changes as make it a name that is easily typed, of one directory."""
    kept = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in printable(text))
    shortened = kept.strip().lstrip(".").encode()[:LONGEST_NAME].decode("utf-8", "ignore").strip()
    return shortened or "submission"


def called(student: Student) -> str:
    return student.login or student.email.partition("@")[0] or student.name


def hashed(name: str, student: Student) -> str:
    who = repr([getattr(student, field) for field in (*IDENTIFIERS, "name")])
    digest = hashlib.sha256(who.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]
    room = LONGEST_NAME - HASH_LENGTH - 1
    return f"{name.encode()[:room].decode('utf-8', 'ignore').rstrip()}-{digest}"


# ---- matching ------------------------------------------------------------------------------------


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()


def letters(name: str) -> str:
    """Letters and digits alone, without accents, as names come squeezed (Canvas: lovelaceada)."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    kept = "".join(c for c in plain if c.isalnum())
    return kept or " ".join(plain.split())


def orders(name: str) -> set[str]:
    """A name as it may be written: Ada Lovelace, Lovelace Ada."""
    words = in_order(name).split()
    return {letters(" ".join(words[place:] + words[:place])) for place in range(len(words))}


class Roster:
    """The students, by everything that a hand-in may say about its author."""

    def __init__(self, students: Iterable[Student]):
        self.students = list(students)
        self.strangers: dict[Student, Student] = {}
        self.taken = {student.folder.casefold() for student in self.students}
        self.by_identifier: dict[tuple[str, str], list[Student]] = defaultdict(list)
        self.by_name: dict[str, list[Student]] = defaultdict(list)
        for student in self.students:
            for field in IDENTIFIERS:
                self.by_identifier[field, folded(getattr(student, field))].append(student)
            user, at, _ = student.email.partition("@")
            if at:
                self.by_identifier["user", folded(user)].append(student)
            for name in orders(student.name):
                self.by_name[name].append(student)

    def match(self, claim: Claim) -> Student | None:
        """None: on the roster is nobody like that, or more than one."""
        found = self.candidates(claim)
        return found[0] if len(found) == 1 else None

    def candidates(self, claim: Claim) -> list[Student]:
        """By identifiers, and only where none of them is known, by name."""
        found = [student for field in IDENTIFIERS if (key := folded(getattr(claim, field)))
                 for student in self.by_identifier.get((field, key), [])
                 if field != "moodle_id" or same_name(claim, student)]
        if word := folded(claim.word):
            found += [student for field in (*IDENTIFIERS, "user")
                      for student in self.by_identifier.get((field, word), [])]
        if not found:
            found = [student for name in (claim.name, claim.word) if name
                     for student in self.by_name.get(letters(in_order(name)), [])
                     if not contradicts(claim, student)]
        return list({id(student): student for student in found}.values())

    def student_of(self, claim: Claim) -> Student:
        """Whose it is; who is not on the roster is a Student, too, and the same one for the same
        claim. Without a roster everybody is enrolled."""
        return self.match(claim) or self.stranger(claim)

    def stranger(self, claim: Claim) -> Student:
        """With a folder that no other student has."""
        known = {field: getattr(claim, field) for field in IDENTIFIERS}
        name = claim.name or claim.word or next(filter(None, known.values()), "")
        student = Student(name=name, folder="", enrolled=not self.students, **known)
        if student not in self.strangers:
            named = replace(student, name=name or "unknown")
            folder = directory_name(called(named))
            if folder != called(named) or folder.casefold() in self.taken:
                folder = hashed(folder, student)  # of the claim: no name differs from the name "unknown"
            self.taken.add(folder.casefold())
            self.strangers[student] = replace(named, folder=folder)
        return self.strangers[student]

    def reason(self, claim: Claim) -> str:
        """Why a claim matches nobody."""
        could_be = [f"{student.known_as} ({student.folder})" for student in self.candidates(claim)]
        return f"could be either of {listed(could_be)}" if could_be else "not on the roster"


def contradicts(claim: Claim, student: Student) -> bool:
    """The same name, but another person: an identifier that both have differs."""
    return any(folded(getattr(claim, field)) != folded(getattr(student, field))
               for field in IDENTIFIERS if getattr(claim, field) and getattr(student, field))


def same_name(claim: Claim, student: Student) -> bool:
    """What a group hands in Moodle labels with the group's name and number, which may be the number
    of some student. Where marking is blind, names are "Participant 123"."""
    blind = {"", letters(f"Participant {student.moodle_id}")}
    return bool(blind & {letters(claim.name), letters(student.name)}
                or letters(claim.name) in orders(student.name))


def claim_of(student: Student) -> Claim:
    return Claim(name=student.name, **{field: getattr(student, field) for field in IDENTIFIERS})
