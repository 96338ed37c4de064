"""A uid for each run of a sandbox: claimed while it lasts, given the run's files, and swept of what
it left. For root alone, in Linux."""

import errno
import os
import random
import shlex
import shutil
import socket
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import MachineFault

UIDS = range(60720, 61180)
"""Between the ranges that Debian, systemd and its homes give out; in every container's map."""

TEMPORARY = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))
"""Where every user may write, outside bubblewrap, on every system."""


@contextmanager
def own_uid() -> Iterator[int]:
    """An unprivileged uid that no other run of any grader here has at the same time. Raises MachineFault."""
    for uid in random.sample(UIDS, len(UIDS)):
        with socket.socket(socket.AF_UNIX) as claim:
            try:
                claim.bind(f"\0cuda-grader-uid-{uid}")  # released when its process ends
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    continue
                raise MachineFault(f"no uid can be claimed: {error.strerror}") from error
            yield uid
            return
    raise MachineFault(f"all of the {len(UIDS)} uids of the sandbox are in use; grade with fewer "
                       "jobs")


def below(top: Path) -> Iterator[Path]:
    """All below it, contents before their directory, and itself; links are not followed."""
    for directory, directories, files in () if top.is_symlink() else os.walk(top, topdown=False):
        yield from (Path(directory, name) for name in (*files, *directories))
    yield top


def give(paths: Sequence[Path], uid: int) -> None:
    for top in paths:
        for path in below(top):
            os.lchown(path, uid, uid)


def keep_files_only(top: Path) -> None:
    """Remove links, devices and sockets that a program inside has left: the next reader may open
    what is there."""
    for path in below(top):
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) and path != top:
            path.unlink()


def sweep(uid: int) -> None:
    """Remove what a run under this uid left where every user may write. What others have there may go meanwhile."""
    for place in TEMPORARY:
        try:
            names = os.listdir(place)
        except OSError:  # there is no such folder here
            continue
        for path in (Path(place, name) for name in names):
            with suppress(OSError):
                if path.lstat().st_uid != uid:
                    continue
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()


# ---- what another uid can read -------------------------------------------------------------------


def open_to_all(path: Path) -> bool:
    """A directory that may be entered gives away whatever inside it has a name that can be guessed."""
    if not path.exists() or any(not may(parent, stat.S_IXOTH) for parent in path.parents):
        return False
    return may(path, stat.S_IROTH) or (path.is_dir() and may(path, stat.S_IXOTH))


def may(path: Path, wanted: int) -> bool:
    """Whether all others have these permissions for it."""
    return path.stat().st_mode & wanted == wanted


def check_reachable(paths: Sequence[Path], private: Sequence[Path], from_root: bool) -> None:
    """MachineFault, unless another uid can read all of it: or else a compiler's "permission denied"
    would look like the student's mistake. from_root: the directories above are on its way, too."""
    on_the_way = {parent for top in paths for parent in top.resolve().parents if from_root}
    shut = [parent for parent in sorted(on_the_way) if not may(parent, stat.S_IXOTH)]
    unreadable = [top for top in dict.fromkeys(paths)
                  if any(not readable_for_all(path) for path in below(top)
                         if not any(path.is_relative_to(hidden) for hidden in private))]
    commands = [f"chmod {how} {shlex.join(map(str, which))}"
                for how, which in (("o+x", shut), ("-R o+rX", unreadable)) if which]
    if commands:
        names = ", ".join(map(str, [*shut, *unreadable]))
        raise MachineFault(f"{names} cannot be read by the sandbox's uid; {' && '.join(commands)}")


def readable_for_all(path: Path) -> bool:
    wanted = stat.S_IROTH | (stat.S_IXOTH if path.is_dir() else 0)
    return path.is_symlink() or may(path, wanted)
