"""grader/process.py: programs that the grader relies on."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from grader import interrupt, process
from grader.process import RUNNING, TemporaryFolder, completed, threads


def test_what_it_is_asked_what_it_prints_and_how_it_ends() -> None:
    ran = completed(["sh", "-c", r"cat; printf 'a\377b'; echo no >&2; exit 4"], asked="a case ")
    assert (ran.returncode, ran.stdout, ran.stderr) == (4, "a case a\ufffdb", "no\n")
    assert completed(["cat"]).stdout == ""


def test_an_interrupt_ends_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By SIGTERM, so that compilers remove their temporary files."""
    def interrupted(process: subprocess.Popen[str], asked: None, timeout: float | None) -> None:
        assert process.stdout and process.stdout.readline() == "started\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    temporary = tmp_path / "temporary"
    temporary.touch()
    with pytest.raises(KeyboardInterrupt):
        completed(["sh", "-c", f"trap 'rm {temporary}; exit' TERM; echo started;" "while :; do sleep 0.1; done"])
    assert not temporary.exists()


def test_an_interrupt_while_a_program_starts_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made, real = [], subprocess.Popen

    def interrupted(*command: Any, **options: Any) -> Any:
        made.append(real(*command, **options))
        signal.raise_signal(signal.SIGINT)
        return made[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt), interrupt.raised():
        completed(["sleep", "600"])
    assert made[0].returncode == -signal.SIGTERM


@pytest.mark.parametrize("call", ["mkdir", "unlink"])
def test_an_interrupt_leaves_no_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Also one that comes while the folder is made or removed."""
    real = getattr(os, call)

    def interrupted(*arguments: Any, **more: Any) -> Any:
        real(*arguments, **more)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), interrupt.raised():
        with monkeypatch.context() as patched:
            if call == "mkdir":
                patched.setattr(os, call, interrupted)
            with TemporaryFolder("new-", tmp_path) as folder:
                Path(folder, "file").touch()
                patched.setattr(os, call, interrupted)
    assert not list(tmp_path.iterdir())


def test_an_interrupt_ends_what_other_threads_run() -> None:
    """And what they would start behind it; afterwards programs start as before."""
    begun = threading.Event()

    def run_two() -> int:
        first = completed([sys.executable, "-c", "import time; time.sleep(600)"])
        with pytest.raises(OSError, match="it is to end"):
            completed(["true"])
        return first.returncode

    with pytest.raises(KeyboardInterrupt), threads(1) as pool:
        runs, not_begun = pool.submit(run_two), pool.submit(begun.set)
        while not RUNNING:
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert runs.result() == -signal.SIGTERM and not_begun.cancelled() and not begun.is_set()
    assert completed(["true"]).returncode == 0


def test_a_program_that_is_still_being_written_is_started_later(tmp_path: Path) -> None:
    """Linux answers ETXTBSY; and, where memory is short, EFAULT for one moment."""
    program = tmp_path / "program"
    with open(program, "wb") as file:
        file.write(Path("/bin/true").read_bytes())
        file.flush()
        program.chmod(0o755)
        with pytest.raises(OSError, match="busy"):
            subprocess.Popen([program])
        threading.Timer(0.1, file.close).start()
        assert completed([str(program)]).returncode == 0


def test_what_may_pass_is_tried_again_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    left, real = [errno.EFAULT, errno.EAGAIN, errno.ENOMEM], subprocess.Popen

    def fails_at_first(*command: Any, **options: Any) -> Any:
        if left:
            number = left.pop()
            raise OSError(number, os.strerror(number))
        return real(*command, **options)

    monkeypatch.setattr(process, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(subprocess, "Popen", fails_at_first)
    assert completed(["true"]).returncode == 0
    left[:] = [errno.EFAULT] * 4
    with pytest.raises(OSError, match=os.strerror(errno.EFAULT)):
        completed(["true"])
    monkeypatch.setattr(process.time, "sleep", lambda seconds: pytest.fail("it waited"))
    with pytest.raises(FileNotFoundError):  # which does not pass
        completed(["/nonexistent/program"])
