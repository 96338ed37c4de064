"""The options of `python -m grader`, and of its front for pytest: words go in, checked values come
out, or all mistakes at once, a line each."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import ROOT
from .build.parts import described
from .cases.model import Suite
from .cases.read import load_suites
from .criteria import unknown_limits
from .errors import BadInput
from .jail.sandbox import Sandbox, choose_sandbox
from .lab import Lab

SEED_BITS = 63
MOST_JOBS = 1024
LONGEST_LIMIT = 1_000_000
PROTECTIONS = ("auto", "bubblewrap", "uid", "none")
BACKENDS = ("cpu", "cuda")

OPTIONS: dict[str, dict[str, Any]] = {
    "--submission": {"metavar": "PATH",
                     "help": "a .cu file, or a folder or zip that holds it; default: the lab's kernel.cu"},
    "--name": {"metavar": "NAME", "help": "the name of the directory of results; default: from the submission's path"},
    "--lab": {"default": "lab", "metavar": "DIR", "help": "the folder of the submission's lab; default: lab"},
    "--suite": {"default": "public", "metavar": "SUITE",
                "help": "public, hidden, all, or the path of a .toml file; default: public"},
    "--results": {"default": str(ROOT / "results"), "metavar": "DIR",
                  "help": "where DIR/NAME/result.json is written; default: results"},
    "--seed": {"metavar": "N", "help": "the seed of the inputs; default: a fresh one"},
    "--protection": {"default": "auto", "metavar": "KIND",
                     "help": f"the sandbox: {', '.join(PROTECTIONS)}; default: auto, the best that works here"},
    "--backend": {"default": "cpu", "metavar": "KIND", "help": f"{', '.join(BACKENDS)}; default: cpu"},
    "--limit": {"metavar": "SECONDS",
                "help": "limit of processor time, or time asleep, for all runs of a submission "
                        "together; default: 3 times the sum of the cases' limits"},
    "--jobs": {"metavar": "N", "help": "cases that run at the same time; default: one per core"},
}
"""For argparse, and for pytest's own options."""


@dataclass(frozen=True)
class Asked:
    lab: Lab
    suites: list[Suite]
    results: Path
    seed: int | None  # None: draw one
    protection: str
    backend: str
    jobs: int
    limit: float | None = None  # None: limit_of() of grade.py

    @property
    def hidden(self) -> bool:
        return any(suite.hidden for suite in self.suites)

    def kernel(self, named: str | None) -> str:
        """What is graded."""
        return str(self.lab.home / "kernel.cu") if named is None else named

    def sandbox(self, jail: Path) -> Sandbox:
        """Raises MachineFault if it does not work."""
        private = [*secret_folders(self.lab), self.results] if self.hidden else []
        return choose_sandbox(self.protection, self.hidden, private, jail)


def secret_folders(lab: Lab) -> list[Path]:
    """Hidden cases and solutions, of other labs too: one submission may be of one, the next of another."""
    homes = sorted({ROOT, lab.home, *(ROOT / "labs").glob("*")})
    secret = [path for home in homes for path in (home / "testcases" / "hidden", home / "instructor")]
    return [path for path in secret if path.is_dir()]


def check(given: Mapping[str, Any]) -> Asked:
    """`given`: by the options' names, without the dashes; None or absent: the default. Raises
    BadInput, a line for each mistake, and MachineFault."""
    mistakes: list[str] = []

    def value(name: str) -> Any:
        found = given.get(name)
        return OPTIONS[f"--{name}"].get("default") if found is None else found

    def number(name: str, least: int, most: int) -> int | None:
        text = value(name)
        try:
            found = None if text is None else int(text, 0)
        except ValueError:
            found = least - 1
        if found is not None and not least <= found <= most:
            mistakes.append(f"{variable(name)}: {text[:40]!r} is not a whole number from {least} "
                            f"to {most}")
        return found

    def word(name: str, allowed: tuple[str, ...]) -> str:
        text = str(value(name))
        if text not in allowed:
            mistakes.append(f"{variable(name)}: {text[:40]!r} is not one of {', '.join(allowed)}")
        return text

    seed = number("seed", 0, 2**SEED_BITS - 1)
    jobs, limit = number("jobs", 1, MOST_JOBS), number("limit", 1, LONGEST_LIMIT)
    protection, backend = word("protection", PROTECTIONS), word("backend", BACKENDS)
    if not value("results"):
        mistakes.append(f"{variable('results')}: the path is empty")
    suites: list[Suite] = []
    try:
        lab = described(value("lab"))
        if not value("suite"):  # which Path() takes for the working directory
            raise BadInput(f"{variable('suite')}: the path is empty")
        suites = load_suites(lab, value("suite"))
        mistakes += unknown_limits(lab, suites)
    except BadInput as error:
        mistakes.append(str(error))
    if mistakes:
        raise BadInput("\n".join(mistakes))
    return Asked(lab, suites, Path(value("results")), seed, protection, backend, jobs or len(os.sched_getaffinity(0)),
                 limit)


def variable(name: str) -> str:
    """As the command and make call it."""
    return f"--{name} ({name.upper()} with make)"
