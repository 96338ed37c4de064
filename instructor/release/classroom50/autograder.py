"""Grades kernel.cu on the public cases. Classroom 50's runner starts this for every submission, with
the student's checkout as the working directory and project.tar beside this file, and reads

    result.json      the points                  }  written to the working directory
    release-body.md  what the student sees       }

Exit status 0 for any number of points. Anything else means that the machine is at fault: the runner
then records an error and no points.

The grader is the one in project.tar: of the checkout, which the student may edit, only kernel.cu is
read. Only Python's own library is used here.

SGEMM_PYTHON  a Python that has the packages of grader/requirements.txt, so that none is installed
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE / "project"
RESULTS = HERE / "results"


class NoGrade(Exception):
    """One line: the machine's fault."""


def main() -> int:
    checkout = Path.cwd()
    try:
        if sys.version_info < (3, 10):
            raise NoGrade(f"needs Python 3.10 or newer, and this is {sys.version.split()[0]}")
        unpack()
        allow_sandbox()
        grade(python_with_packages(), checkout / "kernel.cu")
        print((RESULTS / "annotations").read_text(encoding="utf-8"), end="")
        for name in ("release-body.md", "result.json"):
            (checkout / name).unlink(missing_ok=True)  # a link would be followed
            shutil.copyfile(RESULTS / name, checkout / name)
    except (NoGrade, OSError, tarfile.TarError) as error:
        print(f"No grade was given. Nothing is wrong with the submission: {error}", flush=True)
        return 1
    return 0


def unpack() -> None:
    with tarfile.open(HERE / "project.tar") as archive:
        if hasattr(tarfile, "data_filter"):  # since 3.12, and in late 3.10 and 3.11
            archive.extractall(HERE, filter="data")
        else:
            archive.extractall(HERE)
    RESULTS.mkdir(exist_ok=True)


def allow_sandbox() -> None:
    """Install bubblewrap on a machine of GitHub's, which is discarded afterwards; any other is set up
    by hand. Where no sandbox works, as in most containers, public cases are graded without one."""
    if os.environ.get("RUNNER_ENVIRONMENT") == "github-hosted":
        start("sh", str(HERE / "sandbox.sh"))


def python_with_packages() -> str:
    given = os.environ.get("SGEMM_PYTHON")
    if given:
        return given
    venv = HERE / "venv"
    run(sys.executable, "-m", "venv", str(venv),
        fault="python3 cannot make a virtual environment (Debian: python3-venv)")
    python = str(venv / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--require-hashes", "-r", "grader/requirements.txt",
        fault="pip could not install the grader's packages")
    return python


def grade(python: str, submission: Path) -> None:
    """Guarded: no output meanwhile can be a command to GitHub's runner."""
    run(python, "-B", "-m", "grader.exporters.guarded",
        python, "-B", "-m", "grader.exporters.hand_in", "classroom50",
        "--submission", str(submission), "--suite", "public",
        "--results", str(RESULTS), "-o", str(RESULTS), fault="the line above says why")


def run(*command: str, fault: str) -> None:
    if start(*command) != 0:
        raise NoGrade(fault)


def start(*command: str) -> int:
    """In the project's folder, so that no module of the student's replaces one of Python's own."""
    return subprocess.run(command, cwd=PROJECT, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "GRADER_CACHE": str(HERE / "cache")}).returncode


if __name__ == "__main__":
    sys.exit(main())
