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

import functools
import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType

from .. import ROOT
from ..cases.model import Case, Suite
from ..errors import BadInput
from ..lab import ANY_LAB, Lab
from ..record.model import Loads
from ..run.outcome import Outcome
from ..text import quoted

BASIC = ("correct", *ANY_LAB)
"""Of any lab: without them there is a mistake. All others are about how well it is done."""


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
    reason: str  # one line
    hint: str = ""
    known: bool = True  # False: nothing could be counted, which says nothing about other cases


@functools.cache
def criteria(lab: Lab) -> dict[str, ModuleType]:
    """By their names, the most basic one first. Raises BadInput for one that has no file."""
    from . import correct  # which needs what is above

    return {"correct": correct} | {name: criterion(lab, name) for name in lab.marks}


def unknown_limits(lab: Lab, suites: Iterable[Suite]) -> list[str]:
    """What suites limit that no criterion knows, a line each."""
    known = {name for each in criteria(lab).values() for name in getattr(each, "LIMITS", {})}
    return [f"{suite.path}: limits: unknown limit {quoted(name)}; there are {', '.join(sorted(known)) or 'none'}"
            for suite in suites for name in suite.limits if name not in known]


def criterion(lab: Lab, name: str) -> ModuleType:
    own = ROOT / lab.folder / "criteria" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{lab.name}_{name}", own)
    if own.is_file() and spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    try:
        return importlib.import_module(f".{name}", __package__)
    except ModuleNotFoundError as error:
        if error.name != f"{__package__}.{name}":
            raise  # it is there, and something that it imports is not
        raise BadInput(f"{lab.folder}/lab.c: the criterion {name} has no file: neither {own.relative_to(ROOT)} "
                       f"nor grader/criteria/{name}.py") from None
