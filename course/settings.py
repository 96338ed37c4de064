"""A class's folder and its class.toml, of which every key has a default: course/README.md.

    settings = read_settings(Path("spring"))

In: a folder. Out: Settings, with absolute paths. Whatever is wrong raises BadInput, a line for each
mistake.
"""

import math
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import BadInput
from .text import nearest, one_line, printable, quoted, refuse

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

FILE = "class.toml"
SUBMISSIONS = "submissions"
"""The folder for what was handed in; where there is none, the class's folder itself."""
RESULTS = "results"
GIVEN = ("roster.csv", "overrides.csv")
"""Taken if they are there, without being named."""

Rule = Literal["best", "last", "last-in-time"]
WHOLE = ("public", "hidden", "all")
"""Suites that are no path."""
LARGEST_FILE = 1 << 20
YEARS = range(2000, 2200)
UNITS = {"day": timedelta(days=1), "hour": timedelta(hours=1)}


Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,200}$")]


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Late(Table):
    """What handing in after the deadline costs."""

    deduct: float = Field(0, ge=0, le=100, description="a percentage of the points, from 0 to 100")
    """For each day or hour that has begun."""
    per: Literal["day", "hour"] = Field("day", description='"day" or "hour"')
    most: float = Field(100, ge=0, le=100, description="a percentage, from 0 to 100")
    """No more than this is deducted."""
    grace: float = Field(0, ge=0, le=1440, description="a number of minutes, from 0 to 1440")
    """So long after the deadline is in time."""
    days: int = Field(0, ge=0, le=365, description="a whole number of days, from 0 to 365")
    """Late days of each student that cost nothing; the roster's column late_days goes first."""

    @property
    def unit(self) -> timedelta:
        return UNITS[self.per]


class Given(Table):
    """What is taken as it is written."""

    assignment: Line = Field("", description="one line of at most 200 characters")
    lab: str | None = Field(None, description="the folder of an assignment: labs/scan")
    suite: str = Field("all", description="public, hidden, all, or the path of a .toml file")
    seed: int | None = Field(None, ge=0, le=2**63 - 1,
                             description="a whole number from 0 to 2^63 - 1")
    backend: Literal["cpu", "cuda"] = Field("cpu", description='"cpu" or "cuda"')
    deadline: datetime | None = Field(
        None, description="a date and time: 2026-11-20T23:59:00-08:00, or without -08:00 if "
                          "timezone is given")
    attempts: Rule = Field("best", description='"best", "last" or "last-in-time"')
    late: Late = Field(Late(), description="a table [late]")
    leaderboard: bool = Field(False, description="true or false")


class File(Given):
    """class.toml."""

    submissions: str | Annotated[list[str], Field(min_length=1)] = Field(
        SUBMISSIONS, description="a path, or a list of paths")
    roster: str | None = Field(None, description="the path of a CSV file")
    overrides: str | None = Field(None, description="the path of a CSV file")
    canvas: str | None = Field(None, description="the path of a gradebook that Canvas exported")
    moodle: str | None = Field(None, description="the path of Moodle's grading worksheet")
    timezone: str | None = Field(None, description='the name of a time zone: "Europe/Berlin"')


class Settings(Given):
    """With absolute paths; the deadline has its time zone."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="ignore")

    folder: Path
    results: Path
    submissions: tuple[Path, ...]
    roster: Path | None
    overrides: Path | None
    canvas: Path | None
    moodle: Path | None
    zone: tzinfo
    """Of times without one."""


def read_settings(folder: Path, results: Path | None = None) -> Settings:
    """`results`: instead of the folder's own. Raises BadInput."""
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise BadInput(f"{printable(str(folder))}: {what}; CLASS names the folder with what the "
                       "class handed in")
    folder = folder.resolve()
    given = read_file(folder / FILE) if (folder / FILE).exists() else File()
    mistakes: list[str] = []
    where = printable(str(folder / FILE))
    zone = zone_of(given, where, mistakes)
    deadline = deadline_of(given, zone, where, mistakes)

    def path(key: str) -> Path | None:
        named = getattr(given, key)
        usual = folder / f"{key}.csv"
        if named is None:
            return usual if usual.name in GIVEN and usual.is_file() else None
        if not (folder / named).is_file():
            mistakes.append(f"{where}: {key} = {quoted(named)}: there is no such file in this folder")
        return folder / named

    files = {key: path(key) for key in ("roster", "overrides", "canvas", "moodle")}
    files["roster"] = files["roster"] or files["canvas"] or files["moodle"]
    if "late" in given.model_fields_set and not deadline:
        mistakes.append(f"{where}: [late] needs a deadline")
    refuse(mistakes)
    suite = given.suite if given.suite in WHOLE else str(folder / given.suite)
    return Settings(**dict(given) | files | {
        "folder": folder, "results": (results or folder / RESULTS).resolve(), "suite": suite,
        "submissions": submissions_of(given, folder), "deadline": deadline, "zone": zone})


def read_file(path: Path) -> File:
    """Raises BadInput."""
    table = read_toml(path)
    where = printable(str(path))
    mistakes = [f"{where}: {each}" for each in unknown_keys(table, list(File.model_fields))]
    if isinstance(table.get("late"), dict):
        mistakes += [f"{where}: [late]: {each}"
                     for each in unknown_keys(table["late"], list(Late.model_fields))]
    refuse(mistakes)
    try:
        return File(**table)
    except ValidationError as error:
        refuse(list(dict.fromkeys(f"{where}: {explained(each['loc'], table)}"
                                  for each in error.errors())))
        raise


def read_toml(path: Path) -> dict[str, Any]:
    """Raises BadInput."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise BadInput(f"{path}: more than {LARGEST_FILE} bytes")
        return tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: cannot read this file: {error.strerror}; it says what a class was given "
                       "to do") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise BadInput(f"{path}: lists or tables nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
        raise BadInput(f"{path}: not TOML: {one_line(str(error), 160)}") from None


def unknown_keys(table: dict[str, Any], keys: list[str]) -> list[str]:
    return [f"unknown key {quoted(key)}{nearest(key, keys)}" for key in table if key not in keys]


def explained(place: tuple[int | str, ...], table: dict[str, Any]) -> str:
    """pydantic's error in words: key, value, what is allowed."""
    model: type[Table] = File
    key, value, within = str(place[0]), table[place[0]], ""
    if key == "late" and len(place) > 1:
        model, key, value, within = Late, str(place[1]), value[place[1]], "[late]: "
    shown = str(value) if isinstance(value, (date, time)) else quoted(value)
    return f"{within}{key} = {shown}: it must be {model.model_fields[key].description}"


def deadline_of(given: File, zone: tzinfo, where: str, mistakes: list[str]) -> datetime | None:
    deadline = given.deadline
    if deadline and deadline.year not in YEARS:  # with days more it must still be a date
        mistakes.append(f"{where}: deadline = {deadline}: in the year {deadline.year}?")
    if deadline and not deadline.tzinfo:
        if not given.timezone:
            mistakes.append(f"{where}: deadline: in which time zone? Write "
                            f"{deadline.isoformat()}+00:00, or add timezone = \"Europe/Berlin\"")
        deadline = deadline.replace(tzinfo=zone)
    return deadline


def zone_of(given: File, where: str, mistakes: list[str]) -> tzinfo:
    """Of the deadline; where nothing is said, UTC."""
    if given.timezone is None:
        return (given.deadline.tzinfo if given.deadline else None) or timezone.utc
    try:
        return ZoneInfo(given.timezone)
    except (KeyError, ValueError, OSError):  # not found, "../x", a folder
        mistakes.append(f"{where}: timezone = {quoted(given.timezone)}: there is no such time zone; "
                        'one is written "Europe/Berlin"')
        return timezone.utc


def submissions_of(given: File, folder: Path) -> tuple[Path, ...]:
    """Absolute; those that are named, else the folder submissions/, else the class's own folder."""
    if "submissions" in given.model_fields_set:
        named = given.submissions if isinstance(given.submissions, list) else [given.submissions]
        return tuple(folder / each for each in named)
    usual = folder / SUBMISSIONS
    return (usual if usual.exists() else folder,)


def late_units(after: timedelta, unit: timedelta) -> int:
    """Days or hours that have begun."""
    return math.ceil(after / unit)


def ours(settings: Settings) -> list[Path]:
    """Paths that are no submission where the class's own folder holds them."""
    named = [settings.roster, settings.overrides, settings.canvas, settings.moodle]
    return [settings.folder / FILE, settings.results, settings.folder / RESULTS,
            *(path for path in named if path)]
