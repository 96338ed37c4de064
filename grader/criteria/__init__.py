"""What a case may ask of its runs, a file each: correct, memory, tiled. docs/points.md says to students
what each is kept for.

In: Seen, the outcomes of both runs (run/outcome.py). Out: Lost, or None where it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..cases.model import Case
from ..run.outcome import Outcome


@dataclass(frozen=True)
class Seen:
    """All that a criterion may look at. `checked` is None where the plain run did not end."""

    case: Case
    plain: Outcome
    checked: Outcome | None


@dataclass(frozen=True)
class Lost:
    reason: str
    """One line."""
    hint: str = ""
    known: bool = True
    """False: nothing could be counted, which says nothing about other cases."""
