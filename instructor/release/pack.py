"""Makes what a course platform needs for grading:

    python -m instructor.release.pack [--lab DIR] gradescope|autolab|classroom50 DIRECTORY

It puts the project and the platform's own scripts into one archive, and some files beside it: see
BUNDLES. It is for one lab, which lies there as SGEMM does here (layout.py). What grading does not need is
left out, instructor/ above all, because no submission may ever run beside its solutions. Hidden cases
are readable for the owner only, and left out of an archive that students can download.

The same files give the same bytes: sorted, without dates, owners or the umask. The files are those
that git tracks, as they are in the working tree; an untracked one below testcases/ or grader/ is
refused, because it would be missing without notice. Only Python's own library is used.

Exit status: 0 written; 2 a file or the command cannot be used; 3 the machine is at fault.
"""

import argparse
import io
import os
import shutil
import signal
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from grader import interrupt
from grader.errors import BadInput, MachineFault
from instructor.release.layout import is_in, laid_over
from instructor.release.repository import REPOSITORY, tracked_files, untracked_files

LEFT_OUT = ("course", "instructor", "labs", "tests", "docs", ".github", ".ci")
HIDDEN = "testcases/hidden/"
DATE = (1980, 1, 1, 0, 0, 0)  # the oldest that a zip file can express


@dataclass(frozen=True)
class Bundle:
    """What a platform gets. Scripts are relative to instructor/release/PLATFORM."""

    archive: str  # below DIRECTORY
    scripts: tuple[str, ...]  # in the archive, beside the project
    prefix: str = ""  # of every name in the archive
    beside: tuple[str, ...] = ()  # in the archive's directory
    public: bool = False  # students can download it


BUNDLES = {
    "gradescope": Bundle("gradescope.zip", ("setup.sh", "run_autograder")),
    "autolab": Bundle("autolab/autograde.tar", ("grade.sh",), "autograder/",
                      ("autograde-Makefile",)),
    "classroom50": Bundle("classroom50/project.tar", ("../../../.github/sandbox.sh",), "",
                          ("autograder.py",), public=True),
}


@dataclass(frozen=True, order=True)
class Packed:
    """A file, and its name in the archive."""

    name: str
    path: Path

    @property
    def mode(self) -> int:
        if f"/{HIDDEN}" in self.name:
            return 0o600
        return 0o755 if os.access(self.path, os.X_OK) else 0o644


def project_files(lab: str, public: bool) -> dict[str, str]:
    """What grading needs of the project for this lab: names in the archive, and relative ones of the files.

    Raises BadInput where git does not track a file that belongs to it."""
    for name in untracked_files("testcases", "grader", lab):
        raise BadInput(f"{name}: git does not track it, so it would not be packed; `git add` it, "
                       "or move it away")
    files = laid_over(lab, tracked_files())
    if not public and not any(name.startswith(HIDDEN) for name in files):
        raise BadInput(f"{HIDDEN}: {lab} has no hidden cases, which this bundle grades, too: write some, or draw them "
                       "with make hidden, and `git add` them")
    return {name: file for name, file in files.items()
            if not is_in(name, *LEFT_OUT) and not (public and name.startswith(HIDDEN))}


def collect(lab: str, bundle: Bundle, folder: Path) -> list[Packed]:
    """All that goes into the archive, sorted; `folder` has the platform's scripts.

    Raises BadInput for a link, a device and the like."""
    found = [Packed(f"{bundle.prefix}project/{name}", REPOSITORY / file)
             for name, file in project_files(lab, bundle.public).items()]
    found += [Packed(bundle.prefix + Path(name).name, folder / name) for name in bundle.scripts]
    for file in found:
        if file.path.is_symlink() or not file.path.is_file():
            raise BadInput(f"{file.path}: not a regular file; an archive for other machines can "
                           "hold nothing else")
    return sorted(found)


def zipped(files: list[Packed]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        for file in files:
            entry = zipfile.ZipInfo(file.name, DATE)
            entry.create_system = 3  # Unix: the mode counts
            entry.external_attr = (0o100000 | file.mode) << 16
            out.writestr(entry, file.path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
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


def write(archive: Path, content: bytes) -> None:
    """The whole archive or, after an error or a signal, what was there before. Raises OSError."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    new = archive.with_name(f"{archive.name}.new")
    try:
        new.write_bytes(content)
        new.replace(archive)
    finally:
        new.unlink(missing_ok=True)


def make(lab: str, platform: str, directory: Path) -> str:
    """Write the bundle; one line about it. Raises BadInput, MachineFault, OSError.

    The archive is made in memory, where a signal may end the process as it does any other: a
    KeyboardInterrupt inside zipfile is lost in the error that its closing raises."""
    bundle, folder = BUNDLES[platform], REPOSITORY / "instructor" / "release" / platform
    archive = directory / bundle.archive
    files = collect(lab, bundle, folder)
    content = zipped(files) if archive.suffix == ".zip" else tarred(files)
    with interrupt.raised():
        write(archive, content)
        for name in bundle.beside:
            shutil.copyfile(folder / name, archive.parent / name)
    return f"{archive}: {len(files)} files, {len(content) // 1024} kB"


def main() -> int:
    parser = argparse.ArgumentParser(prog="pack.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--lab", default="lab", help="the folder of the lab; its bundle is in a folder called "
                                                     "like it")
    parser.add_argument("platform", choices=BUNDLES)
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    try:
        interrupt.handle(signal.SIG_DFL)
        lab = os.path.normpath(arguments.lab)
        if not (REPOSITORY / lab / "lab.c").is_file():
            raise BadInput(f"LAB={arguments.lab}: there is no lab here: {lab}/lab.c is missing")
        directory = arguments.directory if lab == "lab" else arguments.directory / Path(lab).name
        print(make(lab, arguments.platform, directory))
    except BadInput as bad:
        print(bad, file=sys.stderr)
        return 2
    except (MachineFault, OSError) as fault:
        print(fault, file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return interrupt.status()
    return 0


if __name__ == "__main__":
    sys.exit(main())
