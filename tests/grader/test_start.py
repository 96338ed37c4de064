"""A program that cannot be started just now is started a moment later (grader/start.py)."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import threading
from pathlib import Path

import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY))

from grader import start  # noqa: E402


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return Path(shutil.copy("/bin/echo", tmp_path / "echo"))


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "PAUSES", (0.0, 0.0))


def refusing(monkeypatch: pytest.MonkeyPatch, number: int, times: int) -> list[int]:
    """A kernel that refuses to start anything, so many times; how often it was asked."""
    asked: list[int] = []
    really = start.subprocess.Popen

    def popen(*words, **options):
        asked.append(number)
        if len(asked) <= times:
            raise OSError(number, os.strerror(number))
        return really(*words, **options)

    monkeypatch.setattr(start.subprocess, "Popen", popen)
    return asked


def test_a_file_that_is_still_being_written(program: Path) -> None:
    """The kernel itself refuses: Text file busy."""
    writing = open(program, "ab")
    timer = threading.Timer(0.1, writing.close)
    timer.start()
    try:
        assert start.completed([str(program), "größe"]).stdout == "größe\n"
    finally:
        timer.join()


def test_a_file_that_stays_busy(program: Path, no_pauses: None) -> None:
    with open(program, "ab"), pytest.raises(OSError) as caught:
        start.start([str(program)])
    assert caught.value.errno == errno.ETXTBSY


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.ETXTBSY,
                                    errno.EFAULT])
def test_what_passes(number: int, program: Path, no_pauses: None,
                     monkeypatch: pytest.MonkeyPatch) -> None:
    asked = refusing(monkeypatch, number, 2)
    assert start.completed([str(program), "here"]).stdout == "here\n"
    assert len(asked) == 3


def test_it_ends_after_the_last_attempt(program: Path, no_pauses: None,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    asked = refusing(monkeypatch, errno.EAGAIN, 99)
    with pytest.raises(BlockingIOError):
        start.start([str(program)])
    assert len(asked) == 3


def test_what_no_waiting_mends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = refusing(monkeypatch, errno.EACCES, 1)
    with pytest.raises(PermissionError):
        start.start([str(tmp_path)])
    assert len(asked) == 1
    with pytest.raises(FileNotFoundError):
        start.start([str(tmp_path / "missing")])


def test_what_it_says_and_how_it_ends() -> None:
    ran = start.completed(["sh", "-c", r"cat; printf 'a\377b'; echo no >&2; exit 4"])
    assert (ran.returncode, ran.stdout, ran.stderr) == (4, "a\ufffdb", "no\n")
