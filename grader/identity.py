"""What a grade depends on beside the submission: the text of the grader, and of the cases. A result
whose hashes are those of today need not be made again."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence

from . import ROOT
from .build import SOURCES, files_of
from .cases import Suite

GRADED = (*SOURCES, *(f"grader/{name}" for name in (
    "__init__.py", "__main__.py", "allowed_symbols.toml", "audit.py", "bubblewrap.py", "build.py",
    "cases.py", "causes.py", "declared.py", "errors.py", "escape.py", "examine.py", "files.py",
    "findings.py", "identity.py", "intake.py", "interrupt.py", "machine.py", "options.py",
    "outcome.py", "plugin.py", "process.py", "record.py", "run.py", "runner.py", "sandbox.py",
    "schedule.py", "score.py", "session.py", "source_text.py", "store.py", "symbols.py",
    "test_submission.py", "timing.py", "uids.py", "verdict.py")))
SHOWN = tuple(f"grader/{name}" for name in (
    "course", "exporters", "feedback.py", "parts.py", "pytest.ini", "report.py", "requirements.in",
    "requirements.txt", "wording.py"))
"""Files and folders of the project: what decides about points, and what of the grader only shows or
collects them. A file that is in neither list would change grades silently: a test finds it."""
LENGTH = 16  # hexadecimal digits: against accidents, which are no attacks


@functools.cache
def of_grader() -> str:
    """Of all that decides about points."""
    digest = hashlib.sha256()
    for path in files_of(GRADED):
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
