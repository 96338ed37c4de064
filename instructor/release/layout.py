"""Where files lie in a copy of the project that has one lab alone. A lab of a folder of its own lies there as SGEMM
does here, so the copy needs no LAB=: its description is lab/, and what students start from is in the root."""

from __future__ import annotations

from collections.abc import Iterable

IN_THE_ROOT = ("kernel.cu", "handout.md", "testcases", "instructor")
"""Of a lab's folder; all else is in lab/."""
OF_SGEMM = ("lab", *IN_THE_ROOT, "docs/sgemm.md", "docs/points.md", "docs/colab.ipynb", "docs/pictures")


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
