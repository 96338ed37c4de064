"""grader/ and course/ know no lab: what one computes, and what it calls things, is said in its folder and
nowhere else."""

from __future__ import annotations

import re

from conftest import REPOSITORY, repository_files

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
