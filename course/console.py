"""The terminal: as wide as can be read, with color where it has some."""

import shutil
from typing import TextIO

from rich.console import Console
from rich.text import Text

PIPED_WIDTH = 80
WIDEST = 120  # longer lines are hard to read
NARROWEST = 40
INDENT = 4


def console_for(stream: TextIO) -> Console:
    """Color on a terminal only, and not with NO_COLOR; at most 80 columns where there is none."""
    terminal = stream.isatty()
    columns = shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    columns = max(min(columns, WIDEST if terminal else PIPED_WIDTH), NARROWEST)
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")  # a terminal without UTF-8 ends no run
    return Console(file=stream, width=columns, force_terminal=terminal, highlight=False,
                   markup=False, emoji=False)


def paragraph(text: str, console: Console, indent: int = 0, style: str = "") -> Text:
    """A line; what does not fit goes on in the next ones, further to the right."""
    line, room = Text(text, style), console.width - indent
    if line.cell_len <= room:
        return Text(" " * indent).append_text(line)
    parts = list(line.wrap(console, room - INDENT))
    for part in parts:
        part.rstrip()
    return Text(" " * indent).append_text(Text(f"\n{' ' * (indent + INDENT)}").join(parts))
