"""Runs programs that cannot be trusted: the compiler on a submission's text, and its output.

Of three kinds, the best that the machine allows; in each of them jail/jail.c starts the program,
sets limits, filters system calls, watches, and kills what is left at the end:

    bubblewrap   sees nothing of the machine but the compilers and the paths that it is given; no
                 network, processes and /dev of its own. As root, under a uid of its own besides.
    uid          for root where no namespaces may be made (most containers): an unprivileged uid of
                 its own, so that file permissions keep it from what is `private` (uid.py); and
                 where Linux has Landlock, no files but those that bubblewrap would show.
    none         limits only: for a student's own submission, which may read the student's files.

In: a Command; out: how it ended, and its output.
"""

import functools
import math
import os
import re
import selectors
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..errors import BadInput, MachineFault
from ..process import end, running
from . import uid as uids

Kind = Literal["bubblewrap", "uid", "none"]

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
CHOICE_OF_GPU = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")

LATE_SECONDS = 15.0  # the jail itself ends a run at its wall limit. This much later it has failed.

BYTES_AT_ONCE = 1 << 16

SHARED_MEMORY = Path("/dev/shm")
"""Files in it are memory. Only where a submission may write there are they counted as in use."""


def gpu_environment() -> dict[str, str]:
    """What a program needs of the grader's environment to use the GPU that the grader uses."""
    return {name: os.environ[name] for name in CHOICE_OF_GPU if name in os.environ}


@dataclass(frozen=True)
class Limits:
    cpu_seconds: float  # of each process; rounded up to whole seconds, at which SIGXCPU comes
    memory_bytes: int
    """Address space of each process (RLIMIT_AS). A worker reserves far more than it touches: gaps
    of 16 MB on either side of each allocation, the stacks of a block's threads, shadow memory."""
    processes: int  # processes and threads at once
    file_bytes: int  # the largest file that may be written
    output_bytes: int  # how much of what is printed is kept; the rest is read and dropped
    wall_seconds: float
    time_seconds: float | None = None
    """Of all processes together: of the processor, and in which none of them wanted one. So a program that
    sleeps ends as one that computes does, and one that waits for a busy machine goes on."""
    resident_bytes: int | None = None
    """Memory really in use, by all processes together, checked 50 times a second; None: as many as
    memory_bytes."""


@dataclass(frozen=True)
class Command:
    """A program to run. Paths are the same inside as outside."""

    argv: Sequence[str]
    limits: Limits
    cwd: Path
    readable: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    """For one command at a time. Afterwards they hold regular files and directories only."""
    pass_fds: Sequence[int] = ()  # open descriptors that it gets, under the same numbers
    devices: Sequence[Path] = ()  # a GPU's


@dataclass(frozen=True)
class Ran:
    status: int  # exit status of the program inside, or -signal
    output: bytes  # standard output and standard error together: the first output_bytes
    truncated: bool
    time_limit_hit: bool  # time_seconds or wall_seconds; the status is -SIGKILL then
    cpu_seconds: float  # of all processes that it started and that have ended
    memory_limit_hit: bool = False
    """More than resident_bytes were in use; the status is -SIGKILL then, too."""
    asleep_seconds: float = 0.0
    peak_bytes: int = 0  # memory in use, of all processes together, as far as it was seen
    unloadable: str = ""  # why Linux cannot start this program; it never ran

    @property
    def seconds(self) -> float:
        return self.cpu_seconds + self.asleep_seconds


@dataclass(frozen=True)
class Sandbox:
    kind: Kind
    note: str  # one line for the report: what was in force, and what was not
    jail: Path
    private: tuple[Path, ...] = ()
    landlock: bool = False
    """With `uid`: whether it is kept from all files but those that bubblewrap would show."""

    def run(self, command: Command) -> Ran:
        """Run it to its end. Raises MachineFault."""
        # A limit of processes does not bind root, and all of a uid of its own can be killed.
        changes_uid = os.geteuid() == 0 and self.kind != "none"
        with uids.own_uid() if changes_uid else nullcontext() as uid:
            if uid is not None:
                uids.check_reachable([*command.readable, *command.writable], self.private,
                                     from_root=self.kind == "uid")
                uids.give(command.writable, uid)
            try:
                return self._run(command, uid)
            finally:
                if uid is not None:
                    uids.give(command.writable, os.geteuid())
                    if self.kind == "uid":
                        uids.sweep(uid)
                for path in command.writable:
                    uids.keep_files_only(path)

    def _run(self, command: Command, uid: int | None) -> Ran:
        limits = command.limits
        report_in, report_out = os.pipe()
        with open(report_in, "rb") as report, ExitStack() as at_the_end:
            words = [*self._launcher(command, uid), *self._jail_options(command, report_out, uid),
                     "--", *map(str, command.argv)]
            try:
                process = at_the_end.enter_context(running(
                    words, env=environment(command), cwd="/", stdin=subprocess.DEVNULL,
                    stderr=subprocess.STDOUT, pass_fds=(*command.pass_fds, report_out)))
            except OSError as error:
                raise MachineFault(f"{words[0]}: {error.strerror}; the sandbox cannot be started") from error
            finally:
                os.close(report_out)
            late = time.monotonic() + limits.wall_seconds + LATE_SECONDS
            try:
                output, truncated = drain(process, late, limits.output_bytes)
                process.wait(max(late - time.monotonic(), 1.0))  # it may have closed its output
            except subprocess.TimeoutExpired:
                raise MachineFault(f"the sandbox does not end {LATE_SECONDS:.0f} s after its limit") from None
            finally:
                if process.returncode is None:
                    end(process)
                    with suppress(subprocess.TimeoutExpired):  # bubblewrap is gone before all that is in it
                        drain(process, time.monotonic() + LATE_SECONDS, 0)
            return ran_of(report.read().decode(errors="replace"), output, truncated, words[0])

    def _launcher(self, command: Command, uid: int | None) -> list[str]:
        if self.kind != "bubblewrap":
            return [str(self.jail)]
        return [shutil.which("bwrap") or "bwrap", *bubblewrap_options(command, self.private, self.jail, uid),
                "--", "/jail"]

    def _jail_options(self, command: Command, report: int, uid: int | None) -> list[str]:
        limits = command.limits
        more = tasks_beside(self.kind) if uid is None else 0  # a uid of its own runs nothing else
        options: dict[str, Iterable[object]] = {
            "report": [report], "directory": [command.cwd], "wall": [f"{limits.wall_seconds:.3f}"],
            "cpu": [max(1, math.ceil(limits.cpu_seconds))], "address": [limits.memory_bytes],
            "resident": [limits.memory_bytes if limits.resident_bytes is None else limits.resident_bytes],
            "processes": [limits.processes + more], "file": [limits.file_bytes],
            "uid": [] if uid is None else [uid], "gpu": [1] if command.devices else [],
            "time": [] if limits.time_seconds is None else [f"{limits.time_seconds:.3f}"],
            "pass": command.pass_fds}
        if self.kind == "uid" and self.landlock:
            of_a_gpu, changed_by_it = (OF_A_GPU, CHANGED_BY_A_GPU) if command.devices else ((), ())
            options |= {"see": [*SYSTEM, *ROOTS, *OF_PROC, *of_a_gpu, *compiler_prefixes(),
                                *(path.absolute() for path in command.readable)],
                        "change": [*command.writable, "/dev/null", *command.devices, *changed_by_it]}
        elif self.kind == "uid":
            options["count"] = [SHARED_MEMORY]
        return [word for name, values in options.items() for value in values for word in (f"--{name}", str(value))]


def environment(command: Command) -> dict[str, str]:
    """Of bubblewrap and the jail, and so of the program."""
    places = [*(f"{prefix}/bin" for prefix in compiler_prefixes()), ENVIRONMENT["PATH"]]
    return ENVIRONMENT | {"PATH": ":".join(places)} | (gpu_environment() if command.devices else {})


def tasks_beside(kind: Kind) -> int:
    """Processes and threads that a limit counts beside a run's own: all that the user runs, without a user
    namespace, and in Linux before 5.14 also in one."""
    release, count = re.match(r"(\d+)\.(\d+)", os.uname().release), 0
    if kind == "bubblewrap" and release and (int(release[1]), int(release[2])) >= (5, 14):
        return 0
    for entry in os.scandir("/proc"):
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{entry.name}/task"))
    return count


def drain(process: subprocess.Popen[bytes], late: float, kept_bytes: int) -> tuple[bytes, bool]:
    """All output of a process, of which the first bytes are kept, and whether there was more.
    Raises subprocess.TimeoutExpired at `late`, in time.monotonic()'s seconds."""
    assert process.stdout is not None
    kept, truncated = bytearray(), False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(late - time.monotonic(), 0)):
                raise subprocess.TimeoutExpired(process.args, late)
            some = os.read(process.stdout.fileno(), BYTES_AT_ONCE)
            if not some:
                return bytes(kept), truncated
            room = kept_bytes - len(kept)
            kept += some[:room]
            truncated = truncated or len(some) > room


def ran_of(report: str, output: bytes, truncated: bool, program: str) -> Ran:
    """From the jail's one line. A program that cannot be loaded is no failure of the jail's: it may
    have been made so. Raises MachineFault if it reports that the jail failed."""
    if report.startswith("unloadable "):
        return Ran(CANNOT_EXECUTE, b"", False, False, 0.0,
                   unloadable=report.removeprefix("unloadable ").strip())
    ended = re.fullmatch(r"ended (exit|signal) (\d+) cpu ([\d.]+) asleep ([\d.]+) peak (\d+) "
                         r"limit (\w+)\n", report)
    if not ended:
        trouble = report.removeprefix("trouble ").strip()
        words = output.decode(errors="replace").strip().splitlines()
        trouble = trouble or (words[-1] if words else "it ended without a message")
        raise MachineFault(f"the sandbox failed: {Path(program).name}: {trouble}")
    status = int(ended[2]) if ended[1] == "exit" else -int(ended[2])
    if ended[6] == "stopped":
        raise MachineFault("the sandbox was stopped by a signal from outside")
    return Ran(status, output, truncated, ended[6] in ("wall", "time"), float(ended[3]),
               ended[6] == "memory", float(ended[4]), int(ended[5]))


# ---- choosing ------------------------------------------------------------------------------------

CANNOT_EXECUTE = 126
PROBE_STATUS = 7
OUTSIDE = Path("/proc/1/stat")  # of another program's, and readable for everybody
PROBE = Command(
    ["/bin/sh", "-c", f"exit {PROBE_STATUS}"], cwd=Path("/"),
    limits=Limits(cpu_seconds=10, memory_bytes=1 << 30, processes=8, file_bytes=0,
                  output_bytes=1 << 12, wall_seconds=30))  # fmt: skip


def probe(box: Sandbox) -> str:
    """Why it does not work here; empty if it does. A real program is run in it."""
    attempt = f"if read word <{OUTSIDE}; then exit 1; fi 2>/dev/null; exit {PROBE_STATUS}"
    command = replace(PROBE, argv=["/bin/sh", "-c", attempt]) if box.landlock else PROBE
    try:
        ran = box.run(command)
    except MachineFault as fault:
        return str(fault)
    return "" if ran.status == PROBE_STATUS else f"a trial program ended with {ran.status}"


def choose_sandbox(wanted: str, hidden: bool, private: Sequence[Path], jail: Path) -> Sandbox:
    """The best protection that works here, tried out ("auto"); or the kind that is wanted.

    hidden: hidden cases are to be run, which nothing may give away. private: what the submission
    must not be able to read. jail: the launcher (build.Parts.jail). Raises MachineFault."""
    paths = tuple(Path(path).resolve() for path in private)
    root = os.geteuid() == 0
    missing = "" if shutil.which("bwrap") else \
        "bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)"
    kinds: dict[Kind, tuple[str, str]] = {  # why not even to try; the note
        "bubblewrap": (missing, "bubblewrap: own namespaces, no network, "
                       + ("a uid of its own" if root else "the grader's uid")),
        "uid": ("" if root else "only root can use another uid", "another uid with limits; no namespaces")}
    reasons: list[str] = []
    for kind in [kind for kind in kinds if wanted in ("auto", kind)]:
        reason, note = kinds[kind]
        box = Sandbox(kind, f"{note} ({reasons[0]})" if reasons else note, jail, paths)
        if kind == "uid" and not reason:
            if found := [str(path) for path in paths if uids.open_to_all(path)]:
                raise MachineFault(f"{', '.join(found)} can be read by every user, and so by the submission; "
                                   f"chmod -R go= {shlex.join(found)}")
            box = with_few_files(box)
        reason = reason or probe(box)
        if not reason:
            return box
        reasons.append(reason)
    why = "; ".join(reasons) or "asked for"
    if wanted not in ("auto", "none"):
        raise MachineFault(f"the protection {wanted} does not work here: {why}")
    if hidden and wanted == "none":
        raise BadInput("PROTECTION=none: hidden cases are not run without protection; leave it out, "
                       "or grade SUITE=public")
    if hidden:
        raise MachineFault(f"no sandbox works here ({why}), and hidden cases run in nothing less: "
                           "install bubblewrap, or grade as root")
    return Sandbox("none", f"limits only: the submission can read this user's files ({why})", jail, paths)


def with_few_files(box: Sandbox) -> Sandbox:
    """A sandbox of kind uid, which sees only what it needs where this system has Landlock; else
    what it leaves in a few places is removed after each run, and the note says so."""
    confined = replace(box, landlock=True)
    if not probe(confined):
        return replace(confined, note=f"{box.note}; no other files, by Landlock")
    places = ", ".join(map(str, uids.TEMPORARY))
    return replace(box, note=f"{box.note}; no Landlock: {places} are swept after each run, and in other "
                             "places where every user may write a submission can leave something")


# ---- what a program sees inside bubblewrap: compilers, the paths that it is given, and nothing else --

NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
              "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--hostname", "sandbox")
# What the jail needs to become another user and to end it; it passes none of these on.
CAPABILITIES = ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID",
                "--cap-add", "CAP_KILL")
SYSTEM = ("/usr", "/etc/alternatives", "/etc/ld.so.cache")
ROOTS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
# Without namespaces: of /proc, what the runtime reads; a GPU's driver asks for much more.
OF_PROC = ("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/sys", "/sys/devices/system/cpu")
OF_A_GPU = ("/proc", "/sys")
CHANGED_BY_A_GPU = ("/proc/self",)  # it names its threads, and does not start where it cannot


def bubblewrap_options(command: Command, private: Sequence[Path], jail: Path, uid: int | None) -> list[str]:
    """None is newer than version 0.6. Paths at the same place inside as outside, the jail as /jail. uid: the one that
    the jail will change to; None: it stays this process's."""
    words = [*NAMESPACES, *(["--unshare-user"] if uid is None else CAPABILITIES)]
    system = [Path(name) for name in SYSTEM if os.path.exists(name)]
    bound = dict.fromkeys([*system, *compiler_prefixes()], "--ro-bind")
    bound |= {path.absolute(): "--ro-bind" for path in command.readable}
    bound |= {path.absolute(): "--bind" for path in command.writable}
    for name in ROOTS:
        if os.path.islink(name):
            words += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            bound[Path(name)] = "--ro-bind"
    made: set[Path] = set()
    for path in sorted(bound, key=lambda path: len(path.parts)):
        for parent in reversed(path.parents[:-1]):  # bubblewrap itself would close them to others
            if parent not in made and not any(parent.is_relative_to(seen) for seen in bound):
                words += ["--dir", str(parent)]
                made.add(parent)
        words += [bound[path], str(path), str(path)]
    for path in private:  # what of it would be seen inside, unless it holds something that was asked for
        if path.exists() and any(path.is_relative_to(seen) for seen in bound) \
                and not any(seen.is_relative_to(path) for seen in bound):
            words += ["--tmpfs", str(path), "--remount-ro", str(path)] if path.is_dir() else \
                     ["--ro-bind", "/dev/null", str(path)]
    words += ["--proc", "/proc", "--dir", "/dev"]
    for path in (Path("/dev/null"), *command.devices):
        words += ["--dev-bind", str(path), str(path)]
    return [*words, "--ro-bind", str(jail), "/jail", "--remount-ro", "/", "--chdir", "/"]


def compiler_prefixes() -> list[Path]:
    """Where compilers are that were not installed by the system: /opt/gcc-13."""
    named = (os.environ.get("CC") or "cc", os.environ.get("CXX") or "c++", os.environ.get("NVCC") or "nvcc")
    return prefixes_of(" ".join(named), os.environ.get("PATH"))


@functools.cache  # asked for each process that is started
def prefixes_of(named: str, search: str | None) -> list[Path]:
    """Of these compilers, separated by blanks, found in the folders of `search`."""
    found = [Path(place) for word in named.split() if (place := shutil.which(word, path=search))]
    paths = {*(path.absolute() for path in found), *(path.resolve() for path in found)}
    home = Path(os.path.expanduser("~"))
    return sorted({path.parent.parent for path in paths
                   if not path.is_relative_to("/usr") and not path.parent.is_relative_to("/etc/alternatives")
                   and path.parent.name == "bin" and path.parent.parent not in (Path("/"), home)})
