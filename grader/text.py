"""Text that came out of a submission, a compiler or a test case, for a terminal or a log.

In: any text. Out: visible characters only, so that no text moves a cursor, turns the direction of
writing or ends a line that it should not. Nothing here raises.
"""

import re
import reprlib
from collections.abc import Sequence

LONGEST_WORD = 60  # that no wrapping of lines breaks


def harmless(text: str) -> str:
    """One line for a terminal or a CI log. The two ways to give a GitHub runner a command are
    escaped as well: `::error::`, also behind spaces, and `##[error]`, anywhere in a line."""
    shown = "".join(c if c.isprintable() else escaped(c) for c in text)
    return re.sub(r"\S+", lambda word: no_command(word[0]), shown).replace("##[", "# #[")


def no_command(word: str) -> str:
    """Only what begins a line is one: a word may, and so may the middle of a long or wide one, which is broken."""
    broken = len(word) > LONGEST_WORD or not word.isascii()
    return re.sub(":(?=:)", ": ", word) if broken or word.startswith("::") else word


def plain(text: str, limit: int = 20_000) -> str:
    """Lines, `limit` characters at most. A command to a runner is left as it is."""
    text = text.replace("\r\n", "\n")
    if len(text) > limit:
        text = text[:limit] + "\n[cut off here]"
    return "".join(char if char.isprintable() or char in "\n\t" else escaped(char) for char in text)


def one_line(text: str, limit: int = 500) -> str:
    """Like plain(), with every run of white space as one blank."""
    return plain(" ".join(text.split()), limit).replace("\n", " ")


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60
_short.maxlevel = 2


def quoted(value: object) -> str:
    """A value as one short line without control characters."""
    return _short.repr(value)


def escaped(character: str) -> str:
    if character == "\t":
        return " "
    return character.encode("unicode_escape").decode()


def valid(text: str) -> str:
    """Unicode, whatever the file system has, or a tool has printed."""
    return text.encode("utf-8", "backslashreplace").decode()


def printable(text: str) -> str:
    """In one line."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in valid(text))


def listed(names: Sequence[str]) -> str:
    """ "A, B and C"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def grouped(count: int) -> str:
    """1234, and 12,345 from five digits on, as `make check` writes it."""
    return f"{count:,}" if count >= 10_000 else str(count)


def counted(count: int, what: str) -> str:
    return f"{grouped(count)} {what}{'' if count == 1 else 's'}"
