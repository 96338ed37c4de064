"""Words and numbers for people. Texts that came from elsewhere (names, hand-ins, records, class.toml) are
made visible characters only, so that none moves a cursor, turns the direction of writing or ends a line
that it should not. But for refuse(), nothing here raises."""

import difflib
import re
import reprlib
from collections.abc import Sequence

from .errors import BadInput

LONGEST_WORD = 60  # that no wrapping of lines breaks
MOST_LISTED = 6  # names in a message
LONGEST_LISTED = 60
MOST_MISTAKES_SHOWN = 8

# ---- escaped -------------------------------------------------------------------------------------


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
    return "".join(char if char.isprintable() or char in "\n\t" else escaped(char)
                   for char in text)


def one_line(text: str, limit: int = 500) -> str:
    """Like plain(), with every run of white space as one blank."""
    return plain(" ".join(text.split()), limit).replace("\n", " ")


def defused(text: str) -> str:
    """A cell of a CSV file. What a spreadsheet would compute (it begins with = + - @, a tab or a line
    end, and is no negative number) gets an apostrophe in front, which spreadsheets take for "this is
    text"."""
    computed = text.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    return "'" + text if computed and not re.fullmatch("-[0-9.]+", text) else text


def escaped(character: str) -> str:
    if character == "\t":
        return " "
    return character.encode("unicode_escape").decode()


def printable(text: str) -> str:
    """In one line, and valid Unicode even if the file system's bytes are not."""
    valid = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in valid)


# ---- counted and listed --------------------------------------------------------------------------


def counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def points(value: float) -> str:
    """4, 4.5, 33.33."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def listed(names: Sequence[str]) -> str:
    shown = [name if len(name) <= LONGEST_LISTED else f"{name[:LONGEST_LISTED - 3]}..."
             for name in map(printable, names[:MOST_LISTED])]
    more = len(names) - len(shown)
    last = f"{more} more" if more else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last


# ---- mistakes ------------------------------------------------------------------------------------

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60
_short.maxlevel = 2


def quoted(value: object) -> str:
    """A value as one short line without control characters."""
    return _short.repr(value)


def nearest(key: str, allowed: Sequence[str]) -> str:
    """What follows "unknown ...": the likeliest, or all that is allowed."""
    likely = difflib.get_close_matches(key, allowed, n=1)
    if likely:
        return f"; did you mean {quoted(likely[0])}?"
    return f"; allowed: {', '.join(allowed[:40]) or 'none'}"


def refuse(mistakes: Sequence[str]) -> None:
    """Raises BadInput if there are any."""
    if mistakes:
        more = len(mistakes) - MOST_MISTAKES_SHOWN
        rest = [f"... and {more} more mistakes"] if more > 0 else []
        raise BadInput("\n".join([*mistakes[:MOST_MISTAKES_SHOWN], *rest]))
