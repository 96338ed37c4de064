"""`make mutants`: do the tests notice small defects?

    python -m instructor.mutants [--seed N] [--count N] [--jobs N]
                                 [--room NAME]... [--json FILE]

Puts defects into copies of this checkout, one at a time, and runs the tests
of the room that it is in (rooms.toml) until one fails. A defect that lives
asks for a test, or for a line in harmless.toml, which says why it changes
nothing that a test could see. The same seed draws the same defects from the
same sources, and what FILE says of the same sources is not tried again: a run
that was interrupted goes on.

A test that fails without a defect is left out, and named. Exit status: 0 all
were tried; 2 an option cannot be used; 3 the machine is at fault; 130
interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from grader import interrupt
from grader.cases.read import read_toml
from grader.errors import BadInput, MachineFault
from instructor.release.repository import REPOSITORY, tracked_files

from .draw import HARMLESS, Copy, Mutant, Room, drawn, rooms_of

NO_TEST = 5  # how pytest ends where all are left out
FIRST = 8  # so many of the tests that noticed most are asked first
SECONDS = 1800  # of a run of tests that does not end
LIVES, KILLED, HARMS_NOTHING = "lives", "killed", "harms nothing"


@dataclass(frozen=True)
class Tried:
    mutant: Mutant
    end: str
    by: str
    """The test that failed, or why it harms nothing."""


def main() -> int:
    options = read_options()
    console = Console(stderr=not sys.stdout.isatty(), highlight=False)
    tracked = tracked_files()
    rooms = [room for room in rooms_of(REPOSITORY, tracked)
             if not options.room or room.name in options.room]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workers = Workers(Path(folder), tracked, options.jobs)
        try:
            return try_all(options, rooms, workers, console)
        finally:
            workers.stop()


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--room", action="append", help="only this one of rooms.toml; may be repeated")
    parser.add_argument("--json", type=Path, default=REPOSITORY / "build/mutants.json")
    return parser.parse_args()


def try_all(options: argparse.Namespace, rooms: list[Room], workers: Workers, console: Console) -> int:
    earlier = Earlier(options.json, workers.tracked)
    for room in rooms:
        workers.begin(room, earlier.left_out.get(room.name))
    tried: list[Tried] = []
    try:
        follow(options, rooms, workers, earlier, tried, console)
    finally:  # what was tried before an interruption, too
        earlier.keep(tried, workers)
        show(tried, rooms, Console(highlight=False))
    return 0


def follow(options: argparse.Namespace, rooms: list[Room], workers: Workers, earlier: Earlier,
           tried: list[Tried], console: Console) -> None:
    """The next defects are drawn, which compiles them, while others are tried."""
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=options.count)

        def note(each: Tried) -> None:
            tried.append(each)
            progress.console.print(f"{each.end:8} {place(each.mutant)}: {each.mutant.change}",
                                   markup=False, soft_wrap=True)
            progress.advance(bar)

        futures = []
        for mutant in itertools.islice(drawn(rooms, options.seed, workers.another_copy()), options.count):
            if known := earlier.of(mutant):
                note(known)
            else:
                futures.append(workers.pool.submit(lambda each: note(workers.try_one(each)), mutant))
        for future in futures:
            future.result()
        for room, failed in workers.left_out():
            for test in failed:
                progress.console.print(f"{room.name}: left out, for it fails without a defect: {test}",
                                       markup=False, soft_wrap=True)


class Earlier:
    """What a file says that was tried with the sources as they are."""

    def __init__(self, file: Path, tracked: list[str]):
        self.file, self.sources = file, hashlib.sha256()
        for name in tracked:
            self.sources.update(f"{name}\0".encode() + hashlib.sha256((REPOSITORY / name).read_bytes()).digest())
        try:
            read = json.loads(file.read_text())
        except (OSError, ValueError):
            read = {}
        if not isinstance(read, dict) or read.get("sources") != self.sources.hexdigest():
            read = {}
        self.left_out: dict[str, list[str]] = read.get("left_out", {})
        self.tried: list[dict[str, Any]] = read.get("tried", [])

    def of(self, mutant: Mutant) -> Tried | None:
        for each in self.tried:
            if (each["file"], each["line"], each["after"]) == (mutant.file, mutant.line, mutant.after):
                return Tried(mutant, each["end"], each["by"])
        return None

    def keep(self, tried: list[Tried], workers: Workers) -> None:
        """And what was tried with another seed."""
        made = [in_json(each) for each in tried]
        made += [each for each in self.tried if each not in made]
        left_out = self.left_out | {room.name: failed for room, failed in workers.left_out()}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps({"sources": self.sources.hexdigest(), "left_out": left_out,
                                         "tried": made}, indent=1) + "\n")


class Workers:
    """Each tries one defect after the other in a copy of the repository of its own."""

    def __init__(self, folder: Path, tracked: list[str], jobs: int):
        self.running, self.stopping = set[int](), False
        self.without_defect: dict[Room, Future[list[str]]] = {}
        self.noticed: defaultdict[Room, Counter[str]] = defaultdict(Counter)
        self.folder, self.tracked, self.kept = folder, tracked, folder / "kept"
        self.kept.mkdir()
        self.copies: queue.Queue[Copy] = queue.Queue()
        self.pool = ThreadPoolExecutor(jobs)
        for number in range(jobs):  # paths of one length: tests/kept_objects.c
            self.copies.put(Copy(REPOSITORY, tracked, folder / f"{number:03}" / "copy"))
        self.known = {(each["file"], each["before"], each["after"]): each["why"]
                      for each in read_toml(HARMLESS, "make mutants reads it").get("harmless", [])}

    def another_copy(self) -> Copy:
        return Copy(REPOSITORY, self.tracked, self.folder / "drawn from" / "copy")

    def begin(self, room: Room, left_out: list[str] | None) -> None:
        """Runs its tests without a defect, if it is not known which fail then."""
        if left_out is None:
            self.without_defect[room] = self.pool.submit(self.fail_without_defect, room)
        else:
            self.without_defect[room] = Future()
            self.without_defect[room].set_result(left_out)

    def left_out(self) -> list[tuple[Room, list[str]]]:
        """Of the rooms of which it is known."""
        return [(room, future.result()) for room, future in self.without_defect.items()
                if future.done() and not future.cancelled() and not future.exception()]

    @contextmanager
    def copy(self) -> Iterator[Copy]:
        copy = self.copies.get()
        try:
            yield copy
        finally:
            self.copies.put(copy)

    def try_one(self, mutant: Mutant) -> Tried:
        key = mutant.file, mutant.before.strip(), mutant.after.strip()
        if key in self.known:
            return Tried(mutant, HARMS_NOTHING, self.known[key])
        with self.copy() as copy, copy.having(mutant):
            left_out = self.without_defect[mutant.room]
            failed = self.failed(mutant.room, copy, "-x", *deselected(left_out.result() if left_out.done() else []))
            # The rooms began before, so this ends; and what lives need not wait for it.
            if failed and failed[0] in left_out.result():
                failed = self.failed(mutant.room, copy, "-x", *deselected(left_out.result()))
        self.noticed[mutant.room].update(test for test in failed[:1] if re.fullmatch(r"\S+::\S+", test))
        return Tried(mutant, KILLED if failed else LIVES, failed[0] if failed else "")

    def fail_without_defect(self, room: Room) -> list[str]:
        with self.copy() as copy:
            return self.failed(room, copy)

    def failed(self, room: Room, copy: Copy, *options: str) -> list[str]:
        """The tests that fail. Those that noticed most defects of the room run first."""
        first = [test for test, _ in self.noticed[room].most_common(FIRST)]
        command = [sys.executable, "-m", "pytest", *first, *room.words, *options,
                   "-q", "-n", "0", "-p", "no:cacheprovider", f"--basetemp={copy.path.parent / 'tmp'}"]
        # With CI, a test for which a tool is missing fails: a defect may make a tool seem so.
        environment = os.environ | {"CI": "true", "KEPT_OBJECTS": str(self.kept), "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.Popen(command, cwd=copy.path, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                               errors="replace", start_new_session=True)
        self.running.add(run.pid)
        try:
            said, _ = run.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            end(run.pid)
            return [f"the tests had not ended after {SECONDS} s"]
        finally:
            self.running.discard(run.pid)
        if self.stopping:
            raise CancelledError
        tests = re.findall(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - |$)", said, re.MULTILINE)
        return tests or ([said[-200:]] if run.returncode not in (0, NO_TEST) else [])

    def stop(self) -> None:
        self.stopping = True
        self.pool.shutdown(wait=False, cancel_futures=True)
        for pid in [*self.running]:
            end(pid)
        self.pool.shutdown()


def deselected(tests: list[str]) -> list[str]:
    """Options of pytest's."""
    return [f"--deselect={test.removeprefix('tests/')}" for test in tests]


def end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def place(mutant: Mutant) -> str:
    return f"{mutant.file}:{mutant.line}"


def in_json(tried: Tried) -> dict[str, object]:
    mutant = tried.mutant
    return {"room": mutant.room.name, "file": mutant.file, "line": mutant.line, "end": tried.end,
            "before": mutant.before, "after": mutant.after, "by": tried.by}


def show(tried: list[Tried], rooms: list[Room], console: Console) -> None:
    lives = [each for each in tried if each.end == LIVES]
    for each in lives:
        console.print(f"\n{place(each.mutant)}\n  - {each.mutant.before.strip()}", markup=False,
                      soft_wrap=True)
        console.print(f"  + {each.mutant.after.strip()}", markup=False, soft_wrap=True)
    table = Table("room", "defects", KILLED, HARMS_NOTHING, LIVES, box=box.SIMPLE_HEAD)
    for name in [*(room.name for room in rooms), "all"]:
        ends = [each.end for each in tried if name in (each.mutant.room.name, "all")]
        table.add_row(name, str(len(ends)), *(str(ends.count(end)) for end in
                                              (KILLED, HARMS_NOTHING, LIVES)))
    console.print(table)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(interrupt.status())
    except (BadInput, MachineFault) as wrong:
        print(wrong, file=sys.stderr)
        sys.exit(2 if isinstance(wrong, BadInput) else 3)
