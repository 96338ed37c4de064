"""What a grade depends on is hashed by two lists, which name every file: one that drops out of them
would be changed without a class being graded again."""

from __future__ import annotations

from conftest import REPOSITORY, repository_files

from grader.build.parts import GRADED, SHOWN, lab_files, of_grader


def test_every_file_is_in_one_of_the_lists() -> None:
    names = [name for name in (path.as_posix() for path in repository_files())
             if name.startswith(("grader/", "engine/"))]
    assert len(names) > 100
    for name in names:
        entries = [entry for entry in (*GRADED, *SHOWN) if f"{name}/".startswith(f"{entry}/")]
        assert len(entries) == 1, f"{name}: is in {entries or 'neither list'}"


def test_every_entry_is_there() -> None:
    assert [entry for entry in (*GRADED, *SHOWN) if not (REPOSITORY / entry).exists()] == []
    assert len({*GRADED, *SHOWN}) == len(GRADED) + len(SHOWN)


def test_every_file_of_a_lab_decides_but_those_that_are_said_to_change_nothing() -> None:
    names = {path for path in repository_files() if path.as_posix().startswith("lab/")}
    assert len(names) > 10 and set(lab_files("lab")) == names


def test_another_lab_is_another_grader() -> None:
    assert of_grader("lab") != of_grader("labs/none")
