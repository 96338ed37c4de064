"""Which files are in a students' copy, which has one lab alone, and where they lie. A lab of a folder of its own lies
there as SGEMM does here, so the copy needs no LAB=: its description is lab/, and what students start from is in the
root."""

import fnmatch
from collections.abc import Iterable
from pathlib import PurePosixPath

from instructor.release.repository import REPOSITORY, tracked_files, untracked_files
from instructor.release.tile import WORDS, guards_for, handout_for

IN_THE_ROOT = ("kernel.cu", "handout.md", "testcases", "instructor")
"""Of a lab's folder; all else is in lab/."""
OF_SGEMM = ("lab", *IN_THE_ROOT, "docs/sgemm.md", "docs/points.md", "docs/colab.ipynb", "docs/pictures")

# A folder or a file, and why students do not get it.
LEFT_OUT = {
    "course": "grades a class",
    "grader/exporters": "for course platforms",
    "grader/conftest.py": "grades with pytest, as docs/grading.md says",
    "grader/test_submission.py": "the same",
    "grader/pytest.ini": "the same",
    "instructor": "solutions, faulty kernels, cheats",
    "labs": "other assignments, with solutions",
    "tests": "the tests of this project; they use instructor/",
    "testcases/hidden": "hidden cases",
    "docs/instructor.md": "lists the hidden cases",
    "docs/measured.md": "for maintainers; runs of the solutions, among others",
    "docs/grading.md": "for who grades; docs/points.md is for students",
    "docs/security.md": "for who grades",
    "docs/clock.md": "for who grades",
    "docs/ci.md": "course platforms and workflows",
    "docs/maintainer.md": "for maintainers",
    "docs/lab.md": "for who writes another lab",
    "docs/ladder.md": "explains the solutions",
    "docs/ladder": "its charts",
    "CONTRIBUTING.md": "for maintainers",
    "CHANGELOG.md": "for maintainers",
    ".ci": "runs the tests of this project",
    ".github": "workflows, and what they need",
    ".clang-format": "for who edits the engine",
    ".editorconfig": "for who edits the engine",
    "results": "grades",
}

# What README.md says from here on is for people who have the folders that a student's copy lacks.
TEACHING = "\n## Teaching\n"

# The README of a copy for another lab, which has no README.md of its own.
OTHER_README = "instructor/release/other_lab.md"


def is_in(name: str, *folders: str) -> bool:
    return any(f"{name}/".startswith(f"{folder}/") for folder in folders)


def laid_over(lab: str, names: Iterable[str]) -> dict[str, str]:
    """Names in a copy for this lab, and which of these each is; of SGEMM a copy for another lab has nothing."""
    if lab == "lab":
        return {name: name for name in names}
    placed = {}
    for name in names:
        if is_in(name, lab):
            own = name[len(lab) + 1:]
            placed[own if is_in(own, *IN_THE_ROOT) else f"lab/{own}"] = name
        elif not is_in(name, *OF_SGEMM):
            placed[name] = name
    return placed


def why_left_out(name: str) -> str:
    """The entry of LEFT_OUT that the file is, or is in; empty for a file that is published."""
    return next((entry for entry in LEFT_OUT if is_in(name, entry)), "")


def published(lab: str, names: Iterable[str]) -> dict[str, str]:
    """Names in the copy, sorted, and which of these each is."""
    return {name: source for name, source in sorted(laid_over(lab, names).items()) if not why_left_out(name)}


def labs_in(names: Iterable[str]) -> list[str]:
    """The folders of all labs."""
    return ["lab", *(str(PurePosixPath(name).parent) for name in names if fnmatch.fnmatchcase(name, "labs/*/lab.c"))]


def published_texts() -> dict[str, str]:
    """Of all labs' copies, as the files are now, with each tile. Raises MachineFault."""
    names = [name for name in (*tracked_files(), *untracked_files()) if (REPOSITORY / name).is_file()]
    sources = {OTHER_README, *(source for lab in labs_in(names) for source in published(lab, names).values())}
    texts = {name: (REPOSITORY / name).read_text(encoding="utf-8", errors="replace") for name in sources}
    texts["README.md"] = texts["README.md"].partition(TEACHING)[0]
    for name, changed in (("handout.md", handout_for), ("docs/pictures/guards.svg", guards_for)):
        texts |= {f"TILE={tile}: {name}": changed(texts[name], tile) for tile in WORDS}
    return texts
