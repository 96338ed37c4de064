"""The engine alone: a copy of engine/ in an empty folder, with nothing else of the repository. One for
each process that runs tests."""

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ENGINE = HERE.parent.parent / "engine"
BUILD_SECONDS, RUN_SECONDS = 300, 120


@dataclass
class Alone:
    """The folder; what a test builds in it, the next one replaces, unless it needs the same."""

    path: Path
    built: str = ""
    """The text of build/check/program; "" where it is not known."""

    def make(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        self.built = ""
        kept = {name: value for name, value in os.environ.items()
                if name in ("PATH", "HOME", "TMPDIR", "CC", "CXX")}
        # With the c++ that keeps what it makes, where the tests of the whole repository have one beside their cc.
        kept["PATH"] = f"{Path(shutil.which('cc') or '').parent / 'c++ too'}{os.pathsep}{kept['PATH']}"
        return subprocess.run(["make", "-f", "engine/Makefile", *words], cwd=self.path, text=True,
                              env=kept | environment, capture_output=True, check=False,
                              timeout=BUILD_SECONDS, stdin=subprocess.DEVNULL)

    def write(self, text: str, name: str = "program.cu") -> None:
        self.built = ""
        (self.path / name).write_text(text)

    def build(self, text: str) -> None:
        """build/program-check of this text; its own run, which this is not about, is not looked at. Nor
        is who calls whom, which would be one more compilation."""
        if self.built == text:
            return
        self.write(text)
        built = self.make("build/check/program", "CHECK=1", "KERNEL=program.cu",
                          "-o", "build/cpu/kernel.spaces")
        assert built.returncode == 0, built.stderr
        self.built = text

    def run(self, *arguments: str, status: int | None = None, input: str = "",
            **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(["build/check/program", *arguments], cwd=self.path, text=True, input=input,
                              env={"PATH": os.environ["PATH"]} | environment, capture_output=True,
                              check=False, timeout=RUN_SECONDS)
        assert status is None or done.returncode == status, done
        return done

    def findings(self, text: str, *arguments: str, timeout: str = "") -> dict[str, Any]:
        self.build(text)
        done = self.run(*arguments, ENGINE_JSON="1", ENGINE_TIMEOUT=timeout)
        report: dict[str, Any] = json.loads(done.stdout)
        assert report["exit_status"] == done.returncode
        return report


def engine_in(folder: Path) -> Alone:
    shutil.copytree(ENGINE, folder / "engine")
    return Alone(folder)


@cache
def the_engine() -> Alone:
    path = Path(tempfile.mkdtemp(prefix="the engine "))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return engine_in(path / "alone")


def text_of(program: str) -> str:
    return (HERE / "kernels" / f"{program}.cu").read_text()
