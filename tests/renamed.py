"""The lab with other names: what it prints has to be what the lab prints, with the names put in, and the
old ones nowhere. So a name that the engine would know by itself is seen. For same_words.py.

The names have as many letters, so that lines break at the same words."""

from __future__ import annotations

import re
from pathlib import Path

NAMES = {"basicSgemm": "launchWork", "mysgemm": "ourkern", "A": "F", "B": "G", "C": "H",
         "m": "q", "n": "v", "k": "w"}
ANY = "|".join(sorted(NAMES, key=len, reverse=True))

STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
INCLUDE = re.compile(r"^\s*#\s*include\b")
# An escape stays, and what is behind it begins a word. C++ is no C.
IN_STRING = re.compile(rf"(\\.)|(?:(?<=\\n)|(?<!\w))({ANY})(?!\w|\+\+)")
# Names of files stay. In JSON, \n ends a word, too.
# "A" may be an article, in the engine's words.
IN_TEXT = re.compile(rf"([\w./-]+\.cuh?\b|\\n|\\t|\bA (?:phase|variable)\b)|(?:(?<=\\n)|(?<!\w))({ANY})(?!\w|\+\+)")


def renamed(match: re.Match[str]) -> str:
    return match[1] or NAMES[match[2]]


def in_strings(code: str) -> str:
    """C, with other names in its strings."""
    return "".join(line if INCLUDE.match(line) else
                   STRING.sub(lambda string: IN_STRING.sub(renamed, string[0]), line)
                   for line in code.splitlines(keepends=True))


def in_text(text: str) -> str:
    return IN_TEXT.sub(renamed, text)


def is_free(text: str) -> bool:
    """None of the new names is in it, so that renaming makes no two things one."""
    return not re.search(rf"\b({'|'.join(NAMES.values())})\b", text)


def rename(lab: Path, kernels: list[str]) -> list[str]:
    """The lab in that folder, and these kernels, where they are. Those that have one of the new names are
    left out; the others are returned."""
    for path in [*lab.rglob("*.c"), *lab.rglob("*.h"), *lab.rglob("*.def")]:
        path.write_text(in_strings(path.read_text()))
    call = lab / "call.cu"
    call.write_text(re.sub(rf"\b({ANY})\b(?!\[)", lambda match: NAMES[match[1]], call.read_text()))
    free = [name for name in kernels if is_free(Path(name).read_text(errors="replace"))]
    for name in free:
        path = Path(name)
        path.write_text(in_text(path.read_text(errors="replace")), errors="replace")
    return free
