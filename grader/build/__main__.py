"""python -m grader.build BACKEND LAB: builds the grader's own parts, if they are missing, while pip
installs the packages that the rest of the grader needs (grader.mk). Of Python's packages it needs
none, and it says nothing: what fails here, the grader tries again, and reports."""

from __future__ import annotations

import signal

from .. import interrupt

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import sys  # noqa: E402
from contextlib import suppress  # noqa: E402

from ..errors import BadInput, MachineFault  # noqa: E402
from .parts import described, trusted_parts  # noqa: E402


def main(backend: str, lab: str) -> int:
    try:
        with interrupt.raised(), suppress(BadInput, MachineFault):
            trusted_parts(backend, described(lab))
    except KeyboardInterrupt:
        return interrupt.STATUS
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
