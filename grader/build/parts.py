"""The grader's own parts (judge, sandbox launcher, runtime, checker, what calls the wrapper), which
contain no student's code: made once, from a copy of their sources in a cache. So grading works in a
read-only checkout, and two graders at once do not disturb each other. Out: Parts; and the hash of all
that a grade depends on beside cases and submission.

    python -m grader.build.parts BACKEND LAB

builds what is missing while pip installs the packages that the rest of the grader needs (grader.mk). Of
Python's packages it needs none, and it says nothing: what fails here, the grader tries again, and reports.
"""

import fcntl
import functools
import hashlib
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .. import ROOT, interrupt, lab
from ..errors import BadInput, MachineFault
from ..lab import Lab
from ..process import TemporaryFolder, completed

OF_ALL = ("Makefile", "support.c", "support.h", "engine")
SOURCES = (*OF_ALL, "grader/grader.mk", "grader/worker", "grader/judge", "grader/jail", "grader/clock")
"""What the parts are made of, beside the lab's folder."""

SHOWN = tuple(f"grader/{name}" for name in (
    "exporters", "pytest.ini", "python.sh", "report", "requirements.txt",
    *(f"{front}.py" for front in ("conftest", "test_submission"))))
"""What of the grader only shows or collects points. All else of it decides about them."""
LENGTH = 16  # hexadecimal digits: against accidents, which are no attacks


@dataclass(frozen=True)
class Parts:
    """What was built without any submission."""

    lab: Lab
    directory: Path  # what compile.sh and the submission's programs need: may be seen in the sandbox
    judge: Path
    jail: Path
    compiler: str  # as it names itself: "gcc 12.2.0"
    backend: str = "cpu"  # of the plain build; the checked one runs on the CPU in any case
    clock: Path | None = None  # times kernels, where the backend is cuda
    architecture: str | None = None
    """Of the GPU that the plain build is for, where the backend is cuda: "sm_90"."""

    @property
    def prelude(self) -> Path:
        """What a submission's text is compiled behind: CUDA's declarations, preprocessed."""
        return self.directory / "build" / "cpu" / "prelude"


# ---- which compilers build them, and submissions, and for which GPU -------------------------------


@functools.cache
def version_of(command: str) -> str:
    """ "gcc 12.2.0" or "clang 14.0.6". Raises MachineFault if there is no such compiler."""
    ask = [*command.split(), "-E", "-P", "-x", "c++", "-"]
    macros = "__clang_major__.__clang_minor__.__clang_patchlevel__ __GNUC__.__GNUC_MINOR__.__GNUC_PATCHLEVEL__"
    try:
        ran = completed(ask, asked=macros)
    except OSError:
        ran = None
    if ran is None or ran.returncode != 0:
        raise MachineFault(f"{command} is no C++ compiler that works here; install g++ 11 or "
                           "clang 14, or newer, or name one in CXX")
    clang, gcc = ("".join(word.split()) for word in re.findall(r"\S+(?: ?\. ?\S+){2}", ran.stdout)[:2])
    return f"gcc {gcc}" if clang.startswith("__") else f"clang {clang}"


@functools.cache
def gpu_architecture() -> str:
    """Of the GPU at hand: "sm_90". Determined here, because the sandbox in which nvcc compiles has
    no GPU. Raises MachineFault if there is none, or it cannot be determined."""
    ran = completed(["/bin/sh", str(ROOT / "engine" / "gpu_arch.sh")])
    if ran.stdout.startswith("sm_"):
        return ran.stdout.strip()
    if not ran.stdout:
        raise MachineFault("no GPU answers here; BACKEND=cpu needs none")
    raise MachineFault(ran.stderr.strip().rpartition("\n")[2])


def architecture() -> str:
    """What to compile for. Raises MachineFault if ARCH names another GPU than the one here."""
    here, given = gpu_architecture(), os.environ.get("ARCH") or "native"
    if given != "native" and given.rstrip("af") != here:  # sm_90a is sm_90's, too
        raise MachineFault(f"ARCH={given}, but the GPU here is {here}: what is graded has to be "
                           "compiled for the GPU that runs it")
    return here if given == "native" else given


def settings_for(backend: str) -> dict[str, str]:
    """make's variables; the compilers as the environment or make's own defaults have them. Raises MachineFault."""
    settings = {"CC": os.environ.get("CC") or "cc", "CXX": os.environ.get("CXX") or "c++", "BACKEND": backend}
    if backend == "cuda":
        nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not os.access(nvcc, os.X_OK):
            raise MachineFault("there is no nvcc here (NVCC=... names one); BACKEND=cpu needs none")
        settings |= {"NVCC": nvcc, "ARCH": architecture()}
    return settings


# ---- the sources, and what is made of them --------------------------------------------------------


def files_of(names: Sequence[str], but_for: Sequence[str] = ()) -> Iterator[Path]:
    """Of these files and folders, relative to the project's root, in an order that does not depend on
    the file system."""
    for name in names:
        path = ROOT / name
        found = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for each in (p.relative_to(ROOT) for p in found if "__pycache__" not in p.parts):
            if not any(map(each.is_relative_to, but_for)):
                yield each


NOT_GRADED_WITH = ("build", "handout.md", "instructor", "kernel.cu", "testcases")
"""Of a lab's folder: what changes no grade of a submission, and the cases, which are hashed by what they
say."""


def lab_files(folder: str) -> Iterator[Path]:
    """What of its folder decides about points of this lab."""
    return files_of([folder], [f"{folder}/{name}" for name in NOT_GRADED_WITH])


def graded_files(folder: str) -> list[Path]:
    """All that does."""
    return [*files_of([*OF_ALL, "grader"], SHOWN), *lab_files(folder)]


def source_files(folder: str) -> list[Path]:
    """Of the parts: no Python, which is beside some of them."""
    return [path for path in (*files_of(SOURCES), *lab_files(folder)) if path.suffix != ".py"]


def hash_of(paths: Sequence[Path], more: Sequence[str] = ()) -> str:
    digest = hashlib.sha256("\0".join(more).encode())
    for path in paths:
        content = (ROOT / path).read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:LENGTH]


def parts_key(backend: str = "cpu", folder: str = "lab") -> str:
    """A hash of all that the parts depend on: sources, settings, compilers. Raises MachineFault."""
    settings = settings_for(backend)
    return hash_of(source_files(folder), [*(f"{name}={value} {shutil.which(value.split()[0])}"
                                            for name, value in settings.items()), version_of(settings["CXX"])])


def cache_directory() -> Path:
    """GRADER_CACHE, or the first of the checkout's build/, the user's cache and the temporary
    directory that can be written to. Raises MachineFault if none can."""
    home_cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # of a user who has a home
    named = os.environ.get("GRADER_CACHE")
    candidates = [Path(named)] if named else [
        ROOT / "build" / "grader-cache",
        *(Path(each, "cuda-grader") for each in (home_cache, tempfile.gettempdir()) if os.path.isabs(each))]
    for candidate in candidates:
        with suppress(OSError):
            candidate.mkdir(parents=True, exist_ok=True)
            if os.access(candidate, os.W_OK | os.X_OK):
                return candidate
    raise MachineFault(f"nothing can be written to {candidates[-1]}; "
                       "name a directory for the grader's own parts in GRADER_CACHE")


def described(folder: str = "lab") -> Lab:
    """The lab in this folder of the project. What it says does not depend on compilers, so it is known
    where there is none, if the cache has it. Raises BadInput and MachineFault."""
    place = os.path.relpath(ROOT / folder, ROOT)
    outside = place.startswith(os.pardir)
    if outside or not (ROOT / place / "lab.c").is_file():
        raise BadInput(f"--lab (LAB with make): {folder[:200]!r}: there is no lab here: "
                       + ("it is outside of the project" if outside else f"{place[:200]}/lab.c is missing"))
    made = kept(f"lab-{hash_of(source_files(place), [platform.machine()])}",
                lambda stage: make_lab(stage, place))
    return lab.read(place, made / "build" / "lab")


def trusted_parts(backend: str = "cpu", about: Lab | None = None) -> Parts:
    """Builds what is missing. `about`: default: the one in lab/. Raises BadInput and MachineFault."""
    about = about or described()
    key = parts_key(backend, about.folder)
    used_before = (cache_directory() / key).is_dir()
    made = kept(key, lambda stage: make_parts(stage, about, backend))
    if used_before:
        precompile(made)
    built, compiler = made / "build", version_of(settings_for("cpu")["CXX"])
    on_gpu = backend == "cuda"
    return Parts(about, built / "grader", built / "judge", built / "grader" / "jail", compiler, backend,
                 clock=built / "clock" if on_gpu else None, architecture=architecture() if on_gpu else None)


def kept(key: str, make: Callable[[Path], None]) -> Path:
    """A directory of the cache, made where it is missing: beside its place, and renamed at the end, so
    that an interrupted build leaves nothing behind. Raises MachineFault."""
    cache = cache_directory()
    made = cache / key
    if made.is_dir():
        return made
    with open(cache / f"{key}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made.is_dir():
            return made
        try:
            with TemporaryFolder("new-", cache) as stage:
                make(Path(stage))
                os.rename(stage, made)
        except OSError as error:
            raise MachineFault(f"{cache}: {error.strerror or error}; the grader's own parts "
                               "cannot be built there (GRADER_CACHE names another place)") from error
    return made


def make_lab(stage: Path, folder: str) -> None:
    """Raises MachineFault and OSError."""
    for path in source_files(folder):
        (stage / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, stage / path)
    run_make(stage, "cpu", folder, "build/lab", "build/lab.json")


def make_parts(stage: Path, about: Lab, backend: str) -> None:
    """With what was compiled for its description. Raises MachineFault and OSError."""
    shutil.copytree(about.program.parent.parent, stage, dirs_exist_ok=True)
    run_make(stage, backend, about.folder, "grader-parts")


def precompile(made: Path) -> None:
    """Has gcc keep what it makes of the preludes and read that instead, in the sandbox, where nothing can
    be kept: a tenth of a grade's time. It takes what it saves in four, so it is done at the second use, once.
    Without it, if the cache cannot be written to, grades are only slower."""
    with suppress(OSError):
        (made / "precompiled").touch(exist_ok=False)
        with TemporaryFolder("precompiled-") as work:
            for name in ("kernel.cu", "plain.o", "kernel.marked.o", "checked.o"):  # as of a second compilation
                (Path(work) / name).touch()
            completed(["/bin/sh", str(made / "build" / "grader" / "compile.sh"), "objects", "none"], cwd=work,
                      env=environment())


def environment() -> dict[str, str]:
    """What may be said in it to compilers."""
    return {k: v for k, v in os.environ.items()
            if k in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")} | {"LC_ALL": "C.UTF-8"}


def run_make(stage: Path, backend: str, folder: str, *targets: str) -> None:
    settings = [f"{name}={value}" for name, value in {**settings_for(backend), "LAB": folder}.items()]
    make = shutil.which("make") or shutil.which("gmake")
    if not make:
        raise MachineFault("make is not installed, and the grader's own parts are built with it")
    try:
        ran = completed([make, "--no-print-directory", f"-j{os.cpu_count() or 1}", *settings,
                         *targets], cwd=stage, env=environment())
    except OSError as error:
        raise MachineFault(f"make cannot be started: {error.strerror}") from error
    if ran.returncode != 0:
        raise MachineFault("the grader's own parts cannot be built: "
                           + (reason_of(ran.stderr) or f"make ended with {ran.returncode}"))


def reason_of(printed: str) -> str:
    """The first error of a compiler's or a linker's output, else its last line."""
    lines = [line.strip() for line in printed.splitlines() if line and not line.startswith("make")]
    errors = (line for line in lines if re.search(r"\berror\b|\bfatal\b|ld: (?!warning)", line))
    return next(errors, lines[-1] if lines else "")


@functools.cache
def of_grader(folder: str = "lab") -> str:
    """Of all that decides about points of this lab."""
    return hash_of(graded_files(folder))


def main(backend: str, folder: str) -> int:
    interrupt.handle(signal.SIG_DFL)
    try:
        with interrupt.raised(), suppress(BadInput, MachineFault):
            trusted_parts(backend, described(folder))
    except KeyboardInterrupt:
        return interrupt.status()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
