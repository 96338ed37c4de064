"""Markdown for the summary of a workflow. Texts are data: whatever has a meaning in Markdown, HTML or on
GitHub (mentions, references, links, emoji, commands) is escaped."""

import re

from .text import one_line

ZERO_WIDTH_SPACE = "\u200b"
UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")  # within a word it is no emphasis
AUTOLINK = re.compile(r"\b(?:https?|ftp|mailto|xmpp):|\bwww\.", re.IGNORECASE)
EMOJI = re.compile(r":(?=(?:[\w+-]*[a-z_+-][\w+-]*|100|1234):)", re.IGNORECASE | re.ASCII)
AT_THE_BEGINNING = re.compile(r"^(\d*)([-+=.)#])")  # headings, lists, rules
TO_GITHUB = re.compile(r"@|(?<!&)#(?=[\w#\[])|(?<!&)#$")  # mentions and numbers of issues


def markdown(text: str) -> str:
    """One line of plain text: what Markdown makes of it reads like it, and is nothing else."""
    shown = UNDERSCORE.sub("\\_", re.sub(r"[\\`*\[\]~]", r"\\\g<0>", one_line(text)))
    shown = re.sub(r"[&<>|$]", as_reference, shown)
    shown = AUTOLINK.sub(lambda found: found[0][:-1] + as_reference(found[0][-1]), shown)
    shown = AT_THE_BEGINNING.sub(lambda found: f"{found[1]}\\{found[2]}", shown)
    shown = TO_GITHUB.sub(rf"\g<0>{ZERO_WIDTH_SPACE}", EMOJI.sub(f":{ZERO_WIDTH_SPACE}", shown))
    return re.sub(r"^(\s*:)(?=:)", rf"\1{ZERO_WIDTH_SPACE}", shown)  # a command to the runner


def as_reference(char: str | re.Match[str]) -> str:
    return f"&#{ord(char if isinstance(char, str) else char[0])};"


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
