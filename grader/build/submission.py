"""Builds a submission's programs. It is compiled and linked in the sandbox; in between, its text and
its object files are checked (gate/check.py). In: kernel.cu; out: programs.

Who is at fault where a step fails? Never the compiler's words say so, which quote the submission. A
kernel that is known to compile is tried beside it: if that fails, too, it is the machine.
"""

import errno
import json
import os
import re
import secrets
import shutil
import signal
import stat
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from .. import ROOT
from ..errors import MachineFault, NotBuilt, Refused
from ..gate.check import BUILDS, LONGEST, OBJECTS, PRELUDE, READY, TEXTS
from ..jail.sandbox import Command, Limits, Ran, Sandbox
from ..lab import Lab
from ..process import TemporaryFolder
from .parts import Parts

KERNEL = "kernel.cu"
FOR_THE_CLOCK = ("recorder", "submission.fatbin")
CHECK, LOCALS = "check", "locals"
LACKS_A_FUNCTION = 2  # status of compile.sh
FIRST_GCC_LINES = 30
LARGEST_OBJECT = 64 << 20

COMPILE_LIMITS = Limits(
    memory_bytes=3 << 30,  # gcc takes 0.2 GB for these files; #include bombs end here
    cpu_seconds=30, time_seconds=60, wall_seconds=600,
    processes=64, file_bytes=LARGEST_OBJECT, output_bytes=64 << 10)

NVCC_LIMITS = replace(COMPILE_LIMITS, cpu_seconds=120, time_seconds=240)
"""Its ptxas alone takes half a minute for a hundred kernels."""

EXAMINE_LIMITS = Limits(
    cpu_seconds=10, time_seconds=10, wall_seconds=200,  # an ordinary kernel takes one
    memory_bytes=4 << 30, resident_bytes=1 << 30,
    processes=16, file_bytes=0, output_bytes=64 << 10)

TOO_LARGE = "examining what kernel.cu becomes takes more time or memory than it may"

KILLED = re.compile(r"\bKilled\b|CPU time limit exceeded")
"""What a shell and gcc say of a process that has reached its limit."""

LEAST_FREE = 8 * LARGEST_OBJECT
"""Bytes on disk: more than the largest submission that is compiled leaves there."""


@dataclass(frozen=True)
class Programs:
    """A submission's two builds; and, for a GPU, what the clock needs of it."""

    plain: Path
    checked: Path
    recorder: Path | None = None
    """The plain build once more, in a program that writes down what is launched."""
    kernels: Path | None = None  # its kernels alone, without any host code
    checked_object: bytes = b""  # of which `checked` is linked

    def of(self, build: str) -> Path:
        return self.plain if build == "plain" else self.checked


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
    """The content of a file that was made in the sandbox. Raises Refused for a link, a device,
    nothing at all, or an absurd size; MachineFault."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_OBJECT:
                return file.read()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise MachineFault(f"{path}: {error.strerror}") from error
    raise Refused(f"replaces the compiler's output {path.name}")


class Unplaced(NotBuilt):
    """A step failed, and no line of kernel.cu is the reason: perhaps the machine is."""


def compile_in_sandbox(parts: Path, step: str, work: Path, box: Sandbox, limits: Limits = COMPILE_LIMITS,
                       *more: str) -> None:
    """One step of compile.sh. Raises NotBuilt or MachineFault."""
    words = ["/bin/sh", str(parts / "compile.sh"), step, *more]
    ran = box.run(Command(words, limits, cwd=work, readable=[parts], writable=[work]))
    if ran.status == 0:
        return
    output = ran.output.decode(errors="replace")
    shown = "\n".join(output.splitlines()[:FIRST_GCC_LINES])
    message, file, line = first_error(output)
    took_long = ran.seconds > limits.cpu_seconds
    killed = ran.status < 0 or (took_long and not line and KILLED.search(output))
    if ran.time_limit_hit or ran.memory_limit_hit or killed:
        kind = NotBuilt if ran.memory_limit_hit or took_long else Unplaced  # the machine stood still
        raise kind("compiling kernel.cu takes more time or memory than it may", output=shown)
    if step == "programs":
        message = f"kernel.cu does not link: {message}"
    kind = NotBuilt if line or ran.status == LACKS_A_FUNCTION else Unplaced
    raise kind(message, file, line, shown)


def examine(jail: Path, *words: str) -> None:
    """`jail`: sandbox.py's launcher, for the limits; nothing of the submission's is run. Raises Refused,
    NotBuilt at a limit, Unplaced, and MachineFault."""
    command = [sys.executable, "-B", "-m", "grader.gate.check", *words]
    ran = Sandbox("none", "", jail).run(Command(command, EXAMINE_LIMITS, cwd=ROOT))
    before, begun, printed = ran.output.decode(errors="replace").partition(READY)
    if not begun:
        raise MachineFault(f"the submission cannot be examined: {last_line(before, ran)}")
    if ran.status != 0:
        last = last_line(printed, ran)
        limit = ran.time_limit_hit or ran.memory_limit_hit or ran.status == -signal.SIGXCPU
        if limit or last.startswith(("MemoryError", "RecursionError")):
            raise NotBuilt(TOO_LARGE)
        raise Unplaced(f"kernel.cu cannot be examined: {last}")
    refused = json.loads(printed)
    if refused is not None:
        raise Refused(**refused)


def last_line(said: str, ran: Ran) -> str:
    """Of what it said, or else how it ended."""
    return (said.strip().splitlines() or [f"status {ran.status}"])[-1][:LONGEST]


def work_directory() -> TemporaryFolder:
    """A temporary one for build_submission(), through which the sandbox's uid can pass. Raises OSError."""
    made = TemporaryFolder("cuda-grade-")
    Path(made.name).chmod(0o711)
    return made


def build_submission(parts: Parts, source: bytes, box: Sandbox, work: Path) -> Programs:
    """Compile `source` in the sandbox, below `work`: a work_directory(), which the caller removes.

    Raises NotBuilt, Refused or MachineFault."""
    refuse_full_disk(work.parent)
    shared = work / "parts"
    # Another grader may be writing one: parts.precompile().
    shutil.copytree(parts.directory, shared, ignore=shutil.ignore_patterns("*.gch.new"))
    let_others_read(shared)
    try:
        return compiled(parts, shared, source, box, work / "submission")
    except Unplaced as error:
        known_to_work(parts, box, work)
        raise NotBuilt(error.message, error.file, error.line, error.output) from error


def refuse_full_disk(temporary: Path) -> None:
    """Before there is anything of the submission's in it. Raises MachineFault."""
    free = os.statvfs(temporary)
    if free.f_bavail * free.f_frsize < LEAST_FREE or free.f_files and not free.f_favail:
        raise MachineFault(f"{temporary}: no space is left to compile kernel.cu, which may take "
                           f"{LEAST_FREE >> 20} MB (TMPDIR names another place)")


TRIAL = threading.Lock()


def known_to_work(parts: Parts, box: Sandbox, work: Path) -> Programs:
    """The programs of a kernel that is known to compile, built below `work`, where a submission was
    compiled. Raises MachineFault if they cannot be built: the submission is not to blame then."""
    place = work / "known to work"
    with TRIAL:
        names = program_names(parts)
        if not all((place / name).exists() for name in names):
            shutil.rmtree(place, ignore_errors=True)
            try:
                return compiled(parts, work / "parts", empty_submission(parts.lab), box, place)
            except (NotBuilt, Refused) as error:
                refuse_full_disk(work.parent)
                raise MachineFault(f"nothing can be compiled here: {error}") from error
        return Programs(*(place / name for name in names))


def empty_submission(lab: Lab) -> bytes:
    """It compiles, and computes nothing."""
    kernel, arguments = lab.kernel or "kernel", ", ".join(lab.arguments)
    return (f"__global__ void {kernel}({lab.parameters}) {{}}\n"
            f"void {lab.wrapper}({lab.parameters})\n{{\n    {kernel}<<<1, 1>>>({arguments});\n}}\n").encode()


def program_names(parts: Parts) -> tuple[str, ...]:
    return (*BUILDS, *(FOR_THE_CLOCK if parts.backend == "cuda" else ()))


def compiled(parts: Parts, shared: Path, source: bytes, box: Sandbox, programs: Path) -> Programs:
    """In the directory `programs`. Raises NotBuilt, Refused and MachineFault."""
    programs.mkdir()
    (programs / KERNEL).write_bytes(source)
    let_others_read(programs)
    examine(parts.jail, "source", str(programs / KERNEL))
    limits = NVCC_LIMITS if parts.backend == "cuda" else COMPILE_LIMITS
    own = f"text_{secrets.token_hex(16)}"
    compile_in_sandbox(shared, "objects", programs, box, limits, own)
    made = {name: take_file(programs / name) for name in (*TEXTS, *OBJECTS)}
    # Linked and run in a directory of the same name, so that lines are of "kernel.cu".
    replace_directory(programs, made | {PRELUDE: parts.prelude.read_bytes()})
    examine(parts.jail, "made", str(programs), parts.lab.kernel or "", parts.backend, str(shared), own)
    replace_directory(programs, {name: made[name] for name in OBJECTS} | {KERNEL: source})
    compile_in_sandbox(shared, "programs", programs, box, limits)
    names = program_names(parts)
    replace_directory(programs, {name: take_file(programs / name) for name in names}, 0o555)
    return replace(Programs(*(programs / name for name in names)), checked_object=made["checked.o"])


def check_program(parts: Parts, programs: Programs, source: bytes, box: Sandbox) -> Path:
    """What `make check` runs of a submission: its -check program; and beside it, the program that knows the
    local variables (engine/host/check/programs.c). Linked once, where it is asked for. Raises NotBuilt,
    Refused, MachineFault and OSError."""
    shared, place = (programs.checked.parent.with_name(name) for name in ("parts", CHECK))
    if not place.exists():
        place.mkdir()
        replace_directory(place, {"checked.o": programs.checked_object, KERNEL: source})
        compile_in_sandbox(shared, CHECK, place, box)
        replace_directory(place, {name: take_file(place / name) for name in (CHECK, LOCALS)}, 0o555)
    return place / CHECK


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
