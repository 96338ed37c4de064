"""What the tests here share: private copies of the repository, builds, runs of ./sgemm.

Nothing is ever built in the checkout itself. Each pytest worker has a copy of it, in a path with a
space in it (`tree`); programs built there are kept aside for all workers, so that thirty tests of
one kernel compile it once.

A tool that is not installed skips its tests on a user's machine, with the reason, and fails them
where the environment variable CI is set: there, everything is to run.
"""

import compileall
import fcntl
import gc
import hashlib
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

sys.dont_write_bytecode = False  # of what tests import, whatever PYTHONDONTWRITEBYTECODE says

from instructor.faulty import faults  # noqa: E402

pytest_plugins = ["checked", "browser"]
REPOSITORY = Path(__file__).resolve().parent.parent
BUILD_SECONDS = 300  # a limit for what hangs, far above what anything takes
RUN_SECONDS = 120

# What `make test` or the user's shell hands down must not reach the makes of the tests.
NOT_INHERITED = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "KERNEL", "BACKEND", "ARCH",
                 "NVCC", "PYTHON", "NO_COLOR", "VENV", "SUBMISSION", "CLASS", "SUITE",
                 "RESULTS", "NAME", "SEED", "JOBS", "PROTECTION", "GRADE_ARGS", "DIR",
                 "FAULTY", "KERNELS", "SHAPES", "SAMPLES", "LADDER")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker a core and two more, since tests wait, too; each more would import and collect all tests
    again, and have copies of the repository and processes of its own."""
    return min(len(os.sched_getaffinity(0)) + 2, 16)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Most of it is rewriting assertions, which pytest keeps in __pycache__: one worker does so,
    while the others wait, and then read it. What was collected stays to the end, so the garbage collector
    need not go through it, now or later."""
    gc.disable()
    with open(__file__) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)  # all of them together, behind the first
        result = yield
    gc.enable()
    gc.freeze()
    return result


def pytest_configure() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's, for what it starts behind its back
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which programs of tests are to hear


# ---- tools that a machine may lack ---------------------------------------------------------------


def missing(tool: str, reason: str = "is not installed") -> NoReturn:
    """End the test that needs `tool`: skipped, or failed where CI is set."""
    message = f"{tool}: {reason}"
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def need(tool: str) -> str:
    """The path of a program."""
    return shutil.which(tool) or missing(tool)


def find_nvcc() -> str | None:
    """As the Makefile looks for it."""
    usual = "/usr/local/cuda/bin/nvcc"
    return shutil.which("nvcc") or (usual if os.access(usual, os.X_OK) else None)


def need_nvcc() -> str:
    """nvcc, which CI machines do not have: without it a test is skipped in any case."""
    return find_nvcc() or pytest.skip("nvcc is not installed (nor expected to be, not even in CI)")


def gpu_answers() -> bool:
    smi = shutil.which("nvidia-smi")
    if not smi:
        return False
    found = subprocess.run([smi, "-L"], capture_output=True, text=True, timeout=60, check=False)
    return found.stdout.startswith("GPU")


@pytest.fixture(scope="session")
def gpu() -> None:
    """Skips where no GPU is, in CI too."""
    if not find_nvcc() or not gpu_answers():
        pytest.skip("needs nvcc and a GPU (CI has neither)")


def sample(values: Sequence[Any], every: int, start: int = 0) -> list[Any]:
    """These parameters, of which all but each `every`th, from the `start`th on, are marked slow."""
    return slow_but(values, lambda number, _: (number - start) % every == 0)


def first_of_each(values: Sequence[Any], family: Callable[[Any], object], every: int = 1) -> list[Any]:
    """These parameters, of which all but the first of each family, or of each `every`th one, are marked slow."""
    firsts: dict[object, int] = {}
    for number, value in enumerate(values):
        firsts.setdefault(family(value), number)
    by_day = {*[*firsts.values()][::every]}
    return slow_but(values, lambda number, _: number in by_day)


def slow_but(values: Sequence[Any], by_day: Callable[[int, Any], bool]) -> list[Any]:
    """These parameters, of which all are marked slow but those that number and value choose."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)),
                     marks=[] if by_day(number, value) else [pytest.mark.slow])
        for number, value in enumerate(values)
    ]


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """By day those marked slow are not even made: there are more of them than of the others, and each
    worker would make them all. Except where pytest numbers them, since the numbers are to stay."""
    if metafunc.config.option.markexpr != "not slow":
        return
    for mark in metafunc.definition.iter_markers("parametrize"):
        values, ids = mark.args[1], mark.kwargs.get("ids")
        if isinstance(values, list) and (callable(ids) or not ids and all(map(is_named, values))):
            values[:] = [value for value in values if not is_slow(value)] or values


def is_named(value: Any) -> bool:
    """Has it an id without a number?"""
    parts = value.values if hasattr(value, "values") and not isinstance(value, dict) else [value]
    return all(isinstance(part, str | int | float | None) and len(str(part)) <= 100 for part in parts)


def is_slow(value: Any) -> bool:
    return any(mark.name == "slow" for mark in getattr(value, "marks", ()))


BACKENDS = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Both backends, one after the other."""
    if request.param == "cuda":
        request.getfixturevalue("gpu")
    return request.param


def script(path: Path, body: str) -> Path:
    """A program that is a shell's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


# ---- copies of the repository --------------------------------------------------------------------


def repository_files() -> list[Path]:
    """The files of the checkout, relative: what git tracks or would; without git, all but what is
    built."""
    command = ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = []
    if names:
        return [Path(name) for name in names if (REPOSITORY / name).is_file()]
    built = {"build", ".venv", ".git", ".pytest_cache", "sgemm", "sgemm-check"}
    return [
        path.relative_to(REPOSITORY)
        for path in REPOSITORY.rglob("*")
        if path.is_file() and path.relative_to(REPOSITORY).parts[0] not in built
        and "__pycache__" not in path.parts
    ]


def heed_signals() -> None:
    """As preexec_fn: the process can be interrupted. grader/python.sh blocks SIGINT, a shell ignores it for
    what runs in the background, and so does a grade that was made in this process."""
    numbers = signal.SIGINT, signal.SIGTERM
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    for number in numbers:
        signal.signal(number, signal.SIG_DFL)


def clean_environment(changes: dict[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    return kept | {"LC_ALL": "C.UTF-8"} | (changes or {})


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time."""
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def finished(command: Sequence[str | Path], cwd: Path = REPOSITORY, env: dict[str, str] | None = None,
             **options: Any) -> subprocess.CompletedProcess[str]:
    """Any program, run to its end, whatever its status is."""
    usual = {"stdin": subprocess.DEVNULL} if "input" not in options else {}
    usual |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "errors": "replace", "timeout": BUILD_SECONDS}
    return subprocess.run(command, cwd=cwd, env=clean_environment(env), text=True, check=False, **usual | options)


def untouched_copy(programs: Path) -> Path:
    """Of the repository's files, for all workers: what each test's own is copied from, by one cp."""
    copy = programs / "repository"
    with locked(programs / "repository.lock"):
        if not copy.exists():
            new = programs / "repository.new"
            for name in repository_files():
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(REPOSITORY / name, new / name)
            for name in ("grader", "course", "instructor"):  # else each process there would compile it again
                compileall.compile_dir(new / name, quiet=1)
            new.rename(copy)
    return copy


class Tree:
    """A copy of the repository that is this test's, or this worker's, own."""

    def __init__(self, folder: Path, programs: Path, first: Sequence[str] = ()):
        # Of the same length for all: it is in what compilers write, and kept_objects.c exchanges it.
        length = len(os.fsencode(programs)) + 70 - len(os.fsencode(folder))
        self.path = folder / "a checkout".ljust(length, "_")
        self.path.mkdir(parents=True)
        self.programs = programs  # built ones, kept for all workers
        self.first = first  # what the first make is to find built
        subprocess.run(["cp", "-a", f"{untouched_copy(programs)}/.", self.path], check=True, timeout=BUILD_SECONDS)

    def make(
        self, *args: str, check: bool = True, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run make there. With `check`, a failing make fails the test and shows its output."""
        self.make_first()
        result = finished(["make", *args], self.path, self.kept_cxx(args) | (env or {}))
        if check and result.returncode != 0:
            pytest.fail(f"make {' '.join(args)}: exit {result.returncode}\n"
                        f"{result.stdout}{result.stderr}")
        return result

    def make_first(self) -> None:
        if self.first:
            first, self.first = self.first, ()
            self.build_once(*first)

    def kept_cxx(self, args: Sequence[str]) -> dict[str, str]:
        """A PATH with the c++ that keeps what it makes; but the grader's sandbox, in which a submission
        is compiled, does not have it."""
        if any("grade" in arg for arg in args):
            return {}
        return {"PATH": f"{self.programs}/compilers/c++ too{os.pathsep}{os.environ['PATH']}"}

    def build_once(self, name: str, *args: str) -> None:
        """What this make builds, in a tree without anything built: by the first worker that needs
        it, and copied by the others."""
        built = self.programs / f"build {name}"
        with locked(self.programs / f"build {name}.lock"):
            if not built.exists():
                made = self.make(f"-j{len(os.sched_getaffinity(0))}", *args)
                assert made.stderr == "", f"a warning:\n{made.stderr}"
                shutil.copytree(self.path / "build", built)
            else:
                # A test that needed no make may have left files of its own there.
                shutil.copytree(built, self.path / "build", dirs_exist_ok=True)

    def build(self, kernel: str | Path, spaces: bool = False, **variables: str) -> Path:
        """The path of a ./sgemm built from `kernel` (relative paths: in the tree) for the CPU, or
        for BACKEND="cuda"; further make variables by name. Kept by what the file holds, not by
        what it includes. `spaces`: it is looked at who calls whom, too, which is a compilation of two."""
        variables = {"BACKEND": "cpu"} | variables
        path = self.path / kernel
        if path.is_relative_to(self.path):
            kernel = path.relative_to(self.path)  # the same program for every worker's copy
        arguments = [f"KERNEL={kernel}"]
        arguments += sorted(f"{name}={value}" for name, value in variables.items())
        words = "\0".join([*arguments, str(spaces)])
        key = hashlib.sha256(words.encode() + path.read_bytes()).hexdigest()
        program = self.programs / f"{path.stem}-{key[:16]}"
        with locked(self.programs / f"{program.name}.lock"):
            if not program.exists():
                left = [] if spaces else ["-o", "build/cpu/kernel.spaces"]
                # Not what nvcc links: gold refuses its groups within groups.
                self.make(*arguments, *left, env={} if variables["BACKEND"] == "cuda" else self.fast_linker())
                shutil.copy2(self.path / "sgemm", program)
        return program

    def fast_linker(self) -> dict[str, str]:
        """For the compilers of what is built from many kernels: gold, where it is installed, takes
        a third of the time of the linker that users have, and that all other tests have."""
        gold, folder = shutil.which("ld.gold"), self.programs / "linker"
        if not gold:
            return {}
        chosen = {"COMPILER_PATH": str(folder)}
        with locked(self.programs / "linker.lock"):
            if not folder.exists():
                folder.mkdir()
                (folder / "ld").symlink_to(gold)
                program = '#include <iostream>\nint main() { std::cout << 1; }'
                compiler = shlex.split(os.environ.get("CXX", "c++"))
                linked = subprocess.run([*compiler, "-x", "c++", "-", "-o", folder / "linked"], input=program,
                                        env=clean_environment() | chosen, text=True, capture_output=True, check=False)
                if linked.returncode != 0:  # a compiler that finds its libraries with its own linker alone
                    (folder / "ld").unlink()
        return chosen if (folder / "ld").exists() else {}

    def write_faulty_kernels(self) -> None:
        """Those that are no files, where `make faulty` writes them: corpus.faulty()."""
        faults.kernels(self.path / faults.WRITTEN)

    def write(self, name: str, text: str) -> Path:
        """A file of the tree with this text."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that all workers of this pytest run share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    path = shared / "programs"
    path.mkdir(exist_ok=True)
    return path


@pytest.fixture(scope="session", autouse=True)
def grader_cache(programs: Path) -> Path:
    """Where the grader keeps its own parts, which depend on their sources alone: built once for all
    tests that grade, in copies of the repository and in bundles made of it."""
    cache = programs / "parts of the grader ü"
    os.environ["GRADER_CACHE"] = str(cache)
    return cache


MOST_BYTES = 500 << 20


def bytes_in(folder: Path) -> int:
    """Of a store to which another run may be adding objects, which it renames."""
    total = 0
    for each in os.scandir(folder):
        with suppress(FileNotFoundError):
            total += each.stat().st_size
    return total


def store_of_objects(folder: Path) -> Path:
    """A folder that outlives this run, because the next one compiles nearly the same. There is one for each
    pair of compilers and each state of the system's headers, which are not part of an object's name. A store
    that has grown too large is removed. Where the checkout cannot be written, it is in `folder`."""
    said = [subprocess.run([name, "--version"], capture_output=True, check=False).stdout
            for name in ("cc", "c++") if shutil.which(name)]
    headers = Path("/usr/include")
    said.append(str(headers.stat().st_mtime_ns if headers.exists() else 0).encode())
    key = hashlib.sha256(b"".join(said)).hexdigest()[:16]
    home = Path(os.environ.get("KEPT_OBJECTS", REPOSITORY / "build" / "compiled by tests"))
    for other in home.glob("*") if home.name == "compiled by tests" else []:
        if other.name != key or bytes_in(other) > MOST_BYTES:
            shutil.rmtree(other, ignore_errors=True)
    store = home / key
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError:
        store = folder / "kept"
        store.mkdir()
    return store


@pytest.fixture(scope="session", autouse=True)
def kept_objects(programs: Path) -> None:
    """What make compiles of C is compiled once for all copies of the repository, bundles and parts of
    the grader, and for the next run: make's own `cc` is kept_objects.c here, and Tree.make()'s `c++`, too.
    Other names of compilers are what they are."""
    folder = programs / "compilers"
    with locked(programs / "compilers.lock"):
        if not folder.is_dir():
            (folder / "c++ too").mkdir(parents=True)
            store = store_of_objects(folder)
            for name, place in (("cc", folder), ("c++", folder / "c++ too")):
                if compiler := shutil.which(name):
                    subprocess.run(
                        ["cc", "-O2", f'-DCOMPILER="{compiler}"', f'-DSTORE="{store}"',
                         REPOSITORY / "tests/kept_objects.c", "-o", place / name],
                        check=True, timeout=BUILD_SECONDS)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


UNSPACED = ("-o", "build/cpu/kernel.spaces")
"""For a make in a tree that has been built: it does not check again who calls whom, which would take one more
compilation. cuda/test_refused.py tests that check."""

BUILT = ("both programs", "sgemm", "sgemm-check", "BACKEND=cpu")  # in `tree`: Tree.build_once()


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    """This worker's copy, for building many kernels one after the other. A test that needs a copy
    in a certain state takes `fresh_tree`."""
    copy = Tree(tmp_path_factory.mktemp("tree"), programs, BUILT)
    copy.write_faulty_kernels()
    return copy


@pytest.fixture
def fresh_tree(tmp_path: Path, programs: Path) -> Tree:
    """A copy in which nothing was built yet."""
    return Tree(tmp_path, programs)


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """This Python's environment as make's VENV, under a path that make can take: without spaces."""
    (tmp_path / "venv").symlink_to(sys.prefix)
    return tmp_path / "venv"


# ---- running ./sgemm -----------------------------------------------------------------------------


@dataclass
class Run:
    """One finished run of ./sgemm."""

    args: tuple[str, ...]
    status: int
    stdout: str
    stderr: str
    json: Any  # with --json: the object; else None

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def strict_json(text: str) -> Any:
    """JSON as everyone's parser reads it: Python's own also takes NaN and Infinity."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


RUNS_NOTHING = {"--help", "--version"}


def run_sgemm(program: Path, *args: object, env: dict[str, str] | None = None, **options: Any) -> Run:
    """Run ./sgemm with these arguments, and check what holds for every run; further options are
    those of subprocess.run()."""
    words = tuple(str(arg) for arg in args)
    process = finished([program, *words], env=env, **{"cwd": None, "timeout": RUN_SECONDS} | options)
    run = Run(words, process.returncode, process.stdout, process.stderr, None)
    if "--json" in words and not RUNS_NOTHING & set(words):
        run.json = strict_json(run.stdout)
    check_any_run(run)
    return run


def check_any_run(run: Run) -> None:
    """Promises to every script that calls ./sgemm: one of four statuses, no death by signal, and
    the words of a passed test exactly where the status says so."""
    assert run.status in (0, 1, 2, 3), run
    if run.json is not None:
        assert run.json["exit_status"] == run.status, run
        words = {0: ("passed", "unverified"), 1: ("failed",), 2: ("error",), 3: ("error",)}
        assert run.json["status"] in words[run.status], run
        return
    passed = run.status == 0 and not {*RUNS_NOTHING, "none"} & set(run.args)
    assert ("TEST PASSED" in run.output) == passed, run
    assert ("TEST FAILED" in run.output) == (run.status == 1), run


# ---- terminals -----------------------------------------------------------------------------------


def in_terminal(program: Path | str, *args: str, cwd: Path | None = None, columns: int = 0, **env: str) -> str:
    """All that a program sends to a terminal, which says how wide it is where `columns` does."""
    leader, follower = pty.openpty()
    if columns:
        subprocess.run(["stty", "cols", str(columns), "rows", "24"], stdin=follower, check=True)
    environment = clean_environment({"TERM": "xterm"} | env)
    process = subprocess.Popen([program, *args], stdin=follower, stdout=follower, stderr=follower,
                               env=environment, cwd=cwd)
    os.close(follower)
    shown = b""
    try:
        while data := os.read(leader, 65536):
            shown += data
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(leader)
    process.wait(timeout=RUN_SECONDS)
    return shown.decode()


def screen(sent: str) -> list[str]:
    """The lines that are left to see of it: a carriage return goes back to the line's start, what
    follows is written over it, and ESC [ K wipes the rest."""
    lines = []
    for sent_line in sent.split("\n"):
        line, column = "", 0
        for part in re.findall(r"\r|\x1b\[K|\x1b\[[0-9;]*m|[^\r\x1b]+", sent_line):
            if part == "\r":
                column = 0
            elif part == "\33[K":
                line = line[:column]
            elif not part.startswith("\33"):
                line = line[:column].ljust(column) + part + line[column + len(part):]
                column += len(part)
        lines.append(line.rstrip())
    return lines
