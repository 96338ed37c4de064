"""The walkthrough's page of a lab with arrays of one dimension and without sums: vector addition.

A failure here means that the page cannot be opened for another lab than SGEMM, or speaks of SGEMM
there."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import assert_accessible
from conftest import Tree
from other_lab import OF_SGEMM, check, kernel, tree_with_lab
from test_walk import parts
from test_walk_page import Page

RIGHT = "if (i < n) c[i] = a[i] + b[i];"
ARTICLE = re.compile(r"\bA (?=step|phase)")  # of sentences of the help


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    return tree_with_lab(tmp_path_factory.mktemp("another lab"), programs)


def opened(driver: Any, tree: Tree, line: str, *words: str) -> tuple[Page, Any]:
    done = check(tree, kernel(line), "--walk", "page.html", *words)
    assert "open in a browser: page.html" in done.stdout, done.stdout
    file = tree.path / "page.html"
    return Page(driver, file), json.loads(parts(file.read_text())["data"])


def cells(page: Page, array: int, kind: str) -> int:
    """How many of an array's cells are painted so."""
    path = page.js("return document.querySelector(arguments[0]).getAttribute('d') || ''",
                   f"#grid-{array} .{kind}")
    return path.count("M")


def assert_nothing_of_sgemm(page: Page) -> None:
    """With all that can be opened open, in each step; and no error is logged."""
    page.js("for (const each of document.querySelectorAll('details')) each.open = true")
    for step in range(-1, page.js("return walk.steps")):
        page.goto(step)
        text = page.js("""const said = (name) => [...document.querySelectorAll('main [' + name + ']')]
            .filter((each) => each.checkVisibility()).map((each) => each.getAttribute(name));
            return [document.body.innerText, ...said('aria-label'), ...said('title')].join('\\n')""")
        assert "Keyboard shortcuts and how to read this page" in text and "Step" in text
        found = OF_SGEMM.search(ARTICLE.sub("", text))
        assert not found, f"{found} in step {step}"
    page.assert_nothing_amiss()


def test_a_correct_kernel(driver: Any, tree: Tree) -> None:
    """Arrays lie below each other, in rows of 32, with numbers that can be read; what threads load and
    store is marked, and the page opens with what the first ones do."""
    page, data = opened(driver, tree, RIGHT, "100")
    assert [(each["name"], each["dims"]) for each in data["arrays"]] == [(name, [100]) for name in "abc"]
    assert "c has 100 elements (n=100)" in page.text("launch")
    grids = page.grids()
    assert list(grids) == ["a  100", "b  100", "c  100", "threads: x →, y ↓"]
    arrays = list(grids.values())[:3]
    assert all(above["bottom"] < below["top"] for above, below in itertools.pairwise(arrays))
    assert page.step == 0 and page.smallest_text() >= 12
    assert page.js("return [...document.querySelectorAll('#grid-0 .side')].map((e) => e.textContent)") == \
        ["0", "32", "64", "96"]
    page.goto(1)
    assert [cells(page, *which) for which in ((0, "now-a"), (1, "now-b"), (2, "now-c"))] == [32] * 3
    assert "all 32 threads load a[32..63] and b[32..63] and store to c[32..63]" in page.text("sentence")
    page.goto(len(data["steps"]) - 1)
    assert [cells(page, *which) for which in ((0, "phase-a"), (1, "phase-b"), (2, "stored"))] == [100] * 3
    assert [cells(page, array, "void") for array in range(3)] == [28] * 3
    shown = [each["value"] for each in page.js("return walk.state('c')")]
    assert shown == pytest.approx(data["arrays"][2]["final"], rel=1e-8) and len(shown) == 100
    assert not page.js("return document.getElementById('sum-pane').checkVisibility()")
    assert page.js("return walk.sums(0)") == []
    page.shot("vector addition")
    assert_nothing_of_sgemm(page)
    assert_accessible(driver)


def test_without_its_guard(driver: Any, tree: Tree) -> None:
    """The page opens at the finding, and shows where the access is: behind the last element."""
    page, data = opened(driver, tree, "c[i] = a[i] + b[i];", "100")
    assert data["finding"]["step"] == 3 and "line 3: load from a beyond its end" in page.text("finding")
    assert page.step == 3 and "Thread (100,0) loads a[100] = NaN (outside a)" in page.text("sentence")
    assert cells(page, 0, "outside") == 1 and cells(page, 1, "outside") == 0
    page.shot("vector addition without its guard")
    assert_nothing_of_sgemm(page)


def test_elements_that_are_wrong_or_missing(driver: Any, tree: Tree) -> None:
    page, data = opened(driver, tree, "if (i < n - 5) c[i] = i == 70 ? 0 : a[i] + b[i];", "100")
    a, b, c = data["arrays"]
    assert c["unwritten"] == [[95, 5]] and [offset for offset, _ in c["wrong"]] == [70]
    assert c["wrong"][0][1] == pytest.approx(a["values"][70] + b["values"][70], rel=1e-6)
    page.goto(len(data["steps"]) - 1)
    assert (cells(page, 2, "missing"), cells(page, 2, "wrong")) == (5, 1)
    for offset, said in ((70, "Wrong: it should be"),
                         (95, "c[95] belongs to thread (95,0) of block (0,0), which does not store it.")):
        assert said in " ".join(page.js("return walk.about('c', arguments[0])", offset))
    assert_nothing_of_sgemm(page)
