"""Building ./sgemm-check in several compiler settings, and running it: for all tests that do. A plugin
of pytest's (conftest.py), so that all of them have the fixture `checker`."""

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    BUILT, UNSPACED, Tree, finished, first_of_each, locked, need, slow_but, strict_json,
)  # fmt: skip
from corpus import KINDS

TILED = "instructor/solutions/2_tiled.cu"
RUN_SECONDS = 60


def usual(tool: str, name: str) -> str:
    """`name`, as make itself calls a compiler, if that is `tool`: what `tree` has built serves."""
    paths = [os.path.realpath(shutil.which(each) or each) for each in (tool, name)]
    return name if paths[0] == paths[1] else tool


CC, CXX = usual("gcc", "cc"), usual("g++", "c++")
SETUPS = {
    setup: {"CC": cc, "CXX": cxx, "CHECKED_O": setup.split()[1]}
    for setup, cc, cxx in (("gcc -O1", CC, CXX), ("gcc -O2", CC, CXX),
                           ("clang -O1", CC, "clang++"), ("clang -O2", "clang", "clang++"))
}
"""How kernels are compiled. The C beside them is clang's in the last alone, which is for tests marked slow:
to compile it takes as long as twenty kernels."""

EACH_SETUP = first_of_each(list(SETUPS), lambda _: None)
"""gcc at -O1, as most users have it, and in tests marked slow the others."""

EACH_COMPILER = slow_but(["gcc -O1", "clang -O1"], lambda _, setup: setup == "gcc -O1")
"""gcc by day, and in tests marked slow clang, too."""

Builder = Callable[..., Path]
"""Of a setup and a kernel; `with_locals`: for a test of a cause, for which local variables are tried."""

MADE = "writers", "locals"
"""Beside a program that was kept, behind a dot: those that it would make when it asks them."""

UNCOMPILED = ("-o", "build/cpu/kernel.o")
"""For a make of sgemm-check alone: the plain kernel is compiled for what it may ask."""


@pytest.fixture(scope="session")
def checker(build_checker: Callable[..., Path]) -> Builder:
    """Without the program that says which blocks write: all are watched, as where it does not
    compile. Built in half the time."""
    return partial(build_checker, lean=True)


@pytest.fixture(scope="session")
def whole_checker(build_checker: Callable[..., Path]) -> Builder:
    """The program as users have it: for tests that are about blocks."""
    return build_checker


@pytest.fixture(scope="session")
def build_checker(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Builder:
    """./sgemm-check in this setup, from this kernel: built once for all workers and kept, by what the
    file holds. A compiler's tree is built once, and the other workers start from a copy of what was
    built there: only the kernel is left to compile."""
    trees: dict[tuple[str, str], Tree] = {}

    def variables(setup: str) -> list[str]:
        return ["BACKEND=cpu", *(f"{name}={value}" for name, value in SETUPS[setup].items())]

    def tree(setup: str) -> Tree:
        tools = SETUPS[setup]["CC"], SETUPS[setup]["CXX"]
        if tools not in trees:
            for tool in (*tools, "addr2line"):
                need(tool)
            words = " and ".join(tools)
            copy = trees[tools] = Tree(tmp_path_factory.mktemp(f"a checkout for {words}"), programs)
            if tools == ("cc", "c++"):
                copy.build_once(*BUILT)
            else:
                copy.build_once(f"checker {words}", "sgemm-check", *variables(setup))
            copy.write_faulty_kernels()
        return trees[tools]

    def build(setup: str, kernel: str | Path, lean: bool = False, with_locals: bool = False) -> Path:
        path = tree(setup).path
        text = "\0".join([setup, str(kernel), str(lean), str(with_locals)]).encode() + (path / kernel).read_bytes()
        name = f"sgemm-check-{hashlib.sha256(text).hexdigest()[:16]}-{len(str(path))}"
        here, kept = path / name, programs / name  # it runs where its kernel is
        if here.exists():
            return here
        asked = [name for name, wanted in zip(MADE, (not lean, with_locals)) if wanted]
        with locked(programs / f"{name}.lock"):
            if not kept.exists():
                # Who calls whom is not looked at again (kernel.spaces): test_refused.py and
                # test_solutions.py are about it, and it is a compilation of five.
                left = [*UNSPACED, *(UNCOMPILED if lean else ())]
                tree(setup).make("sgemm-check", f"KERNEL={kernel}", *variables(setup), *left,
                                 env=tree(setup).fast_linker())
                kept.with_suffix(".folder").write_text(str(path))
                for one in asked:
                    command = (path / f"build/check/{one}_command").read_text()
                    finished(command.split(), path, tree(setup).fast_linker()).check_returncode()
                    shutil.copy2(path / f"build/check/{one}", kept.with_suffix(f".{one}"))
                shutil.copy2(path / "sgemm-check", kept)
        # Its debug information has the folder's name, which is as long as that of this one.
        built_in = kept.with_suffix(".folder").read_bytes()
        for one in MADE:  # empty, as where it does not compile
            here.with_suffix(f".{one}").touch()
        for suffix in *(f".{one}" for one in asked), "":
            program = kept.with_suffix(suffix).read_bytes().replace(built_in, os.fsencode(path))
            here.with_suffix(suffix).write_bytes(program)
            here.with_suffix(suffix).chmod(0o755)
        return here

    return build


def shared_kernel(programs: Path, name: str, text: str) -> Path:
    """A file that is the same for all workers: what they build of it is built once."""
    new = programs / f"{os.getpid()} {name}"
    new.write_text(text)
    return new.replace(programs / name)


@dataclass
class Checked:
    """One finished run of ./sgemm-check."""

    status: int
    stdout: str
    stderr: str
    json: Any = None

    @property
    def finding(self) -> Any:
        return self.json["finding"]


def check_command(program: Path, *args: object) -> list[str | Path]:
    """With those that were made beside it."""
    made = {f"--{name}-program": program.with_suffix(f".{name}") for name in MADE}
    return [program, *(word for pair in made.items() if pair[1].exists() for word in pair), *map(str, args)]


def run_check(program: Path, *args: object, **options: Any) -> Checked:
    """In the checkout, as everybody runs it: places in messages are relative to it."""
    words = check_command(program, *args)
    process = finished(words, program.parent, timeout=RUN_SECONDS, **options)
    run = Checked(process.returncode, process.stdout, process.stderr)
    assert run.status in (0, 1, 2, 3), run
    if "--json" in words and "--help" not in words:
        assert run.stdout.count("\n") == 1 and run.stdout.endswith("\n"), run
        run.json = strict_json(run.stdout)
        check_members(run)
    return run


MEMBERS = {"status", "exit_status", "message", "checked", "finding"}
FINDING_MEMBERS = {
    "kind", "what", "detail", "hint", "file", "line", "function", "access", "variable", "element",
    "thread", "block", "other", "phase", "phases", "launch", "m", "k", "n", "seed", "fill",
    "cause",
}  # fmt: skip
LAUNCH_MEMBERS = {"kernel", "number", "of", "grid", "block", "shared_bytes", "file", "line", "text"}
CAUSE_MEMBERS = {"name", "file", "line", "what", "detail", "hint"}
PARTY_MEMBERS = {"file", "line", "function", "access", "thread", "block"}


def check_members(run: Checked) -> None:
    """What every program that reads --json relies on."""
    assert MEMBERS <= run.json.keys(), run
    assert run.json["exit_status"] == run.status, run
    assert run.json["status"] == ["clean", "finding", "error", "error"][run.status], run
    assert (run.json["message"] is None) == (run.status < 2), run
    assert (run.finding is not None) == (run.status == 1), run
    for shape in run.json["checked"]:
        assert shape.keys() == {"m", "k", "n", "seconds", "blocks"}
    if run.finding:
        assert FINDING_MEMBERS <= run.finding.keys(), run
        assert run.finding["cause"] is None or run.finding["cause"].keys() == CAUSE_MEMBERS
        assert run.finding["kind"] in KINDS and isinstance(run.finding["detail"], list)
        assert run.finding["launch"] is None or run.finding["launch"].keys() == LAUNCH_MEMBERS
        assert run.finding["other"] is None or run.finding["other"].keys() == PARTY_MEMBERS
