"""Gradescope: the export of an assignment's submissions.

The export (Review Grades > Export Submissions) is assignment_123_export/ with a folder
submission_456/ for each submission and submission_metadata.yml, in which each folder has

    submission_456:
      :submitters:                         more than one: a group
      - :name: Ada Lovelace
        :sid: '1815'
        :email: ada@example.edu
      :created_at: 2026-11-20 22:10:00.000000000 Z
      :history: [...]                      earlier attempts: times and scores, no files

Gradescope describes the export in its help center, but not this file; its shape is the one that
public tools read, among them otter-grader (GradescopeParser in its metadata parsers).

Scores get there by an autograder alone (docs/ci.md): Gradescope documents no way to import them.
    guides.gradescope.com: "Adding Students and Staff", "Exporting and Downloading Grades"
    gradescope-autograders.readthedocs.io/en/latest/specs/
"""

import re
from datetime import datetime, timezone
from typing import Any

import yaml

from .archive import Archive
from .errors import BadInput
from .model import Claim, HandIn
from .text import counted

METADATA = re.compile(r"(assignment_\d+_export/)?submission_metadata\.yml", re.ASCII)
LARGEST_METADATA = 32 << 20  # bytes; it has what the autograder printed, and takes a minute


def recognizes(archive: Archive) -> bool:
    return any(METADATA.fullmatch(name) for name in archive.names)


def hand_ins(archive: Archive) -> list[HandIn]:
    """One for each submission. Raises BadInput if the metadata cannot be read."""
    name = next(name for name in archive.names if METADATA.fullmatch(name))
    root = name.removesuffix("submission_metadata.yml")
    submissions = metadata(archive, name)
    files: dict[str, dict[str, str]] = {str(key): {} for key in submissions}
    for path in archive.names:
        folder, slash, own = path.removeprefix(root).partition("/")
        if path.startswith(root) and slash:
            files.setdefault(folder, {})[path] = own
    return [of_submission(archive, folder, own, submissions.get(folder))
            for folder, own in files.items()]


def metadata(archive: Archive, name: str) -> dict[str, Any]:
    """Raises BadInput."""
    where = f"{archive.shown}/{name}"
    try:
        read = yaml.safe_load(archive.read(name, LARGEST_METADATA))
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadInput(f"{where}: not as Gradescope writes it: {why}; export again") from None
    if not isinstance(read, dict):
        raise BadInput(f"{where}: lists no submissions; export again")
    return {str(key): value for key, value in read.items()}


def of_submission(archive: Archive, folder: str, files: dict[str, str], known: Any) -> HandIn:
    known = known if isinstance(known, dict) else {}
    people = known.get(":submitters")
    claims = [Claim(name=text(person, ":name"), id=text(person, ":sid"), email=text(person, ":email"))
              for person in (people if isinstance(people, list) else [])
              if isinstance(person, dict)]
    earlier = known.get(":history")
    notes = ([f"{counted(len(earlier), 'earlier attempt')}, not in the export"]
             if isinstance(earlier, list) and earlier else [])
    return archive.hand_in([claim for claim in claims if claim != Claim()] or [Claim(word=folder)],
                           folder, files, notes, submitted=time_of(known.get(":created_at")))


def text(person: dict[str, Any], key: str) -> str:
    value = person.get(key)
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def time_of(value: object) -> datetime | None:
    """YAML's timestamps without a zone are UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=timezone.utc)
