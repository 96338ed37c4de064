"""The walkthrough's page in a real browser (Chromium, driven by selenium): what a student sees and
can do.

A failure here means that the page shows something else than the run, cannot be used by everybody,
or asks for anything from outside. Screenshots of its main states are left in build/screenshots.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from browser import (MEDIA, SECONDS, assert_accessible, assert_fits, assert_nothing_amiss, media, shot,
                     window)
from checked import TILED, Builder
from conftest import REPOSITORY, sample, slow_but
from corpus import faulty
from test_walk import NAIVE, STYLES, Access, accesses, parts, replay, walk

if "CI" not in os.environ:
    pytest.importorskip("selenium")  # so that the other tests are collected on a machine with a GPU

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402


@pytest.fixture(scope="session")
def checker(lean_checker: Builder) -> Builder:
    return lean_checker


class Page:
    """A page of the walkthrough, opened."""

    def __init__(self, driver: Any, file: Path, fragment: str = ""):
        self.driver = driver
        driver.get_log("browser")  # what an earlier page has left there
        driver.get("about:blank")
        driver.get(file.as_uri() + fragment)
        WebDriverWait(driver, SECONDS).until(lambda _: self.js("return document.body.dataset.ready"))

    def js(self, script: str, *args: object) -> Any:
        return self.driver.execute_script(script, *args)

    @property
    def step(self) -> int:
        return self.js("return walk.step")

    def goto(self, step: int) -> None:
        self.js("walk.goto(arguments[0])", step)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.driver.find_element(By.TAG_NAME, "body").send_keys(key)

    def text(self, identifier: str) -> str:
        return self.js("return document.getElementById(arguments[0]).textContent", identifier)

    def picture(self) -> str:
        """What is drawn and said, but for the row of buttons."""
        return self.js("""return ['scene-box', 'code', 'sum', 'strips', 'totals', 'sentence']
            .map((id) => document.getElementById(id).outerHTML).join('').replaceAll(' d=""', '')""")

    def grids(self) -> dict[str, Any]:
        """Where they are, by their titles."""
        return dict(self.js("""return [...document.querySelectorAll('#scene .grid')].map((each) =>
            [each.querySelector('.grid-title').textContent, each.querySelector('.frame').getBoundingClientRect()])"""))

    def smallest_text(self) -> float:
        """Of the picture, in pixels."""
        return self.js("""return Math.min(...[...document.querySelectorAll('#scene text')]
            .map((each) => parseFloat(getComputedStyle(each).fontSize)))""")

    def shot(self, name: str) -> None:
        shot(self.driver, name)

    def assert_nothing_amiss(self) -> None:
        assert_nothing_amiss(self.driver)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def tiled_data(checker: Builder, folder: Path) -> Any:
    """The model answer on 20 x 36 times 36 x 20, as tiled.html shows it."""
    return walk(checker("gcc -O1", TILED), folder / "tiled.html")


@pytest.fixture
def tiled(driver: Any, tiled_data: Any, folder: Path) -> tuple[Page, Any]:
    """Its page, opened, and its data."""
    return Page(driver, folder / "tiled.html"), tiled_data


def test_steps_forward_and_back(tiled: tuple[Page, Any]) -> None:
    """The same picture, from whichever side a step is reached."""
    page, _ = tiled
    steps = page.js("return walk.steps")
    for step in range(0, steps - 1, steps // 4):
        page.goto(step)
        before = page.picture()
        page.press(Keys.ARROW_RIGHT)
        assert page.step == step + 1 and page.picture() != before
        page.press(Keys.ARROW_LEFT)
        assert page.step == step and page.picture() == before
        page.goto(steps - 1)
        page.goto(step)
        assert page.picture() == before
    page.assert_nothing_amiss()


def test_the_end_is_c_as_computed(tiled: tuple[Page, Any]) -> None:
    page, data = tiled
    page.js("""const slider = document.getElementById('slider');
               slider.value = slider.max;
               slider.dispatchEvent(new Event('input', {bubbles: true}));""")
    assert page.step == len(data["steps"]) - 1
    shown = {each["offset"]: each["value"] for each in page.js("return walk.state('C')")
             if each["writer"]}  # fmt: skip
    assert len(shown) == 256
    assert all(data["arrays"][2]["final"][offset] == value for offset, value in shown.items())
    sums = page.js("return walk.sums(17)")
    assert [(each["followed"], each["done"], each["sum"]) for each in sums] == [
        (True, 36, data["arrays"][2]["final"][21])]  # fmt: skip
    page.shot("tiled, end")


def test_panels(tiled: tuple[Page, Any]) -> None:
    """B is above C and A left of it, row beside row and column above column, in each phase."""
    page, data = tiled
    for step in (0, len(data["steps"]) - 1):
        page.goto(step)
        grids = page.grids()
        A, B, C = (grids[title] for title in ("A  20 × 36", "B  36 × 20", "C  20 × 20"))
        assert A["top"] == C["top"] and A["height"] == C["height"] and A["right"] < C["left"]
        assert B["left"] == C["left"] and B["width"] == C["width"] and B["bottom"] < C["top"]


def test_loads_are_those_of_the_run(driver: Any, checker: Builder, folder: Path) -> None:
    """Of a grid of one block: the same figure as that of ./sgemm-check --counts (test_walk.py)."""
    data = walk(checker("gcc -O1", TILED), folder / "one.html", 16, 40, 16)
    page = Page(driver, folder / "one.html")
    page.press(Keys.HOME)
    assert page.js("return walk.loads") == 0
    page.press(Keys.END)
    assert page.js("return walk.loads") == data["loads"]["launch"] == 2 * 16 * 40
    assert "1280" in page.text("totals") and "20,480" in page.text("totals")  # and the naive one's


def test_keys(tiled: tuple[Page, Any]) -> None:
    page, data = tiled
    barriers = [i for i, step in enumerate(data["steps"]) if step[2] < 0]
    page.press(Keys.HOME)
    assert page.step == -1
    page.press("b")
    assert page.step == barriers[0]
    page.press("b", "b", "B")
    assert page.step == barriers[1]
    page.press("p")
    phase = page.step
    assert barriers[1] <= phase <= barriers[1] + 1
    page.press("p", "P")
    assert page.step == phase
    page.press(Keys.END)
    assert page.step == len(data["steps"]) - 1
    page.press(Keys.HOME, Keys.SPACE)
    WebDriverWait(page.driver, SECONDS).until(lambda _: page.step >= 1)
    page.press(Keys.SPACE)
    assert page.js("return document.getElementById('play').getAttribute('aria-pressed')") == "false"


def test_one_thread_at_a_time(tiled: tuple[Page, Any]) -> None:
    """What later lanes of the warp do in the step has not happened yet; back is the same picture."""
    page, _ = tiled
    page.goto(0)
    whole = page.picture()
    page.press(Keys.HOME, "t", *[Keys.ARROW_RIGHT] * 5)
    assert page.js("return [walk.step, walk.lane, walk.thread, walk.loads]") == [0, 4, 4, 5]
    assert len(page.js("return walk.state('A_s')")) == 5
    tile = page.js("return document.querySelector('#grid-0-0 .phase-a').getAttribute('d')")
    assert tile.count("M") == 5
    assert "thread (4,0) loads A[0][4] = 5 and stores it to A_s[0][4]" in page.text("sentence")
    assert page.text("step-number").endswith(", thread (4,0)")
    before = page.picture()
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert page.picture() == before
    page.press("t")
    page.goto(0)
    page.js("location.hash = '#step=0&thread=0'")
    WebDriverWait(page.driver, SECONDS).until(lambda _: page.js("return walk.thread") == 0)
    assert page.picture() == whole


def chains(found: list[Access], array: int) -> dict[int, tuple[Access, Access]]:
    """For each element of a shared array: the load and the store that its first value came by."""
    made: dict[int, tuple[Access, Access]] = {}
    for load in found:
        if load.array > 1 or load.write:
            continue
        for store in found:
            if (store.write and store.array == array and store.step == load.step
                    and store.thread == load.thread):  # fmt: skip
                made.setdefault(store.offset, (load, store))
    return made


def test_provenance(tiled: tuple[Page, Any]) -> None:
    """What the page says of ten cells of a tile is what the trace holds."""
    page, data = tiled
    first_barrier = next(i for i, step in enumerate(data["steps"]) if step[2] < 0)
    found = [each for each in accesses(data) if each.step <= first_barrier]
    page.goto(first_barrier)
    made = chains(found, 3)
    assert len(made) == 256
    for offset in range(5, 256, 25):
        load, store = made[offset]
        said = " ".join(page.js("return walk.about('A_s', arguments[0])", offset))
        element = f"A[{load.offset // 36}][{load.offset % 36}]"
        thread = f"({store.thread % 16},{store.thread // 16})"
        assert f"{element} → A_s[{offset // 16}][{offset % 16}], stored by thread {thread}" in said
        assert f"at line {store.line}" in said


def copies(lines: str) -> dict[str, Any]:
    """Data as data.c writes them, of two threads: "A 5 6, s 5 6; ..." is a line in which they load 5 and 6
    from the next elements of A, and store them to s."""
    names, steps, seen = "ABst", [], dict.fromkeys("ABst", 0)
    for line, text in enumerate(lines.split("; "), 1):
        accesses = []
        for name, *values in map(str.split, text.split(", ")):
            accesses.append([names.index(name), 3, [seen[name], seen[name] + 1], [*map(int, values)]])
            seen[name] += 2
        steps.append([line, 0, 0, accesses])
    array = {"float32": True, "bytes": 4, "dims": [4], "words": 4, "params": [0], "values": [0] * 4}
    return {
        "shape": {"n": 4}, "block": [0, 0, 0], "steps": steps, "sum": None, "indices": None, "left_out": 0,
        "launch": {"grid": [1, 1, 1], "block": [2, 1, 1]}, "end": {"stopped": False},
        "arrays": [{**array, "name": name, "role": "input" if name in "AB" else "shared"} for name in names],
        "sites": [{"line": 1, "array": i, "write": name in "st", "words": 1} for i, name in enumerate(names)],
    }  # fmt: skip


COPIES = [
    ("A 5 6; B 5 8; s 5 6; t 5 8", "s: A[0] A[1], t: B[0] B[1]"),
    ("B 5 8; A 5 6; t 5 8; s 5 6", "s: A[0] A[1], t: B[0] B[1]"),
    ("A 5 6; B 5 6; s 5 6; t 5 6", "s: ? ?, t: ? ?"),
    ("A 5 6, s 5 6; B 5 6, t 5 6", "s: A[0] A[1], t: B[0] B[1]"),
    ("A 5 6; A 5 7; s 5 6; t 5 7", "s: ? A[1], t: ? A[3]"),
    ("A 5 6; B 5 8; s 5 6; t 5 9", "s: A[0] A[1], t: ? ?"),  # 9 is computed
]


def test_a_copy_is_of_what_no_other_load_can_be(tiled: tuple[Page, Any]) -> None:
    """Where several loads brought the same number, the other stores of the instruction decide which one
    it was; otherwise it stays unknown."""
    for lines, known in COPIES:
        found = tiled[0].js("""const run = decodeRun(arguments[0]), found = {s: [], t: []};
            for (let a = 0; a < run.accesses.count; a++)
                if (siteOf(run, a).write) found[arrayOf(run, a).name].push(originName(run, a) || '?');
            return found;""", copies(lines))  # fmt: skip
        assert ", ".join(f"{name}: {' '.join(found[name])}" for name in "st") == known, lines


def test_threads_that_took_part_are_counted(tiled: tuple[Page, Any]) -> None:
    """In a line in which one of two loads, and both store."""
    data = copies("A 5 6, s 5 6")
    data["steps"][0][3][0][1:] = [1, [0], [5]]
    said = tiled[0].js("""const state = makeState(decodeRun(arguments[0]));
        state.step = 0;
        return actingSentence(state, state.run.steps[0]);""", data)
    assert "1 of 2 threads load A[0]; all 2 threads store to s[0, 1]." in said


@pytest.mark.parametrize("name, words", sample([
    ("01_first_barrier", "__syncthreads()"), ("02_second_barrier", "__syncthreads()"), ("18_b_stride_k", "B"),
    ("18_grid_exchanged", "C[32][0] belongs to thread (0,0) of block (0,2), but the grid has only 3 x 2 blocks"),
    ("03_barrier_in_branch", "barrier"), ("05_b_columns", "B")], every=3))  # fmt: skip
def test_finding(driver: Any, checker: Builder, folder: Path, name: str, words: str) -> None:
    """It is on the page with its line and hint; the page opens at its step, and f leads there."""
    file = folder / f"{name}.html"
    kernel = faulty(name)
    finding = walk(checker("gcc -O1", kernel), file, status=1)["finding"]
    page = Page(driver, file)
    said = page.text("finding")
    shown = finding["cause"] or finding
    assert shown["what"] in said and shown["hint"] in said and words in said
    assert f"{shown['line']}" in said
    if finding["step"] is None:
        assert page.step == page.js("return walk.steps") - 1
    else:
        assert page.step == finding["step"] and "Finding: " in page.text("sentence")
        page.press(Keys.HOME, "f")
        assert page.step in (finding["step"], finding["other_step"])
    page.shot(name)
    page.assert_nothing_amiss()


def opened(driver: Any, checker: Builder, folder: Path, kernel: str, *args: object,
           status: int = 0) -> tuple[Page, Any]:
    file = folder / f"{Path(kernel).stem}.html"
    data = walk(checker("gcc -O1", kernel), file, *args, status=status)
    return Page(driver, file), data


# The first view, in the window of a small laptop. What a page opens with, by its kernel and sizes.
TILES_OF_2 = "tests/kernels/right/counts_tile_2.cu"
FIRST_VIEWS = {
    "tiles of 2": (TILES_OF_2, 4), "tiled": (TILED,), "naive": (NAIVE,), "race": (faulty("01_first_barrier"),),
    "outside": (faulty("04_a_columns"),), "wrong": (faulty("18_one_element"),),
    "never written": (faulty("18_last_column_of_blocks"),), "divergent": (faulty("03_barrier_in_branch"),),
    "32 x 32": (f"{STYLES}/tiles_32.cu",), "register tile": (f"{STYLES}/register_tile.cu",),
}  # fmt: skip
SMALL_LAPTOP = (1280, 720)


@pytest.fixture
def first_view(driver: Any, checker: Builder, folder: Path, request: pytest.FixtureRequest
               ) -> Iterator[tuple[Page, Any]]:
    """The page of one of FIRST_VIEWS, as it opens, and its data."""
    kernel, *sizes = FIRST_VIEWS[request.param]
    file = folder / f"first {request.param}.html"
    status = 1 if "faulty/" in str(kernel) and "styles" not in str(kernel) else 0
    if not file.exists():
        walk(checker("gcc -O1", kernel), file, *sizes, status=status)
    with window(driver, *SMALL_LAPTOP):
        page = Page(driver, file)
        page.shot(f"first view, {request.param}")
        yield page, json.loads(parts(file.read_text())["data"])


BY_DAY = ("tiled", "race", "wrong")
AT_NIGHT = partial(pytest.param, marks=pytest.mark.slow)


def first_views(*names: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("first_view", [*names], indirect=True)


@first_views(AT_NIGHT("tiles of 2"), "tiled")
def test_opens_at_the_first_barrier(first_view: tuple[Page, Any]) -> None:
    """Where both tiles are full, and are seen to be."""
    page, data = first_view
    assert page.step == next(i for i, step in enumerate(data["steps"]) if step[2] < 0)
    assert "__syncthreads()" in page.text("sentence")
    tiles = [array for array in data["arrays"] if array["role"] == "shared"]
    assert len(tiles) == 2
    assert all(len(page.js("return walk.state(arguments[0])", array["name"])) == array["words"]
               for array in tiles)


@first_views("naive")
def test_opens_at_the_first_step(first_view: tuple[Page, Any]) -> None:
    """Where there is no barrier."""
    page, _ = first_view
    assert page.step == 0 and page.js("return walk.loads") > 0


@first_views("race", AT_NIGHT("outside"))
def test_opens_at_the_finding(first_view: tuple[Page, Any]) -> None:
    """With the thread of it selected; f leads on to the other thread's step, if there is one."""
    page, data = first_view
    finding = data["finding"]
    assert page.step == finding["step"] and "Finding: " in page.text("sentence")
    x, y, _ = finding["thread"]
    assert page.text("thread-name") == f"({x},{y})"
    page.press("f")
    assert page.step == (finding["step"] if finding["other_step"] is None else finding["other_step"])


@first_views("wrong", AT_NIGHT("never written"))
def test_opens_at_the_end(first_view: tuple[Page, Any]) -> None:
    """Where the finding has no step: with the first element in view that is wrong or missing, and the
    thread selected that stores it."""
    page, data = first_view
    assert data["finding"]["step"] is None and page.step == len(data["steps"]) - 1
    C = data["arrays"][2]
    offset = C["wrong"][0][0] if C["wrong"] else C["unwritten"][0][0]
    row, col = divmod(offset, C["dims"][1])
    labels = page.js("""return [[...document.querySelectorAll('#grid-2-0 .label:not(.side)')],
        [...document.querySelectorAll('#grid-2-0 .side')]].map((each) => each.map((e) => e.textContent))""")
    assert str(col) in labels[0] and str(row) in labels[1]
    if C["wrong"]:
        block, (x, y) = data["block"], data["launch"]["block"][:2]
        assert page.text("thread-name") == f"({col - x * block[0]},{row - y * block[1]})"


@first_views(*slow_but([*FIRST_VIEWS], lambda _, name: name in BY_DAY))
def test_first_view(first_view: tuple[Page, Any]) -> None:
    """It can be read: no text of the picture is smaller than 12 pixels, and each input and full tile
    shows numbers. And it is whole: C and all other grids are in the window; no pane is cut by its lower
    edge, and none has anything that is to be scrolled but the code."""
    page, data = first_view
    assert page.smallest_text() >= 12
    for number, array in enumerate(data["arrays"]):
        if array["role"] == "output" or not page.js("return walk.state(arguments[0]).length", number):
            continue
        assert page.js("return document.querySelectorAll(arguments[0]).length",
                       f"#grid-{number}-0 .values text") > 0, array["name"]
    assert page.js("return scrollY") == 0
    assert "C" in {title.split()[0] for title in page.grids()}
    assert all(0 <= box["top"] and box["bottom"] <= 720 and box["right"] <= 1280
               for box in page.grids().values())  # fmt: skip
    assert page.js("""const boxes = [...document.querySelectorAll('header, nav, section, #cell, .legend, details')]
        .filter((each) => each.checkVisibility()).map((each) => [each.id, each.getBoundingClientRect()]);
        return boxes.filter(([, box]) => box.top < innerHeight && box.bottom > innerHeight).map(([id]) => id)""") == []
    assert page.js("""return [...document.querySelectorAll('body *')].filter((each) =>
        each.id !== 'code' && each.checkVisibility() && getComputedStyle(each).overflowY === 'auto' &&
        (each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1)).map((e) => e.id)""") == []


BUTTONS = """return [...document.querySelectorAll('button')].filter((each) =>
    !each.closest('#finding') && each.checkVisibility()).map((each) => each.id)"""


@first_views(AT_NIGHT("tiled"), "naive", "race")
def test_four_buttons(first_view: tuple[Page, Any]) -> None:
    """And one that shows the others, and hides them again."""
    page, data = first_view
    more = page.driver.find_element(By.ID, "more")
    barriers = any(step[2] < 0 for step in data["steps"])
    four = ["back", "play", "forward", "barrier-forward" if barriers else "skip"]
    assert page.js(BUTTONS) == [*four, "more"]
    assert more.get_attribute("aria-expanded") == "false"
    more.click()
    all_of_them = page.js(BUTTONS)
    assert {"start", "end", "skip", "skip-back", "zoom-in", "zoom-out"} < {*all_of_them}
    assert ("finding-forward" in all_of_them) == (data["finding"] is not None)
    assert more.get_attribute("aria-expanded") == "true"
    more.click()
    assert page.js(BUTTONS) == [*four, "more"]


@first_views("tiled")
def test_lens(first_view: tuple[Page, Any]) -> None:
    """It shows the numbers at the selected thread's place: of the tile, and of A where they are from."""
    page, _ = first_view
    number = str(9 * 36 + 10 + 1)  # A[9][10], loaded by thread (10,9)
    shown = """return [0, 3].map((array) => [...document.querySelectorAll(`#grid-${array}-0 .values text`)]
        .some((each) => each.textContent === arguments[0]))"""
    assert page.js(shown, number) == [False, False]
    page.js("location.hash = '#thread=154'")
    WebDriverWait(page.driver, SECONDS).until(lambda _: page.js("return walk.thread") == 154)
    assert page.js(shown, number) == [True, True]


def test_undefined_after_divergence(driver: Any, checker: Builder, folder: Path) -> None:
    """After a barrier that not all threads reach, the page says that a GPU may do something else."""
    page, data = opened(driver, checker, folder, faulty("03_barrier_in_branch"), status=1)
    step = data["finding"]["step"]
    hidden = "return document.getElementById('undefined').hidden"
    page.goto(step - 1)
    assert page.js(hidden)
    page.press(Keys.ARROW_RIGHT)
    assert not page.js(hidden)
    assert "On a GPU, whatever follows is undefined" in page.text("sentence")
    page.press(Keys.END)
    assert not page.js(hidden) and f"At step {step} not all threads" in page.text("undefined")
    page.shot("after a divergent barrier")


def test_recording_that_was_cut(driver: Any, checker: Builder, folder: Path, tiled: tuple[Page, Any]) -> None:
    """How many phases there are is not known then, and why it was cut is said."""
    page, _ = tiled
    assert page.text("cut") == "" and "phase 1 of 3" in page.text("bar")
    page, _ = opened(driver, checker, folder, faulty("02_second_barrier"), status=1)
    assert ", phase 1: " in page.text("step-number") and "of 2" not in page.text("bar")
    assert f"The recording stops at step {page.step}, in phase 1, at the mistake: " in page.text("cut")
    assert page.text("cut").endswith(" later accesses are not shown.") and "later" not in page.text("sentence")


@pytest.mark.slow  # by day test_walk.py looks at its data, and another page says where it was cut
def test_kernel_that_does_not_end(driver: Any, checker: Builder, folder: Path) -> None:
    kernel = faulty("15_phase_not_counted")
    page, data = opened(driver, checker, folder, kernel, "--timeout", 0.5, status=1)
    assert page.step == len(data["steps"]) - 1
    many = "" if data["counted"] else "more than "  # A slow machine may not have filled the trace.
    assert f"the kernel ran on until it was stopped, and {many}" in page.text("cut")
    assert page.text("cut").endswith(" later accesses are not shown.")
    assert not page.js("return document.querySelector('.waiters')"), "those of a later moment"
    page.shot("endless")
    page.assert_nothing_amiss()


def test_barrier_that_is_missed_in_a_phase(driver: Any, checker: Builder, folder: Path) -> None:
    kernel = folder / "once.cu"
    text = (REPOSITORY / TILED).read_text()
    kernel.write_text(text.replace("__syncthreads();", "if (phase == 0) __syncthreads();", 1))
    page, data = opened(driver, checker, folder, str(kernel), status=1)
    line = next(i for i, text in enumerate(data["source"], 1) if "phase == 0" in text)
    words = f"line {line}, but the two threads did not both reach it in tile phase 1"
    assert words in page.text("finding")
    assert page.text(f"line-{line}").endswith("not reached by both threads in phase 1")


def test_atomics(driver: Any, checker: Builder, folder: Path) -> None:
    """They are called that, with the old value and the new one, and their sums are followed."""
    page, data = opened(driver, checker, folder, "tests/kernels/right/split_k.cu")
    step = next(i for i, each in enumerate(data["steps"]) if data["sites"][each[3][0][0]]["atomic"])
    page.goto(step)
    value, old = data["steps"][step][3][0][3][0], data["steps"][step][3][0][4][0]
    assert "atomically update C[0, 1][0..15]" in page.text("sentence")
    assert f"C[0][0] = {old:g} → {value:g}" in page.text("sentence")
    assert "atomic update of C" in page.text("strips")
    assert f"Added atomically at line {data['steps'][step][0]}" in page.text("sum")
    assert page.js("return walk.sums(0)")[0]["followed"]
    page.assert_nothing_amiss()


@pytest.mark.slow  # by day other sentences of test_atomics() and test_what_the_warp_does()
def test_indices_of_dynamic_shared_memory(driver: Any, checker: Builder, folder: Path) -> None:
    page, data = opened(driver, checker, folder, "tests/kernels/right/dynamic_shared.cu")
    barrier = next(i for i, step in enumerate(data["steps"]) if step[2] < 0)
    page.goto(barrier + 1)
    assert "all 32 threads load tiles[0, 16] and tiles[256..271]" in page.text("sentence")


def test_values_of_doubles(driver: Any, checker: Builder, folder: Path) -> None:
    """They are kept as they are, not as floats."""
    page, data = opened(driver, checker, folder, "tests/kernels/right/shared_ints_and_chars.cu",
                        "--fill", "random")  # fmt: skip
    page.press(Keys.END)
    sums = next(i for i, array in enumerate(data["arrays"]) if array["name"] == "sums")
    held = replay(data)[sums]
    assert len(held) == 64 and not data["arrays"][sums]["float32"]
    assert {each["offset"]: each["value"] for each in page.js("return walk.state('sums')")} == held


def test_what_the_warp_does(tiled: tuple[Page, Any]) -> None:
    """Said only of an access that several of its threads make."""
    page, data = tiled
    page.goto(0)
    words = "In the warp, neighboring threads access neighboring elements: coalesced"
    assert words in page.text("index")
    page.js("walk.goto(0, 3)")
    assert "A[" in page.text("index") and "In the warp" not in page.text("index")


def test_predict(tiled: tuple[Page, Any]) -> None:
    """A field that is left empty is asked for again, and counts as no answer."""
    page, data = tiled
    page.js("document.getElementById('predict-on').click(); document.activeElement.blur()")
    page.press(Keys.HOME, "b")
    assert "which element of A does thread (0,0) load first?" in page.text("predict-question")
    for missing, typed in (("row", ""), ("column", "0"), (None, "16")):
        field = page.driver.switch_to.active_element
        field.send_keys(typed, Keys.ENTER)
        if missing:
            assert page.text("predict-answer") == f"Please fill in the {missing}."
            assert page.text("predict-score") == ""
    assert page.text("predict-score") == "1 of 1 right" and "A[0][16]" in page.text("predict-answer")
    page.shot("predict")


def test_width_of_the_code(tiled: tuple[Page, Any]) -> None:
    """The border can be moved by keys, which then do not change the step; long lines are not cut."""
    page, _ = tiled
    width = "return document.getElementById('left').offsetWidth"
    page.goto(5)
    before = page.js(width)
    page.js("document.getElementById('split').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.js(width) > before and page.step == 5
    page.driver.switch_to.active_element.send_keys(Keys.HOME)
    assert page.js(width) == 300 and page.step == 5
    assert page.js("""const code = document.getElementById('code');
                      return code.scrollWidth <= code.clientWidth""")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.js(width) == before


def test_focus_is_not_below_the_bar(tiled: tuple[Page, Any]) -> None:
    """By the Tab key alone, through the whole page and back to its beginning."""
    page, _ = tiled
    page.js("document.getElementById('more').click()")
    seen = []
    for _ in range(60):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        tag, name, top, bar = page.js("""
            const node = document.activeElement, box = node.getBoundingClientRect();
            const bar = document.getElementById('time');
            const end = bar.contains(node) ? 0 : bar.getBoundingClientRect().bottom;
            return [node.tagName, node.id, box.top, end]""")
        if tag == "BODY":
            break
        seen.append(name)
        assert top >= bar - 1 or name == "left", (name, top, bar)
    for name in ("play", "slider", "unit", "zoom-in", "split", "cursor-0-0", "cursor-threads"):
        assert name in seen
    assert "predict-on" in seen and "scene" not in seen and len(seen) < 60


@pytest.mark.parametrize("width, height", sample([(320, 640), (640, 900), (720, 450), (1024, 700)], every=2))
def test_narrow_windows(tiled: tuple[Page, Any], width: int, height: int) -> None:
    """Nothing but matrices and tables scrolls sideways; 720 x 450 is 1440 x 900 at a zoom of 200 %."""
    page, _ = tiled
    with window(page.driver, width, height):
        page.goto(20)
        assert_fits(page.driver)
        bar = page.js("""const bar = document.getElementById('time');
                         return getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0""")
        assert bar < 0.45 * height
        page.shot(f"{width} x {height}")


@pytest.mark.parametrize("kernel, args", sample([
    (NAIVE, ()), (TILED, (1, 1, 1)), (f"{STYLES}/register_tile.cu", ()),
    (f"{STYLES}/one_dimensional.cu", ()), ("tests/kernels/right/dynamic_shared.cu", ()),
    ("tests/kernels/right/warp_shuffle.cu", ()), ("tests/kernels/right/split_k.cu", ()),
    (f"{STYLES}/tiles_32.cu", ("--block", "63,63", 2048, 2, 2048))], every=8, start=2),
    ids=["naive", "1 x 1 x 1", "register tile", "1-D block", "dynamic", "shuffle", "split k",
         "64 x 64 blocks"])  # fmt: skip
def test_other_kernels(driver: Any, checker: Builder, folder: Path, kernel: str,
                       args: tuple[object, ...], request: pytest.FixtureRequest) -> None:
    """Every step can be shown; nothing is asked for from outside, no error is logged."""
    file = folder / "other.html"
    data = walk(checker("gcc -O1", kernel), file, *args)
    page = Page(driver, file)
    assert page.js("return walk.steps") == len(data["steps"])
    for step in range(0, len(data["steps"]), max(1, len(data["steps"]) // 9)):
        page.goto(step)
        assert page.text("sentence").startswith(("Line", "A barrier", "Barrier")), page.text("sentence")
    page.shot(request.node.callspec.id)
    page.press(Keys.END)
    page.assert_nothing_amiss()


def test_text_of_a_student(driver: Any, checker: Builder, folder: Path) -> None:
    """A string in the source that would end the script, quotes and Unicode are shown as they are; no text
    ends the element that it is in. Only the page's own style and script may be used, by their hashes."""
    line = ('    if (m < 0 || threadIdx.x == 99) printf("</script><script>document.title = 1</script> \\" \' é 中 '
            '<!-- &lt; \\x01 %d", k);')
    text = (REPOSITORY / TILED).read_text().replace("__syncthreads();", line + " __syncthreads();", 1)
    kernel = folder / "<b> 'a\" é.cu"
    kernel.write_text("#include <stdio.h>\n" + text)
    data = walk(checker("gcc -O1", kernel), folder / "hostile.html", 4)
    found = parts((folder / "hostile.html").read_text())
    assert "<" not in found["data"] and data["source"][0] == "#include <stdio.h>"
    assert any(line in each for each in data["source"])
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        digest = base64.b64encode(hashlib.sha256(found[element].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in found["policy"]
    assert found["policy"].startswith("default-src 'none'; ")
    page = Page(driver, folder / "hostile.html")
    assert line.strip() in page.text("code") and kernel.name in page.driver.title
    page.assert_nothing_amiss()


@pytest.mark.parametrize(("which", "medium"), sample(
    [(which, medium) for which in ("tiled", "01_first_barrier", "03_barrier_in_branch")
     for medium in MEDIA], every=8, start=4))  # by day light is test_walk_other_lab.py's
def test_accessible(driver: Any, checker: Builder, folder: Path, which: str, medium: str,
                    request: pytest.FixtureRequest) -> None:
    """For everybody, in each of their media; nothing moves by itself."""
    file = folder / f"axe {which}.html"
    if which == "tiled":
        walk(checker("gcc -O1", TILED), file)
    else:
        walk(checker("gcc -O1", faulty(which)), file, status=1)
    step = 16 if which == "03_barrier_in_branch" else 3
    with media(driver, MEDIA[medium]):
        page = Page(driver, file, f"#step={step}")
        page.shot(request.node.callspec.id)
        assert_accessible(driver)
        assert page.step == step
