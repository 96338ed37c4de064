"""`make release DIR=...`: writes the copy of this repository that students get.

    student_copy.py [--uncommitted] DIR        DIR: new, or an empty directory

It takes what git tracks (without git: everything but what is built), leaves out what LEFT_OUT
names, and then doubts what it has: it searches every file for hidden cases and for code of
solutions (leaks.py), follows every link of every page, and builds, checks and grades a second copy
as a student would. Only when all of that went well is DIR there; otherwise nothing is, and every
doubt is one line.

Exit status: 0 written; 1 refused, with the reasons; 2 DIR or an option cannot be used; 3 the
machine is at fault; 130 interrupted.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY))

from grader import interrupt  # noqa: E402

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import argparse  # noqa: E402
import fnmatch  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import textwrap  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402

from rich.console import Console  # noqa: E402

from leaks import COMMENT, Code, Leak, search_file, secrets_of, sorted_shape  # noqa: E402
from tile import other_tiles  # noqa: E402

from grader.cases import load_suites  # noqa: E402
from grader.errors import BadInput, MachineFault  # noqa: E402
from grader.process import end  # noqa: E402

# ---- what a student's copy is --------------------------------------------------------------------

# A folder, a file, or a pattern of them, and why students do not get it.
LEFT_OUT = {
    "instructor": "solutions, faulty kernels, cheats",
    "tests": "the tests of this project; they use instructor/",
    "testcases/hidden": "hidden cases",
    "docs/instructor.md": "tells what the hidden cases are",
    "docs/bench.md": "benchmarks, which instructor/ has",
    "docs/ladder.md": "tells how the solutions work",
    "docs/ladder": "its charts",
    ".ci": "runs the tests of this project",
    ".github/workflows": "those of this repository",
    ".github/zizmor.yml": "for the tests of the workflows",
    "results": "somebody's grades",
}

# Sections of README.md for people who have the folders that a student's copy lacks.
SECTIONS_LEFT_OUT = ("Just looking?", "Instructors", "Maintainers")

# kernel.cu without comments and spaces.
PARAMETERS = "(intm,intn,intk,constfloat*A,constfloat*B,float*C){}"
STARTER = re.compile(r"#defineTILE_SIZE\d+"
                     + re.escape(f"__global__voidmysgemm{PARAMETERS}voidbasicSgemm{PARAMETERS}"))

SOLUTION = REPOSITORY / "instructor" / "solutions" / "2_tiled.cu"  # gets full marks
BUILT = {"build", ".git", ".venv", "__pycache__", ".pytest_cache", ".hypothesis", "sgemm",
         "sgemm-check", "results"}
MAKE_SECONDS = 600  # far above what anything takes
WIDTH = 80


class Refused(Exception):
    """There are doubts about this copy."""

    def __init__(self, doubts: list[str]):
        super().__init__(f"{len(doubts)} doubts")
        self.doubts = doubts


def matches(name: str, pattern: str) -> bool:
    """A file (relative to the repository) that the pattern names, or a folder that it is in."""
    parts = name.split("/")
    places = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return any(fnmatch.fnmatchcase(place, pattern) for place in places)


def left_out(name: str) -> bool:
    return any(matches(name, pattern) for pattern in LEFT_OUT)


# ---- which files ---------------------------------------------------------------------------------


def git(*words: str) -> list[str]:
    """The names that git prints, one after the other."""
    command = ["git", "-C", str(REPOSITORY), *words]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    except FileNotFoundError:
        raise MachineFault("git: is not installed, and what this repository tracks is only known "
                           "to it; install it") from None
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip().splitlines()[:1]
        raise MachineFault(f"git {words[0]}: {''.join(why) or 'failed'}")
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def repository_files(uncommitted: bool) -> list[str]:
    """Relative names, in order, of what is to be published as it stands in the working tree."""
    if not (REPOSITORY / ".git").exists():
        found = (path.relative_to(REPOSITORY) for path in REPOSITORY.rglob("*")
                 if path.is_symlink() or not path.is_dir())
        return sorted(str(path) for path in found if not BUILT & set(path.parts))
    tracked = git("ls-files", "-z", "--cached")
    untracked = git("ls-files", "-z", "--others", "--exclude-standard")
    if uncommitted:
        return sorted({*tracked, *untracked} - set(git("ls-files", "-z", "--deleted")))
    changed = [*git("diff", "--name-only", "--no-renames", "-z", "HEAD"), *untracked]
    doubtful = sorted(name for name in set(changed) if not left_out(name))
    if doubtful:
        raise Refused([f"{name}: is not committed as it is; commit it, or publish the working tree "
                       "with --uncommitted (RELEASE_ARGS=--uncommitted)" for name in doubtful])
    return sorted(set(tracked))


def student_readme(text: str) -> str:
    """README.md without the sections for others, and without the command that tests the project."""
    text = re.sub(r"^make test .*\n", "", text, flags=re.MULTILINE)
    for title in SECTIONS_LEFT_OUT:
        section = rf"^## {re.escape(title)}\n.*?(?=^## |^MIT licence|\Z)"
        text, found = re.subn(section, "", text, flags=re.MULTILINE | re.DOTALL)
        if found != 1:
            raise Refused([f'README.md: has no section "## {title}" to leave out '
                           "(SECTIONS_LEFT_OUT in student_copy.py)"])
    return text.rstrip("\n") + "\n"


def write_copy(names: list[str], target: Path) -> None:
    for name in names:
        source, copy = REPOSITORY / name, target / name
        if source.is_symlink() or not source.is_file():
            raise Refused([f"{name}: is no regular file; a copy holds nothing else"])
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)
    readme = target / "README.md"
    readme.write_text(student_readme(readme.read_text(encoding="utf-8")), encoding="utf-8")


# ---- the search ----------------------------------------------------------------------------------

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")


def broken_links(target: Path, file: str, text: str) -> Iterator[Leak]:
    for match in LINK.finditer(text) if file.endswith(".md") else ():
        place = match[1].split("#")[0]
        if place and "://" not in place and not (target / file).parent.joinpath(place).exists():
            line = text.count("\n", 0, match.start()) + 1
            yield Leak(file, line, f"links to {place}, which a student's copy does not have")


def doubts_about_kernel(text: str) -> Iterator[Leak]:
    if not STARTER.fullmatch(re.sub(r"\s", "", COMMENT.sub(" ", text))):
        yield Leak("kernel.cu", 0, "is not the empty starter: somebody has worked in it")


@dataclass
class Searched:
    doubts: list[str] = field(default_factory=list)
    hidden_cases: int = 0
    pieces: int = 0
    notes: list[str] = field(default_factory=list)


def search(target: Path, names: list[str]) -> Searched:
    """Everything that a look at the files can tell."""
    suites = load_suites("all", REPOSITORY / "testcases")
    hidden = [suite for suite in suites if suite.hidden]
    texts, searched = {}, Searched(hidden_cases=sum(len(suite.items) for suite in hidden))
    for name in names:
        try:
            texts[name] = (target / name).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            searched.doubts.append(f"{name}: is no text (UTF-8), so it cannot be searched")
    # What `make check` runs by itself is told to everybody by it.
    own_shapes = {sorted_shape(*map(int, sizes)) for sizes in re.findall(
        r"\{(\d+), (\d+), (\d+)\}", texts.get("checker/options.c", ""))}
    public = [suite for suite in suites if not suite.hidden]
    secrets = secrets_of(hidden, public, own_shapes)
    kernels = [*(REPOSITORY / "instructor").rglob("*.cu"), *(REPOSITORY / "tests").rglob("*.cu")]
    code = Code(path for path in kernels if is_a_submission(path))
    searched.pieces, searched.notes = len(code.pieces), secrets.not_searched
    leaks = [*doubts_about_kernel(texts.get("kernel.cu", "")), *other_tiles(texts, public)]
    for name in names:
        leaks += secrets.search("(a file's name)", name)
        if name in texts:
            leaks += search_file(name, texts[name], secrets, code)
            leaks += broken_links(target, name, texts[name])
    searched.doubts += map(str, leaks)
    return searched


def is_a_submission(path: Path) -> bool:
    """Not a program of its own, as benchmarks and the emulator's tests are."""
    return bool(re.search(rb"void\s+basicSgemm\s*\(", path.read_bytes()))


# ---- the trial: what a student would do ----------------------------------------------------------


def environment() -> dict[str, str]:
    """Without what the `make release` around us hands down."""
    ours = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES", "KERNEL", "DIR",
            "BACKEND", "SUBMISSION", "SUITE", "RESULTS", "NAME", "SEED", "JOBS", "PROTECTION",
            "GRADE_ARGS", "PYTHONPATH", "VENV"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    # BACKEND here and not on the command line, where not every target takes it.
    return kept | {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", "BACKEND": "cpu"}


class Trial:
    """A second copy, which may be built in."""

    def __init__(self, copy: Path, path: Path):
        shutil.copytree(copy, path)
        self.path = path
        self.results = path.parent / "results"
        # The virtual environment at hand is taken as it is (-o, below); nothing is downloaded. By
        # a link: its own path may hold spaces, which make cannot have in a target.
        (path / ".venv").symlink_to(sys.prefix)

    def make(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = ["make", "-o", ".venv/grader-ready", *words]
        try:
            running = subprocess.Popen(
                command, cwd=self.path, env=environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                start_new_session=True,  # so that its compilers can be ended with it
            )
        except FileNotFoundError:
            raise MachineFault("make: is not installed; install it") from None
        with running:
            try:
                output, _ = running.communicate(timeout=MAKE_SECONDS)
            except subprocess.TimeoutExpired:
                raise Refused([f"make {' '.join(words)}: takes more than {MAKE_SECONDS} s; it was "
                               "stopped"]) from None
            finally:
                if running.returncode is None:
                    end(running)
        return subprocess.CompletedProcess(command, running.returncode, output)

    def targets_hold(self) -> None:
        """Each target that `make help` or a workflow names can be made from what is there."""
        shown = self.make("help")
        if shown.returncode != 0:
            raise Refused([f"make help: fails; {last_words(shown.stdout)}"])
        named = {target: "make help" for target in targets_in(shown.stdout)}
        for workflow in (self.path / ".github" / "workflows").glob("*.yml"):
            commands = re.findall(r"run: make ([a-z-]+)", workflow.read_text(encoding="utf-8"))
            named |= {target: f"{workflow.name}" for target in commands}
        doubts = []
        for target, where in named.items():
            planned = self.make("-n", "-B", target)
            if planned.returncode != 0 and "No rule to make target" in planned.stdout:
                doubts.append(f"Makefile: has no target {target}, which {where} names")
            for folder in ("instructor/", "tests/"):
                if folder in planned.stdout:
                    doubts.append(f"Makefile: {target} uses {folder}, which a student's copy does "
                                  "not have; such targets belong in instructor/instructor.mk")
        if doubts:
            raise Refused(doubts)

    def builds(self) -> None:
        """./sgemm from the starter, and `make check` that says what it lacks."""
        built = self.make()
        if built.returncode != 0 or not (self.path / "sgemm").exists():
            raise Refused([f"make: does not build ./sgemm; {last_words(built.stdout)}"])
        checked = self.make("check")
        if "basicSgemm launches no kernel" not in checked.stdout:
            raise Refused([f"make check: does not say what the starter lacks; "
                           f"{last_words(checked.stdout)}"])

    def grade(self, *words: str) -> tuple[float, float]:
        """Score and greatest score. make's own status says less than the result does."""
        shutil.rmtree(self.results, ignore_errors=True)
        done = self.make("grade", f"RESULTS={for_make(self.results)}", *words)
        found = list(self.results.rglob("result.json"))
        if len(found) != 1:
            raise Refused([f"make grade {' '.join(words)}: gives no result; "
                           f"{last_words(done.stdout)}"])
        record = json.loads(found[0].read_text(encoding="utf-8"))
        hidden = [test["name"] for test in record["tests"] if test["hidden"]]
        if hidden:
            raise Refused([f"make grade: has hidden cases: {', '.join(hidden)}"])
        return record["score"], record["max_score"]

    def grades(self) -> tuple[float, float, float]:
        """The starter's points, the solution's, and how many there are."""
        starter, points = self.grade()
        if starter != 0:
            raise Refused([f"make grade: gives the empty kernel.cu {starter:g} of {points:g} "
                           "points"])
        solution, points = self.grade(f"SUBMISSION={for_make(SOLUTION)}")
        if solution != points or points <= 0:
            raise Refused([f"make grade: gives {SOLUTION.name} {solution:g} of {points:g} points"])
        return starter, solution, points


def for_make(path: Path) -> str:
    """As the value of a variable on make's command line."""
    return str(path).replace("$", "$$")


def targets_in(help_text: str) -> list[str]:
    """"make clean, distclean    remove what was built" names two."""
    named = [re.match(r"make ([a-z][a-z-]*(?:, [a-z][a-z-]*)*)(?= |$)", line)
             for line in help_text.splitlines()]
    return [target for match in named if match for target in match[1].split(", ")]


def last_words(output: str) -> str:
    """The line that most likely says why: make's own come last and say nothing."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if not re.match(r"make(\[\d+\])?: ", line)] or lines
    return telling[-1][:300] if telling else "it printed nothing"


# ---- the command ---------------------------------------------------------------------------------


def usable_target(given: str) -> Path:
    """Where the copy goes: nothing is there yet, or nothing is in it."""
    if not given:
        raise BadInput("DIR: names no directory; make release DIR=../sgemm-autumn")
    path = Path(os.path.abspath(given))
    shown = given
    try:
        if path.is_symlink():
            raise BadInput(f"{shown}: is a symbolic link; name the directory itself")
        if path.exists() and not path.is_dir():
            raise BadInput(f"{shown}: is not a directory")
        if path.exists() and any(path.iterdir()):
            raise BadInput(f"{shown}: is not empty; name a new directory")
    except PermissionError:
        raise BadInput(f"{shown}: cannot be read; name another directory") from None
    if not path.parent.is_dir():
        raise BadInput(f"{shown}: there is no {path.parent}; make that directory first")
    real = path.parent.resolve() / path.name
    if real == REPOSITORY or REPOSITORY in real.parents:
        raise BadInput(f"{shown}: lies inside of this repository; name a directory outside of it")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BadInput(f"{shown}: {path.parent} cannot be written to")
    return path


@contextmanager
def work_directory(target: Path) -> Iterator[Path]:
    """Beside the target, so that the finished copy only has to be renamed; gone at the end, however
    that comes."""
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


class Progress:
    """What is being done, on a terminal; what was done, at the end."""

    def __init__(self) -> None:
        self.terminal = Console(stderr=True)
        self.lines: list[tuple[str, str]] = []

    @contextmanager
    def step(self, doing: str) -> Iterator[None]:
        if not self.terminal.is_terminal:
            yield
            return
        with self.terminal.status(f"{doing} ..."):
            yield

    def done(self, what: str, result: str) -> None:
        self.lines.append((what, result))

    def summary(self, target: Path) -> None:
        print(f"student's copy: {target}")
        for what, result in self.lines:
            print(textwrap.fill(f"  {what:<13} {result}", WIDTH, subsequent_indent=" " * 16,
                                break_long_words=False, break_on_hyphens=False))


def publish(target: Path, work: Path, uncommitted: bool, progress: Progress) -> None:
    """From the repository to `target`; Refused at the first stage that raises doubts."""
    with progress.step("copying"):
        everything = repository_files(uncommitted)
        names = [name for name in everything if not left_out(name)]
        copy = work / "copy"
        write_copy(names, copy)
    used = [pattern for pattern in LEFT_OUT if any(matches(name, pattern) for name in everything)]
    progress.done("files", f"{len(names)}; left out {len(everything) - len(names)}: "
                           + ", ".join(used))
    with progress.step("searching for hidden cases and solutions"):
        searched = search(copy, names)
        if searched.doubts:
            raise Refused(searched.doubts)
    progress.done("searched", f"{searched.hidden_cases} hidden cases, {searched.pieces} pieces of "
                              "code: nothing found")
    for note in searched.notes:
        progress.done("  not for", note)
    trial = Trial(copy, work / "trial" / "student's copy")  # a path as students have them
    with progress.step("make help"):
        trial.targets_hold()
    with progress.step("make, make check"):
        trial.builds()
    progress.done("built", "make, make check: as the empty kernel.cu should")
    with progress.step("make grade"):
        starter, solution, points = trial.grades()
    progress.done("graded", f"kernel.cu {starter:g} of {points:g} points, {SOLUTION.name} "
                            f"{solution:g} of {points:g}")
    os.rename(copy, target)  # on an empty directory, too


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__.split("\n")[0])
    parser.add_argument("--uncommitted", action="store_true",
                        help="publish the working tree, committed or not")
    parser.add_argument("DIR", help="a new directory, or an empty one")
    return parser.parse_args()


def main() -> int:
    arguments, progress = read_arguments(), Progress()
    try:
        target = usable_target(arguments.DIR)
        with interrupt.raised(), work_directory(target) as work:
            publish(target, work, arguments.uncommitted, progress)
    except Refused as refused:
        for doubt in refused.doubts:
            print(f"release: {doubt}", file=sys.stderr)
        print(f"release: {arguments.DIR} was not written", file=sys.stderr)
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
    progress.summary(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
