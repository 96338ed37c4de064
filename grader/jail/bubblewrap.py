"""What a program sees inside bubblewrap: compilers, the paths that it is given, and nothing else of
the machine. In: those paths; out: bubblewrap's options, none of which is newer than version 0.6."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

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


def options(readable: Sequence[Path], writable: Sequence[Path], devices: Sequence[Path],
            private: Sequence[Path], jail: Path, uid: int | None) -> list[str]:
    """Paths at the same place inside as outside, the jail as /jail. uid: the one that the jail will
    change to; None: it stays this process's."""
    words = [*NAMESPACES, *(["--unshare-user"] if uid is None else CAPABILITIES)]
    system = [Path(name) for name in SYSTEM if os.path.exists(name)]
    bound = dict.fromkeys([*system, *compiler_prefixes()], "--ro-bind")
    bound |= {path.absolute(): "--ro-bind" for path in readable}
    bound |= {path.absolute(): "--bind" for path in writable}
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
    for path in masked(private, list(bound)):
        words += ["--tmpfs", str(path), "--remount-ro", str(path)] if path.is_dir() else \
                 ["--ro-bind", "/dev/null", str(path)]
    words += ["--proc", "/proc", "--dir", "/dev"]
    for path in (Path("/dev/null"), *devices):
        words += ["--dev-bind", str(path), str(path)]
    return [*words, "--ro-bind", str(jail), "/jail", "--remount-ro", "/", "--chdir", "/"]


def seen(readable: Sequence[Path], gpu: bool) -> list[Path]:
    """The same files, for a sandbox without namespaces that can be kept from all others."""
    names = [*SYSTEM, *ROOTS, *OF_PROC, *(OF_A_GPU if gpu else ())]
    return [*map(Path, names), *compiler_prefixes(), *(path.absolute() for path in readable)]


def compiler_prefixes() -> list[Path]:
    """Where compilers are that were not installed by the system: /opt/gcc-13."""
    named = (os.environ.get("CC") or "cc", os.environ.get("CXX") or "c++",
             os.environ.get("NVCC") or "nvcc")
    return prefixes_of(" ".join(named), os.environ.get("PATH"))


@functools.cache  # asked for each process that is started
def prefixes_of(named: str, search: str | None) -> list[Path]:
    """Of these compilers, separated by blanks, found in the folders of `search`."""
    prefixes = []
    for word in named.split():
        found = shutil.which(word, path=search)
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
