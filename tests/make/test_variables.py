"""What is given to make is used or refused, in every target (engine/given.awk), and none of it runs."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from conftest import REPOSITORY, Tree, finished, need, sample, script

GRADERS = ["grade", "grade-class"]
MAKEFILES = ["Makefile", "grader/grader.mk", "course/course.mk", "instructor/instructor.mk"]
HOW_IT_IS_BUILT = ["BACKEND", "ARCH", "CC", "CXX", "AR", "NVCC", "PYTHON", "VENV", "V", "C_FLAGS", "EMULATED_FLAGS",
                   "CHECKED_FLAGS", "CHECKED_O", "CUDA_FLAGS"]


def make(tree: Tree, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return finished([need("make"), "--no-print-directory", *words], tree.path, env)


@cache
def refusal(goals: str, *names: str) -> str:
    return finished(["awk", "-f", "engine/given.awk", goals, " ".join(names), *MAKEFILES]).stdout


@cache
def table() -> tuple[set[str], set[str]]:
    """The targets of `make help`, and all that any of them takes."""
    lines = [line for name in MAKEFILES for line in (REPOSITORY / name).read_text().splitlines()
             if line.startswith("##")]
    targets = {"all"} | {name for line in lines if (words := re.match("## make ([a-z0-9-]+(?:, [a-z0-9-]+)*)", line))
                         for name in words[1].split(", ")}
    names = {name for line in lines for name in re.findall(r"\b[A-Z][A-Z_]+\b", line)}
    return targets, {name for name in names if not refusal(" ".join(sorted(targets)), name)}


def test_what_decides_a_grade_is_taken_by_the_graders_alone() -> None:
    targets, _ = table()
    takers = {word: {target for target in targets if not refusal(target, word)}
              for word in ("SEED", "PROTECTION", "SUITE", "GRADE_ARGS", "NAME", "CLASS",
                           "SUBMISSION")}
    assert takers == dict.fromkeys(("PROTECTION", "SUITE"), {*GRADERS, "regrade"}) | {
        "GRADE_ARGS": {"grade"},  # of a class each option has a variable
        "SEED": {*GRADERS, "regrade", "hidden", "mutants"},  # of cases and defects that are drawn
        "NAME": {"grade", "grade-summary", "grade-annotations"},
        "CLASS": {"grade-class", "regrade"}, "SUBMISSION": {"grade"},
    }  # fmt: skip


@pytest.mark.parametrize(("target", "named"), [
    ("all", "make"), ("check", "make check"), ("grade", "make grade"), ("clean", "make clean"),
    ("grade-class-summary", "make grade-class-summary"), ("cases", "make cases"),
    ("sgemm", "make"), ("sgemm-check", "make check"),  # programs take what their targets do
])
def test_what_a_target_does_not_take_is_refused(tree: Tree, target: str, named: str) -> None:
    done = make(tree, "-n", target, "SUBMISION=x", BACKEND="cpu")
    assert done.returncode == 2 and f"{named} takes no SUBMISION" in done.stderr
    assert "takes no" not in make(tree, "-n", target, "V=1", BACKEND="cpu").stderr


def test_how_things_are_built_every_target_takes() -> None:
    for target in table()[0]:
        assert refusal(target, *HOW_IT_IS_BUILT) == ""


@pytest.mark.parametrize(("goals", "name", "said"), [
    ("all", "kernel", "make takes no kernel; did you mean KERNEL=?"),
    ("grade", "SUBMISION", "make grade takes no SUBMISION; did you mean SUBMISSION=?"),
    ("grade", "KERNEL SUBMISSION", "make grade takes KERNEL or SUBMISSION, not both"),  # neither is ignored
    ("walk", "SHAPES", "make walk takes no SHAPES; make "),
    ("check", "QUEUE", "make check takes no QUEUE; make grade-class and regrade do"),
    ("clean", "NONSENSE", "make clean takes no NONSENSE; it takes LAB"),
    ("clean check", "SEED", "make clean check takes no SEED; make "),
    ("clean check", "KERNEL", ""), ("sgemm-check", "SEED", ""), ("build/liblab.a", "SEED", ""),
])
def test_a_refusal_names_the_nearest(goals: str, name: str, said: str) -> None:
    refused = refusal(goals, name)
    assert refused.startswith(said) and bool(refused) == bool(said)


# ---- No value runs -------------------------------------------------------------------------------

BUILDS = {name: "program" for name in (*HOW_IT_IS_BUILT, "KERNEL", "INCLUDE")} | {
    name: "check-program" for name in ("CHECK", "ARGS", "FIRST", "JSON", "TIMEOUT")} | {
    "PYTHON": "no packages", "VENV": "old packages", "SHAPE": "walk", "BLOCK": "walk", "LAUNCH": "walk",
    "CUDA_FLAGS": "cuda", "NVCC": "cuda", "ARCH": "cuda", "LAB": "program"}
OTHERS = {"grade": "SUBMISSION SUITE RESULTS NAME SEED JOBS LIMIT PROTECTION GRADE_ARGS",
          "regrade": "CLASS SUITE RESULTS SEED JOBS LIMIT PROTECTION QUEUE SLURM",
          "cases": "CASES_ARGS JOBS", "mutants": "MUTANTS_ARGS", "release": "DIR TILE RELEASE_ARGS",
          "grade-summary": "RESULTS NAME", "grade-class-summary": "RESULTS",
          "bench-charts": "LADDER GRID_JSON", "bench-counts": "KERNELS SHAPES"}
GOALS = {"check-program": ["program", "CHECK=1"], "no packages": ["packages", "VENV=none"],
         "old packages": ["-o", "packages", "grade-summary"], "cuda": ["build/cuda/settings", "BACKEND=cuda"]}


def odd(mark: Path) -> str:
    """It runs wherever a shell or make meets it: alone, in quotes of either kind, in several lines."""
    touch = f"touch {mark}"
    return (f"y; {touch}; $({touch}) `{touch}` $(shell {touch}) | {touch} && {touch} >{mark}\n{touch}\n"
            f"' ; {touch}; ' \" ; {touch}; \" # {touch}")


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    """A copy in which nothing is left to be of use."""
    copy = Tree(tmp_path_factory.mktemp("spoiled"), programs)
    copy.write("program.cu", "int main() { return 0; }\n")
    return copy


@pytest.mark.parametrize("name", sample(list(BUILDS), every=8))
def test_no_part_of_a_build_runs(spoiled: Tree, tmp_path: Path, name: str, venv: Path) -> None:
    target = BUILDS[name]
    words = GOALS.get(target, [target])
    if "program" in words and name != "KERNEL":
        words = [*words, "KERNEL=program.cu"]
    if name not in ("PYTHON", "VENV"):
        words = [*words, f"VENV={venv}"]
    words, value = [word for word in words if not word.startswith(f"{name}=")], odd(tmp_path / "mark")
    make(spoiled, *words, f"{name}={value}")
    assert not (tmp_path / "mark").exists()
    make(spoiled, *words, **{name: value})
    assert not (tmp_path / "mark").exists(), "from the environment"


@pytest.mark.parametrize("target", sample(list(OTHERS), every=3))
def test_nothing_that_is_asked_for_runs(spoiled: Tree, tmp_path: Path, venv: Path, target: str) -> None:
    names = OTHERS[target].split()
    given = dict.fromkeys(names, odd(tmp_path / "mark"))
    make(spoiled, target, f"VENV={venv}", "BACKEND=cpu", *(f"{name}={value}" for name, value in given.items()))
    assert not (tmp_path / "mark").exists()
    make(spoiled, "-e", target, f"VENV={venv}", "BACKEND=cpu", **given)
    assert not (tmp_path / "mark").exists(), "from the environment"


def test_no_value_is_part_of_a_recipe() -> None:
    """It is found in the environment, as "$$NAME"."""
    names = table()[1] - {"LAB"}  # a plain word, as asked.sh sees to
    for path in [*MAKEFILES, "engine/engine.mk", "engine/Makefile"]:
        text = (REPOSITORY / path).read_text().replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line.startswith("\t") or " ; " in line and line[0] != "#"]
        recipes = [line.partition(" ; ")[2] or line for line in lines]
        for name in names:
            assert [recipe for recipe in recipes if f"$({name})" in recipe] == [], name


def test_a_lab_is_a_plain_word(tree: Tree) -> None:
    for word in ("$(shell touch x)", "a b", "a'b", "a;x", ""):
        done = make(tree, "-n", "check", "BACKEND=cpu", f"LAB={word}")
        assert done.returncode == 2 and "must have no blanks" in done.stderr
    assert not (tree.path / "x").exists()
    for word in ("lab", "lab/"):  # as a shell completes it
        assert "ready sgemm" in make(tree, "-n", "BACKEND=cpu", f"LAB={word}", "KERNEL=kernel.cu").stdout


# ---- What reaches the grader ---------------------------------------------------------------------


@pytest.mark.parametrize("target", GRADERS)
def test_values_are_looked_at_before_anything_is_run(tree: Tree, target: str, venv: Path) -> None:
    class_of_one = "CLASS=testcases" if target == "grade-class" else "SUITE=public"
    done = make(tree, target, "BACKEND=cpu", class_of_one, "PROTECTION=bogus", "JOBS=banana", "SEED=", f"VENV={venv}")
    said = [line for line in done.stderr.splitlines() if "with make" in line]
    assert done.returncode == 2 and done.stdout == ""
    assert [re.findall(r"\((\w+) with make\)", line) for line in said] == [["SEED"], ["JOBS"], ["PROTECTION"]]


def test_a_class_is_of_the_lab_that_is_given_or_of_class_toml(tree: Tree) -> None:
    """LAB=lab is as good as another one."""
    for words, given in ((["LAB=lab"], True), (["LAB=labs/scan"], True), ([], False)):
        assert ('--lab="$LAB"' in make(tree, "-n", "grade-class", "BACKEND=cpu", *words).stdout) == given


def test_a_class_is_named(tree: Tree, venv: Path) -> None:
    done = make(tree, "grade-class", "BACKEND=cpu", f"VENV={venv}")
    assert done.returncode == 2 and "class: no such folder; CLASS names the folder" in done.stderr


@pytest.mark.parametrize("word", ["ACCEPT=2", "ACCEPT=0", "ACCEPT=1 no"])
def test_a_switch_is_on_or_not_given(tree: Tree, word: str) -> None:
    done = make(tree, "-o", "course-packages", "regrade", word, BACKEND="cpu")
    assert done.returncode == 2 and f"{word}: must be 1, or not given" in done.stderr


@pytest.mark.parametrize("target", GRADERS)
def test_each_given_value_reaches_the_grader(tree: Tree, target: str, tmp_path: Path) -> None:
    """A Python that only says what it was called with."""
    for stamp in ("grader-ready", "course-ready"):
        (tmp_path / stamp).touch()
        os.utime(tmp_path / stamp, (2**31, 2**31))
    script(tmp_path / "bin/python", "printf '<%s> ' \"$@\"")
    words = ["SEED=7", "JOBS=3", "PROTECTION=none", "SUITE=my suite.toml", "RESULTS=my results"]
    words += ["NAME=bob b"] if target == "grade" else []
    said = make(tree, target, "BACKEND=cpu", f"VENV={tmp_path}", *words).stdout
    for option in ("<--seed> <7>", "<--jobs> <3>", "<--protection> <none>", "<--backend> <cpu>",
                   "<--suite> <my suite.toml>", "<--results> <my results>"):
        assert option in said
    assert ("<--name> <bob b>" in said) == (target == "grade")
    environment = {"NAME": "desktop", "SEED": "1", "JOBS": "2", "PROTECTION": "uid",
                   "GRADE_ARGS": "-x", "SUITE": "all"}
    said = make(tree, target, "BACKEND=cpu", f"VENV={tmp_path}", **environment).stdout
    assert "<--suite> <all>" in said
    assert not re.search("--name|--seed|--jobs|--protection|-x>", said), "of the environment"
