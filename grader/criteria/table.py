"""The criteria of a lab by their names, the most basic one first: files beside this one, or of criteria/
in the lab's folder."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Iterable
from types import ModuleType

from .. import ROOT
from ..cases.model import Suite
from ..errors import BadInput
from ..lab import ANY_LAB, Lab
from ..text import quoted
from . import correct

BASIC = ("correct", *ANY_LAB)
"""Of any lab: without them there is a mistake. All others are about how well it is done."""


@functools.cache
def criteria(lab: Lab) -> dict[str, ModuleType]:
    """Raises BadInput for one that has no file."""
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
        return importlib.import_module(f"{__package__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__package__}.{name}":
            raise  # it is there, and something that it imports is not
        raise BadInput(f"{lab.folder}/lab.c: the criterion {name} has no file: neither {own.relative_to(ROOT)} "
                       f"nor grader/criteria/{name}.py") from None
