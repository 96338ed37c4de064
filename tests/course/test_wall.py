"""course/ stands alone: of the repository around it, it knows the grader's command and two files. The
classes of test_running.py are graded in a project of course/ and a fake grader alone."""

from __future__ import annotations

import ast
import sys

from fake_class import REPOSITORY

LIBRARIES = {"jinja2", "markupsafe", "pydantic", "rich", "tomli", "yaml"}

def test_it_imports_itself_and_libraries() -> None:
    paths = list((REPOSITORY / "course").rglob("*.py"))
    modules = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    named = {name.split(".")[0] for node in modules
             for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else
                          [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level
                          else [])}
    assert len(paths) > 20 and named - sys.stdlib_module_names - {"tomllib"} <= LIBRARIES
