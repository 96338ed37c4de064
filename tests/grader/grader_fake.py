"""A grader without compiler and sandbox, for tests of everything around them.

What a submission "does" is said in its text, one line a shape, the last line for all others:

    34 34 34: wrong
    right

Verbs: right, naive, wrong, doubled, leak, race, starter, hang, crash, copies, machine, bug;
`right 0.5` takes that many seconds, further words of `wrong` are a detail of its finding. `race
after 3` is right with a barrier behind line 3 of this text, and `races` is not. How fast it is, for
--backend cuda, is the ratio to cuBLAS, or how timing it ends and why; half as fast unless it says:

    clock 1024 1024 1024: 0.7
    clock: refused it waits for a stream

And what `make check` proves, by its kind and line in this text:

    cause: row-length 3

    python tests/grader/grader_fake.py ...          # as python -m grader, with this instead of the core
    python tests/grader/grader_fake.py pytest ...   # as python -m pytest grader
"""

import sys

if __name__ == "__main__":
    import grader_fake  # which a fork has loaded already (forks.py), with all that it has read

    sys.exit(grader_fake.main(sys.argv[1:]))

import functools
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent.parent
for place in (REPOSITORY, REPOSITORY / "tests"):
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))

from kinds import words_of  # noqa: E402

from grader.build.parts import described, of_grader  # noqa: E402
from grader.cases.model import Case, Performance, Suite  # noqa: E402
from grader.cases.read import load_suites  # noqa: E402
from grader.clock.measure import Said  # noqa: E402
from grader.errors import MachineFault, NotBuilt, Refused  # noqa: E402
from grader.grade import Grading  # noqa: E402
from grader.intake.submission import Submission  # noqa: E402
from grader.one_case import Tools  # noqa: E402
from grader.record.model import Cause, Finding, Loads, Timing  # noqa: E402
from grader.run.outcome import Outcome  # noqa: E402
from grader.verdict.points import timing_of  # noqa: E402

LAB = described()
of_grader(LAB.folder), load_suites(LAB, "all")  # which remember what they have read
BOX = SimpleNamespace(kind="none", note="no protection: a fake")
PARTS = SimpleNamespace(lab=LAB, backend="cpu", architecture=None, compiler="fake 1.0", jail=Path("jail"))
ON_GPU = SimpleNamespace(**vars(PARTS) | {"backend": "cuda", "architecture": "sm_90"})
CUBLAS_SECONDS = 5e-5
BARRIER = "__syncthreads();"
WHAT = "a row of B has n elements, but here rows are k elements apart"
COMMAND = [sys.executable, "-B", __file__]


class Programs(dict[str, str]):
    """What a submission says of each shape, in place of its programs."""

    barrier = 0
    """The line behind which one was put in."""


def build(parts: Any, source: bytes, box: Any, work: Path) -> Programs:
    assert not list(work.iterdir())
    lines = [line for line in source.decode().splitlines() if line.strip()]
    if lines[0].startswith("error"):
        raise NotBuilt("'x' was not declared in this scope", "kernel.cu", 7,
                       "\n".join(["::error::x\x1b[2J", *lines]))
    if lines[0] == "fopen":
        raise Refused("calls fopen", "kernel.cu", 3, "a kernel reads no files")
    if lines[0] == "no compiler":
        raise MachineFault("no compiler here; install one")
    barrier = lines.index(BARRIER) if BARRIER in lines else 0
    lines = [line for line in lines if line != BARRIER]
    shapes = dict(line.split(": ", 1) for line in lines if ": " in line)
    made = Programs(shapes | {"": lines[-1]})
    made.barrier = barrier
    return made


def run(parts: Any, programs: dict[str, str], build: str, problem: Case, *, box: Any,
        plain: Outcome | None = None, count: bool = False) -> Outcome:
    verb, *more = programs.get(" ".join(problem.words), programs[""]).split()
    if more and more[0][0].isdigit():
        time.sleep(float(more.pop(0)))
    if verb == "machine":
        raise MachineFault("no memory is left")
    if verb == "bug":
        raise RuntimeError("a mistake of the grader's own")
    if verb == "copies":
        raise Refused(f"copies device memory to the host ({problem.params['m']} bytes)", "kernel.cu", 9)
    if verb == "race" and more and int(more[-1]) == programs.barrier:
        verb = "right"
    return outcome(verb, build, problem, count, " ".join(more))


def outcome(verb: str, build: str, problem: Case, count: bool, words: str = "") -> Outcome:
    m, k, n = (problem.params[name] for name in "mkn")
    elements, checked = m * n, build == "checked"
    facts: dict[str, Any] = {"build": build, "ended": "returned", "launches": 1, "right": True,
                             "elements": elements, "seconds": 0.01}
    naive = 2 * m * n * k
    if checked and verb != "starter":
        facts["launch"] = f"mysgemm<<<1, 1>>>: C has {n} columns and {m} rows"
    if checked and count:
        loaded = naive if verb == "naive" else naive // 16
        facts["loads"] = Loads(all=loaded, naive=naive, once_per_block=naive // 16,
                               exchanged=loaded, threads=elements)
    if verb == "wrong":
        facts |= {"right": False, "wrong": elements, "output": f"{m}\x1b[2J",
                  "explanation": Finding(
                      **words_of("wrong-result"), what=f"all {elements} are wrong", hint="is it?",
                      detail=["C is A", *([words] if words else [])], formula="copy-of-a")}
    if verb == "starter":
        facts |= {"right": False, "launches": 0, "unwritten": elements}
    if verb == "hang":
        facts |= {"ended": "endless", "right": False, "detail": "still running after 2 s",
                  "file": "kernel.cu", "line": 12}
    if verb == "crash":
        facts |= {"ended": "crashed", "right": False, "detail": "it crashed: Segmentation fault"}
    if verb in ("leak", "race") and checked:
        kind = "leak" if verb == "leak" else "shared-race"
        facts |= {"finding": Finding(**words_of(kind), what="a mistake", file="kernel.cu", line=29,
                                     detail=["thread (0,0)"], hint="think",
                                     barrier_after=int(words.split()[-1]) if words else 0)}
    if verb == "doubled":
        facts |= {"right": False, "wrong": elements, "explanation": Finding(
            **words_of("wrong-result"), what=f"all {elements} are wrong", formula="factor", products=1.0,
            claim="C is 2 times the product",
            detail=["C is 2 times the product: this explains all."])}
    if verb == "race" and checked:
        facts |= {"ended": "stopped", "right": False, "detail": "stopped"}
    return Outcome(**facts)


def clock(parts: Any, programs: dict[str, str], asked: Performance, *, box: Any) -> Timing:
    """As the submission says of this shape, or of all."""
    assert parts.backend == "cuda"
    word, *more = programs.get(f"clock {asked.shape}", programs.get("clock", "0.5")).split()
    if word == "machine":
        raise MachineFault("no GPU is left")
    said = measured(float(word)) if word[0].isdigit() else {"state": word, "reason": " ".join(more)}
    return timing_of(asked, Said.model_validate(said), 0.5)


def cause(parts: Any, programs: dict[str, str], source: bytes, case: Case, finding: Finding,
          box: Any) -> Cause | None:
    assert not case.hidden
    if "cause" not in programs:
        return None
    kind, line = programs["cause"].split()
    return Cause(kind=kind, what=WHAT, file="kernel.cu", line=int(line), hint="where does the next row of B begin?")


def measured(ratio: float) -> dict[str, Any]:
    """What the clock prints of a kernel with this ratio to cuBLAS."""
    return {"state": "timed", "device": "a fake GPU", "samples": 11,
            "seconds": spread(CUBLAS_SECONDS / ratio), "beside_seconds": spread(CUBLAS_SECONDS)}


def spread(median: float) -> dict[str, float]:
    return {"median": median, "minimum": median * 0.99, "quartile_1": median * 0.995, "quartile_3": median * 1.01}


def command(folder: Path, text: str, *words: str) -> list[str]:
    """That grades folder/alice, which holds this text; results are beside it."""
    path = folder / "alice" / "kernel.cu"
    path.parent.mkdir(exist_ok=True, parents=True)
    if not (path.exists() and path.read_text() == text):  # another one may be reading it
        path.write_text(text)
    return [*COMMAND, "--submission", str(path), "--results", str(folder / "results"), *words]


# ---- cases ---------------------------------------------------------------------------------------


def case(name: str = "c", m: int = 34, k: int = 34, n: int = 34, *, suite: str = "public/basics",
         **more: Any) -> Case:
    table = {"name": name, "fill": "random", "points": 4.0} | more
    return Case(**table, params={"m": m, "k": k, "n": n}, suite=suite, hidden=suite.startswith("hidden/"), lab=LAB)


def shape(name: str = "fast", size: int = 1024, *, suite: str = "public/speed", **more: Any) -> Performance:
    """To be timed."""
    table = {"name": name, "points": 4.0, "none": 0.25, "full": 0.75} | more
    return Performance(**table, params={"m": size, "k": size, "n": size}, suite=suite,
                       hidden=suite.startswith("hidden/"), lab=LAB)


def suite(*items: Case | Performance, name: str = "public/basics", **more: Any) -> Suite:
    """`gate` is a key."""
    return Suite(name, "A title", Path("testcases") / f"{name}.toml", name.startswith("hidden/"),
                 [item for item in items if isinstance(item, Case)],
                 [item for item in items if isinstance(item, Performance)], **more)


def problem(m: int = 34, k: int = 34, n: int = 34, *, fill: str = "random", seed: int = 1,
            tolerance: str | None = None, time_limit: float = 2.0) -> Case:
    return Case(name="one", params={"m": m, "k": k, "n": n}, points=1, suite="public", hidden=False, lab=LAB,
                fill=fill, seed=seed, tolerance=tolerance, time_limit=time_limit)


def submission(text: str, name: str = "alice", path: str = "/s/alice/kernel.cu") -> Submission:
    return Submission(name, Path(path), text.encode(), text.encode(), [])


def grading(text: str, suites: list[Suite], **more: Any) -> Grading:
    """`run`, `clock`, `cause`: in place of the fake ones; `gpu`: with a GPU."""
    tools = Tools(more.pop("build", build), more.pop("run", run), more.pop("clock", clock),
                  more.pop("cause", cause))
    return Grading(submission(text), suites, more.pop("seed", 7), BOX,
                   ON_GPU if more.pop("gpu", False) else PARTS, more.pop("jobs", 2),
                   tools=tools, **more)


def main(words: list[str]) -> int:
    from grader import __main__, grade, options

    __main__.trusted_parts = grade.trusted_parts = lambda backend, lab: ON_GPU if backend == "cuda" else PARTS
    options.choose_sandbox = lambda *arguments: BOX
    options.described = lambda folder: LAB if folder == "lab" else described(folder)
    grade.Grading = functools.partial(grade.Grading, tools=Tools(build, run, clock, cause))
    if words[:1] == ["pytest"]:  # the front
        import pytest

        return pytest.main(["-c", str(REPOSITORY / "grader/pytest.ini"), "--rootdir",
                            str(REPOSITORY / "grader"), str(REPOSITORY / "grader"), *words[1:]])
    return __main__.main(words)
