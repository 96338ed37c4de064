"""The floors of grader/: each package imports what is above it in this list, and nothing below, so
that one can be read, tested or replaced without what stands on it. course/ imports nothing of the repository around
it. And grader/ and course/ know no lab: what one computes, and what it calls things, is said in its folder and
nowhere else."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from conftest import REPOSITORY, repository_files

FLOORS = ("errors process interrupt text", "lab", "record", "cases", "intake", "jail", "gate",
          "build", "run", "clock", "criteria", "verdict", "one_case options", "grade",
          "report", "exporters", "conftest test_submission", "__main__")
"""From the lowest up. Files that are beside each other may import each other."""

def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((REPOSITORY / "grader").rglob("*.py")):
        name = path.relative_to(REPOSITORY / "grader").with_suffix("").as_posix().replace("/", ".")
        if name != "__init__":
            yield name, ast.parse(path.read_text())


def imports(name: str, module: ast.Module) -> Iterator[str]:
    """Of the grader's own modules, by their names below grader."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = name.split(".")[:-1]
            base = package[:len(package) - node.level + 1] + (node.module or "").split(".")
            where = ".".join(part for part in base if part)
            for each in node.names:
                whole = f"{where}.{each.name}".strip(".")
                yield whole if is_module(whole) else where
        elif isinstance(node, ast.ImportFrom | ast.Import):
            words = [node.module] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]
            assert not any(str(word).split(".")[0] in ("grader", "course", "instructor", "tests")
                           for word in words), f"{name}: {words}"


def is_module(name: str) -> bool:
    path = REPOSITORY / "grader" / Path(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def floor(name: str) -> int:
    first = name.split(".")[0]
    return next(number for number, names in enumerate(FLOORS) if first in names.split())


def test_no_arrow_points_upward() -> None:
    arrows = {(name, used) for name, module in modules() for used in imports(name, module) if used}
    assert len(arrows) > 100
    assert {arrow for arrow in arrows if floor(arrow[0]) < floor(arrow[1])} == set()


LIBRARIES = {"jinja2", "markupsafe", "pydantic", "rich", "tomli", "tomllib", "yaml"}


def test_the_course_imports_itself_and_libraries() -> None:
    paths = [*(REPOSITORY / "course").rglob("*.py")]
    named = {name.partition(".")[0] for path in paths for node in ast.walk(ast.parse(path.read_text()))
             for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else
                          [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else [])}
    assert len(paths) > 20 and named - sys.stdlib_module_names <= LIBRARIES


# ---- no lab --------------------------------------------------------------------------------------

SGEMM = re.compile(
    r"(?i:gemm|matri[xc])"  # its names
    r"|\b(?:m[ ,*]+k[ ,*]+n|m[ ,*]+n[ ,*]+k|M K N)\b|[\"'][mkn][\"']|\.[mkn]\b(?!\()|\bint [mkn]\b"
    r"|\bA,? (?:and )?B\b|\b(?:of|into|a|that) C\b(?! does| compiler|\+)|\bC (?:is|was|has|are|=)\b")
"""Its functions, parameters and arrays."""
EXCEPTIONS = {
    "course/jobs/slurm.py": ("Ctrl-C",), "grader/jail/sandbox.py": ("Ctrl-C",),  # a key
    "grader/gate/objects.py": ("Names of C",), "grader/gate/text.py": ("CUDA C",),
    "grader/worker/compile.sh": ("Names of C",),  # the language
    "grader/__main__.py": ("given.k)",),  # pytest's option -k
    "grader/lab.py": ("\"\"",), "grader/text.py": ("\"\"",),  # examples in the comments of what a lab says
}
FILES = [path for path in repository_files() if path.parts[0] in ("grader", "course")
         and path.suffix in (".py", ".c", ".h", ".cu", ".sh", ".toml", ".j2", ".mk", ".css")]


def test_no_file_names_sgemm() -> None:
    assert len(FILES) > 100
    found = [f"{path}:{number}: {line.strip()}" for path in FILES
             for number, line in enumerate((REPOSITORY / path).read_text().splitlines(), 1)
             if SGEMM.search(line) and not any(word in line for word in EXCEPTIONS.get(path.as_posix(), ()))]
    assert found == []
