"""python -m grader [options]: grade a submission, and print the table. `--help` lists the options.

Exit status: 0 full marks, 1 less; no grade: 2 bad input or options, 3 the machine's fault, 130 interrupted.
"""

import signal

from . import interrupt

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import argparse  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import socket  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from pathlib import Path  # noqa: E402

sys.dont_write_bytecode = True  # a checkout may be read-only, or belong to another user

from . import options  # noqa: E402
from .build.parts import of_grader, trusted_parts  # noqa: E402
from .build.submission import refuse_full_disk  # noqa: E402
from .cases.read import of_cases  # noqa: E402
from .errors import BadInput, MachineFault  # noqa: E402
from .grade import Run  # noqa: E402
from .intake.submission import read_submission  # noqa: E402
from .record.model import Record  # noqa: E402
from .record.store import SOURCE  # noqa: E402
from .report import terminal  # noqa: E402
from .text import harmless  # noqa: E402

FULL_MARKS, LESS = 0, 1


def main(words: list[str]) -> int:
    given = arguments(words)
    run: Run | None = None
    try:
        with interrupt.raised():
            asked = options.check(vars(given))
            if given.about:
                return about(asked)
            only = selected(asked, given.k)
            if given.list:
                keys = [item.key for suite in asked.suites for item in suite.items]
                print(*(harmless(key) for key in keys if only is None or key in only), sep="\n")
                return FULL_MARKS
            submission = read_submission(asked.kernel(given.submission), given.name)
            watched = terminal.Watched()
            run = Run(asked, submission, named=given.name is not None, only=only,
                      stage=watched.stage, finished=watched.finished)
            try:
                record = run.run(until_first=given.x)
            finally:
                watched.end()
    except KeyboardInterrupt:
        kept = f"; the cases so far are in {run.store.partial}" if run and run.store else ""
        return say(f"interrupted{kept}", interrupt.status())
    except (BadInput, MachineFault) as error:
        return say(str(error), error.status)
    except Exception:  # a mistake of ours must not cost a student points
        traceback.print_exc()
        return say("the grader itself failed, see above", MachineFault.status)
    before = time.monotonic()
    place = run.place(record)
    terminal.show(record, place, sys.stdout, run.only, given_to_make(asked, record, place))
    if path := os.environ.get("GRADER_STAGES"):  # for a benchmark of the grader: wall seconds of each stage
        stages = run.stages | {"report": time.monotonic() - before}
        Path(path).write_text(json.dumps({name: round(seconds, 4) for name, seconds in stages.items()}))
    return FULL_MARKS if run.earned_all(record) else LESS


def given_to_make(asked: options.Asked, record: Record, result: Path | None) -> list[str] | None:
    """What says which kernel this is; nothing where make takes it anyway; None: there is no such file."""
    kernel, usual = record.submission.path, asked.kernel(None)
    if not os.path.isfile(kernel):  # it is in an archive: a copy lies beside the result
        kernel = str(result and result.with_name(SOURCE))
        if not os.path.isfile(kernel):
            return None
    words = [] if asked.lab.folder == "lab" else [f"LAB={asked.lab.folder}"]
    if os.path.realpath(kernel) == os.path.realpath(usual):
        return words
    near = os.path.relpath(kernel)
    return [*words, f"KERNEL={kernel if near.startswith(os.pardir) else near}"]


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m grader", allow_abbrev=False,
                                     description="Grade a submission.")
    for name, how in options.OPTIONS.items():
        parser.add_argument(name, **how)
    parser.add_argument("-k", metavar="TEXT", help="run only cases and shapes with this in their names")
    parser.add_argument("-x", action="store_true", help="stop at the first case that loses points")
    parser.add_argument("--list", action="store_true", help="list all cases and shapes, and run nothing")
    parser.add_argument("--about", action="store_true",
                        help="print as JSON what a grade depends on besides the submission, and run nothing")
    return parser.parse_args(words)


def selected(asked: options.Asked, text: str | None) -> set[str] | None:
    """Their keys; None: all. Raises BadInput where there are none."""
    if text is None:
        return None
    found = {item.key for suite in asked.suites for item in suite.items if text in item.key}
    if not found:
        raise BadInput("no case was selected; --list lists them")
    return found


def about(asked: options.Asked) -> int:
    """Where this machine cannot grade, all that does not depend on it, and why. Raises MachineFault then."""
    points = sum(suite.worth for suite in asked.suites)
    if asked.backend == "cuda":
        points += sum(shape.points for suite in asked.suites for shape in suite.performance)
    known = {"lab": asked.lab.name, "version": asked.lab.version,
             "grader": of_grader(asked.lab.folder), "cases": of_cases(asked.suites),
             "suites": [suite.name for suite in asked.suites], "max_score": points,
             "backend": asked.backend, "host": socket.gethostname()}
    fault = None
    try:
        parts = trusted_parts(asked.backend, asked.lab)
        refuse_full_disk(Path(tempfile.gettempdir()))
        known |= {"compiler": parts.compiler, "architecture": parts.architecture,
                  "protection": asked.sandbox(parts.jail).kind}
    except MachineFault as error:
        fault, known["fault"] = error, str(error)
    print(json.dumps(known, indent=1))
    if fault:
        raise fault
    return FULL_MARKS


def say(message: str, status: int) -> int:
    for line in message.splitlines():
        print(f"grade: {harmless(line)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
