"""`make release DIR=...`: writes the copy of this repository that students get.

    python -m instructor.release.student_copy [--lab LAB] [--tile N] [--uncommitted] DIR

DIR is new, or an empty directory. It takes what git tracks (without git: everything but what is built),
lays the lab's folder over the root, leaves out what LEFT_OUT names (layout.py), and then checks the
copy: it searches every file for any lab's hidden cases and code of solutions (leaks.py) and for names of
files and targets that the copy lacks (names.py), follows every link of every page, and builds, checks
and grades a second copy as a student would. DIR appears only if all of that succeeds; otherwise each
problem is reported in one line.

Exit status: 0 written; 1 refused, with the reasons; 2 DIR or an option cannot be used; 3 the
machine is at fault; 130 interrupted.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from rich.console import Console

from grader import interrupt
from grader.build.parts import described
from grader.cases.read import load_suites
from grader.errors import BadInput, MachineFault
from grader.lab import Lab
from grader.process import completed
from instructor.release.layout import OTHER_README, TEACHING, is_in, labs_in, published, why_left_out
from instructor.release.leaks import COMMENT, Code, Leak, Secrets, secrets_of
from instructor.release.names import Names
from instructor.release.prove_cases import kernels
from instructor.release.repository import REPOSITORY, git, tracked_files, untracked_files
from instructor.release.tile import USUAL, change, tile_in

# ---- what a student's copy is --------------------------------------------------------------------

# What handout.md says until an instructor has written where, and by when, to hand in.
TO_BE_FILLED_IN = "[to be filled in by the instructor]"

MAKE_SECONDS = 600  # far above what any target takes
WIDTH = 80


class Refused(Exception):
    """The copy must not be published; one line for each reason."""

    def __init__(self, *reasons: str):
        super().__init__(*reasons)
        self.reasons = reasons


def files_of_project(lab: str, uncommitted: bool) -> list[str]:
    """Relative names of the repository's files; with `uncommitted`, new ones too.

    Raises Refused where a published file is not committed as it is, MachineFault as git() does."""
    tracked, new = tracked_files(), untracked_files()
    if uncommitted:
        return [name for name in {*tracked, *new} if os.path.lexists(REPOSITORY / name)]
    changed = {*git("diff", "--name-only", "--no-renames", "HEAD"), *new}
    reasons = [f"{name}: is not committed as it is; commit it, or publish the working tree with "
               "--uncommitted (RELEASE_ARGS=--uncommitted)"
               for name in published(lab, changed).values()]
    if reasons:
        raise Refused(*reasons)
    return tracked


def student_readme(text: str) -> str:
    """README.md as far as TEACHING, and without the command that tests the project.

    Raises Refused where that heading is missing."""
    kept, found, _ = text.partition(TEACHING)
    if not found:
        raise Refused('README.md: has no section "## Teaching" to leave out')
    return re.sub(r"^make test .*\n", "", kept, flags=re.MULTILINE).rstrip("\n") + "\n"


def readme_of_another_lab(name: str, handout: Path) -> str:
    """Raises Refused where the lab has no handout."""
    if not handout.is_file():
        raise Refused("handout.md: the lab has none; it is what students read first")
    heading = handout.read_text(encoding="utf-8").partition("\n")[0]
    return Template((REPOSITORY / OTHER_README).read_text(encoding="utf-8")).substitute(
        heading=heading, name=name, build=f"make && ./{name} ".ljust(23))


def write_copy(files: dict[str, str], target: Path, lab: Lab) -> None:
    """Raises Refused for what is not a regular file, and as the README's functions do."""
    for name, original in files.items():
        source, copy = REPOSITORY / original, target / name
        if source.is_symlink() or not source.is_file():
            raise Refused(f"{original}: not a regular file; a copy can hold nothing else")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)
    readme = target / "README.md"
    text = (student_readme(readme.read_text(encoding="utf-8")) if lab.folder == "lab"
            else readme_of_another_lab(lab.name, target / "handout.md"))
    readme.write_text(text, encoding="utf-8")


# ---- the search ----------------------------------------------------------------------------------

CALLED = re.compile(r"\bLAB_CALL\((\w+),")
ARRAY = re.compile(r'\{"(\w+)", ELEMENT_')
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def broken_links(target: Path, file: str, text: str) -> Iterator[Leak]:
    for match in LINK.finditer(text) if file.endswith(".md") else ():
        place = match[1].split("#")[0]
        if place and "://" not in place and not (target / file).parent.joinpath(place).exists():
            line = text.count("\n", 0, match.start()) + 1
            yield Leak(file, line, f"links to {place}, which a student's copy does not have")


def search(target: Path, files: dict[str, str], everything: list[str], lab: Lab) -> list[tuple[str, str]]:
    """Search the copy. `files`: its names; `everything`: those of the project. Rows for the summary: what
    was searched for, and what was not.

    Raises Refused with all that was found, BadInput where a test case cannot be read."""
    names, texts, found = [*files], {}, []
    for name in names:
        try:
            texts[name] = (target / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            found.append(Leak(name, 0, "not text in UTF-8, so it cannot be searched"))
    folders = labs_in(everything)
    secrets = {folder: hidden for folder in folders if (hidden := secrets_in(folder))}
    wrapper = re.compile(rf"void\s+({'|'.join(said_by(folders, 'call.cu', CALLED))})\s*\(")
    code = Code((path for folder in ("instructor", "labs", "tests") for path in (REPOSITORY / folder).rglob("*.cu")
                 if wrapper.search(path.read_text(encoding="utf-8", errors="replace"))),  # no program of its own
                said_by(folders, "lab.c", ARRAY))
    if not starter(lab).fullmatch(re.sub(r"\s", "", COMMENT.sub(" ", texts.get("kernel.cu", "")))):
        found.append(Leak("kernel.cu", 0, "is not the empty starter"))
    lacking = names_lacking(lab, names, everything)
    found += (leak for each in secrets.values() for name in names for leak in each.search("(a file's name)", name))
    for name, text in texts.items():
        found += (leak for each in secrets.values() for leak in each.search(name, text))
        found += [*code.search(name, text), *broken_links(target, name, text), *lacking.search(name, text)]
    if found:
        raise Refused(*map(str, found), *dict.fromkeys(leak.instead for leak in found if leak.instead))
    cases = sum(each.cases for each in secrets.values())
    return [("searched", f"{cases} hidden cases, {len(code.pieces)} pieces of code: nothing found"),
            *(("  not for", note) for note in (secrets[lab.folder].not_searched if lab.folder in secrets else ())),
            *(("to do", f"handout.md:{number}: where, and by when, to hand in")
              for number, line in enumerate(texts.get("handout.md", "").splitlines(), 1)
              if TO_BE_FILLED_IN in line)]


def secrets_in(folder: str) -> Secrets | None:
    """Of this lab's hidden cases, if it has any. Raises BadInput and MachineFault."""
    home = REPOSITORY if folder == "lab" else REPOSITORY / folder
    if not (home / "testcases" / "hidden").is_dir():
        return None
    suites = load_suites(described(folder), "all")
    return secrets_of([suite for suite in suites if suite.hidden], [suite for suite in suites if not suite.hidden])


def names_lacking(lab: Lab, names: list[str], everything: list[str]) -> Names:
    """A copy of another lab does not miss SGEMM's."""
    if lab.folder != "lab":
        everything = [*names, *(name for name in everything if not is_in(name, "lab"))]
    return Names(everything, names, targets_of(everything, lab), targets_of(names, lab))


def starter(lab: Lab) -> re.Pattern[str]:
    """kernel.cu as handed out, without comments and spaces: both functions are empty."""
    kernel = lab.kernel or "[A-Za-z_]+"
    wrapper = re.escape(re.sub(r"\s", "", f"void{lab.wrapper}({lab.parameters})"))
    return re.compile(rf"(#define[A-Z_]+\d+)?__global__void{kernel}\([^(){{}}]*\)\{{\}}{wrapper}\{{\}}")


def targets_of(names: list[str], lab: Lab) -> set[str]:
    """What these makefiles make: targets, and the programs by name."""
    texts = [(REPOSITORY / name).read_text(encoding="utf-8") for name in names
             if name == "Makefile" or name.endswith(".mk")]
    rules = {target for text in texts for line in re.findall(r"^([a-z][a-z -]*):(?!=)", text, re.MULTILINE)
             for target in line.split()}
    return rules | {lab.name, f"{lab.name}-check"}


def said_by(folders: Iterable[str], file: str, what: re.Pattern[str]) -> set[str]:
    """By these labs."""
    return {name for folder in folders
            for name in what.findall((REPOSITORY / folder / file).read_text(encoding="utf-8"))}


# ---- the trial: what a student would do ----------------------------------------------------------


def environment() -> dict[str, str]:
    """Without the variables of the `make release` around us, and those that targets read."""
    ours = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES", "KERNEL", "LAB", "DIR",
            "SUBMISSION", "SUITE", "RESULTS", "PYTHONPATH", "VENV"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    # BACKEND here and not on the command line, where not every target takes it.
    return kept | {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", "BACKEND": "cpu"}


class Trial:
    """A second copy, which may be built in. Every method raises Refused where something does not
    work, and MachineFault where make is not installed."""

    def __init__(self, copy: Path, path: Path, lab: Lab):
        shutil.copytree(copy, path)
        self.path, self.lab = path, lab
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
        """The program from the starter, and `make check`, which reports what the starter lacks."""
        built = self.make()
        if built.returncode != 0 or not (self.path / self.lab.name).exists():
            raise Refused(f"make: does not build ./{self.lab.name}; {last_words(built.stdout)}")
        checked = self.make("check")
        if f"{self.lab.wrapper} launches no kernel" not in checked.stdout:
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
        best = next((each.path for each in kernels(self.lab, "*", ["solution"]) if each.loses == "nothing"), None)
        if not best:
            raise Refused("instructor/solutions: none says in its head `loses: nothing`, so none can be graded")
        solution, points = self.grade(f"SUBMISSION={best}")
        if solution != points or points <= 0:
            raise Refused(f"make grade: gives {best.name} {solution:g} of {points:g} points")
        return f"kernel.cu {starter:g} of {points:g} points, {best.name} {solution:g} of {points:g}"


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
        raise BadInput("DIR: names no directory; make release DIR=../autumn")
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


def publish(lab: Lab, tile: int, target: Path, work: Path, uncommitted: bool) -> list[tuple[str, str]]:
    """For this lab, from the repository to `target`, by way of `work`. What was done, as pairs for a table.

    Raises Refused at the first stage that finds a reason; MachineFault, BadInput, OSError."""
    terminal = Console(stderr=True)  # a status line while something runs; nothing in a file
    with terminal.status("copying ..."):
        everything = files_of_project(lab.folder, uncommitted)
        files, copy = published(lab.folder, everything), work / "copy"
        write_copy(files, copy, lab)
        if tile != USUAL:
            change(copy, tile)
    with terminal.status("searching for hidden cases and solutions ..."):
        searched = search(copy, files, everything, lab)
    trial = Trial(copy, work / "trial" / "student's copy", lab)  # such paths occur
    with terminal.status("make help ..."):
        trial.targets_exist()
    with terminal.status("make, make check ..."):
        trial.builds()
    with terminal.status("make grade ..."):
        graded = trial.grades()
    os.rename(copy, target)  # replaces an empty directory
    left = dict.fromkeys(filter(None, map(why_left_out, everything)))
    return [
        ("files", f"{len(files)}; left out {len(everything) - len(files)}: {', '.join(left)}"),
        *searched,
        ("built", "make, make check: as expected of the empty kernel.cu"),
        ("graded", graded),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__.partition("\n")[0])
    parser.add_argument("--uncommitted", action="store_true",
                        help="publish the working tree, committed or not")
    parser.add_argument("--lab", default="lab", help="the folder of the lab; default: lab")
    parser.add_argument("--tile", default=str(USUAL), help="of SGEMM's starter and handout; default: %(default)s")
    parser.add_argument("DIR", help="a new directory, or an empty one")
    arguments = parser.parse_args()
    try:
        target = usable_target(arguments.DIR)
        with interrupt.raised(), work_directory(target) as work:
            lab, tile = described(arguments.lab), tile_in(arguments.tile)
            if tile != USUAL and lab.folder != "lab":
                raise BadInput(f"TILE={tile}: {lab.folder} has no tiles")
            rows = publish(lab, tile, target, work, arguments.uncommitted)
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
        return interrupt.status()
    print(f"student's copy: {target}")
    for what, result in rows:
        print(textwrap.fill(f"  {what:<13} {result}", WIDTH, subsequent_indent=" " * 16,
                            break_long_words=False, break_on_hyphens=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
