"""What was handed in: folders, files, and the platforms' downloads as they are.

In: paths. Out: a HandIn for each student and attempt, also for one that cannot be taken. A path is

    a download of Canvas, Moodle or Gradescope: the zip as it came, or the folder it was unpacked to;
    a folder with an entry a student: a folder, a .cu file or a zip, named after the student;
    one of these entries.

A student's folder whose entries are named by times (2026-11-20_23-10-00) has an attempt in each.
"""

import re
from collections.abc import Container, Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path

from . import canvas, gradescope, moodle
from .archive import Archive, beside_hand_ins, made, of_the_system, opened, read_file
from .errors import BadInput
from .model import Claim, Files, HandIn
from .settings import SUBMISSIONS
from .text import listed, printable

KERNEL = "kernel.cu"
"""A folder with it at the top is one student's."""
ZIP_BEGINS = (b"PK\3\4", b"PK\5\6")  # with a file; empty
OF_ONE = (".cu", ".zip")
"""How a file ends that is a hand-in by itself."""
PLATFORMS = (gradescope, moodle, canvas)
TIME = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)[T_ -](\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d))?"
                  r"(?:(Z)|([+-])(\d\d):?(\d\d))?", re.ASCII)


def collect(paths: Sequence[Path], zone: tzinfo, ours: Sequence[Path] = ()) -> list[HandIn]:
    """Of all these paths, without what lies at `ours`. `zone`: of times that name none. Raises
    BadInput for a path that is not there or a download that is damaged as a whole."""
    kept = {path.absolute() for path in ours}
    return [hand_in for path in paths
            for hand_in in within(path.resolve() if path.is_symlink() else path, zone, kept)]


def within(path: Path, zone: tzinfo, ours: Container[Path] = ()) -> list[HandIn]:
    if path.is_dir() or is_zip(path):
        with opened(path, ours) as archive:
            if found := of_a_platform(archive):
                return found
            names = archive.names
        if path.is_dir() and KERNEL not in [name.lower() for name in names]:
            return in_folder(path, zone, ours)
    elif not path.exists():
        raise BadInput(f"{printable(str(path))}: no such file or folder; it holds hand-ins")
    return [taken(path, path)]


def of_a_platform(archive: Archive) -> list[HandIn]:
    """Empty if it isn't a platform's download."""
    found = next((platform.hand_ins(archive) for platform in PLATFORMS
                  if platform.recognizes(archive)), [])
    return found and found + [
        HandIn((Claim(word=Path(name).stem),), f"{Path(archive.shown).name}: {printable(name)}",
               problem="a path outside of the archive") for name in archive.refused]


def is_zip(path: Path) -> bool:
    try:
        if not path.is_file():  # to open another kind may block
            return False
        with open(path, "rb") as file:
            return file.read(4).startswith(ZIP_BEGINS)
    except OSError:
        return False


# ---- a folder of hand-ins ------------------------------------------------------------------------


def in_folder(folder: Path, zone: tzinfo, ours: Container[Path]) -> list[HandIn]:
    entries = [entry for entry in visible(folder) if entry.absolute() not in ours
               and (entry.is_dir() or not beside_hand_ins(entry.name))]
    if not entries:
        raise BadInput(f"{printable(str(folder))}: holds no hand-ins (folders, .cu files, zips, or "
                       "a download of Canvas, Moodle or Gradescope)")
    downloads = [entry for entry in entries if is_download(entry)]
    if downloads == entries:
        return [hand_in for entry in entries for hand_in in within(entry, zone)]
    if platforms := downloads or [entry for entry in entries if is_part(entry)]:
        others = [entry for entry in entries if entry not in platforms]
        raise BadInput(f"{printable(str(folder))}: a platform's download ({named(platforms)}) is beside something else "
                       f"({named(others)}); move either elsewhere, or let `submissions` in class.toml name the "
                       "download; if it is one student's own zip, move it into a folder named after the student")
    return [hand_in for entry in entries for hand_in in of_a_student(folder, entry, zone)]


def named(entries: Sequence[Path]) -> str:
    return listed([f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries])


def visible(folder: Path) -> list[Path]:
    """Raises BadInput."""
    try:
        return sorted(entry for entry in folder.iterdir() if not of_the_system(entry.name))
    except OSError as error:
        raise BadInput(f"{printable(str(folder))}: {error.strerror}") from None


def is_download(entry: Path) -> bool:
    if entry.is_symlink() or not is_zip(entry):
        return False
    try:
        with opened(entry) as archive:
            return any(platform.recognizes(archive) for platform in PLATFORMS)
    except BadInput:
        return False  # the student's row says so


def unread(folder: Path, submissions: Sequence[Path]) -> list[str]:
    """A line for each download in the class's folder, where the hand-ins are those of submissions/ below."""
    if list(submissions) != [folder / SUBMISSIONS]:
        return []
    return [f"{printable(str(entry))}: not read, because there is {SUBMISSIONS}/; `submissions` in class.toml can name "
            "both" for entry in visible(folder) if is_download(entry)]


def is_part(entry: Path) -> bool:
    """Of a download that was unpacked."""
    name = f"{entry.name}/a file" if entry.is_dir() else entry.name
    return bool(canvas.parsed(name) or moodle.FILE.fullmatch(name))


def of_a_student(folder: Path, entry: Path, zone: tzinfo) -> list[HandIn]:
    """One, or an attempt of each of its entries that is named by a time; what lies beside those
    cannot be told apart from them, and is a problem of its own."""
    if entry.is_symlink() or not entry.is_dir():
        return [taken(folder, entry)]
    try:
        attempts = visible(entry)
    except BadInput:
        return [taken(folder, entry)]
    times = {attempt: time_of(own_name(attempt), zone) for attempt in attempts}
    if not any(times.values()):
        return [taken(folder, entry)]
    return [taken(folder, attempt, entry.name, time) if time
            else HandIn((Claim(word=entry.name),), source(folder, attempt),
                        problem="is beside attempts that are named by their times; name it by its "
                                "time, too, or delete it")
            for attempt, time in times.items()]


def taken(folder: Path, entry: Path, word: str = "", submitted: datetime | None = None) -> HandIn:
    """All that is there, or why it cannot be taken."""
    claims, label = (Claim(word=word or named_after(entry)),), source(folder, entry)
    files: Files = ()
    problems: list[str] = []
    try:
        if entry.is_dir() and not entry.is_symlink():
            files, problems = all_of(entry)
        elif entry.suffix.lower() in OF_ONE or entry.is_symlink():
            files = ((entry.name, read_file(entry)),)
        else:
            problems = ["neither a folder, a .cu file nor a zip"]
    except BadInput as error:
        problems = [str(error).removeprefix(f"{printable(str(entry))}: ")]
    except OSError as error:
        problems = [f"cannot be read: {error.strerror}"]
    return made(claims, label, files, problems, submitted=submitted)


def all_of(folder: Path) -> tuple[Files, list[str]]:
    """The files of a student's folder, and what is left out and why. Raises BadInput."""
    with opened(folder) as archive:
        return archive.taken_of([(name, name) for name in archive.names])


def named_after(entry: Path) -> str:
    """alice/kernel.cu, alice.cu, alice.zip: alice."""
    place = entry.absolute()
    return own_name(place.parent if place.name.lower() == KERNEL else place)


def own_name(entry: Path) -> str:
    return entry.stem if entry.suffix.lower() in OF_ONE else entry.name


def source(folder: Path, entry: Path) -> str:
    below = "" if entry == folder else entry.relative_to(folder).as_posix()
    return printable(": ".join(filter(None, [folder.absolute().name, below])))


def time_of(text: str, zone: tzinfo) -> datetime | None:
    """20261120-231000, 2026-11-20_23-10-00, 2026-11-20T23:10:00+01:00; None: not a time."""
    found = TIME.fullmatch(text)
    if not found:
        return None
    *numbers, utc, sign, hours, minutes = found.groups(default="0")
    if utc == "Z":
        zone = timezone.utc
    elif sign != "0":
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        if offset >= timedelta(days=1):
            return None
        zone = timezone(-offset if sign == "-" else offset)
    try:
        return datetime(*map(int, numbers), tzinfo=zone)  # type: ignore[misc]
    except ValueError:
        return None
