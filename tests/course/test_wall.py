"""course/ stands alone: of the repository around it, it knows the grader's command and two files."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_class import REPOSITORY

LIBRARIES = {"jinja2", "markupsafe", "pydantic", "rich", "tomli", "yaml"}
LONG = ("running", "regrade", "slurm", "pages", "hand_ins", "wall")
"""Of tests/course/, what takes more than seconds; of these a few tests run in the copy."""

FEW = ["running.py::test_each_is_graded_once", "regrade.py::test_a_changed_case",
       "pages.py::test_a_mistake_stands_at_its_line"]


def test_it_imports_itself_and_libraries() -> None:
    paths = list((REPOSITORY / "course").rglob("*.py"))
    modules = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    named = {name.split(".")[0] for node in modules
             for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else
                          [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level
                          else [])}
    assert len(paths) > 20 and named - sys.stdlib_module_names - {"tomllib"} <= LIBRARIES


@pytest.mark.slow  # test_it_imports_itself_and_libraries says so of the program
def test_its_tests_pass_in_an_empty_folder(tmp_path: Path) -> None:
    for name in ("course", "tests/course"):
        shutil.copytree(REPOSITORY / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    tests = [f"{tmp_path}/tests/course/test_{each}" for each in FEW]
    tests += [str(path) for path in sorted((tmp_path / "tests/course").glob("test_*.py"))
              if path.stem.removeprefix("test_") not in LONG]
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", str(tmp_path),
         "-p", "no:cacheprovider", "-o", "pythonpath=. tests/course", "-W", "ignore::pytest.PytestUnknownMarkWarning",
         "--basetemp", str(tmp_path / "t"), *tests],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout and "skipped" not in ran.stdout
