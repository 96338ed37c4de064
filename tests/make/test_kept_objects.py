"""tests/kept_objects.c: make's cc and c++ in tests. Were what it copies not what the compiler would make,
other tests would say nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, clean_environment, need

OBJECT_OF_C = ["-g", "-MMD", "-MP", "-MF", "x.d", "-c", "x.c", "-o", "x.o"]
OBJECT_OF_TEXT = ["-g", "-x", "c++-cpp-output", "-c", "x.ii", "-o", "x.o"]
TEXT = ["-E", "-x", "c++", "x.c"]


class Compiler:
    """Two copies of a source and its header, one store, and how often something was compiled."""

    def __init__(self, path: Path):
        self.path, self.log = path, path / "log"
        (path / "c++").write_text(f'#!/bin/sh\necho >>"{self.log}"\nexec {need("c++")} "$@"\n')
        (path / "c++").chmod(0o755)
        (path / "a store").mkdir()
        subprocess.run(
            ["cc", f'-DCOMPILER="{path}/c++"', f'-DSTORE="{path}/a store"',
             REPOSITORY / "tests/kept_objects.c", "-o", path / "kept"], check=True)
        for copy in ("one copy", "another "):
            (path / copy).mkdir()
            (path / copy / "x.c").write_text('#include "x.h"\nint x() { int unused; return X; }\n')
            (path / copy / "x.h").write_text("#define X 1\n")
            (path / copy / "x.ii").write_text(f'# 1 "{path}/{copy}/x.cu"\nint y() {{ return 1; }}\n')

    def __call__(self, copy: str, *words: str, status: int = 0) -> tuple[bytes, str, str]:
        """The object or what is printed, the dependencies, and what is said."""
        folder = self.path / copy
        for made in ("x.o", "x.d"):
            (folder / made).unlink(missing_ok=True)
        done = subprocess.run([self.path / "kept", *words], cwd=folder, env=clean_environment(),
                              capture_output=True, check=False)
        assert done.returncode == status, done
        made, dependencies = folder / "x.o", folder / "x.d"
        return (made.read_bytes() if made.exists() else done.stdout,
                dependencies.read_text() if dependencies.exists() else "", done.stderr.decode())

    @property
    def compiled(self) -> int:
        return self.log.read_text().count("\n")


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    return Compiler(tmp_path)


@pytest.mark.parametrize("words", [OBJECT_OF_C, OBJECT_OF_TEXT, TEXT])
def test_what_was_compiled_is_copied(compiler: Compiler, words: list[str]) -> None:
    first = compiler("one copy", *words)
    second = compiler("another ", *words)
    assert compiler("one copy", *words) == first and compiler.compiled == 1
    assert first[0] and not first[2] and ("x.h" in first[1]) == (words == OBJECT_OF_C)
    here, there = (str(compiler.path / copy).encode() for copy in ("one copy", "another "))
    if words == OBJECT_OF_C:
        there = here
    assert second[0] == first[0].replace(here, there) and (here in first[0]) == (words != TEXT)


@pytest.mark.parametrize("words", [OBJECT_OF_C, TEXT])
def test_another_header_source_or_flag_makes_another_object(
    compiler: Compiler, words: list[str]
) -> None:
    first, *_ = compiler("one copy", *words)
    (compiler.path / "another /x.h").write_text("#define X 2\n")
    second, *_ = compiler("another ", *words)
    assert second != first and compiler.compiled == 2
    assert compiler("another ", "-DY", *words)[0] and compiler.compiled == 3
    with open(compiler.path / "another /x.c", "a") as source:
        source.write("int y;\n")
    assert compiler("another ", *words)[0] not in (first, second) and compiler.compiled == 4
    assert compiler("one copy", *words)[0] == first and compiler.compiled == 4


def test_another_text_makes_another_object(compiler: Compiler) -> None:
    first, *_ = compiler("one copy", *OBJECT_OF_TEXT)
    (compiler.path / "one copy/x.ii").write_text("int z() { return 1; }\n")
    assert compiler("one copy", *OBJECT_OF_TEXT)[0] != first and compiler.compiled == 2


def test_a_warning_is_said_each_time(compiler: Compiler) -> None:
    for times in (1, 2):
        said = compiler("one copy", "-Wall", *OBJECT_OF_C)[2]
        assert "unused" in said and compiler.compiled == times
    assert "error" in compiler("one copy", "-Wall", "-Werror", *OBJECT_OF_C, status=1)[2]
