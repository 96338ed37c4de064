"""What a case may ask of its runs, a file each: correct, memory, tiled, and those of a lab's own folder,
criteria/NAME.py.

In: Seen, the outcomes of both runs (run/outcome.py). Out: Lost, or None where it is kept. A file has
TITLE     what tables call it
PHRASE    why it is lost, in words that are the same for all cases: for hidden ones
COUNTS    whether it needs the checked run's counts of loads and stores
judge()   Seen -> Lost | None
LIMITS    optional, numbers by name that a suite may change in [limits]; judge() asks seen.limit(NAME, LIMITS)
most_loads()    optional, (Loads, the suite's limits) -> int: how many it allows, to be shown beside them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..cases.model import Case
from ..lab import Lab
from ..record.model import Loads
from ..run.outcome import Outcome


@dataclass(frozen=True)
class Seen:
    """All that a criterion may look at. `checked` is None where the plain run did not end."""

    case: Case
    plain: Outcome
    checked: Outcome | None

    @property
    def lab(self) -> Lab:
        return self.case.lab

    @property
    def loads(self) -> Loads:
        """The counts of the checked run, once correct.uncounted() has seen that they are there."""
        assert self.checked and self.checked.loads
        return self.checked.loads

    def limit(self, name: str, usual: Mapping[str, float]) -> float:
        """The suite's; where it has none, the usual one."""
        return self.case.limits.get(name, usual[name])


@dataclass(frozen=True)
class Lost:
    reason: str
    """One line."""
    hint: str = ""
    known: bool = True
    """False: nothing could be counted, which says nothing about other cases."""
