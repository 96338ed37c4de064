"""grader/process.py: programs that the grader relies on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.process import completed


def test_what_it_prints_and_how_it_ends() -> None:
    ran = completed(["sh", "-c", r"cat; printf 'a\377b'; echo no >&2; exit 4"])
    assert (ran.returncode, ran.stdout, ran.stderr) == (4, "a\ufffdb", "no\n")


def test_what_it_is_asked() -> None:
    assert completed(["cat"], asked="a case").stdout == "a case"


def test_an_interrupt_ends_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By SIGTERM, so that compilers remove their temporary files."""
    def interrupted(process: subprocess.Popen[str], asked: None, timeout: float | None) -> None:
        assert process.stdout and process.stdout.readline() == "started\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    temporary = tmp_path / "temporary"
    temporary.touch()
    with pytest.raises(KeyboardInterrupt):
        completed(["sh", "-c", f"trap 'rm {temporary}; exit' TERM; echo started;"
                   "while :; do sleep 0.1; done"])
    assert not temporary.exists()
