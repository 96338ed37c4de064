"""The repository that is published: where it is, and which files it has. Only Python's own library
is used here, and what uses nothing else."""

import os
import subprocess
from pathlib import Path

from grader.errors import MachineFault

REPOSITORY = Path(__file__).resolve().parents[2]

# What a checkout without git may hold beside the sources.
BUILT = {"build", ".venv", "sgemm", "sgemm-check", "results"}
CACHES = {"__pycache__", ".pytest_cache", ".hypothesis"}  # in any folder


def git(*words: str) -> list[str]:
    """The names that a command of git's prints with -z; none where the repository has no git.

    Raises MachineFault where git is not installed, or fails."""
    if not (REPOSITORY / ".git").exists():
        return []
    try:
        done = subprocess.run(["git", "-C", str(REPOSITORY), *words, "-z"], capture_output=True)
    except FileNotFoundError:
        raise MachineFault("git: is not installed, and only git knows which files of this "
                           "repository it tracks; install it") from None
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").partition("\n")[0]
        raise MachineFault(f"git {words[0]}: {why or 'failed'}")
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def tracked_files() -> list[str]:
    """Relative names of the files that git tracks; without git, of all that is not built.

    Raises MachineFault as git() does."""
    if (REPOSITORY / ".git").exists():
        return git("ls-files")
    found = (path.relative_to(REPOSITORY) for path in REPOSITORY.rglob("*")
             if path.is_symlink() or not path.is_dir())
    return [path.as_posix() for path in found
            if path.parts[0] not in BUILT and not CACHES & set(path.parts)]


def untracked_files(*folders: str) -> list[str]:
    """Relative names of the files in `folders` (default: all) that git neither tracks nor ignores.

    Raises MachineFault as git() does."""
    return git("ls-files", "--others", "--exclude-standard", *folders)
