"""A reduction, a scan, a histogram, a stencil and a transpose: correct, nothing is said of them; with a
mistake of each kind, it is named at its line."""

from __future__ import annotations

from collections import Counter
from functools import partial

import faults
import pytest
from alone import text_of, the_engine
from faults import FAULTS, PROGRAMS, Fault

AT_NIGHT = partial(pytest.param, marks=pytest.mark.slow)


@pytest.mark.parametrize("program", [program if program in ("stencil", "transpose") else AT_NIGHT(program)
                                     for program in PROGRAMS])
def test_the_correct_one_is_silent(program: str) -> None:
    report = the_engine().findings(text_of(program))
    assert (report["status"], report["findings"], report["launches"]) == ("clean", [], 1)
    assert report["program"] | {"seconds": 0} == {"exit_status": 0, "signal": None, "seconds": 0}


SEEN = {"shared-race", "global-race", "uninitialized-shared", "uninitialized-global", "out-of-bounds",
        "failed-call", "local-out-of-bounds", "misaligned", "kernel-fault"}
"""By day, by other tests: test_program.py and test_detectors.py here, the last three in
watch/test_local_arrays.py and cuda/test_async_copies.py."""


def by_day() -> list[object]:
    """Each other kind in one program at every run, in the four others where there is time."""
    kinds = [*dict.fromkeys(fault.kind for fault in FAULTS)]
    return [fault if PROGRAMS[kinds.index(fault.kind) % len(PROGRAMS)] == fault.program
            and fault.kind not in SEEN else AT_NIGHT(fault) for fault in FAULTS]


@pytest.mark.parametrize("fault", by_day(), ids=lambda fault: f"{fault.program}-{fault.kind}")
def test_each_fault_is_named_at_its_line(fault: Fault) -> None:
    text, lines = faults.made(fault, text_of(fault.program))
    report = the_engine().findings(text, timeout="1")
    found = [(one["kind"], one["line"]) for one in report["findings"]]
    assert any((fault.kind, line) in found for line in lines), (found, lines)
    assert report["exit_status"] == 1


def test_fifteen_kinds_in_each_program() -> None:
    kinds = Counter(program for program, _ in {(fault.program, fault.kind) for fault in FAULTS})
    assert all(kinds[program] >= 15 for program in PROGRAMS), kinds
