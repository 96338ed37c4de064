"""docs/pictures: true, in the colors of the walkthrough, and readable by themselves wherever they are shown."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from conftest import REPOSITORY

from instructor.release import tile

FILES = sorted((REPOSITORY / "docs" / "pictures").iterdir())
HANDOUT = (REPOSITORY / "handout.md").read_text(encoding="utf-8")
GUARDS = (REPOSITORY / "docs/pictures/guards.svg").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def parsed(name: str) -> ElementTree.Element:
    return ElementTree.parse(REPOSITORY / "docs" / "pictures" / f"{name}.svg").getroot()


def words_of(root: ElementTree.Element) -> list[str]:
    return [words for text in root.iter(f"{SVG}text") for words in text.itertext()]


def colors_in(style: str) -> dict[str, str]:
    return dict(re.findall(r"(--[\w-]+): ([^;]+);", style))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_their_colors_are_those_of_the_walkthrough(path) -> None:
    page = (REPOSITORY / "engine/show/page/view/page.css").read_text(encoding="utf-8").split("@media")[:2]
    style = (parsed(path.stem).findtext(f"{SVG}style") or "").split("@media")
    for here, there in zip(map(colors_in, style), map(colors_in, page), strict=True):
        assert here and here.items() <= there.items()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_complete_in_itself(path) -> None:
    """Nothing from elsewhere, a style for each class, colors for both themes, and words for those who
    do not see it: a title here, an alternative text in the handout."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<script|\bon\w+=|href=(?!\"#)|@import|url\((?!#)|<image|foreignObject", text)
    root = ElementTree.fromstring(text)
    style = root.findtext(f"{SVG}style") or ""
    named = set(re.findall(r"var\((--[\w-]+)\)", style))
    for theme in style.split("@media (prefers-color-scheme: dark)"):
        assert named == colors_in(theme).keys()
    ids = {node.get("id") for node in root.iter()}
    assert set(re.findall(r"(?:url\(|href=\")#([\w-]+)", text)) <= ids
    classes = {name for node in root.iter() for name in node.get("class", "").split()}
    assert classes == set(re.findall(r"\.([a-z][\w-]*)", style))
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


@pytest.mark.parametrize("size", tile.WORDS)
def test_the_threads_that_load_are_those_that_guards_allow(size: int) -> None:
    """34 x 34 x 34 in blocks of 16 x 16, by number: phases 0 and 1, then phase 2. The same for other tiles."""
    root = ElementTree.fromstring(tile.guards_for(GUARDS, size))
    edge, threads = 2 * size + 2, [(row, col) for row in range(3 * size) for col in range(3 * size)]
    assert f"phase 2: 2 of its {size} terms exist" in words_of(root)
    for phase in (0, 2):
        loads = {"loads-a": [row < edge and phase * size + col % size < edge for row, col in threads],
                 "loads-b": [col < edge and phase * size + row % size < edge for row, col in threads]}
        group = next(node for node in root.iter(f"{SVG}g") if node.get("id") == f"phase-{phase}")
        assert group.get("transform") == f"scale({128 // size})"
        for kind, allowed in loads.items():
            covered = {thread for box in group if box.get("class") == kind for thread in threads_in(box)}
            assert covered == {thread for thread, is_so in zip(threads, allowed, strict=True) if is_so}
    stores = next(node for node in root.iter(f"{SVG}rect") if node.get("class") == "mine")
    assert [*threads_in(stores)] == [(row, col) for row, col in threads if row < edge and col < edge]


def threads_in(box: ElementTree.Element) -> Iterator[tuple[int, int]]:
    x, y, width, height = (int(box.get(name, "0")) for name in ("x", "y", "width", "height"))
    return ((row, col) for row in range(y, y + height) for col in range(x, x + width))


def test_the_numbers_beside_the_threads_follow_the_tile() -> None:
    assert tile.guards_for(GUARDS, tile.USUAL) == GUARDS
    for size in tile.WORDS:
        words = words_of(ElementTree.fromstring(tile.guards_for(GUARDS, size)))
        numbers = [str(half * size // 2) for half in range(6)]
        assert [word for word in words if word.isdigit()] == [*numbers, *numbers]
