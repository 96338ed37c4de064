"""Runs programs that cannot be trusted: the compiler on a submission's text, and what came of it.

Three ways, the best that the machine allows; in each of them the program is started by jail/jail.c,
which sets limits, filters system calls, watches, and kills all that is left at the end:

    bubblewrap   sees nothing of the machine but the compilers and the paths that it is given; no
                 network, processes and /dev of its own. As root, moreover under a uid of its own.
    uid          for root where no namespaces may be made (most containers): an unprivileged uid of
                 its own, so that file permissions keep it from what is `private`.
    none         limits only: for a student's own submission, which may read the student's files.

docs/security.md says what each of them promises.
"""

from __future__ import annotations

import errno
import math
import os
import random
import re
import selectors
import shlex
import shutil
import socket
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from .errors import MachineFault

Kind = Literal["bubblewrap", "uid", "none"]

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "LC_ALL": "C.UTF-8"}
"""Of bubblewrap and the jail; the jail gives the program the same."""

CHOICE_OF_GPU = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")


def gpu_environment() -> dict[str, str]:
    """What a program needs of the grader's environment to use the GPU that the grader uses."""
    return {name: os.environ[name] for name in CHOICE_OF_GPU if name in os.environ}


UIDS = range(60720, 61180)
"""Between the ranges that Debian, systemd and its homes give out; in every container's map."""

TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
"""Where anybody may write, outside bubblewrap: swept after a run under a uid of its own."""

LATE_SECONDS = 15.0
"""The jail itself ends a run at its wall limit. This much later it is taken for dead."""

BYTES_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Limits:
    cpu_seconds: float
    """Of each process; rounded up to whole seconds, at which SIGXCPU comes."""
    memory_bytes: int
    """Address space of each process (RLIMIT_AS). A worker reserves far more than it touches: gaps
    of 16 MB on either side of each allocation, the stacks of a block's threads, shadow memory."""
    processes: int
    """Processes and threads at once."""
    file_bytes: int
    """The largest file that may be written."""
    output_bytes: int
    """How much of what is printed is kept; the rest is read and dropped."""
    wall_seconds: float
    resident_bytes: int | None = None
    """Memory really in use, by all processes together, looked at 50 times a second; None: as many
    as memory_bytes."""


@dataclass(frozen=True)
class Ran:
    status: int
    """Exit status of the program inside, or -signal."""
    output: bytes
    """Standard output and standard error together: the first output_bytes."""
    truncated: bool
    wall_limit_hit: bool
    cpu_seconds: float
    """Of all processes that it started and that have ended."""
    memory_limit_hit: bool = False
    """More than resident_bytes were in use; the status is -SIGKILL then, as at the wall limit."""


@dataclass(frozen=True)
class Sandbox:
    kind: Kind
    note: str
    """One line for the report: what was in force, and what was not."""
    jail: Path
    private: tuple[Path, ...] = ()
    bubblewrap: str = "bwrap"

    def run(self, argv: Sequence[str], *, limits: Limits, readable: Sequence[Path],
            writable: Sequence[Path], cwd: Path, tools: bool,
            pass_fds: Sequence[int] = (), devices: Sequence[Path] = ()) -> Ran:
        """Run argv to its end. `readable` and `writable` are at the same place inside as outside,
        and whatever is in `writable` afterwards is a regular file or a directory. `devices` are
        reached inside, too: a GPU's.

        A second run must not have the same writable path at the same time."""
        with own_uid(self) as uid:
            if uid is not None:
                check_reachable([*readable, *writable], self)
                give(writable, uid)
            try:
                ran = self._run(argv, limits, readable, writable, cwd, tools, pass_fds, uid, (),
                                devices)
            finally:
                if uid is not None:
                    give(writable, os.geteuid())
                    if self.kind == "uid":
                        sweep(uid)
                for path in writable:
                    keep_files_only(path)
        return ran

    def _run(self, argv: Sequence[str], limits: Limits, readable: Sequence[Path],
             writable: Sequence[Path], cwd: Path, tools: bool, pass_fds: Sequence[int],
             uid: int | None, unreadable: Sequence[Path], devices: Sequence[Path] = ()) -> Ran:
        report_in, report_out = os.pipe()
        outside: list[str] = []
        jail = str(self.jail)
        if self.kind == "bubblewrap":
            outside = [self.bubblewrap,
                       *layout(self, readable, writable, tools, uid, devices), "--"]
            jail = "/jail"
        options = jail_options(self.kind, limits, report_out, uid, cwd, tools, pass_fds,
                               devices)
        command = [*outside, jail, *options,
                   *(word for path in unreadable for word in ("--unreadable", str(path))),
                   "--", *map(str, argv)]
        try:
            with subprocess.Popen(command, env=ENVIRONMENT | gpu_environment(), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/",
                       start_new_session=True,  # a terminal's Ctrl-C is the grader's
                       pass_fds=(*pass_fds, report_out)) as process:
                os.close(report_out)
                report_out = -1
                late = time.monotonic() + limits.wall_seconds + LATE_SECONDS
                try:
                    output, truncated = drain(process, late, limits.output_bytes)
                    process.wait(max(late - time.monotonic(), 1.0))  # it may have closed its output
                except BaseException:
                    end(process, self.kind)
                    raise
                with open(report_in, "rb", closefd=False) as report:
                    said = report.read().decode(errors="replace")
        except subprocess.TimeoutExpired:
            raise MachineFault(f"the sandbox does not end {LATE_SECONDS:.0f} s after its "
                               "limit") from None
        except OSError as error:
            raise MachineFault(f"{command[0]}: {error.strerror}; the sandbox cannot be "
                               "started") from error
        finally:
            os.close(report_in)
            if report_out >= 0:
                os.close(report_out)
        return ran_of(said, output, truncated, command[0])


# ---- what the jail is told, and what it says -----------------------------------------------------


def jail_options(kind: Kind, limits: Limits, report: int, uid: int | None, cwd: Path, tools: bool,
                 pass_fds: Sequence[int], devices: Sequence[Path]) -> list[str]:
    resident = limits.memory_bytes if limits.resident_bytes is None else limits.resident_bytes
    processes = limits.processes
    if uid is None and counts_all_of_a_user(kind):
        processes += tasks_of_this_user()
    options = ["--report", str(report), "--directory", str(cwd),
               "--wall", f"{limits.wall_seconds:.3f}",
               "--cpu", str(max(1, math.ceil(limits.cpu_seconds))),
               "--address", str(limits.memory_bytes), "--resident", str(resident),
               "--processes", str(processes), "--file", str(limits.file_bytes)]
    if uid is not None:
        options += ["--uid", str(uid)]
    if devices:
        options += ["--gpu", "1"]
    places = [str(prefix / "bin") for prefix in compiler_prefixes()] if tools else []
    if places:
        options += ["--path", ":".join(places)]
    for descriptor in pass_fds:
        options += ["--pass", str(descriptor)]
    return options


def counts_all_of_a_user(kind: Kind) -> bool:
    """Whether a limit of processes counts all that the user runs, outside too: without a user
    namespace, and in Linux before 5.14 also in one."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return kind != "bubblewrap" or not release or (int(release[1]), int(release[2])) < (5, 14)


def tasks_of_this_user() -> int:
    """Processes and threads."""
    count = 0
    for entry in os.scandir("/proc"):
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{entry.name}/task"))
    return count


def ran_of(said: str, output: bytes, truncated: bool, program: str) -> Ran:
    """What the jail's one line means."""
    ended = re.fullmatch(r"ended (exit|signal) (\d+) cpu ([\d.]+) limit (\w+) filter (yes|no)\n",
                         said)
    if not ended:
        trouble = said.removeprefix("trouble ").strip()
        words = output.decode(errors="replace").strip().splitlines()
        trouble = trouble or (words[-1] if words else "it ended without a word")
        raise MachineFault(f"the sandbox failed: {Path(program).name}: {trouble}")
    status = int(ended[2]) if ended[1] == "exit" else -int(ended[2])
    if ended[4] == "stopped":
        raise MachineFault("the sandbox was stopped by a signal from outside")
    return Ran(status, output, truncated, ended[4] == "wall", float(ended[3]),
               ended[4] == "memory")


# ---- reading what is printed, and ending ---------------------------------------------------------


def drain(process: subprocess.Popen[bytes], late: float, kept_bytes: int) -> tuple[bytes, bool]:
    """All output, of which the first bytes are kept, and whether there was more."""
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


def end(process: subprocess.Popen[bytes], kind: Kind) -> None:
    """A run that is broken off: bubblewrap takes all of it along, a jail alone has to be asked."""
    if kind != "bubblewrap":
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(LATE_SECONDS)
    process.kill()


# ---- what is seen inside bubblewrap --------------------------------------------------------------


def layout(box: Sandbox, readable: Sequence[Path], writable: Sequence[Path], tools: bool,
           uid: int | None, devices: Sequence[Path] = ()) -> list[str]:
    """The options of bubblewrap, none of which is newer than its version 0.6."""
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
               "--unshare-cgroup-try", "--die-with-parent", "--new-session",
               "--hostname", "sandbox"]
    if uid is None:
        options.append("--unshare-user")
    else:  # what the jail needs to become another user and to end it; it passes none of these on
        options += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID",
                    "--cap-add", "CAP_KILL"]
    bound = dict.fromkeys(system_paths(tools), "--ro-bind")
    bound |= {path.absolute(): "--ro-bind" for path in readable}
    bound |= {path.absolute(): "--bind" for path in writable}
    for name in ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"):
        if os.path.islink(name):
            options += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            bound[Path(name)] = "--ro-bind"
    made: set[Path] = set()
    for path in sorted(bound, key=lambda path: len(path.parts)):
        for parent in reversed(path.parents[:-1]):  # bubblewrap itself would close them to others
            if parent not in made and not any(parent.is_relative_to(seen) for seen in bound):
                options += ["--dir", str(parent)]
                made.add(parent)
        options += [bound[path], str(path), str(path)]
    for path in masked(box.private, list(bound)):
        options += ["--tmpfs", str(path), "--remount-ro", str(path)] if path.is_dir() else \
                   ["--ro-bind", "/dev/null", str(path)]
    return [*options, "--proc", "/proc", "--dir", "/dev", "--dev-bind", "/dev/null", "/dev/null",
            *(word for path in devices for word in ("--dev-bind", str(path), str(path))),
            "--ro-bind", str(box.jail), "/jail", "--remount-ro", "/", "--chdir", "/"]


def system_paths(tools: bool) -> list[Path]:
    names = ["/usr", "/etc/alternatives"] if tools else ["/usr/lib", "/usr/lib64", "/usr/lib32"]
    found = [Path(name) for name in [*names, "/etc/ld.so.cache"] if os.path.exists(name)]
    return found + (compiler_prefixes() if tools else [])


def compiler_prefixes() -> list[Path]:
    """Where compilers live that were not installed by the system: /opt/gcc-13."""
    named = (os.environ.get("CC") or "cc", os.environ.get("CXX") or "c++",
             os.environ.get("NVCC") or "nvcc")
    prefixes = []
    for word in " ".join(named).split():
        found = shutil.which(word)
        if not found:
            continue
        for path in {Path(found).absolute(), Path(found).resolve()}:
            prefix = path.parent.parent
            system = path.is_relative_to("/usr") or path.parent.is_relative_to("/etc/alternatives")
            if not system and path.parent.name == "bin" and prefix not in (Path("/"), Path.home()):
                prefixes.append(prefix)
    return sorted(set(prefixes))


def masked(private: Sequence[Path], bound: Sequence[Path]) -> list[Path]:
    """What of `private` would be seen inside, unless it holds something that was asked for."""
    return [path for path in private
            if path.exists() and any(path.is_relative_to(seen) for seen in bound)
            and not any(seen.is_relative_to(path) for seen in bound)]


# ---- a uid for each run --------------------------------------------------------------------------


@contextmanager
def own_uid(box: Sandbox) -> Iterator[int | None]:
    """For root: an unprivileged uid that no other run of any grader here has at the same time. So a
    limit of processes holds (it does not bind root), and all of that uid may be killed."""
    if os.geteuid() != 0 or box.kind == "none":
        yield None
        return
    candidates = list(UIDS)
    random.shuffle(candidates)
    for uid in candidates:
        with socket.socket(socket.AF_UNIX) as claim:
            try:
                claim.bind(f"\0sgemm-grader-uid-{uid}")  # gone with its process, whatever happens
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    continue
                raise MachineFault(f"no uid can be claimed: {error.strerror}") from error
            yield uid
            return
    raise MachineFault(f"all of the {len(UIDS)} uids of the sandbox are in use; grade with fewer "
                       "jobs")


def below(path: Path) -> Iterator[Path]:
    """It and all below it, contents before their directory; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        for directory, directories, files in os.walk(path, topdown=False):
            yield from (Path(directory, name) for name in files)
            yield from (Path(directory, name) for name in directories
                        if Path(directory, name).is_symlink())
            yield Path(directory)
    else:
        yield path


def give(paths: Sequence[Path], uid: int) -> None:
    for top in paths:
        for path in below(top):
            os.lchown(path, uid, uid)


def keep_files_only(top: Path) -> None:
    """No link, no device, no socket that a program inside has left: whoever reads there next may
    open what is there."""
    for path in below(top):
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) and path != top:
            path.unlink()


def sweep(uid: int) -> None:
    """Remove what a run under this uid left where anybody may write."""
    for place in TEMPORARY:
        with suppress(OSError):
            for entry in os.scandir(place):
                if entry.stat(follow_symlinks=False).st_uid != uid:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink(missing_ok=True)


def check_reachable(paths: Sequence[Path], box: Sandbox) -> None:
    """MachineFault, unless another uid can read all of it: or else a compiler's "permission denied"
    would look like the student's mistake."""
    on_the_way = {parent for top in paths for parent in top.resolve().parents}
    shut = [parent for parent in sorted(on_the_way)
            if box.kind == "uid" and not parent.stat().st_mode & stat.S_IXOTH]
    unreadable = [top for top in dict.fromkeys(paths)
                  if any(not readable_for_all(path) for path in below(top)
                         if not any(path.is_relative_to(hidden) for hidden in box.private))]
    commands = [f"chmod {how} {shlex.join(map(str, which))}"
                for how, which in (("o+x", shut), ("-R o+rX", unreadable)) if which]
    if commands:
        names = ", ".join(map(str, [*shut, *unreadable]))
        raise MachineFault(f"{names} cannot be read by the sandbox's uid; {' && '.join(commands)}")


def readable_for_all(path: Path) -> bool:
    status = path.lstat()
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(status.st_mode) else 0)
    return stat.S_ISLNK(status.st_mode) or status.st_mode & wanted == wanted


# ---- choosing ------------------------------------------------------------------------------------

PROBE_LIMITS = Limits(cpu_seconds=10, memory_bytes=1 << 30, processes=8, file_bytes=0,
                      output_bytes=1 << 12, wall_seconds=30)
PROBE_STATUS = 7


def probe(box: Sandbox) -> str:
    """Why it does not work here; empty if it does. A real program is run in it."""
    try:
        with own_uid(box) as uid:
            unreadable = box.private if box.kind == "uid" else ()
            ran = box._run(["/bin/sh", "-c", f"exit {PROBE_STATUS}"], PROBE_LIMITS, [], [],
                           Path("/"), True, (), uid, [path for path in unreadable if path.exists()])
    except MachineFault as fault:
        return str(fault)
    return "" if ran.status == PROBE_STATUS else f"a trial program ended with {ran.status}"


def choose_sandbox(wanted: Literal["auto", "bubblewrap", "uid", "none"], hidden: bool,
                   private: Sequence[Path], jail: Path) -> Sandbox:
    """The best protection that works here, tried out; or the wanted one.

    hidden: hidden cases are to be run, which nothing may give away. private: what the submission
    must not be able to read. jail: the launcher (build.Parts.jail). Raises MachineFault."""
    paths = tuple(Path(path).resolve() for path in private)
    if wanted == "none":
        return without_protection(jail, paths, hidden, "asked for")
    reasons = []
    if wanted in ("auto", "bubblewrap"):
        found = shutil.which("bwrap")
        if found:
            who = "a uid of its own" if os.geteuid() == 0 else "the grader's uid"
            box = Sandbox("bubblewrap", f"bubblewrap: own namespaces, no network, {who}", jail,
                          paths, found)
            reason = probe(box)
            if not reason:
                return box
        else:
            reason = "bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)"
        reasons.append(reason)
    if wanted in ("auto", "uid"):
        if os.geteuid() == 0:
            box = Sandbox("uid", "another uid with limits; no namespaces"
                          + (f" ({reasons[0]})" if reasons else ""), jail, paths)
            refuse_open_paths(box)
            reason = probe(box)
            if not reason:
                return box
        else:
            reason = "another uid takes root"
        reasons.append(reason)
    if wanted != "auto":
        raise MachineFault(f"the protection {wanted} does not work here: {reasons[0]}")
    return without_protection(jail, paths, hidden, "; ".join(reasons))


def refuse_open_paths(box: Sandbox) -> None:
    """MachineFault if another uid can read what is private; one command closes all of it."""
    closed, open_to_all = box, []
    while "can be read by everybody" in (reason := probe(closed)):
        path = next((p for p in closed.private if reason.endswith(f": {p}")), None)
        if path is None:
            break
        open_to_all.append(path)
        closed = replace(closed, private=tuple(p for p in closed.private if p != path))
    if open_to_all:
        names = ", ".join(map(str, open_to_all))
        raise MachineFault(f"{names} can be read by every user, and so by the submission; "
                           f"chmod -R go= {shlex.join(map(str, open_to_all))}")


def without_protection(jail: Path, private: tuple[Path, ...], hidden: bool, why: str) -> Sandbox:
    if hidden:
        raise MachineFault(f"no sandbox works here ({why}), and hidden cases run in nothing less; "
                           "docs/security.md says how to get one")
    return Sandbox("none", f"limits only: the submission can read this user's files ({why})", jail,
                   private)
