"""Pages for students and for staff, each one file that can be put anywhere.

    feedback.py     what a student is told, from where they stand
    class_page.py   what staff are told of the class
    leaderboard.py  who is fastest, of those who agreed to be shown
    mistakes.py     what is wrong in a submission: cases that lost points for one reason are one
    source.py       lines of a student's kernel.cu
    render.py       as HTML: templates (*.html.j2) and page.css
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ..files import write
from ..model import Standing
from . import feedback
from .class_page import class_of
from .feedback import feedback_of
from .leaderboard import leaderboard_of
from .render import render


def write_feedback(standing: Standing, assignment: str, folder: Path, deadline: datetime | None = None) -> None:
    """folder/NAME.html, for the student alone; NAME is Student.folder. It is written whole or not at all. Raises OSError."""
    shown = feedback_of(standing, assignment, deadline)
    write(folder / f"{standing.student.folder}.html",
          render("feedback.html.j2", it=shown, words=feedback))


def write_class_page(standings: Sequence[Standing], assignment: str, path: Path) -> None:
    """For staff: it names students, points and hidden cases. Its links lead to feedback/NAME.html
    beside it and to the records. Written whole or not at all. Raises OSError."""
    write(path, render("class.html.j2", page=class_of(standings, assignment, path.parent)))


def write_leaderboard(standings: Sequence[Standing], assignment: str, path: Path) -> None:
    """For everybody: of a student it shows no more than they agreed to. Written whole or not at all. Raises
    OSError."""
    write(path, render("leaderboard.html.j2", entries=leaderboard_of(standings), assignment=assignment))
