"""What a grade depends on is hashed: a file that is left out could be changed without a class being
graded again."""

from __future__ import annotations

from conftest import REPOSITORY, repository_files

from grader.build.parts import SHOWN, graded_files, lab_files, of_grader


def test_every_file_decides_but_those_that_are_said_to_show() -> None:
    names = {path for path in repository_files() if path.parts[0] in ("grader", "engine")}
    shown = {path for path in names if any(path.is_relative_to(each) for each in SHOWN)}
    assert len(names) > 100 and names - set(graded_files("lab")) == shown


def test_every_entry_is_there() -> None:
    assert [entry for entry in SHOWN if not (REPOSITORY / entry).exists()] == []


def test_every_file_of_a_lab_decides_but_those_that_are_said_to_change_nothing() -> None:
    names = {path for path in repository_files() if path.as_posix().startswith("lab/")}
    assert len(names) > 10 and set(lab_files("lab")) == names


def test_another_lab_is_another_grader() -> None:
    assert of_grader("lab") != of_grader("labs/none")
