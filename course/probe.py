"""What would fail 300 times fails once, before the first: compiler, GPU, sandbox, space on disk. Looked
at where it is graded: on this machine, or by one job on a node of the cluster:

    python -m course.probe FILE BYTES OPTIONS    in: options of `python -m grader`; out: FILE
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.build.parts import trusted_parts
from grader.build.submission import LEAST_FREE
from grader.errors import BadInput, MachineFault
from grader.options import SHARED, Asked, check
from .results import refuse_full_disk, write_json


@dataclass(frozen=True)
class Machine:
    """The one that grades."""

    compiler: str
    architecture: str | None
    host: str
    fault: str = ""
    """Why it cannot."""


def look(asked: Asked, needed: int) -> Machine:
    """`needed`: bytes for results. Builds what the grader needs, so that this happens once, too.
    Raises MachineFault."""
    parts = trusted_parts(asked.backend)
    asked.sandbox(parts.jail)
    refuse_full_disk(asked.results, needed)
    refuse_full_disk(Path(tempfile.gettempdir()), LEAST_FREE)
    return Machine(parts.compiler, parts.architecture, socket.gethostname())


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m course.probe", allow_abbrev=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("bytes", type=int)
    for name, how in SHARED.items():
        parser.add_argument(name, **how)
    given = parser.parse_args(words)
    try:
        machine = look(check(vars(given)), given.bytes)
    except (BadInput, MachineFault) as error:
        machine = Machine("", None, socket.gethostname(), str(error))
    write_json(given.file, asdict(machine))
    return 0


def read(path: Path) -> Machine | None:
    """None: there is none yet."""
    try:
        return Machine(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
