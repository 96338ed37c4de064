"""Packs what a course platform needs for grading into one archive:

    python3 instructor/release/pack.py [--public] OUT.zip|OUT.tar PREFIX [FILE=NAME ...]

The project goes to PREFIXproject/, each FILE to PREFIXNAME. Of the project everything goes along
but what grading does not need: this folder above all, whose solutions and cheats no submission
shall ever run beside. Hidden cases are in it, readable for the owner only; with --public, for an
archive that students can download, they are not.

The same files give the same bytes: sorted, without dates, owners or the umask. With git, the files
are those that git tracks, as they are in the checkout; a file of test cases that is not tracked is
refused, because it would be missing without a word. Only Python's own library is used.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from grader import interrupt  # noqa: E402

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import io  # noqa: E402
import os  # noqa: E402
import subprocess  # noqa: E402
import tarfile  # noqa: E402
import zipfile  # noqa: E402
from dataclasses import dataclass  # noqa: E402

LEFT_OUT = ("instructor", "tests", "docs", ".github", ".ci", "results", "build", ".venv", ".git")
HIDDEN = "testcases/hidden/"
NEVER = ("__pycache__", ".pytest_cache", ".hypothesis")
DATE = (1980, 1, 1, 0, 0, 0)  # the oldest that a zip file can say


class CannotPack(Exception):
    """One line: what, where, what to do."""


@dataclass(frozen=True, order=True)
class Packed:
    name: str
    path: Path

    @property
    def mode(self) -> int:
        if f"/{HIDDEN}" in f"/{self.name}":
            return 0o600
        return 0o755 if os.access(self.path, os.X_OK) else 0o644


def git(*arguments: str) -> list[str] | None:
    """Names that git lists; None where this is no checkout of its own, or git is not installed."""
    try:
        top = subprocess.run(["git", "-C", str(PROJECT), "rev-parse", "--show-toplevel"],
                             capture_output=True, check=True).stdout
        if Path(os.fsdecode(top.rstrip(b"\n"))).resolve() != PROJECT:
            return None
        listed = subprocess.run(["git", "-C", str(PROJECT), "ls-files", "-z", *arguments],
                                capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def project_files() -> list[str]:
    tracked = git()
    if tracked is None:
        names = [path.relative_to(PROJECT).as_posix() for path in PROJECT.rglob("*")
                 if path.is_file()]
    else:
        names = tracked
        for name in git("--others", "--exclude-standard", "testcases", "grader") or []:
            raise CannotPack(f"{name}: git does not track it, so it would not be packed; "
                             "`git add` it, or move it away")
    return [name for name in names if is_needed(Path(name))]


def is_needed(name: Path) -> bool:
    return name.parts[0] not in LEFT_OUT and not set(NEVER) & set(name.parts)


def collect(prefix: str, extra: list[str], public: bool) -> list[Packed]:
    found = [Packed(f"{prefix}project/{name}", PROJECT / name) for name in project_files()
             if not (public and name.startswith(HIDDEN))]
    for pair in extra:
        file, _, name = pair.rpartition("=")
        found.append(Packed(prefix + name, Path(file)))
    for one in found:
        if one.path.is_symlink() or not one.path.is_file():
            raise CannotPack(f"{one.path}: not a regular file; an archive for other machines can "
                             "hold nothing else")
    return sorted(found)


def zipped(files: list[Packed]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for file in files:
            entry = zipfile.ZipInfo(file.name, DATE)
            entry.create_system = 3  # Unix: the mode counts
            entry.external_attr = (0o100000 | file.mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, file.path.read_bytes())
    return archive.getvalue()


def tarred(files: list[Packed]) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT) as out:
        for file in files:
            content = file.path.read_bytes()
            entry = tarfile.TarInfo(file.name)
            entry.size, entry.mode = len(content), file.mode
            out.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def main(words: list[str]) -> int:
    public = words[:1] == ["--public"]
    words = words[public:]
    if len(words) < 2 or not words[0].endswith((".zip", ".tar")):
        print("usage: pack.py [--public] OUT.zip|OUT.tar PREFIX [FILE=NAME ...]", file=sys.stderr)
        return 2
    out, prefix, *extra = words
    try:
        files = collect(prefix, extra, public)
        content = zipped(files) if out.endswith(".zip") else tarred(files)
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        Path(f"{out}.new").write_bytes(content)
        os.replace(f"{out}.new", out)
    except CannotPack as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 3
    print(f"{out}: {len(files)} files, {len(content) // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
