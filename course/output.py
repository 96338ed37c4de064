"""Everything that is written of a class when it was graded: tables, what gradebooks import, pages.

    RESULTS/gradebook.csv attempts.csv class.md     for staff
    RESULTS/class.html                              for staff, with links to the records
    RESULTS/feedback/NAME.html                      for each student
    RESULTS/leaderboard.html                        for all, if class.toml has leaderboard = true
    RESULTS/canvas.csv moodle.csv                   to import

In: standings. Raises MachineFault where something cannot be written; each file is whole or as it was.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

from . import canvas, moodle
from .files import faults_of, write
from .fill import Filled
from .gradebook import attempts, gradebook, of_unknown_time, summary, together
from .model import Standing
from .pages import write_class_page, write_feedback, write_leaderboard
from .settings import Settings
from .text import counted

FEEDBACK, LEADERBOARD = "feedback", "leaderboard.html"
FOR_OTHERS = (LEADERBOARD, "canvas.csv", "moodle.csv")
"""Where class.toml asks for them."""


def write_all(settings: Settings, standings: Sequence[Standing], folder: Path,
              stopped: bool = False) -> list[str]:
    """Whose points are in no gradebook, and why. `stopped`: the run was, and some may have no points yet:
    then there is nothing to import."""
    write_tables(settings, standings, folder)
    filled = gradebooks(settings, standings)
    remove_of_earlier_runs(settings, standings, folder, () if stopped else filled)
    if stopped:
        return [f"{name} is not written before all are graded" for name in filled]
    for name, each in filled.items():
        write_text(folder / name, each.content)
    return [f"{name}: {note}" for name, each in filled.items() for note in each.notes]


def remove_of_earlier_runs(settings: Settings, standings: Sequence[Standing], folder: Path,
                           filled: Collection[str]) -> None:
    """What this run does not write: who publishes the folder would publish it, too."""
    kept = {folder / FEEDBACK / f"{each.student.folder}.html" for each in standings}
    kept |= {folder / name for name in filled}
    if settings.leaderboard:
        kept.add(folder / LEADERBOARD)
    with faults_of(folder):
        for path in {*(folder / FEEDBACK).glob("*.html"), *(folder / name for name in FOR_OTHERS)} - kept:
            path.unlink(missing_ok=True)


def gradebooks(settings: Settings, standings: Sequence[Standing]) -> dict[str, Filled]:
    """What Canvas and Moodle import; without standings, a check of the files. Raises BadInput."""
    filled = {}
    if settings.canvas:
        filled["canvas.csv"] = canvas.fill(settings.canvas, standings, settings.assignment)
    if settings.moodle:
        filled["moodle.csv"] = moodle.fill(settings.moodle, standings)
    return filled


def write_tables(settings: Settings, standings: Sequence[Standing], folder: Path) -> None:
    with faults_of(folder):
        (folder / FEEDBACK).mkdir(parents=True, exist_ok=True)
    write_text(folder / "gradebook.csv", gradebook(standings))
    write_text(folder / "attempts.csv", attempts(standings))
    name = settings.assignment or lab_of(standings)
    write_text(folder / "class.md", summary(standings, name))
    with faults_of(folder):
        write_class_page(standings, name, folder / "class.html")
        for each in standings:
            write_feedback(each, name, folder / FEEDBACK, settings.deadline)
        if settings.leaderboard:
            write_leaderboard(standings, name, folder / LEADERBOARD)


def lab_of(standings: Sequence[Standing]) -> str:
    records = (attempt.record for each in standings for attempt in each.attempts if attempt.record)
    return next((record.lab.name for record in records), "the assignment")


def write_text(path: Path, text: str | bytes) -> None:
    with faults_of(path):
        write(path, text if isinstance(text, bytes) else text.encode())


def places(settings: Settings) -> list[Path]:
    """What there is to open, the first things first."""
    names = ["class.html", "gradebook.csv", FEEDBACK, LEADERBOARD, "canvas.csv", "moodle.csv"]
    given = {LEADERBOARD: settings.leaderboard, "canvas.csv": settings.canvas, "moodle.csv": settings.moodle}
    return [path for name in names if given.get(name, True) and (path := settings.results / name).exists()]


def about(standings: Sequence[Standing]) -> list[str]:
    """In a line or two, how it ended."""
    human = sum(each.needs_human for each in standings)
    lines = [f"{counted(len(standings), 'student')}: {together(standings)}"]
    if human:
        lines.append(f"{counted(human, 'student')} to review: see class.html")
    if unknown := of_unknown_time(standings):
        lines.append(unknown)
    return lines
