"""What ./sgemm and ./sgemm-check print about every kernel of the corpora: kept, and compared.

    python tests/same_words.py keep FOLDER [--compilers gcc,clang] [--kernels GLOB] [--every N] [--jobs N]
    python tests/same_words.py compare OLD NEW

A change that moves code must change no word; this is the yardstick for it. `keep` works on the checkout
that it is started in, so that an older version, which may lack this file, can be asked, too:

    git worktree add ../before HEAD~1
    (cd ../before && python ../after/tests/same_words.py keep /tmp/before)
    (cd ../after && python tests/same_words.py keep /tmp/after)
    python tests/same_words.py compare /tmp/before /tmp/after

FOLDER gets a file for each compiler and kernel, which holds the command lines, what they print, and
their exit status, or what the build printed. Times are replaced by 0: they differ from run to run.
Seeds are fixed, and each program has one core: where two blocks race, the same one wins. Each job
builds in a copy of the checkout. A kernel takes three seconds of processor time; --every 10 takes each
tenth one. Only Python's own library is used.

Exit status: 0, for `compare` if nothing differs; 1 if something does.
"""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ("instructor/solutions", "instructor/faulty", "instructor/faulty/styles",
           "tests/kernels/right")
COMPILERS = {"gcc": ("CC=gcc", "CXX=g++"), "clang": ("CC=clang", "CXX=clang++"),
             "usual": ()}  # make's own
RUN_SECONDS = 600  # for what hangs; a machine may be busy
# A whole tile, an edge in each direction, and a single row.
SHAPES = ("34", "35 70 20", "1 5 7")
SEED = "--seed 1"

DECLARED = re.compile(r"^ \* (shape|options|fails): +(.*?) *(?:\*/)?$", re.MULTILINE)
# What differs from run to run: times, rates, where the linker or the kernel puts things, and the
# number of a process.
VARYING = [
    (re.compile(r"\b\d+\.\d+(?= (?:s|ms|us|GFLOP/s)\b)"), "0"),
    (re.compile(r"(\"(?:seconds|median|min|max|gflops|setup|allocate|to_device|launch|from_device|"
                r"verify)\": )\d[-+.\de]*"), r"\g<1>0"),
    (re.compile(r"(\"kernel\": )\[[-+.\de, ]*\]"), r"\g<1>[0]"),
    (re.compile(r"0x[0-9a-f]{6,}"), "0x0"),
]


# ---- what is run ---------------------------------------------------------------------------------


def corpus(folder: Path) -> list[str]:
    """The kernels as paths from the root of the checkout, a copy; those of mistakes.toml are written
    to `folder`, which lies in it, and those of faults.toml beside the others of their kind."""
    sys.path.insert(0, os.getcwd())
    from instructor.faulty.faults import edited  # the checkout's own
    from instructor.faulty.mistakes import seeded

    for each in edited():
        each.write(Path("instructor/faulty"))
    found = [str(path) for place in FOLDERS for path in sorted(Path(place).glob("*.cu"))]

    folder.mkdir(parents=True, exist_ok=True)
    return found + [str(each.write(folder)) for each in seeded()]


def commands(kernel: str) -> list[str]:
    """The command lines to run, of which the declared shapes and options come first."""
    text = Path(kernel).read_text(encoding="utf-8", errors="replace").split("*/")[0]
    declared = dict(DECLARED.findall(text))
    own = " ".join(filter(None, [declared.get("shape", ""), declared.get("options", "")]))
    fails = [shape for shape in declared.get("fails", "").split(", ") if shape]
    runs = [f"./sgemm {SEED} {shape}" for shape in dict.fromkeys([*fails[:2], *SHAPES])]
    runs.append(f"./sgemm {SEED} --json 34")
    for options in ("", "--json", "--counts", "--counts --json", "--phases", "--phases --json",
                    "--indices", "--indices --json"):
        runs.append(" ".join(filter(None, ["./sgemm-check", SEED, options, own])))
    return runs


def steady(text: str) -> str:
    """`text` without what differs from run to run."""
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return text


def readable(line: str) -> str:
    """JSON in lines that diff can tell apart; any other line as it is."""
    return json.dumps(json.loads(line), indent=1) + "\n" if line.startswith("{") else line


def printed(command: list[str], tree: Path) -> str:
    """What `command` prints in `tree`, and its exit status."""
    try:
        ran = subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=RUN_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"(no end within {RUN_SECONDS} s)\n"
    text = steady(ran.stdout.decode("utf-8", "replace"))
    if "--json" in command:
        text = "".join(map(readable, text.splitlines(keepends=True)))
    return text + f"(exit status {ran.returncode})\n"


def words_of(kernel: str, compiler: str, tree: Path) -> str:
    """All that is said of one kernel, built by one compiler."""
    built = printed(["make", "-s", "-j1", "BACKEND=cpu", f"KERNEL={kernel}", *COMPILERS[compiler],
                     "sgemm", "sgemm-check"], tree)
    text = f"$ make\n{built}"
    if built.endswith("(exit status 0)\n"):
        for line in commands(kernel):
            text += f"\n$ {line}\n{printed(line.split(), tree)}"
    return text.replace(str(tree), ".")


# ---- keep ----------------------------------------------------------------------------------------


def keep(arguments: argparse.Namespace) -> int:
    """Run everything, each job in a copy of the checkout and on one core."""
    with tempfile.TemporaryDirectory(prefix="words-") as temporary:
        origin = Path(temporary) / "origin"
        shutil.copytree(".", origin, symlinks=True, ignore=shutil.ignore_patterns(
            ".git", ".venv", "build", "results", "docs", "*.pyc"))
        os.chdir(origin)
        globs = arguments.kernels.split(",")
        kernels = [each for each in corpus(Path("build/mistakes"))
                   if any(fnmatch.fnmatchcase(Path(each).stem, glob) for glob in globs)][::arguments.every]
        todo = [(kernel, compiler) for compiler in arguments.compilers for kernel in kernels]
        cores = sorted(os.sched_getaffinity(0))

        def work(job: int) -> None:
            os.sched_setaffinity(0, {cores[job % len(cores)]})  # of this thread, and of what it starts
            tree = shutil.copytree(origin, Path(temporary) / str(job), symlinks=True)
            for kernel, compiler in todo[job::arguments.jobs]:
                place = arguments.folder / compiler / f"{Path(kernel).stem}.txt"
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(words_of(kernel, compiler, tree), encoding="utf-8")

        with ThreadPoolExecutor(arguments.jobs) as pool:
            list(pool.map(work, range(arguments.jobs)))
    return 0


# ---- compare -------------------------------------------------------------------------------------


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8")
            for path in sorted(folder.glob("*/*.txt"))}


def compare(arguments: argparse.Namespace) -> int:
    """Print what differs, as diff -u does, and how much."""
    old, new = texts(arguments.old), texts(arguments.new)
    for name in sorted(old.keys() ^ new.keys()):
        print(f"only in {arguments.old if name in old else arguments.new}: {name}")
    both = sorted(old.keys() & new.keys())
    differing = [name for name in both if old[name] != new[name]]
    for name in differing:
        sys.stdout.writelines(difflib.unified_diff(
            old[name].splitlines(keepends=True), new[name].splitlines(keepends=True),
            f"{arguments.old}/{name}", f"{arguments.new}/{name}", n=1))
    print(f"{len(both)} files compared, {len(differing)} differ")
    return 1 if differing or not both else 0


# ---- the command ---------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ways = parser.add_subparsers(dest="way", required=True)
    one = ways.add_parser("keep", help="run everything and keep what is printed")
    one.add_argument("folder", type=lambda text: Path(text).absolute())
    one.add_argument("--compilers", type=lambda names: names.split(","), default=["gcc", "clang"])
    one.add_argument("--kernels", default="*", metavar="GLOB,...", help="only these, without .cu")
    one.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth of them")
    one.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    one.set_defaults(run=keep)
    two = ways.add_parser("compare", help="show what differs")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    two.set_defaults(run=compare)
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
