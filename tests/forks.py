"""Python programs of this project in forks of one process, which has imported what they import: that
takes most of the processor time of a short one.

    done = python(folder, "course.__main__").run(["-m", "course", ...], environment)

A fork has the arguments, the environment, the streams and the working directory of the program, and
ends as that does; start() gives one that can be signalled while it runs. What is about how Python starts,
starts a Python of its own.

    python forks.py MODULES     in: requests, a line of JSON each; out: the status of each, or the number of
                                the process that was started
"""

import atexit
import functools
import gc
import importlib
import json
import os
import runpy
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

SECONDS = 300


Run = subprocess.CompletedProcess[str]


class Python:
    """With `modules`, which are found in `folder`, imported."""

    def __init__(self, folder: Path, modules: Sequence[str]):
        self.folder = folder
        self.server = subprocess.Popen(
            [sys.executable, __file__, *modules], cwd=folder, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        atexit.register(self.server.communicate)  # at its input's end it ends

    def run(self, words: Sequence[str], environment: Mapping[str, str],
            cwd: Path | None = None) -> Run:
        """`words`: -m and a module, or a file; and its arguments."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            streams = [f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (out, err)]
            status = self.run_on(streams, words, environment, cwd)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(words, status, out.read().decode(), err.read().decode())

    def run_on(self, streams: Sequence[str], words: Sequence[str], environment: Mapping[str, str],
               cwd: Path | None = None) -> int:
        """Its status. `streams`: standard output and standard error, by path."""
        return self.ask(request(words, environment, streams, cwd or self.folder))

    def start(self, words: Sequence[str], environment: Mapping[str, str]) -> "Started":
        """In a session of its own."""
        return Started(self, words, environment)

    def ask(self, request: Mapping[str, Any]) -> int:
        assert self.server.stdin and self.server.stdout
        self.server.stdin.write(json.dumps(request) + "\n")
        if not select.select([self.server.stdout], [], [], SECONDS)[0]:
            self.server.kill()
            raise TimeoutError(request)
        return int(self.server.stdout.readline())


def request(words: Sequence[str], environment: Mapping[str, str], streams: Sequence[str],
            cwd: Path) -> dict[str, Any]:
    return {"words": list(words), "cwd": str(cwd), "streams": list(streams), "environment": dict(environment)}


class Started:
    """As subprocess.Popen, whose streams are read at its end."""

    def __init__(self, python: Python, words: Sequence[str], environment: Mapping[str, str]):
        self.python, self.returncode = python, None
        self.files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        streams = [f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in self.files]
        self.pid = python.ask(request(words, environment, streams, python.folder) | {"start": True})
        self.ended = os.pidfd_open(self.pid)

    def wait(self, timeout: float | None = None) -> int | None:
        if self.returncode is None:
            if not select.select([self.ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a fork", timeout or 0)
            self.returncode = self.python.ask({"end": self.pid})
            os.close(self.ended)
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        self.wait(timeout)
        for file in self.files:
            file.seek(0)
        return self.files[0].read().decode(), self.files[1].read().decode()

    def __enter__(self) -> "Started":
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()


@functools.cache
def python(folder: Path, *modules: str) -> Python:
    """One in each worker."""
    return Python(folder, modules)


def fake_grader() -> Python:
    """For grader_fake.COMMAND, without its interpreter."""
    return python(Path(__file__).parent / "grader", "grader_fake", "grader.__main__", "pytest")


def next_request() -> dict[str, Any]:
    """In a fork of this process for each."""
    answers = os.dup(1)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        child = request.get("end") or os.fork()
        if not child:
            os.close(answers)
            if request.get("start"):
                os.setsid()
            return request
        answer = child if request.get("start") else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(answers, f"{answer}\n".encode())
    sys.exit()


def become(request: dict[str, Any]) -> None:
    for number, path in enumerate(["/dev/null", *request["streams"]]):
        opened = os.open(path, os.O_RDWR)
        os.dup2(opened, number)
        os.close(opened)
    # Made for what they lead to, a terminal or a file.
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", errors="backslashreplace",
                                   buffering=1 if number == 2 or os.isatty(number) else -1)
                              for number in (1, 2))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    what, *words = request["words"]
    if what != "-m":
        sys.argv, sys.path[0] = [what, *words], str(Path(what).parent)
        runpy.run_path(what, run_name="__main__")
        return
    module, *words = words
    sys.argv, sys.path[0] = [module, *words], request["cwd"]
    sys.modules.pop(f"{module}.__main__", None)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    sys.path[0] = os.getcwd()
    sys.dont_write_bytecode = False  # the next one finds it compiled
    for name in sys.argv[1:]:
        importlib.import_module(name)
    sys.dont_write_bytecode = True
    gc.freeze()  # no fork need go through what was imported
    become(next_request())
