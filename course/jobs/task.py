"""One task of a job array: python -m course.jobs.task CHUNKS NUMBER WORKERS

In: the file that slurm.py wrote, and which of its chunks. Out: results in their folders; of what the
machine could not do, the reason (results.py). Exit status 0, also where some have no result: the next
array tries these on another node. 130 after a signal.
"""

import signal

from .. import interrupt

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from pathlib import Path  # noqa: E402

from ..errors import MachineFault  # noqa: E402
from ..scratch import scratch  # noqa: E402
from .results import Job, Key  # noqa: E402
from .slurm import STOP  # noqa: E402
from .worker import MOST_TRIES, Grade, run  # noqa: E402


def main(words: Sequence[str]) -> int:
    path, number, workers = Path(words[0]), int(words[1]), int(words[2])
    asked = json.loads(path.read_bytes())
    if int(os.environ.get("SLURM_RESTART_COUNT") or 0) > MOST_TRIES:
        print("this task was requeued too often")
        return 0
    jobs = [Job(Path(directory), sha256) for directory, sha256 in asked["chunks"][number]]
    key = asked["key"] | {"suites": tuple(asked["key"]["suites"])}

    def report(running: Sequence[Job], ended: Job | None) -> None:
        stop.asked = stop.asked or (path.parent / STOP).exists()
        if ended:
            print(ended.directory, flush=True)

    try:
        with interrupt.asked_to_stop() as stop, scratch(path) as environment:
            grade = Grade(Key(**key), asked["run"], tuple(asked["options"]), environment)
            run(jobs, workers, grade, stop, report, most_tries=1)
    except KeyboardInterrupt:
        return interrupt.STATUS
    except MachineFault as error:
        print(error)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
