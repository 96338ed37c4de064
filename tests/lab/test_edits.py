"""The faulty kernels that are edits of right ones: instructor/faulty/faults.toml. What is found in them:
test_check.py."""

from pathlib import Path
from typing import Any

import pytest
from conftest import Tree
from corpus import BY_NAME, FAULTS

from instructor.faulty import faults

FAULT = {
    "name": "06_a_mistake", "of": "instructor/solutions/1_naive.cu",
    "head": "stores too far.\n\nfinds:    out-of-bounds\nloses:    correct",
    "here": "C[row * n", "other": ["void basicSgemm", "sum +="],
    "edits": ["row < m && col < n", "row <= m && col < n"],
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), [
    ({"edits": ["TILE_SIZE", "8"]}, "occurs 7 times"),
    ({"here": "row"}, "4 lines have 'row', not one"),
    ({"hear": "C"}, "unknown keys"),
])  # fmt: skip
def test_what_is_not_as_the_head_says(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        faults.edit(FAULT | change)


def test_a_name_is_of_one_kernel(tmp_path: Path) -> None:
    lines = "\n".join(f"{key} = {value!r}" for key, value in FAULT.items() if key != "head")
    (tmp_path / "faults.toml").write_text(f"[[fault]]\nhead = \"no\"\n{lines}\n")
    assert [each.name for each in faults.edited.__wrapped__(tmp_path)] == ["06_a_mistake"]
    (tmp_path / "06_a_mistake.cu").touch()
    with pytest.raises(ValueError, match="06_a_mistake: there are two of this name"):
        faults.edited.__wrapped__(tmp_path)


def test_make_faulty(tree: Tree, venv: Path) -> None:
    """What is no file is written where the tests have it, too."""
    folder = tree.path / faults.WRITTEN
    names = {fault.path.name: fault.text for fault in FAULTS if fault.path.parent == faults.WRITTEN}
    for name in names:
        (folder / name).unlink()
    made = tree.make("faulty", f"VENV={venv}", "-o", "packages")
    assert made.stdout.endswith(f"{len(names)} faulty kernels are in build/faulty\n")
    assert {path.name: path.read_text() for path in folder.glob("*.cu")} == names
    assert len(names) > 60 and BY_NAME["01_first_barrier"].path.name not in names
