"""Builds the grader's own parts, which contain no student's code, and a submission's two programs.

The parts (judge, sandbox launcher, runtime, checker, what calls basicSgemm) are made once, from a
copy of their sources in a cache: so grading works in a read-only checkout, and two graders at once
do not disturb each other. The submission is compiled and linked in the sandbox; in between, its
text and its object files are checked (source_text.py, symbols.py). In: kernel.cu; out: programs.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from . import source_text, symbols
from .errors import MachineFault, NotBuilt, Refused
from .process import completed
from .sandbox import Command, Limits, Sandbox

ROOT = Path(__file__).resolve().parent.parent

SOURCES = ("Makefile", "make", "support.c", "support.h", "support", "emulator", "checker",
           "grader/grader.mk", "grader/worker", "grader/judge", "grader/jail", "grader/clock")
"""What the parts are made of."""

BUILDS = ("plain", "checked")
FOR_THE_CLOCK = ("recorder", "submission.fatbin")
FIRST_GCC_LINES = 30
LARGEST_OBJECT = 64 << 20

COMPILE_LIMITS = Limits(
    cpu_seconds=30,
    memory_bytes=3 << 30,  # gcc takes 0.2 GB for these files; #include bombs end here
    processes=64,
    file_bytes=LARGEST_OBJECT,
    output_bytes=64 << 10,
    wall_seconds=120,
)


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


@dataclass(frozen=True)
class Programs:
    """A submission's two builds; and, for a GPU, what the clock needs of it."""

    plain: Path
    checked: Path
    recorder: Path | None = None
    """The plain build once more, in a program that writes down what is launched."""
    kernels: Path | None = None
    """Its kernels alone, without any host code."""

    def of(self, build: str) -> Path:
        return self.plain if build == "plain" else self.checked


# ---- the parts -----------------------------------------------------------------------------------


def source_files() -> Iterator[Path]:
    """Relative to the project's root, in an order that does not depend on the file system."""
    for name in SOURCES:
        path = ROOT / name
        found = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        yield from (p.relative_to(ROOT) for p in found)


def compilers() -> dict[str, str]:
    """CC and CXX as the environment or make's own defaults have them."""
    return {"CC": os.environ.get("CC") or "cc", "CXX": os.environ.get("CXX") or "c++"}


def version_of(command: str) -> str:
    """ "gcc 12.2.0" or "clang 14.0.6". Raises MachineFault if there is no such compiler."""
    ask = [*command.split(), "-E", "-P", "-x", "c++", "-"]
    macros = "__clang_major__.__clang_minor__.__clang_patchlevel__ " \
             "__GNUC__.__GNUC_MINOR__.__GNUC_PATCHLEVEL__"
    try:
        printed = subprocess.run(ask, input=macros, capture_output=True, text=True,
                                 check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise MachineFault(f"{command} is no C++ compiler that works here; install g++ 11 or "
                           "clang 14, or newer, or name one in CXX") from None
    clang, gcc = ("".join(word.split()) for word in re.findall(r"\S+(?: ?\. ?\S+){2}", printed)[:2])
    return f"gcc {gcc}" if clang.startswith("__") else f"clang {clang}"


def nvcc_command() -> str:
    """Raises MachineFault if there is none."""
    usual = "/usr/local/cuda/bin/nvcc"
    found = os.environ.get("NVCC") or shutil.which("nvcc") or usual
    if not os.access(found, os.X_OK):
        raise MachineFault("there is no nvcc here (NVCC=... names one); --backend cpu needs none")
    return found


@functools.cache
def gpu_architecture() -> str:
    """Of the GPU at hand: "sm_90". Determined here, because the sandbox in which nvcc compiles has
    no GPU. Raises MachineFault if there is none, or it cannot be determined."""
    ran = completed(["/bin/sh", str(ROOT / "make" / "gpu_arch.sh")])
    if ran.stdout.startswith("sm_"):
        return ran.stdout.strip()
    if not ran.stdout:
        raise MachineFault("no GPU answers here; --backend cpu needs none")
    raise MachineFault(ran.stderr.strip().rpartition("\n")[2])


def architecture() -> str:
    """What to compile for. Raises MachineFault if ARCH names another GPU than the one here."""
    here = gpu_architecture()
    given = os.environ.get("ARCH") or "native"
    if given == "native":
        return here
    if given.rstrip("af") != here:  # sm_90a is sm_90's, too
        raise MachineFault(f"ARCH={given}, but the GPU here is {here}: what is graded has to be "
                           "compiled for the GPU that runs it")
    return given


def settings_for(backend: str) -> dict[str, str]:
    """make's variables. Raises MachineFault."""
    settings = compilers() | {"BACKEND": backend}
    if backend == "cuda":
        settings |= {"NVCC": nvcc_command(), "ARCH": architecture()}
    return settings


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
    printed = [line for line in ran.stderr.splitlines() if line and not line.startswith("make")]
    raise MachineFault("the grader's own parts cannot be built: "
                       + (printed[-1] if printed else f"make ended with {ran.returncode}"))


# ---- a submission --------------------------------------------------------------------------------


def first_error(output: str) -> tuple[str, str | None, int]:
    """The compiler's first error: message, file, line."""
    of_compilers = r"(\S[^:(\n]*)[:(](\d+)(?::\d+:|:|\):) (?:fatal |catastrophic )?error: (.*)"
    of_the_rewriter = r"(kernel\.cu):(\d+): (.*)"
    for pattern in (of_compilers, of_the_rewriter):  # nvcc writes kernel.cu(7)
        if found := re.search("^" + pattern, output, re.MULTILINE):
            return found[3], found[1], int(found[2])
    lines = output.strip().splitlines()
    return (lines[-1] if lines else "the compiler failed without a message"), None, 0


def take_file(path: Path) -> bytes:
    """The content of a file that was made in the sandbox. Raises Refused for a link, a device or
    an absurd size."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_OBJECT:
            raise Refused(f"replaces the compiler's output {path.name}")
        return file.read()


def compile_in_sandbox(parts: Path, step: str, work: Path, box: Sandbox) -> None:
    """One step of compile.sh. Raises NotBuilt or MachineFault."""
    ran = box.run(Command(["/bin/sh", str(parts / "compile.sh"), step], COMPILE_LIMITS, cwd=work,
                          readable=[parts], writable=[work]))
    if ran.status == 0:
        return
    output = ran.output.decode(errors="replace")
    shown = "\n".join(output.splitlines()[:FIRST_GCC_LINES])
    if ran.wall_limit_hit or ran.status < 0:
        raise NotBuilt("compiling kernel.cu takes more time or memory than it may", output=shown)
    if "Killed signal terminated program" in output:  # its limits end a compiler otherwise
        raise MachineFault("the compiler was killed from outside; is this machine out of memory?")
    if "No space left on device" in output:
        raise MachineFault(f"no space is left in {work.parent}: kernel.cu cannot be compiled")
    message, file, line = first_error(output)
    if step == "programs":
        message = f"kernel.cu does not link: {message}"
    raise NotBuilt(message, file, line, shown)


def work_directory() -> tempfile.TemporaryDirectory[str]:
    """A temporary one for build_submission(), through which the sandbox's uid can pass. Raises
    OSError."""
    made = tempfile.TemporaryDirectory(prefix="sgemm-grade-", ignore_cleanup_errors=True)
    Path(made.name).chmod(0o711)
    return made


def build_submission(parts: Parts, source: bytes, box: Sandbox, work: Path) -> Programs:
    """Compile `source` in the sandbox, below `work`: a work_directory(), which the caller removes.

    Raises NotBuilt, Refused or MachineFault."""
    source_text.check_source(source)
    shared, programs = work / "parts", work / "submission"
    shutil.copytree(parts.directory, shared)
    let_others_read(shared)
    programs.mkdir()
    (programs / "kernel.cu").write_bytes(source)
    let_others_read(programs)
    compile_in_sandbox(shared, "objects", programs, box)
    for build in BUILDS:
        for text in (f"{build}.i", f"{build}.device.i"):
            source_text.check_preprocessed(take_file(programs / text))
    objects = {f"{build}.o": take_file(programs / f"{build}.o") for build in BUILDS}
    # Linked and run in a directory of the same name, so that lines are of "kernel.cu".
    replace_directory(programs, objects)
    for name in objects:
        symbols.check_object(programs / name, name == "checked.o", source,
                             cuda=parts.backend == "cuda" and name == "plain.o")
    compile_in_sandbox(shared, "programs", programs, box)
    names = (*BUILDS, *(FOR_THE_CLOCK if parts.backend == "cuda" else ()))
    replace_directory(programs, {name: take_file(programs / name) for name in names}, 0o555)
    return Programs(*(programs / name for name in names))


def replace_directory(directory: Path, files: dict[str, bytes], mode: int = 0o644) -> None:
    """Make it anew, owned by this process, with nothing else in it."""
    shutil.rmtree(directory)
    directory.mkdir()
    for name, content in files.items():
        (directory / name).write_bytes(content)
        (directory / name).chmod(mode)
    let_others_read(directory)


def let_others_read(directory: Path) -> None:
    """Whatever the umask: the sandbox may run under another uid."""
    for path in (directory, *directory.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | (0o055 if path.is_dir() or mode & stat.S_IXUSR else 0o044))
