"""What a grade depends on beside the submission: the text of the grader, and of the cases. A result
whose hashes are those of today need not be made again."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

from .build import ROOT, source_files
from .cases import Suite

LENGTH = 16  # hexadecimal digits: against accidents, which are no attacks


@functools.cache
def of_grader() -> str:
    """Of all that decides about points: what the parts are made of, and the modules of this folder;
    not of what only shows or collects results (exporters/, course/)."""
    modules = sorted(path.relative_to(ROOT) for path in Path(__file__).parent.iterdir()
                     if path.suffix in (".py", ".toml", ".ini"))
    digest = hashlib.sha256()
    for path in (*source_files(), *modules):
        if "__pycache__" not in path.parts:
            content = (ROOT / path).read_bytes()
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:LENGTH]


def of_cases(suites: Sequence[Suite]) -> str:
    """Of what the suites say, whatever their files look like: comments and order of keys change
    nothing."""
    digest = hashlib.sha256()
    for suite in suites:
        for item in suite.items:
            digest.update(item.model_dump_json().encode() + b"\0")
    return digest.hexdigest()[:LENGTH]
