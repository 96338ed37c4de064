"""What course/ takes from the grader beside its command and its two files: this list, which only gets
shorter; and the grader takes nothing from course/."""

from __future__ import annotations

import ast

from conftest import REPOSITORY

TAKEN = {
    "grader", "grader.build.parts", "grader.build.submission", "grader.cases.model",
    "grader.cases.read", "grader.errors", "grader.exporters.summary", "grader.intake.find",
    "grader.intake.submission", "grader.interrupt", "grader.options", "grader.process",
    "grader.record.model", "grader.record.store", "grader.record.student", "grader.report.lines",
    "grader.report.terminal", "grader.text",
}


def imported(folder: str) -> set[str]:
    """By absolute names: course/ has no other imports of the grader."""
    modules = [ast.parse(path.read_text()) for path in (REPOSITORY / folder).rglob("*.py")]
    assert len(modules) > 20
    return {name for module in modules for node in ast.walk(module)
            for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else
                         [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level
                         else [])}


def test_what_the_course_takes() -> None:
    assert {name for name in imported("course") if name.split(".")[0] == "grader"} == TAKEN


def test_the_grader_knows_no_course() -> None:
    assert not {name for name in imported("grader") if name.split(".")[0] in ("course", "instructor")}
