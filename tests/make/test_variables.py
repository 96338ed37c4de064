"""What is given on make's command line is used or refused, in every target (make/variables.mk)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY, Tree, clean_environment, need

VENV = f"VENV={Path(sys.executable).parent.parent}"
GRADERS = ["grade", "grade-class"]


def make(tree: Tree, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([need("make"), "--no-print-directory", "BACKEND=cpu", *words],
                          cwd=tree.path, env=clean_environment(env), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)


def targets() -> list[str]:
    """All that are no files."""
    text = "".join(path.read_text() for path in
                   (REPOSITORY / "Makefile", *REPOSITORY.glob("*/*.mk")))
    names = " ".join(re.findall(r"^\.PHONY:((?:.*\\\n)*.*)", text, re.MULTILINE))
    return sorted(set(names.replace("\\", " ").split()) - {"FORCE", "writable"})


def used(tree: Tree, target: str, *words: str) -> bool:
    """Whether make takes these words; nothing is run."""
    done = subprocess.run([need("make"), "-n", target, *words], cwd=tree.path, text=True,
                          env=clean_environment(), capture_output=True, timeout=300, check=False)
    refused = f"make {target} takes no" in done.stderr
    assert (done.returncode != 0) or not refused
    return not refused


@pytest.mark.parametrize("target", targets())
def test_every_target_refuses_what_it_does_not_know(tree: Tree, target: str) -> None:
    """A new one has a line takes_TARGET beside it."""
    assert not used(tree, target, "NONSENSE=1") and not used(tree, target, "SUBMISION=x")
    assert used(tree, target) and used(tree, target, "V=1")


@pytest.mark.parametrize("target", targets())
def test_what_decides_a_grade_is_taken_by_the_graders_alone(tree: Tree, target: str) -> None:
    for word in ("SEED=1", "PROTECTION=none", "SUITE=public", "GRADE_ARGS=-x"):
        assert used(tree, target, word) == (target in GRADERS), word
    assert used(tree, target, "NAME=x") == (target in
                                            ("grade", "grade-summary", "grade-annotations"))
    assert used(tree, target, "SUBMISSIONS=x") == (target == "grade-class")
    assert used(tree, target, "SUBMISSION=x") == (target == "grade")


def test_several_targets_take_what_one_of_them_takes(tree: Tree) -> None:
    done = make(tree, "-n", "clean", "check", "KERNEL=kernel.cu")
    assert "takes no" not in done.stderr
    assert "make clean check takes no SEED" in make(tree, "-n", "clean", "check", "SEED=1").stderr


def test_of_two_words_for_one_thing_neither_is_ignored(tree: Tree) -> None:
    done = make(tree, "grade", "KERNEL=kernel.cu", "SUBMISSION=kernel.cu", VENV)
    assert done.returncode == 2 and "make grade takes no KERNEL" in done.stderr


@pytest.mark.parametrize("target", GRADERS)
def test_values_are_looked_at_before_anything_is_run(tree: Tree, target: str) -> None:
    class_of_one = "SUBMISSIONS=testcases" if target == "grade-class" else "SUITE=public"
    done = make(tree, target, class_of_one, "PROTECTION=bogus", "JOBS=banana", "SEED=", VENV)
    said = [line for line in done.stderr.splitlines() if "with make" in line]
    assert done.returncode == 2 and done.stdout == ""
    assert [re.findall(r"\((\w+) with make\)", line) for line in said] == [
        ["SEED"], ["JOBS"], ["PROTECTION"]]


@pytest.mark.parametrize("target", GRADERS)
def test_each_given_value_reaches_the_grader(tree: Tree, target: str, tmp_path: Path) -> None:
    """A Python that only says what it was called with."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "grader-ready").touch()
    os.utime(tmp_path / "grader-ready", (2**31, 2**31))
    (tmp_path / "bin" / "python").write_text("#!/bin/sh\nprintf '<%s> ' \"$@\"\n")
    (tmp_path / "bin" / "python").chmod(0o755)
    words = ["SEED=7", "JOBS=3", "PROTECTION=none", "SUITE=my suite.toml", "RESULTS=my results"]
    words += ["NAME=bob b"] if target == "grade" else []
    said = make(tree, target, f"VENV={tmp_path}", *words).stdout
    for option in ("<--seed> <7>", "<--jobs> <3>", "<--protection> <none>", "<--backend> <cpu>",
                   "<--suite> <my suite.toml>", "<--results> <my results>"):
        assert option in said
    assert ("<--name> <bob b>" in said) == (target == "grade")
    environment = {"NAME": "desktop", "SEED": "1", "JOBS": "2", "PROTECTION": "uid",
                   "GRADE_ARGS": "-x", "SUITE": "all"}
    said = make(tree, target, f"VENV={tmp_path}", **environment).stdout
    assert "<--suite> <all>" in said
    assert not re.search("--name|--seed|--jobs|--protection|-x>", said), "of the environment"
