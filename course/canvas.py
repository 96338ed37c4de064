"""Canvas: the download of an assignment's submissions, and the gradebook's CSV file.

The download is one zip without folders. A file's name is lastfirst[_LATE]_USER_FILE_NAME, where
lastfirst is the sortable name in small letters, without blanks and signs, USER is Canvas's number of
the user, FILE that of the file; a file that was handed in again is called kernel-1.cu. Where grading
is anonymous: [LATE_]anon_CODE_FILE_NAME. What was typed into Canvas ends in _text.html, _link.html.
The zip has the last attempt of each student, and no times.
    github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb (add_upload_submission,
    get_filename, sanitize_user_name)

The gradebook's first columns, in this order, name the student: Student (or LastName, FirstName), ID,
SIS User ID, SIS Login ID, Integration ID, Root Account, Section; of these Canvas needs Student, ID and
Section, and finds students by ID. Then comes a column an assignment, "Name (123456)", and read-only
ones. "Points Possible" is a row of its own, before it perhaps one with "Manual Posting". An imported
cell replaces the grade: also an empty one, which deletes it, so a cell that we have nothing for keeps
what Canvas wrote. EX: excused. N/A: the assignment isn't this student's. Rows that are left out stay
as they are, and so do columns.
    github.com/instructure/canvas-lms/blob/master/lib/gradebook_importer.rb and gradebook_exporter.rb
    community.canvaslms.com: "How do I import grades in the Gradebook?"
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from .archive import Archive
from .fill import Filled, Filling, refuse_missing
from .model import Claim, HandIn, Standing
from .roster import CANVAS
from .table import Table, read_table, simple, written
from .text import listed, points, printable

WHO = r"(?:(?!LATE_|anon_)(?P<name>.+?)_)?(?P<late>LATE_)?(?P<user>\d+|anon_[^_]+)_"
FILE = re.compile(WHO + r"\d+_(?P<own>.+)", re.ASCII | re.DOTALL)
TYPED = re.compile(WHO + r"(?:text|link)\.html", re.ASCII | re.DOTALL)
AGAIN = re.compile(r"-\d+(?=\.[^.]+$)")
ASSIGNMENT = re.compile(r".* \(\d+\)", re.DOTALL)


# ---- the download --------------------------------------------------------------------------------


def recognizes(archive: Archive) -> bool:
    names = archive.hand_in_names()
    return bool(names) and all(parsed(name) for name in names)


def parsed(name: str) -> re.Match[str] | None:
    return None if "/" in name else FILE.fullmatch(name) or TYPED.fullmatch(name)


def hand_ins(archive: Archive) -> list[HandIn]:
    """One for each user of the download."""
    users: dict[str, list[re.Match[str]]] = defaultdict(list)
    for name in archive.names + archive.hidden:
        if found := parsed(name):
            users[found["user"]].append(found)
    return [of_user(archive, user, files) for user, files in users.items()]


def of_user(archive: Archive, user: str, files: list[re.Match[str]]) -> HandIn:
    claim = (Claim(word=user) if user.startswith("anon_")
             else Claim(name=files[0]["name"] or "", canvas_id=user))
    own = {file[0]: AGAIN.sub("", file["own"]) for file in files if file.re is FILE}
    notes = ["ignored: what was typed into Canvas"] if len(own) < len(files) else []
    notes += [f"{printable(name)} may also be another user's, whose name ends in _{user}"
              for name, each in own.items() if re.match(r"\d+_", each)]
    return archive.hand_in([claim], files[0][0] if len(files) == 1 else f"user {user}", own, notes,
                           late=any(file["late"] for file in files))


# ---- the gradebook -------------------------------------------------------------------------------


def fill(gradebook: Path, standings: Sequence[Standing], assignment: str = "") -> Filled:
    """The gradebook that Canvas exported, with the points of one assignment: the columns that name a
    student, and that assignment's. `assignment`: its column ("Lab 3 (123456)"), name or
    number; empty: the only one. Raises BadInput."""
    table = read_table(gradebook)
    section = refuse_missing(table, CANVAS, "Section", "export the gradebook in Canvas")
    place = column_of(table, section, assignment)
    filling = Filling(table, CANVAS, standings)
    rows = [table.columns]
    for line, cells in table.rows:
        standing = filling.standing(line)
        if "points possible" in simple(cells[0]):
            check_possible(table, line, cells[place], standings, filling)
        elif standing and cells[place].strip() == "N/A":
            filling.left_out(standing, "the assignment is not assigned to them in Canvas")
        elif standing:
            cells[place] = ("EX" if standing.state == "excused" else
                            cells[place] if standing.points is None else points(standing.points))
        rows.append(cells)
    kept = [[*cells[:section + 1], cells[place]] for cells in rows]
    return Filled(written(cells for cells in kept if any(cell.strip() for cell in cells)),
                  filling.notes())


def column_of(table: Table, section: int, assignment: str) -> int:
    """Raises BadInput."""
    columns = [(place, name) for place, name in enumerate(table.columns)
               if place > section and ASSIGNMENT.fullmatch(name)]
    names = [name for _, name in columns]
    found = [place for place, name in columns if not assignment or simple(assignment) in
             (simple(name), simple(name.rpartition(" (")[0]), name.rpartition(" (")[2][:-1])]
    if len(found) == 1:
        return found[0]
    which = f"{len(found)} columns of assignments are called" if found else "no assignment is called"
    raise table.refuse(1, f"{which} {listed([assignment or 'anything'])}; name one of "
                       f"{listed(names) if names else 'those that Canvas exported'}")


def check_possible(table: Table, line: int, cell: str, standings: Sequence[Standing],
                   filling: Filling) -> None:
    """Raises BadInput if Canvas computes the column itself."""
    if "read only" in simple(cell):
        raise table.refuse(line, "this column is read-only in Canvas; name an assignment's")
    filling.compare_possible(cell, "Points Possible")
