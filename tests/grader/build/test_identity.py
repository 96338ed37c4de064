"""What a grade depends on is hashed by two lists, which name every file: one that drops out of them
would be changed without a class being graded again."""

from __future__ import annotations

from conftest import REPOSITORY, repository_files

from grader.build.parts import GRADED, SHOWN


def test_every_file_is_in_one_of_the_lists() -> None:
    names = [name for name in (path.as_posix() for path in repository_files())
             if name.startswith(("grader/", "lab/", "engine/"))]
    assert len(names) > 100
    for name in names:
        entries = [entry for entry in (*GRADED, *SHOWN) if f"{name}/".startswith(f"{entry}/")]
        assert len(entries) == 1, f"{name}: is in {entries or 'neither list'}"


def test_every_entry_is_there() -> None:
    assert [entry for entry in (*GRADED, *SHOWN) if not (REPOSITORY / entry).exists()] == []
    assert len({*GRADED, *SHOWN}) == len(GRADED) + len(SHOWN)
