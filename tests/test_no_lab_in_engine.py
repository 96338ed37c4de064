"""The engine knows no lab: words of one are in none of its files, and names of its arrays, sizes and functions
in none of its strings.

A failure here means that a host of the engine without this lab would read of matrices and tiles, or
that a second lab could not be added without a change of the engine."""

import re
from collections.abc import Iterator
from pathlib import Path

from conftest import REPOSITORY

WORDS = re.compile(r"sgemm|gemm|matri[xc]|\btiles?\b", re.IGNORECASE)
ELSEWHERE = "engine/cuda/include/"  # CUDA's own names: tiled_partition


def files() -> Iterator[Path]:
    for path in (REPOSITORY / "engine").rglob("*"):
        name = path.relative_to(REPOSITORY).as_posix()
        if path.is_file() and not name.startswith(ELSEWHERE) and "__pycache__" not in name:
            yield path


def test_files_with_a_labs_words() -> None:
    found = {path for path in files() if WORDS.search(path.read_text()) or WORDS.search(path.as_posix())}
    assert found == set(), "words of a lab"


COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
NAME = re.compile(r"(?<![\w%.\\-])[ABCmnk](?!\w|\+\+)")
NO_NAME = re.compile(r'\bA (?:phase|block)|extern "C"|`k < k`')  # articles, C itself, an example of any loop


def test_strings_with_a_labs_names() -> None:
    """In what is printed: not in the emulator, which reads C++. (The page: show/test_walk_other_lab.py.)"""
    found = []
    for path in files():
        if path.suffix in {".c", ".h", ".cu", ".def"} and "engine/cuda/" not in path.as_posix():
            code = NO_NAME.sub("", COMMENT.sub("", path.read_text()))
            found += [(path.name, string) for string in STRING.findall(code) if NAME.search(string)]
    assert found == []
