"""What is given on make's command line is used or refused, in every target (make/variables.mk)."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import REPOSITORY, Tree, clean_environment, need

GRADERS = ["grade", "grade-class"]
# What stands in commands as it is.
PARTS = ["CC", "CXX", "AR", "NVCC", "PYTHON", "C_FLAGS", "CUDA_FLAGS", "EMULATED_FLAGS", "CHECKED_FLAGS",
         "CHECKED_O", "ARGS", "INCLUDE", "FIRST", "JSON", "TIMEOUT", "GRADE_ARGS", "CASES_ARGS", "RELEASE_ARGS"]


def make(tree: Tree, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([need("make"), "--no-print-directory", *words],
                          cwd=tree.path, env=clean_environment(env), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)


def taken() -> dict[str, set[str]]:
    """What each target that is no file takes, as the makefiles have it."""
    makefiles = [REPOSITORY / "Makefile", *REPOSITORY.glob("*/*.mk"),
                 REPOSITORY / "grader/exporters/exporters.mk"]
    phony = re.findall(r"^\.PHONY:((?:.*\\\n)*.*)", "".join(path.read_text() for path in makefiles),
                       re.MULTILINE)
    targets = set(" ".join(phony).replace("\\", " ").split()) - {"FORCE", "writable"}
    lines = "".join(f"$(info {name} $(origin takes_{name}) $(takes_{name}))" for name in targets)
    shown = subprocess.run([need("make"), "-s", f"--eval=nothing: ; @:{lines}", "nothing"],
                           cwd=REPOSITORY, env=clean_environment(), capture_output=True, text=True,
                           timeout=300, check=True).stdout
    found = {name: words for name, *words in map(str.split, shown.splitlines())}
    assert found.keys() == targets
    assert [name for name, words in found.items() if words[0] == "undefined"] == [], \
        "a new one has a line takes_TARGET beside it"
    return {name: set(words[1:]) for name, words in found.items()}


def test_what_decides_a_grade_is_taken_by_the_graders_alone() -> None:
    takers = {word: {target for target, words in taken().items() if word in words}
              for word in ("SEED", "PROTECTION", "SUITE", "GRADE_ARGS", "NAME", "CLASS",
                           "SUBMISSION")}
    assert takers == dict.fromkeys(("SEED", "PROTECTION", "SUITE", "GRADE_ARGS"), {*GRADERS, "regrade"}) | {
        "NAME": {"grade", "grade-summary", "grade-annotations"},
        "CLASS": {"grade-class", "regrade"}, "SUBMISSION": {"grade"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "target", ["all", "check", "grade", "grade-class-summary", "cases", "clean"])
def test_what_a_target_does_not_take_is_refused(tree: Tree, target: str) -> None:
    for word in ("NONSENSE=1", "SUBMISION=x"):
        done = make(tree, "-n", target, word, BACKEND="cpu")
        refused = f"make {target} takes no {word.split('=')[0]}"
        assert done.returncode == 2 and refused in done.stderr
    for words in ([], ["V=1"]):
        assert "takes no" not in make(tree, "-n", target, *words, BACKEND="cpu").stderr


@pytest.mark.parametrize("how", ["on the command line", "in the environment", "with make -e"])
def test_make_expands_nothing_in_a_value(tree: Tree, tmp_path: Path, how: str) -> None:
    """Of no variable that a target takes; also not where it is exported to a recipe, as those on the
    command line are by themselves."""
    mark = tmp_path / "mark"
    names = set().union(*taken().values()) - {"VENV", "ARCH", "LAB", "BACKEND", *PARTS}
    values = {name: f"$(shell touch '{mark}')$(HOME)$$x {name}" for name in names}
    words = [f"{name}={value}" for name, value in values.items()]
    shown = "".join(f"@echo '{name}='\"$${name}\"';'$(words $({name}))\n\t" for name in names)
    exports = "" if "command" in how else f"export {' '.join(names)}\n"
    (tmp_path / "more.mk").write_text(f"{exports}nothing:\n\t{shown}:\n")
    start = ["-s", "-f", "Makefile", "-f", str(tmp_path / "more.mk"), "nothing"]
    if how == "on the command line":
        done = make(tree, *start, *words)
    else:
        done = make(tree, *start, *(["-e"] if "-e" in how else []), **values)
    assert done.returncode == 0 and not mark.exists(), done.stderr
    kept = [name for name in names if f"{name}={values[name]};4" in done.stdout]
    not_read = {"NAME", "SEED", "JOBS", "LIMIT", "PROTECTION", "GRADE_ARGS", "DIR", "FAULTY",
                "SHAPE", "BLOCK", "QUEUE", "SLURM", "ACCEPT"} if "command" not in how else set()
    assert {*kept} | not_read >= names - {"C_FLAGS", "CUDA_FLAGS", "EMULATED_FLAGS",
                                          "CHECKED_FLAGS", "CHECKED_O"}


@pytest.mark.parametrize("name", PARTS)
def test_no_part_of_a_command_runs(tree: Tree, tmp_path: Path, name: str) -> None:
    """Nor does a value that the environment has, of those that are read there."""
    mark = tmp_path / "mark"
    touch = f"touch {mark}"
    odd = [f"a; {touch}", f"$(shell {touch})", f"`{touch}`", f"a | {touch}", f"a && {touch}", f"a >{mark}",
           f"a\n{touch}", *([] if name == "ARGS" else [f"y'; {touch}; '"])]
    for value in odd:
        done = make(tree, "program", "BACKEND=cpu", f"{name}={value}")
        assert done.returncode == 2 and f"*** {name}" in done.stderr and not mark.exists(), value
    done = make(tree, "program", "BACKEND=cpu", **{name: odd[0]})
    assert not mark.exists(), done


def test_no_value_of_another_variable_is_part_of_a_command() -> None:
    """A recipe finds it in the environment, as "$$NAME"."""
    names = set().union(*taken().values()) - {"VENV", "ARCH", "LAB", "BACKEND", "V", *PARTS}
    makefiles = [REPOSITORY / "Makefile", *REPOSITORY.glob("*/*.mk"), *REPOSITORY.glob("*/*/*.mk"),
                 *REPOSITORY.glob("engine/host/*/*.mk")]
    recipes = [line for path in makefiles for line in path.read_text().splitlines() if line.startswith("\t")]
    for name in names:
        assert [line for line in recipes if f"$({name})" in line or f"$({name}:" in line] == [], name


@pytest.mark.parametrize("word", ["VENV=$(shell touch x)", "VENV=a b", "VENV=a'b", "ARCH=sm_90;x",
                                  "LAB=$(shell touch x)"])
def test_parts_of_rules_are_plain_words(tree: Tree, word: str) -> None:
    done = make(tree, "-n", "grade", "BACKEND=cpu", word)
    assert done.returncode == 2 and "must have no blanks" in done.stderr
    assert not (tree.path / "x").exists()


def test_several_targets_take_what_one_of_them_takes(tree: Tree) -> None:
    done = make(tree, "-n", "clean", "check", "BACKEND=cpu", "KERNEL=kernel.cu")
    assert "takes no" not in done.stderr
    assert "make clean check takes no SEED" in make(tree, "-n", "clean", "check", "SEED=1").stderr


def test_of_two_words_for_one_thing_neither_is_ignored(tree: Tree, venv: Path) -> None:
    done = make(tree, "grade", "BACKEND=cpu", "KERNEL=kernel.cu", "SUBMISSION=kernel.cu",
                f"VENV={venv}")
    assert done.returncode == 2 and "make grade takes no KERNEL" in done.stderr


@pytest.mark.parametrize("target", GRADERS)
def test_values_are_looked_at_before_anything_is_run(tree: Tree, target: str, venv: Path) -> None:
    class_of_one = "CLASS=testcases" if target == "grade-class" else "SUITE=public"
    done = make(tree, target, "BACKEND=cpu", class_of_one, "PROTECTION=bogus", "JOBS=banana",
                "SEED=", f"VENV={venv}")
    said = [line for line in done.stderr.splitlines() if "with make" in line]
    assert done.returncode == 2 and done.stdout == ""
    assert [re.findall(r"\((\w+) with make\)", line) for line in said] == [
        ["SEED"], ["JOBS"], ["PROTECTION"]]


def test_a_class_is_named(tree: Tree, venv: Path) -> None:
    done = make(tree, "grade-class", "BACKEND=cpu", f"VENV={venv}")
    assert done.returncode == 2 and "class: no such folder; CLASS names the folder" in done.stderr


@pytest.mark.parametrize("word", ["ACCEPT=2", "ACCEPT=0", "ACCEPT=1 no"])
def test_a_switch_is_on_or_not_given(tree: Tree, word: str) -> None:
    done = make(tree, "-n", "regrade", word, BACKEND="cpu")
    assert done.returncode == 2 and f"{word}: it is 1, or not given" in done.stderr


@pytest.mark.parametrize("target", GRADERS)
def test_each_given_value_reaches_the_grader(tree: Tree, target: str, tmp_path: Path) -> None:
    """A Python that only says what it was called with."""
    (tmp_path / "bin").mkdir()
    for stamp in ("grader-ready", "course-ready"):
        (tmp_path / stamp).touch()
        os.utime(tmp_path / stamp, (2**31, 2**31))
    (tmp_path / "bin" / "python").write_text("#!/bin/sh\nprintf '<%s> ' \"$@\"\n")
    (tmp_path / "bin" / "python").chmod(0o755)
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
