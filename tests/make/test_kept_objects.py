"""tests/kept_objects.sh: make's cc in tests. Were what it copies not what the compiler would make, other
tests would say nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, clean_environment, need


class Compiler:
    """Two copies of a source and its header, one store, and how often something was compiled."""

    def __init__(self, path: Path):
        self.path, self.log = path, path / "log"
        (path / "cc").write_text(f'#!/bin/sh\necho >>"{self.log}"\nexec {need("cc")} "$@"\n')
        (path / "cc").chmod(0o755)
        (path / "a store").mkdir()
        for copy in ("one copy", "another"):
            (path / copy).mkdir()
            (path / copy / "x.c").write_text('#include "x.h"\nint x(void) { int unused; return X; }\n')
            (path / copy / "x.h").write_text("#define X 1\n")

    def compile(self, copy: str, *flags: str, status: int = 0) -> tuple[bytes, str, str]:
        """The object, the dependencies and what is said."""
        folder = self.path / copy
        for made in ("x.o", "x.d"):
            (folder / made).unlink(missing_ok=True)
        done = subprocess.run(
            ["sh", REPOSITORY / "tests/kept_objects.sh", self.path / "cc", self.path / "a store", *flags,
             "-MMD", "-MP", "-MF", "x.d", "-c", "x.c", "-o", "x.o"],
            cwd=folder, env=clean_environment(), capture_output=True, text=True, check=False)
        assert done.returncode == status, done
        made = folder / "x.o"
        return (made.read_bytes(), (folder / "x.d").read_text(), done.stderr) if not status else (
            b"", "", done.stderr)

    @property
    def compiled(self) -> int:
        return self.log.read_text().count("\n")


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    return Compiler(tmp_path)


def test_what_was_compiled_is_copied(compiler: Compiler) -> None:
    first = compiler.compile("one copy")
    assert compiler.compile("another") == first == compiler.compile("one copy")
    assert compiler.compiled == 1 and "x.h" in first[1] and first[2] == ""


def test_another_header_source_or_flag_makes_another_object(compiler: Compiler) -> None:
    first, *_ = compiler.compile("one copy")
    (compiler.path / "another/x.h").write_text("#define X 2\n")
    second, *_ = compiler.compile("another")
    assert second != first and compiler.compiled == 2
    assert compiler.compile("another", "-DY")[0] != b"" and compiler.compiled == 3
    with open(compiler.path / "another/x.c", "a") as source:
        source.write("int y;\n")
    assert compiler.compile("another")[0] not in (first, second) and compiler.compiled == 4
    assert compiler.compile("one copy")[0] == first and compiler.compiled == 4


def test_a_warning_is_said_each_time(compiler: Compiler) -> None:
    for times in (1, 2):
        assert "unused" in compiler.compile("one copy", "-Wall")[2] and compiler.compiled == times
    assert "error" in compiler.compile("one copy", "-Wall", "-Werror", status=1)[2]
