"""Examines what kernel.cu says and what compilers make of it, in a process of its own: hostile text
and object files can keep a parser busy for minutes.

    python -m grader.gate.check source FILE           as it was written
    python -m grader.gate.check made DIRECTORY KERNEL BACKEND PARTS OWN
                                                      kernel.i, plain.o and their like, and the
                                                      prelude that kernel.i is compiled behind

KERNEL: the name of a function that every submission defines; empty: there is none. PARTS: where the grader's own
headers were. OWN: what the submission's text is called in kernel.i.

Called by build/submission.py, under limits; imports nothing of what starts it, which would take a third longer. Prints
READY when it has begun, and then a line of JSON: what is refused, or null. In: those files, and text.py and objects.py,
which look at them.
"""

import json
import sys
from pathlib import Path

from ..errors import Refused

BUILDS = ("plain", "checked")
TEXTS = ("kernel.i", "kernel.device.i")
PRELUDE = "prelude"  # the parts' own, not the submission's
OBJECTS = tuple(f"{build}.o" for build in BUILDS)

READY = "examining\n"
LONGEST = 500  # characters of a name that a submission has made up


def main(what: str, path: str, *more: str) -> None:
    # Their libraries are loaded before READY: that one is missing is not the submission's fault.
    from . import text
    if what == "made":
        from . import objects  # 0.1 s

    print(READY, end="", flush=True)
    refused, place = None, Path(path)
    try:
        if what == "source":
            text.check_source(place.read_bytes())
        else:
            kernel, backend, *names = more
            parts, own = (name.encode() for name in names)
            of_host, of_device, prelude = ((place / name).read_bytes() for name in (*TEXTS, PRELUDE))
            if of_device != of_host:
                text.check_preprocessed(of_device, prelude, own, parts)
            lines = text.lines_of(text.check_preprocessed(of_host, prelude, own, parts))
            objects.check_object(place / "plain.o", False, lines, backend == "cuda", kernel)
            objects.check_object(place / "checked.o", True, lines, kernel=kernel)
    except Refused as error:
        refused = {"tried": error.tried[:LONGEST], "file": error.file, "line": error.line,
                   "hint": error.hint[:LONGEST]}
    print(json.dumps(refused))


if __name__ == "__main__":
    main(*sys.argv[1:])
