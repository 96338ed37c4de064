"""What ./sgemm and ./sgemm-check print about every kernel of the corpora, for `diff`.

    python tests/same_words.py FOLDER [GLOB]    of the kernels whose names match, without .cu

A change that moves code must change no word; this is the yardstick for it. It works on the checkout that it is
started in, so that an older version can be asked, too; CC and CXX are taken from the environment:

    git worktree add ../before HEAD~1
    (cd ../before && python ../after/tests/same_words.py /tmp/before)
    (cd ../after && python tests/same_words.py /tmp/after)
    diff -ru /tmp/before /tmp/after

FOLDER gets a file for each kernel, which holds the command lines, what they print, and their exit status, or what
the build printed. Times are replaced by 0: they differ from run to run. Seeds are fixed, and each program has one
core: where two blocks race, the same one wins. There is a job for each core, which builds in a copy of the checkout.
A kernel takes three seconds of processor time. Only Python's own library is used.
"""

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
    for options in ("", "--json", "--counts", "--counts --json", "--phases",
                    "--indices", "--indices --json"):
        runs.append(" ".join(filter(None, ["./sgemm-check", SEED, options, own])))
    return runs


def readable(line: str) -> str:
    """JSON in lines that diff can tell apart; any other line as it is."""
    return json.dumps(json.loads(line), indent=1) + "\n" if line.startswith("{") else line


def printed(command: list[str], tree: Path) -> str:
    """What `command` prints in `tree`, without what differs from run to run, and its exit status."""
    try:
        ran = subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=RUN_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"(no end within {RUN_SECONDS} s)\n"
    text = ran.stdout.decode("utf-8", "replace")
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    if "--json" in command:
        text = "".join(map(readable, text.splitlines(keepends=True)))
    return text + f"(exit status {ran.returncode})\n"


def words_of(kernel: str, tree: Path) -> str:
    """All that is said of one kernel."""
    compilers = [f"{name}={os.environ[name]}" for name in ("CC", "CXX") if name in os.environ]
    built = printed(["make", "-s", "-j1", "BACKEND=cpu", f"KERNEL={kernel}", *compilers, "sgemm", "sgemm-check"], tree)
    text = f"$ make\n{built}"
    if built.endswith("(exit status 0)\n"):
        for line in commands(kernel):
            text += f"\n$ {line}\n{printed(line.split(), tree)}"
    return text.replace(str(tree), ".")


def keep(folder: Path, glob: str = "*") -> None:
    """Each job has one core, and a copy of the checkout."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="words-") as temporary:
        origin = Path(temporary) / "origin"
        shutil.copytree(".", origin, symlinks=True, ignore=shutil.ignore_patterns(
            ".git", ".venv", "build", "results", "docs", "*.pyc"))
        os.chdir(origin)
        kernels = [each for each in corpus(Path("build/mistakes")) if fnmatch.fnmatchcase(Path(each).stem, glob)]
        cores = sorted(os.sched_getaffinity(0))

        def work(job: int) -> None:
            os.sched_setaffinity(0, {cores[job]})  # of this thread, and of what it starts
            tree = shutil.copytree(origin, Path(temporary) / str(job), symlinks=True)
            for kernel in kernels[job::len(cores)]:
                (folder / f"{Path(kernel).stem}.txt").write_text(words_of(kernel, tree), encoding="utf-8")

        with ThreadPoolExecutor(len(cores)) as pool:
            list(pool.map(work, range(len(cores))))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    keep(Path(sys.argv[1]).absolute(), *sys.argv[2:])
