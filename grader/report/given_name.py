"""In what is shown, a submission's file has the name that it was given: it is graded as kernel.cu, and `make
grade KERNEL=mine.cu` is about mine.cu."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from ..record.model import Record

PLACE = re.compile(r"(?<![\w./-])kernel\.cu(?=:\d|: In |$)")
PRINTED = "output"
"""The member that holds what a submission printed, which stays as it is; a compiler's words are of a build."""


def name_of(record: Record) -> str:
    name = PurePath(record.submission.path).name
    return name if name.endswith(".cu") else "kernel.cu"


def with_given_name(record: Record) -> Record:
    name = name_of(record)
    if name == "kernel.cu":
        return record
    said = renamed(record.model_dump(), name)
    said["build"]["output"] = renamed(record.build.output, name)
    return Record.model_validate(said)


def renamed(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return PLACE.sub(lambda _: name, value)
    if isinstance(value, list):
        return [renamed(each, name) for each in value]
    if isinstance(value, dict):
        return {key: each if key == PRINTED else renamed(each, name) for key, each in value.items()}
    return value
