"""docs/pictures: what `make pictures` draws, true, and readable by itself wherever it is shown."""

from __future__ import annotations

import re
import shutil
from xml.etree import ElementTree

import pytest
from conftest import REPOSITORY, missing

from instructor.pictures import draw

FILES = sorted((REPOSITORY / "docs" / "pictures").iterdir())
HANDOUT = (REPOSITORY / "handout.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def parsed(name: str) -> ElementTree.Element:
    return ElementTree.parse(REPOSITORY / "docs" / "pictures" / f"{name}.svg").getroot()


def words_of(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def test_they_are_what_make_pictures_draws() -> None:
    if not any(map(shutil.which, draw.BROWSERS)):
        missing("chromium")
    drawn = draw.drawn()
    assert {path.stem for path in FILES} == drawn.keys()
    for path in FILES:
        assert path.read_text(encoding="utf-8") == drawn[path.stem], f"{path.name}: make pictures"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_complete_in_itself(path) -> None:
    """Nothing from elsewhere, a style for each class, colors for both themes, and words for those who
    do not see it: a title here, an alternative text in the handout."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<script|\bon\w+=|href|@import|url\((?!#)|<image|foreignObject", text)
    root = ElementTree.fromstring(text)
    style = root.findtext(f"{SVG}style") or ""
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    named = set(re.findall(r"var\((--[\w-]+)\)", style))
    for theme in (light, dark[: dark.index("\n")]):
        assert named == set(re.findall(r"(--[\w-]+): ", theme))
    ids = {node.get("id") for node in root.iter()}
    assert set(re.findall(r"url\(#([\w-]+)\)", text)) <= ids
    plain = {"grid", "cells"}  # what they are, not how they look
    classes = {name for node in root.iter() for name in node.get("class", "").split()}
    assert {name for name in classes if f".{name}" not in style} <= plain
    assert root.findtext(f"{SVG}title")
    shown = re.search(rf"!\[([^\]]+)\]\(docs/pictures/{path.name}\)", HANDOUT)
    assert shown and len(shown[1]) > 100


def test_the_sums_of_the_tiles_are_right() -> None:
    """A is 4 x 6, B is 6 x 4, both 1, 2, 3, ...; block (1,0) with tiles of 2. So says the handout, too."""
    texts = words_of(parsed("tiles"))
    sums = [[sum((row * 6 + p + 1) * (p * 4 + col + 1) for p in range(terms))
             for row in (0, 1) for col in (2, 3)] for terms in (2, 4, 6)]
    for row in sums:
        assert [str(value) for value in row if str(value) not in texts] == []
    shown = [text.rpartition("= ")[2] for text in texts if text.startswith("C[0][2]: ")]
    assert shown == [str(row[0]) for row in sums]
    alternative = " ".join(HANDOUT.split())
    assert all(f" {value} after phase {phase}" in alternative for phase, value in enumerate(shown))


def test_the_threads_that_load_are_those_that_guards_allow() -> None:
    """34 x 34 x 34 in blocks of 16 x 16, by number: phases 0 and 1, then phase 2."""
    grids = {node.get("id"): node for node in parsed("guards").iter(f"{SVG}g") if node.get("id")}
    threads = [(row, col) for row in range(48) for col in range(48)]
    for phase in (0, 2):
        loads = {"now-a": [row < 34 and phase * 16 + col % 16 < 34 for row, col in threads],
                 "now-b": [col < 34 and phase * 16 + row % 16 < 34 for row, col in threads]}
        for kind, allowed in loads.items():
            path = next(node.get("d", "") for node in grids[f"threads{phase}"].iter(f"{SVG}path")
                        if node.get("class") == kind)
            boxes = re.findall(r"M(\d+) (\d+)h4v(\d+)h-4z", path)
            covered = {(y // 8 + i, x // 8) for x, y, height in (map(int, box) for box in boxes)
                       for i in range(height // 8)}
            assert covered == {thread for thread, is_so in zip(threads, allowed, strict=True) if is_so}
