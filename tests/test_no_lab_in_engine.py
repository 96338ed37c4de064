"""The engine knows no lab: words of one are in none of its files.

A failure here means that a host of the engine without this lab would read of matrices and tiles, or
that a second lab could not be added without a change of the engine."""

from __future__ import annotations

import re

from conftest import REPOSITORY

WORDS = re.compile(r"sgemm|gemm|matri[xc]|\btiles?\b", re.IGNORECASE)
ELSEWHERE = "engine/cuda/include/"  # CUDA's own names: tiled_partition


def test_files_with_a_labs_words() -> None:
    found = set()
    for path in (REPOSITORY / "engine").rglob("*"):
        name = path.relative_to(REPOSITORY).as_posix()
        if not path.is_file() or name.startswith(ELSEWHERE) or "__pycache__" in name:
            continue
        if WORDS.search(path.read_text()) or WORDS.search(name):
            found.add(name)
    assert found == set(), "words of a lab"
