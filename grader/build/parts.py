"""The grader's own parts (judge, sandbox launcher, runtime, checker, what calls the wrapper), which
contain no student's code: made once, from a copy of their sources in a cache. So grading works in a
read-only checkout, and two graders at once do not disturb each other. Out: Parts; and the hash of all
that a grade depends on beside cases and submission."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import ROOT
from ..errors import MachineFault
from ..process import completed
from .toolchain import architecture, compilers, settings_for, version_of

SOURCES = ("Makefile", "support.c", "support.h", "lab", "engine",
           "grader/grader.mk", "grader/worker", "grader/judge", "grader/jail", "grader/clock")
"""What the parts are made of."""

GRADED = (*SOURCES, *(f"grader/{name}" for name in (
    "__init__.py", "__main__.py", "build", "cases", "criteria", "errors.py", "gate", "grade.py",
    "intake", "interrupt.py", "one_case.py", "one_submission.py", "options.py", "pool.py",
    "process.py", "record", "run", "text.py", "verdict")))
SHOWN = tuple(f"grader/{name}" for name in (
    "conftest.py", "exporters", "pytest.ini", "report", "requirements.in", "requirements.txt",
    "test_submission.py"))
"""Files and folders of the project: what decides about points, and what of the grader only shows or
collects them. A file that is in neither list would change grades silently: a test finds it."""
LENGTH = 16  # hexadecimal digits: against accidents, which are no attacks


@dataclass(frozen=True)
class Parts:
    """What was built without any submission."""

    directory: Path
    """What compile.sh and the submission's programs need: may be seen in the sandbox."""
    judge: Path
    jail: Path
    compiler: str
    """As it names itself: "gcc 12.2.0"."""
    backend: str = "cpu"
    """Of the plain build; the checked one runs on the CPU in any case."""
    clock: Path | None = None
    """Times kernels beside cuBLAS; where the backend is cuda."""
    architecture: str | None = None
    """Of the GPU that the plain build is for, where the backend is cuda: "sm_90"."""


def files_of(names: Sequence[str]) -> Iterator[Path]:
    """Of these files and folders, relative to the project's root, in an order that does not depend on
    the file system."""
    for name in names:
        path = ROOT / name
        found = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        yield from (p.relative_to(ROOT) for p in found if "__pycache__" not in p.parts)


def source_files() -> Iterator[Path]:
    """Of the parts: no Python, which is beside some of them."""
    return (path for path in files_of(SOURCES) if path.suffix != ".py")


def parts_key(backend: str = "cpu") -> str:
    """A hash of all that the parts depend on: sources, settings, compilers. Raises MachineFault."""
    digest = hashlib.sha256()
    for path in source_files():
        content = (ROOT / path).read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    for name, value in settings_for(backend).items():
        digest.update(f"{name}={value}\0{shutil.which(value.split()[0])}\0".encode())
    digest.update(version_of(compilers()["CXX"]).encode())
    return digest.hexdigest()[:20]


def cache_directory() -> Path:
    """GRADER_CACHE, or the first of the checkout's build/, the user's cache and the temporary
    directory that can be written to. Raises MachineFault if none can."""
    home_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    named = os.environ.get("GRADER_CACHE")
    candidates = [Path(named)] if named else [ROOT / "build" / "grader-cache",
                                             Path(home_cache) / "sgemm-grader",
                                             Path(tempfile.gettempdir()) / "sgemm-grader"]
    for candidate in candidates:
        try:
            candidate.mkdir(parents=True, exist_ok=True)
            if os.access(candidate, os.W_OK | os.X_OK):
                return candidate
        except OSError:
            continue
    raise MachineFault(f"nothing can be written to {candidates[-1]}; "
                       "name a directory for the grader's own parts in GRADER_CACHE")


def trusted_parts(backend: str = "cpu") -> Parts:
    """Builds what is missing. Raises MachineFault."""
    cache, key = cache_directory(), parts_key(backend)
    made = cache / key
    if not made.is_dir():
        with open(cache / f"{key}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.is_dir():
                make_parts(made, backend)
    built, compiler = made / "build", version_of(compilers()["CXX"])
    parts = Parts(built / "grader", built / "judge", built / "grader" / "jail", compiler, backend)
    if backend == "cpu":
        return parts
    return replace(parts, architecture=architecture(), clock=built / "clock")


def make_parts(made: Path, backend: str) -> None:
    """In a directory beside it, renamed at the end: an interrupted build leaves nothing behind.
    Raises MachineFault."""
    stage = Path(tempfile.mkdtemp(prefix="new-", dir=made.parent))
    try:
        for path in source_files():
            (stage / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, stage / path)
        run_make(stage, backend)
        stage.rename(made)
    except OSError as error:
        raise MachineFault(f"{made.parent}: {error.strerror or error}; the grader's own parts "
                           "cannot be built there (GRADER_CACHE names another place)") from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def run_make(stage: Path, backend: str) -> None:
    environment = {k: v for k, v in os.environ.items()
                   if k in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")} | {"LC_ALL": "C.UTF-8"}
    settings = [f"{name}={value}" for name, value in settings_for(backend).items()]
    make = shutil.which("make") or shutil.which("gmake")
    if not make:
        raise MachineFault("make is not installed, and the grader's own parts are built with it")
    try:
        ran = completed([make, "--no-print-directory", f"-j{os.cpu_count() or 1}", *settings,
                         "grader-parts"], cwd=stage, env=environment)
    except OSError as error:
        raise MachineFault(f"make cannot be started: {error.strerror}") from error
    if ran.returncode == 0:
        return
    raise MachineFault("the grader's own parts cannot be built: "
                       + (reason_of(ran.stderr) or f"make ended with {ran.returncode}"))


def reason_of(printed: str) -> str:
    """The first error of a compiler's or a linker's output, else its last line."""
    lines = [line.strip() for line in printed.splitlines() if line and not line.startswith("make")]
    errors = (line for line in lines if re.search(r"\berror\b|\bfatal\b|ld: (?!warning)", line))
    return next(errors, lines[-1] if lines else "")


@functools.cache
def of_grader() -> str:
    """Of all that decides about points."""
    digest = hashlib.sha256()
    for path in files_of(GRADED):
        content = (ROOT / path).read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:LENGTH]
