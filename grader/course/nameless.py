"""What a student wrote, without the student's name, with which comments often begin: for anonymous
pages.

In: a student's text, or the record of it. Out: the same with underscores where it names the
student, or anybody who handed in with them. Other names in it stay: nobody knows them for names.
Nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..record.model import Record
from .model import HandIn, Student

SHORTEST, SHORTEST_NUMBER = 3, 5
"""Characters of a part of a name, digits of a number; shorter ones are in every text."""
LETTER = "[^\\W\\d_]"
COMMON = frozenset("kernel sgemm cuda gpu hand submission assignment lab the and for int float void "
                   "const return".split())
"""Parts of names of folders that name nobody, and words that are in every kernel."""
WITH_NAMES = {"message", "output", "what", "detail", "launch", "tried", "reason", "hint", "notes"}
"""Members of a record that may quote the submission."""

Scrub = Callable[[str], str]


def scrub_for(student: Student, hand_in: HandIn) -> Scrub:
    """A function that takes out names, logins, addresses and numbers of these people, in upper and
    lower case. A name that is a word of C as well goes wherever it stands."""
    texts = [text for each in (student, *hand_in.claims) for text in (
        each.name, each.login, each.email, each.id, each.canvas_id, each.moodle_id)]
    parts = [part for text in texts for part in re.findall(f"{LETTER}+", text.split("@")[0])]
    words = set(filter(names_somebody, texts + parts))
    if not words:
        return lambda text: text
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    names = re.compile(rf"(?<!{LETTER})(?:{'|'.join(longest_first)})(?!{LETTER})", re.IGNORECASE)
    return lambda text: names.sub(lambda found: "_" * len(found[0]), text)


def names_somebody(word: str) -> bool:
    least = SHORTEST_NUMBER if word.isdecimal() else SHORTEST
    return len(word) >= least and word.lower() not in COMMON


def without_names_in(content: bytes, scrub: Scrub) -> bytes:
    return scrub(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def record_without_names(record: Record, scrub: Scrub) -> Record:
    return Record.model_validate(scrubbed(record.model_dump(), scrub))


def scrubbed(value: Any, scrub: Scrub, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: scrubbed(each, scrub, name) for name, each in value.items()}
    if isinstance(value, list):
        return [scrubbed(each, scrub, key) for each in value]
    return scrub(value) if isinstance(value, str) and key in WITH_NAMES else value
