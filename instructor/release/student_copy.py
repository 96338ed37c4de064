"""`make release DIR=...`: writes the copy of this repository that students get.

    python -m instructor.release.student_copy [--uncommitted] DIR    DIR: new, or an empty directory

It takes what git tracks (without git: everything but what is built), leaves out what LEFT_OUT
names, and then checks the copy: it searches every file for hidden cases and for code of solutions
(leaks.py) and for names of files and targets that the copy lacks (names.py), follows every link of
every page, and builds, checks and grades a second copy as a
student would. DIR appears only if all of that succeeds; otherwise each problem is reported in one
line.

Exit status: 0 written; 1 refused, with the reasons; 2 DIR or an option cannot be used; 3 the
machine is at fault; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from grader import interrupt
from grader.build.parts import described
from grader.cases.read import load_suites
from grader.errors import BadInput, MachineFault
from grader.process import completed
from instructor.release.leaks import COMMENT, Code, Leak, secrets_of, sorted_shape
from instructor.release.names import Names
from instructor.release.repository import REPOSITORY, git, tracked_files, untracked_files

# ---- what a student's copy is --------------------------------------------------------------------

# A folder or a file, and why students do not get it.
LEFT_OUT = {
    "course": "grades a class",
    "grader/exporters": "for course platforms",
    "instructor": "solutions, faulty kernels, cheats",
    "labs": "other assignments, with solutions",
    "tests": "the tests of this project; they use instructor/",
    "testcases/hidden": "hidden cases",
    "docs/instructor.md": "lists the hidden cases",
    "docs/measured.md": "for maintainers; runs of the solutions, among others",
    "docs/grading.md": "for who grades; docs/points.md is for students",
    "docs/security.md": "for who grades",
    "docs/clock.md": "for who grades",
    "docs/ci.md": "course platforms and workflows",
    "docs/maintainer.md": "for maintainers",
    "docs/lab.md": "for who writes another lab",
    "docs/ladder.md": "explains the solutions",
    "docs/ladder": "its charts",
    "CONTRIBUTING.md": "for maintainers",
    "CHANGELOG.md": "for maintainers",
    ".ci": "runs the tests of this project",
    ".github": "workflows, and what they need",
    ".clang-format": "for who edits the engine",
    ".editorconfig": "for who edits the engine",
    "results": "grades",
}

# What handout.md says until an instructor has written where, and until when, to hand in.
TO_BE_FILLED_IN = "[to be filled in by the instructor]"

# What README.md says from here on is for people who have the folders that a student's copy lacks.
TEACHING = "\n## Teaching\n"

# kernel.cu without comments and spaces.
PARAMETERS = "(intm,intn,intk,constfloat*A,constfloat*B,float*C){}"
STARTER = re.compile(r"#defineTILE_SIZE\d+"
                     + re.escape(f"__global__voidmysgemm{PARAMETERS}voidbasicSgemm{PARAMETERS}"))

SOLUTION = REPOSITORY / "instructor" / "solutions" / "2_tiled.cu"  # gets full marks
MAKE_SECONDS = 600  # far above what any target takes
WIDTH = 80


class Refused(Exception):
    """The copy must not be published; one line for each reason."""

    def __init__(self, *reasons: str):
        super().__init__(*reasons)
        self.reasons = reasons


def why_left_out(name: str) -> str:
    """The entry of LEFT_OUT that the file is, or is in; empty for a file that is published."""
    return next((entry for entry in LEFT_OUT if f"{name}/".startswith(f"{entry}/")), "")


def files_to_publish(uncommitted: bool) -> list[str]:
    """Relative names, sorted, of the repository's files; with `uncommitted`, new ones too.

    Raises Refused where a published file is not committed as it is, MachineFault as git() does."""
    tracked, new = tracked_files(), untracked_files()
    if uncommitted:
        return sorted(name for name in {*tracked, *new} if os.path.lexists(REPOSITORY / name))
    changed = {*git("diff", "--name-only", "--no-renames", "HEAD"), *new}
    reasons = [f"{name}: is not committed as it is; commit it, or publish the working tree with "
               "--uncommitted (RELEASE_ARGS=--uncommitted)"
               for name in sorted(changed) if not why_left_out(name)]
    if reasons:
        raise Refused(*reasons)
    return sorted(tracked)


def student_readme(text: str) -> str:
    """README.md as far as TEACHING, and without the command that tests the project.

    Raises Refused where that heading is missing."""
    kept, found, _ = text.partition(TEACHING)
    if not found:
        raise Refused('README.md: has no section "## Teaching" to leave out')
    return re.sub(r"^make test .*\n", "", kept, flags=re.MULTILINE).rstrip("\n") + "\n"


def write_copy(names: list[str], target: Path) -> None:
    """Raises Refused for what is not a regular file, and as student_readme() does."""
    for name in names:
        source, copy = REPOSITORY / name, target / name
        if source.is_symlink() or not source.is_file():
            raise Refused(f"{name}: not a regular file; a copy can hold nothing else")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)
    readme = target / "README.md"
    readme.write_text(student_readme(readme.read_text(encoding="utf-8")), encoding="utf-8")


# ---- the search ----------------------------------------------------------------------------------

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def broken_links(target: Path, file: str, text: str) -> Iterator[Leak]:
    for match in LINK.finditer(text) if file.endswith(".md") else ():
        place = match[1].split("#")[0]
        if place and "://" not in place and not (target / file).parent.joinpath(place).exists():
            line = text.count("\n", 0, match.start()) + 1
            yield Leak(file, line, f"links to {place}, which a student's copy does not have")


def search(target: Path, names: list[str], everything: list[str]) -> list[tuple[str, str]]:
    """Search the copy. `names`: its files; `everything`: those of the project. Rows for the summary: what was
    searched for, and what was not.

    Raises Refused with all that was found, BadInput where a test case cannot be read."""
    suites = load_suites(described(), "all")
    hidden = [suite for suite in suites if suite.hidden]
    public = [suite for suite in suites if not suite.hidden]
    texts, found = {}, []
    for name in names:
        try:
            texts[name] = (target / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            found.append(Leak(name, 0, "not text in UTF-8, so it cannot be searched"))
    # The shapes of `make check`, which it shows to everybody.
    checker = "".join(text for name, text in texts.items() if name.startswith("engine/"))
    own_shapes = {sorted_shape(*map(int, sizes))
                  for sizes in re.findall(r"\{(\d+), (\d+), (\d+)\}", checker)}
    secrets = secrets_of(hidden, public, own_shapes)
    kernels = [*(REPOSITORY / "instructor").rglob("*.cu"), *(REPOSITORY / "tests").rglob("*.cu")]
    code = Code(path for path in kernels if is_a_submission(path))
    if not STARTER.fullmatch(re.sub(r"\s", "", COMMENT.sub(" ", texts.get("kernel.cu", "")))):
        found.append(Leak("kernel.cu", 0, "is not the empty starter"))
    for name in names:
        found += secrets.search("(a file's name)", name)
    lacking = Names(everything, names, targets_of(everything), targets_of(names))
    for name, text in texts.items():
        found += [*secrets.search(name, text), *code.search(name, text),
                  *broken_links(target, name, text), *lacking.search(name, text)]
    if found:
        raise Refused(*map(str, found))
    cases = sum(len(suite.items) for suite in hidden)
    return [("searched", f"{cases} hidden cases, {len(code.pieces)} pieces of code: nothing found"),
            *(("  not for", note) for note in secrets.not_searched),
            *(("to do", f"handout.md:{number}: where, and until when, to hand in")
              for number, line in enumerate(texts.get("handout.md", "").splitlines(), 1)
              if TO_BE_FILLED_IN in line)]


def targets_of(names: list[str]) -> set[str]:
    """What these makefiles make: targets, and the programs by name."""
    texts = [(REPOSITORY / name).read_text(encoding="utf-8") for name in names
             if name == "Makefile" or name.endswith(".mk")]
    rules = {target for text in texts for line in re.findall(r"^([a-z][a-z -]*):(?!=)", text, re.MULTILINE)
             for target in line.split()}
    return rules | {"sgemm", "sgemm-check"}


def is_a_submission(path: Path) -> bool:
    """Not a program of its own, as benchmarks and the emulator's tests are."""
    return bool(re.search(rb"void\s+basicSgemm\s*\(", path.read_bytes()))


# ---- the trial: what a student would do ----------------------------------------------------------


def environment() -> dict[str, str]:
    """Without the variables of the `make release` around us, and those that targets read."""
    ours = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES", "KERNEL", "DIR",
            "SUBMISSION", "SUITE", "RESULTS", "PYTHONPATH", "VENV"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    # BACKEND here and not on the command line, where not every target takes it.
    return kept | {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", "BACKEND": "cpu"}


class Trial:
    """A second copy, which may be built in. Every method raises Refused where something does not
    work, and MachineFault where make is not installed."""

    def __init__(self, copy: Path, path: Path):
        shutil.copytree(copy, path)
        self.path = path
        self.results = path.parent / "results"
        # The virtual environment at hand is taken as it is (-o, below); nothing is downloaded.
        (path / ".venv").symlink_to(sys.prefix)

    def make(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = ["make", "-o", "packages", *words]
        try:
            return completed(command, timeout=MAKE_SECONDS, cwd=self.path, env=environment(),
                             stderr=subprocess.STDOUT)
        except FileNotFoundError:
            raise MachineFault("make: is not installed; install it") from None
        except subprocess.TimeoutExpired:
            raise Refused(f"make {' '.join(words)}: takes more than {MAKE_SECONDS} s; it was "
                          "stopped") from None

    def targets_exist(self) -> None:
        """Each target that `make help` names can be made from what is there."""
        shown = self.make("help")
        if shown.returncode != 0:
            raise Refused(f"make help: fails; {last_words(shown.stdout)}")
        reasons = []
        for target in targets_in(shown.stdout):
            planned = self.make("-n", "-B", target)
            if planned.returncode != 0 and "No rule to make target" in planned.stdout:
                reasons.append(f"Makefile: has no target {target}, which make help names")
            reasons += [f"Makefile: {target} uses {folder}, which a student's copy does not have; "
                        "such targets belong in instructor/instructor.mk"
                        for folder in ("instructor/", "tests/") if folder in planned.stdout]
        if reasons:
            raise Refused(*reasons)

    def builds(self) -> None:
        """./sgemm from the starter, and `make check`, which reports what the starter lacks."""
        built = self.make()
        if built.returncode != 0 or not (self.path / "sgemm").exists():
            raise Refused(f"make: does not build ./sgemm; {last_words(built.stdout)}")
        checked = self.make("check")
        if "basicSgemm launches no kernel" not in checked.stdout:
            raise Refused("make check: does not report that the starter launches no kernel; "
                          f"{last_words(checked.stdout)}")

    def grade(self, *words: str) -> tuple[float, float]:
        """Score and greatest score, from the record: make's exit status has neither."""
        shutil.rmtree(self.results, ignore_errors=True)
        done = self.make("grade", f"RESULTS={self.results}", *words)
        found = list(self.results.rglob("result.json"))
        if len(found) != 1:
            raise Refused(f"make grade {' '.join(words)}: gives no result; "
                          f"{last_words(done.stdout)}")
        record = json.loads(found[0].read_text(encoding="utf-8"))
        hidden = [test["name"] for test in record["tests"] if test["hidden"]]
        if hidden:
            raise Refused(f"make grade: has hidden cases: {', '.join(hidden)}")
        return record["score"], record["max_score"]

    def grades(self) -> str:
        """The points of the starter, which must get none, and of a solution, which must get all."""
        starter, points = self.grade()
        if starter != 0:
            raise Refused(f"make grade: gives the empty kernel.cu {starter:g} of {points:g} points")
        solution, points = self.grade(f"SUBMISSION={SOLUTION}")
        if solution != points or points <= 0:
            raise Refused(f"make grade: gives {SOLUTION.name} {solution:g} of {points:g} points")
        return (f"kernel.cu {starter:g} of {points:g} points, {SOLUTION.name} {solution:g} of "
                f"{points:g}")


def targets_in(help_text: str) -> list[str]:
    """"make clean, distclean    remove what was built" names two."""
    named = [re.match(r"make ([a-z][a-z-]*(?:, [a-z][a-z-]*)*)(?= |$)", line)
             for line in help_text.splitlines()]
    return list(dict.fromkeys(target for match in named if match
                              for target in match[1].split(", ")))


def last_words(output: str) -> str:
    """The last line that is not make's own: most likely the reason of a failure."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    others = [line for line in lines if not re.match(r"make(\[\d+\])?: ", line)] or lines
    return others[-1][:300] if others else "it printed nothing"


# ---- the command ---------------------------------------------------------------------------------


def usable_target(given: str) -> Path:
    """The absolute path of DIR. Raises BadInput unless it is new, or an empty directory, in an
    existing directory outside of the repository."""
    if not given:
        raise BadInput("DIR: names no directory; make release DIR=../sgemm-autumn")
    path = Path(os.path.abspath(given))
    try:
        if path.is_symlink():
            raise BadInput(f"{given}: is a symbolic link; name the directory itself")
        if path.exists() and any(path.iterdir()):
            raise BadInput(f"{given}: is not empty; name a new directory")
    except OSError as error:  # a file, or a directory that is not ours
        raise BadInput(f"{given}: {error.strerror}; name a new directory") from None
    real = path.parent.resolve() / path.name
    if real == REPOSITORY or REPOSITORY in real.parents:
        raise BadInput(f"{given}: is inside of this repository; name a directory outside of it")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BadInput(f"{given}: {path.parent} does not exist, or cannot be written to")
    return path


@contextmanager
def work_directory(target: Path) -> Iterator[Path]:
    """Beside the target, so that the finished copy only has to be renamed; removed at the end."""
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def publish(target: Path, work: Path, uncommitted: bool) -> list[tuple[str, str]]:
    """From the repository to `target`, by way of `work`. What was done, as pairs for a table.

    Raises Refused at the first stage that finds a reason; MachineFault, BadInput, OSError."""
    terminal = Console(stderr=True)  # a status line while something runs; nothing in a file
    with terminal.status("copying ..."):
        everything = files_to_publish(uncommitted)
        names = [name for name in everything if not why_left_out(name)]
        copy = work / "copy"
        write_copy(names, copy)
    with terminal.status("searching for hidden cases and solutions ..."):
        searched = search(copy, names, everything)
    trial = Trial(copy, work / "trial" / "student's copy")  # such paths occur
    with terminal.status("make help ..."):
        trial.targets_exist()
    with terminal.status("make, make check ..."):
        trial.builds()
    with terminal.status("make grade ..."):
        graded = trial.grades()
    os.rename(copy, target)  # replaces an empty directory
    left = dict.fromkeys(filter(None, map(why_left_out, everything)))
    return [
        ("files", f"{len(names)}; left out {len(everything) - len(names)}: {', '.join(left)}"),
        *searched,
        ("built", "make, make check: as expected of the empty kernel.cu"),
        ("graded", graded),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__.partition("\n")[0])
    parser.add_argument("--uncommitted", action="store_true",
                        help="publish the working tree, committed or not")
    parser.add_argument("DIR", help="a new directory, or an empty one")
    arguments = parser.parse_args()
    try:
        target = usable_target(arguments.DIR)
        with interrupt.raised(), work_directory(target) as work:
            rows = publish(target, work, arguments.uncommitted)
    except Refused as refused:
        for reason in (*refused.reasons, f"{arguments.DIR} was not written"):
            print(f"release: {reason}", file=sys.stderr)
        return 1
    except BadInput as bad:
        print(f"release: {bad}", file=sys.stderr)
        return 2
    except (MachineFault, OSError) as fault:
        print(f"release: {fault}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("release: interrupted; nothing was written", file=sys.stderr)
        return interrupt.STATUS
    print(f"student's copy: {target}")
    for what, result in rows:
        print(textwrap.fill(f"  {what:<13} {result}", WIDTH, subsequent_indent=" " * 16,
                            break_long_words=False, break_on_hyphens=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
