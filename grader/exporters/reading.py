"""Reading result.json: every exporter gets a record that holds what docs/grading.md promises."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from ..errors import BadInput
from ..record import Criterion, Record, Test, Timing

ROUNDING = 1e-6  # sums of points such as 0.1 + 0.2


def read_record(path: Path, *, partial: bool = False) -> Record:
    """The record in this file. Refuses the cases so far of a run that has not ended (or was
    killed), unless `partial`."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; `make grade` writes this file") from None
    try:
        record = Record.model_validate_json(text)
    except ValidationError as error:
        raise BadInput(f"{path}: not a result of this grader: {first_fault(error)}") from None
    fault = fault_of_numbers(record)
    if fault:
        raise BadInput(f"{path}: not a result of this grader: {fault}")
    if not record.complete and not partial:
        raise BadInput(f"{path}: the run has not ended; --partial takes the cases so far")
    return record


def first_fault(error: ValidationError) -> str:
    """Where and what, on one line; the value itself may be anything and is left out."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the file"
    return " ".join(f"{place}: {first['msg']}".split())


def fault_of_numbers(record: Record) -> str:
    """JSON readers take NaN and Infinity for numbers; nobody's gradebook does."""
    scores: list[tuple[str, Record | Test | Criterion | Timing]] = [("score", record)]
    for index, test in enumerate(record.tests):
        scores.append((f"tests.{index}.score", test))
        scores += [(f"tests.{index}.criteria.{n}.score", one)
                   for n, one in enumerate(test.criteria)]
    scores += [(f"performance.{n}.score", one) for n, one in enumerate(record.performance)]
    for place, one in scores:
        if not (math.isfinite(one.score) and math.isfinite(one.max_score)):
            return f"{place}: not a finite number"
        if not -ROUNDING <= one.score <= one.max_score + ROUNDING:
            return f"{place}: {one.score:g} of {one.max_score:g} points"
    if not re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", record.started, re.ASCII):
        return "started: not a time in ISO 8601"
    times = [("seconds", record.seconds),
             *((f"tests.{n}.seconds", test.seconds) for n, test in enumerate(record.tests)),
             *numbers_of_speed(record)]
    for place, seconds in times:
        if not math.isfinite(seconds) or seconds < 0:
            return f"{place}: not a time"
    return ""


def numbers_of_speed(record: Record) -> Iterator[tuple[str, float]]:
    for number, timing in enumerate(record.performance):
        place = f"performance.{number}"
        yield f"{place}.seconds", timing.seconds
        yield f"{place}.ratio", timing.ratio or 0.0
        for key, times in (("times", timing.times), ("cublas_times", timing.cublas_times)):
            for name, seconds in (times.model_dump() if times else {}).items():
                yield f"{place}.{key}.{name}", seconds
