"""The grader's command, and all that is known of it here: its words, its statuses, what it prints.

    python -m grader --about OPTIONS                       what every grade depends on, as JSON
    python -m grader --submission=PATH --results=DIR ...   DIR/NAME/result.json, student.json, kernel.cu

What would fail 300 times fails once, before the first: --about looks at compiler, GPU, sandbox and disk
where it is run, which is on this machine, or as one job on a node of a cluster:

    python -m course.jobs.grader FILE OPTIONS              FILE: what --about says there
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from ..errors import BadInput, MachineFault
from ..files import faults_of, write
from ..process import completed
from ..text import one_line

PROJECT = Path(__file__).resolve().parent.parent.parent
COMMAND = (sys.executable, "-B", "-m", "grader")
GRADED, NOT_TAKEN, MACHINE, INTERRUPTED = (0, 1), 2, 3, 130
"""Its exit statuses. Not taken: there is no one kernel in what was handed in."""
PASSED_ON = {
    "--lab": "the folder of the assignment; default: as class.toml says",
    "--suite": "public, hidden, all, or the path of a .toml file; default: as class.toml says",
    "--backend": "cpu or cuda; default: as class.toml says",
    "--protection": "the sandbox: auto (default), bubblewrap, uid or none",
    "--limit": "seconds of processor time for all runs of a submission",
}
"""Options that are the grader's, which checks them."""


@dataclass(frozen=True)
class About:
    lab: str
    version: str
    grader: str
    cases: str
    suites: list[str]
    backend: str
    compiler: str = ""
    architecture: str | None = None
    host: str = ""
    fault: str = ""
    """Why this machine cannot grade; then compiler and architecture are not known."""


def about(options: Sequence[str]) -> About:
    """Of this machine. Raises BadInput where an option cannot be used, MachineFault where there is no
    answer."""
    try:
        ended = completed([*COMMAND, "--about", *options], cwd=PROJECT)
    except OSError as error:
        raise MachineFault(f"the grader cannot be started: {error.strerror}") from error
    if ended.returncode == NOT_TAKEN:
        raise BadInput("\n".join(mistakes_of(ended.stderr)))
    return about_in(ended.stdout) or fail(last_line(ended.stderr) or
                                          f"the grader ended with status {ended.returncode}")


def mistakes_in(options: Sequence[str]) -> list[str]:
    """What the grader says of these options, a line each; nothing where it cannot be asked."""
    try:
        ended = completed([*COMMAND, "--list", *options], cwd=PROJECT)  # which builds nothing
    except OSError:
        return []
    return mistakes_of(ended.stderr) if ended.returncode == NOT_TAKEN else []


def mistakes_of(said: str) -> list[str]:
    return [without_its_name(line) for line in said.splitlines()]


def about_in(printed: str | bytes) -> About | None:
    """None: it is something else."""
    try:
        read = json.loads(printed)
        return About(**{each.name: read[each.name] for each in fields(About) if each.name in read})
    except (ValueError, TypeError):
        return None


def fail(what: str) -> About:
    raise MachineFault(what)


def of_one(submission: Path, results: Path, name: str, options: Sequence[str]) -> list[str]:
    """The command that grades it."""
    return [*COMMAND, f"--submission={submission}", f"--results={results}", f"--name={name}", *options]


def without_its_name(line: str) -> str:
    return line.removeprefix("grade: ")


def last_line(said: str) -> str:
    return one_line(without_its_name((said.strip().splitlines() or [""])[-1]))


def main(words: Sequence[str]) -> int:
    path, *options = words
    try:
        found = about(options)
    except (BadInput, MachineFault) as error:
        found = About("", "", "", "", [], "", fault=str(error))
    with faults_of(Path(path)):
        write(Path(path), json.dumps(asdict(found)).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
