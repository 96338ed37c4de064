"""Building ./sgemm-check in several compiler settings, and running it: for all tests that do. A plugin
of pytest's (conftest.py), so that all of them have the fixture `checker`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILT, Tree, clean_environment, first_of_each, need, strict_json
from corpus import KINDS

TILED = "instructor/solutions/2_tiled.cu"
RUN_SECONDS = 60


def usual(tool: str, name: str) -> str:
    """`name`, as make itself calls a compiler, if that is `tool`: what `tree` has built serves."""
    paths = [os.path.realpath(shutil.which(each) or each) for each in (tool, name)]
    return name if paths[0] == paths[1] else tool


SETUPS = {
    f"{compiler} {level}": {"CC": cc, "CXX": cxx, "CHECKED_O": level}
    for compiler, cc, cxx in (("gcc", usual("gcc", "cc"), usual("g++", "c++")),
                              ("clang", "clang", "clang++"))
    for level in ("-O1", "-O2")
}

EACH_SETUP = first_of_each(list(SETUPS), lambda _: None)
"""gcc at -O1, as most users have it, and in tests marked slow the others. SETUPS where a compiler or
-O2 makes a difference."""

Builder = Callable[[str, "str | Path"], Path]


@pytest.fixture(scope="session")
def checker(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Builder:
    """./sgemm-check in this setup, from this kernel: built once and kept, by what the file holds.
    A compiler's tree is built once, and the other workers start from a copy of what was built
    there: only the kernel is left to compile."""
    trees: dict[str, Tree] = {}

    def variables(setup: str) -> list[str]:
        return ["BACKEND=cpu", *(f"{name}={value}" for name, value in SETUPS[setup].items())]

    def tree(setup: str) -> Tree:
        compiler, tools = setup.split()[0], (SETUPS[setup]["CC"], SETUPS[setup]["CXX"])
        if compiler not in trees:
            for tool in (*tools, "addr2line"):
                need(tool)
            trees[compiler] = Tree(tmp_path_factory.mktemp(f"a checkout for {compiler}"), programs)
            if tools == ("cc", "c++"):
                trees[compiler].build_once(*BUILT)
            else:
                trees[compiler].build_once(f"checker {compiler}", "sgemm-check", *variables(setup))
            trees[compiler].write_faulty_kernels()
        return trees[compiler]

    def build(setup: str, kernel: str | Path) -> Path:
        path = tree(setup).path
        text = "\0".join([setup, str(kernel)]).encode() + (path / kernel).read_bytes()
        kept = path / f"sgemm-check-{hashlib.sha256(text).hexdigest()[:16]}"
        if not kept.exists():
            tree(setup).make("sgemm-check", f"KERNEL={kernel}", *variables(setup),
                             env=tree(setup).fast_linker())
            shutil.copy2(path / "sgemm-check", kept)
        return kept

    return build


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


def run_check(program: Path, *args: object, **options: Any) -> Checked:
    """In the checkout, as everybody runs it: places in messages are relative to it."""
    words = [str(arg) for arg in args]
    process = subprocess.run(
        [program, *words], cwd=program.parent, env=clean_environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", timeout=RUN_SECONDS, check=False,
        **options,
    )
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
