"""The walkthrough's page in a real browser (Chromium, driven by selenium): what a student sees and
can do.

A failure here means that the page shows something else than the run, cannot be used by everybody,
or asks for anything from outside. Screenshots of its main states are left in build/screenshots.
"""

import base64
import hashlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from browser import (MEDIA, SECONDS, assert_accessible, assert_fits, assert_nothing_amiss, media, shot,
                     window)
from checked import TILED, Builder
from conftest import REPOSITORY, sample
from corpus import faulty
from test_walk import NAIVE, RIGHT, STYLES, accesses, parts, replay, walk

if "CI" not in os.environ:
    pytest.importorskip("selenium")  # so that the other tests are collected on a machine with a GPU

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402


HOOKS = """const {run, state, selection} = app;
const find = (which) => run.arrays.find(({number, name}) => [number, name].includes(which));
window.walk = {
    goto: (step, lane) => goTo(app, {step, lane}),
    get step() { return state.step; },
    get lane() { return state.lane; },
    get thread() { return selection.thread; },
    get loads() { return loadsSoFar(state); },
    steps: run.steps.length,
    state: (which, array = find(which)) => [...Array(array.words).keys()].map((offset) => {
        const place = {array, offset}, store = storeAt(state, place);
        return {offset, value: valueAt(state, place), isStored: store !== null}; }).filter(({value}) => value !== undefined),
    about: (which, offset) => describePlace(state, {array: find(which), offset}),
    sums: (thread) => sumsOf(run, thread).map((sum) => ({followed: sum.followed, ...sumSoFar(state, sum)})),
};"""
"""What tests ask and do beside what a reader sees and can do, by the page's own functions."""


class Page:
    """A page of the walkthrough, opened; `again`: also if it is open already."""

    def __init__(self, driver: Any, file: Path, fragment: str = "", again: bool = True):
        self.driver = driver
        driver.get_log("browser")  # what an earlier page has left there
        if again or driver.current_url.partition("#")[0] != file.as_uri():
            driver.get("about:blank")
            driver.get(file.as_uri() + fragment)
            self.wait_for(lambda: self.js("return document.body.dataset.ready"))
            self.js(HOOKS)

    def js(self, script: str, *args: object) -> Any:
        return self.driver.execute_script(script, *args)

    def wait_for(self, condition: Callable[[], Any]) -> None:
        from selenium.webdriver.support.ui import WebDriverWait  # which takes as long as ten test files

        WebDriverWait(self.driver, SECONDS).until(lambda _: condition())

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


# Of a kernel, and further words for the checker.
PAGES: dict[str, tuple[object, ...]] = {
    "tiles of 2": (f"{RIGHT}/small_tiles.cu", 4), "tiled": (TILED,), "naive": (NAIVE,),
    "1 x 1 x 1": (TILED, 1, 1, 1), "32 x 32": (f"{STYLES}/tiles_32.cu",),
    "64 x 64 blocks": (f"{STYLES}/tiles_32.cu", "--block", "63,63", 2048, 2, 2048),
    "register tile": (f"{STYLES}/register_tile.cu",), "1-D block": (f"{STYLES}/one_dimensional.cu",),
    "dynamic": (f"{STYLES}/dynamic.cu",), "shuffle": (f"{RIGHT}/warp_shuffle.cu",),
    "split k": (f"{RIGHT}/split_k.cu",), "doubles": (f"{RIGHT}/shared_ints_and_chars.cu", "--fill", "random"),
}  # fmt: skip
MISTAKES = {
    "race": "01_first_barrier", "race at the end": "02_second_barrier", "divergent": "03_barrier_in_branch",
    "outside": "04_a_columns", "outside B": "05_b_columns", "endless": "15_phase_not_counted",
    "wrong row": "18_b_stride_k", "wrong grid": "18_grid_exchanged", "wrong": "18_one_element",
    "never written": "18_last_column_of_blocks",
}
PAGES |= {name: (faulty(fault),) for name, fault in MISTAKES.items()}
PAGES["endless"] += ("--timeout", 0.5)
AT_NIGHT = partial(pytest.param, marks=pytest.mark.slow)

Opened = tuple[Page, Any]
"""With the data that is in it."""
Open = Callable[..., Opened]


@pytest.fixture(scope="session")
def opened(driver: Any, checker: Builder, folder: Path) -> Open:
    """Of PAGES, each made once."""
    made: dict[str, Any] = {}

    def open_page(name: str, fragment: str = "", again: bool = True) -> Opened:
        file = folder / f"{name}.html"
        if name not in made:
            kernel, *words = PAGES[name]
            made[name] = walk(checker("gcc -O1", kernel), file, *words, status=int(name in MISTAKES))
        return Page(driver, file, fragment, again), made[name]

    return open_page


@pytest.fixture
def tiled(opened: Open) -> Opened:
    """The model answer on 20 x 36 times 36 x 20. Tests leave the page at some step, and otherwise as it was."""
    return opened("tiled", again=False)


@pytest.fixture
def page(driver: Any, opened: Open) -> Iterator[Page]:
    """The same, for a test that changes more."""
    yield opened("tiled")[0]
    driver.get("about:blank")


def test_steps_forward_and_back(tiled: Opened) -> None:
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


def test_the_end_is_c_as_computed(tiled: Opened) -> None:
    page, data = tiled
    page.js("""const slider = document.getElementById('slider');
               slider.value = slider.max;
               slider.dispatchEvent(new Event('input', {bubbles: true}));""")
    assert page.step == len(data["steps"]) - 1
    shown = {each["offset"]: each["value"] for each in page.js("return walk.state('C')")
             if each["isStored"]}  # fmt: skip
    assert len(shown) == 256
    assert all(data["arrays"][2]["final"][offset] == value for offset, value in shown.items())
    sums = page.js("return walk.sums(17)")
    assert [(each["followed"], each["done"], each["value"]) for each in sums] == [
        (True, 36, data["arrays"][2]["final"][21])]  # fmt: skip
    loads = sum(len(each.values) for each in accesses(data) if each.array < 2 and not each.write)
    assert page.js("return walk.loads") == loads
    assert f"{loads}" in page.text("totals") and f"{data['loads']['naive']:,}" in page.text("totals")
    page.shot("tiled, end")


def test_panels(tiled: Opened) -> None:
    """B is above C and A left of it, row beside row and column above column, in each phase. A sum that is not stored
    is shown apart in C's cells, until a thread stores it there."""
    page, data = tiled
    for step, in_register in ((len(data["steps"]) // 2, True), (len(data["steps"]) - 1, False)):
        page.goto(step)
        grids = page.grids()
        A, B, C = (grids[title] for title in ("A  20 × 36", "B  36 × 20", "C  20 × 20"))
        assert A["top"] == C["top"] and A["height"] == C["height"] and A["right"] < C["left"]
        assert B["left"] == C["left"] and B["width"] == C["width"] and B["bottom"] < C["top"]
        assert page.js("return Boolean(document.querySelector('#scene .in-register'))") == in_register


def test_keys(tiled: Opened) -> None:
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
    page.wait_for(lambda: page.step >= 1)
    page.press(Keys.SPACE)
    assert page.js("return document.getElementById('play').getAttribute('aria-pressed')") == "false"


def test_one_thread_at_a_time(page: Page) -> None:
    """What later lanes of the warp do in the step has not happened yet; back is the same picture."""
    page.goto(0)
    whole = page.picture()
    page.press(Keys.HOME, "t", *[Keys.ARROW_RIGHT] * 5)
    assert page.js("return [walk.step, walk.lane, walk.thread, walk.loads]") == [0, 4, 4, 5]
    assert len(page.js("return walk.state('A_s')")) == 5
    tile = page.js("return document.querySelector('#grid-0 .phase-a').getAttribute('d')")
    assert tile.count("M") == 5
    assert "thread (4,0) loads A[0][4] = 5 and stores it to A_s[0][4]" in page.text("sentence")
    assert page.text("step-number").endswith(", thread (4,0)")
    before = page.picture()
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert page.picture() == before
    page.press("t")
    page.goto(0)
    page.js("location.hash = '#step=0&thread=0'")
    page.wait_for(lambda: page.js("return walk.thread") == 0)
    assert page.picture() == whole


def test_provenance(tiled: Opened) -> None:
    """What the page says of ten cells of a tile is what the trace holds."""
    page, data = tiled
    first_barrier = next(i for i, step in enumerate(data["steps"]) if step[2] < 0)
    page.goto(first_barrier)
    found = [each for each in accesses(data) if each.step <= first_barrier]
    loads = {(each.step, each.thread): each for each in found if each.array == 0}
    stores = {each.offset: each for each in found if each.array == 3 and each.write}
    assert len(stores) == 256
    for offset in range(5, 256, 25):
        store = stores[offset]
        load = loads[store.step, store.thread]
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
            accesses += [[names.index(name), lane, seen[name] + lane, int(value)] for lane, value in enumerate(values)]
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
    ("A 5 6; B 5 8; s 5 6; t 5 9", "s: A[0] A[1], t: ? ?"),  # 9 is computed
]


def test_a_copy_is_of_what_no_other_load_can_be(tiled: Opened) -> None:
    """Where several loads brought the same number, the other stores of the instruction decide which one
    it was; otherwise it stays unknown."""
    for lines, known in COPIES:
        found = tiled[0].js("""const run = decodeRun(arguments[0]), found = {s: [], t: []};
            for (const a of run.accesses) if (a.write) found[a.array.name].push(originName(a) || '?');
            return found;""", copies(lines))  # fmt: skip
        assert ", ".join(f"{name}: {' '.join(found[name])}" for name in "st") == known, lines


def test_sentences(tiled: Opened) -> None:
    """Of a line in which one of two threads loads, and both store; and of an element beyond the grid, which block
    it belongs to, by the index of the store."""
    page, data = tiled
    some = copies("A 5 6, s 5 6")
    del some["steps"][0][3][1]
    said = page.js("""const state = makeState(decodeRun(arguments[0]));
        state.step = 0;
        return actingSentence(state, state.run.steps[0]);""", some)
    assert "1 of 2 threads load A[0]; all 2 threads store to s[0, 1]." in said
    small = data | {"launch": data["launch"] | {"grid": [1, 2, 1]}}
    said = page.js("""const run = decodeRun(arguments[0]);
        return whoShouldStore(run, {array: run.arrays[2], offset: 16});""", small)
    assert said.endswith("C[0][16] belongs to thread (0,0) of block (1,0), but the grid has only 1 x 2 blocks.")


@pytest.mark.parametrize("name, words", [
    ("race", "__syncthreads()"), ("wrong", "C"), *(AT_NIGHT(*values) for values in (
        ("race at the end", "__syncthreads()"), ("divergent", "barrier"), ("outside", "A"), ("outside B", "B"),
        ("wrong row", "B"),
        ("wrong grid", "C[32][0] belongs to thread (0,0) of block (0,2), but the grid has only 3 x 2 blocks")))])
def test_finding(opened: Open, name: str, words: str) -> None:
    """It is on the page with its line and hint; the page opens at its step, with its thread selected; f leads
    on to the other thread's step, if there is one, and back."""
    page, data = opened(name)
    finding, said = data["finding"], page.text("finding")
    shown = finding["cause"] or finding
    assert shown["what"] in said and shown["hint"] in said and words in said
    assert f"{shown['line']}" in said
    step, other = finding["step"], finding["other_step"]
    if step is None:
        assert page.step == page.js("return walk.steps") - 1
    else:
        assert page.step == step and "Finding: " in page.text("sentence")
        if data["steps"][step][2] >= 0:  # no barrier
            x, y, _ = finding["thread"]
            assert page.text("thread-name") == f"({x},{y})"
        page.press("f")
        assert page.step == (step if other is None else other)
        page.press(Keys.HOME, "f")
        assert page.step in (step, other)
    page.assert_nothing_amiss()


# ---- the first view, in the window of a small laptop -------------------------------------------------

SMALL_LAPTOP = (1280, 720)


@pytest.fixture
def first_view(driver: Any, opened: Open, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """One of PAGES as it opens."""
    with window(driver, *SMALL_LAPTOP):
        yield opened(request.param)


def first_views(*names: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("first_view", [*names], indirect=True)


@first_views("wrong", AT_NIGHT("never written"))
def test_opens_at_the_end(first_view: Opened) -> None:
    """Where the finding has no step: with the first element in view that is wrong or missing, and the
    thread selected that stores it."""
    page, data = first_view
    assert data["finding"]["step"] is None and page.step == len(data["steps"]) - 1
    C = data["arrays"][2]
    offset = C["wrong"][0][0] if C["wrong"] else C["unwritten"][0][0]
    row, col = divmod(offset, C["dims"][1])
    labels = page.js("""return [[...document.querySelectorAll('#grid-2 .label:not(.side)')],
        [...document.querySelectorAll('#grid-2 .side')]].map((each) => each.map((e) => e.textContent))""")
    assert str(col) in labels[0] and str(row) in labels[1]
    if C["wrong"]:
        block, (x, y) = data["block"], data["launch"]["block"][:2]
        assert page.text("thread-name") == f"({col - x * block[0]},{row - y * block[1]})"


@first_views("tiled", "naive", "race", "wrong", *map(AT_NIGHT, (
    "tiles of 2", "outside", "never written", "divergent", "32 x 32", "register tile")))
def test_first_view(first_view: Opened, request: pytest.FixtureRequest) -> None:
    """Without a finding it is of the first barrier, where all tiles are full, or of the first step. It can be read:
    no text of the picture is smaller than 12 pixels, and each input and full tile shows numbers. And it is whole: C
    and all other grids are in the window; no pane is cut by its lower edge, and none has anything that is to be
    scrolled but the code."""
    page, data = first_view
    if not data["finding"]:
        barriers = [i for i, step in enumerate(data["steps"]) if step[2] < 0]
        assert page.step == (barriers[0] if barriers else 0) and page.js("return walk.loads") > 0
        assert ("__syncthreads()" in page.text("sentence")) == bool(barriers)
        tiles = [array for array in data["arrays"] if array["role"] == "shared"]
        assert len(tiles) == (2 if barriers else 0)
        assert all(len(page.js("return walk.state(arguments[0])", array["name"])) == array["words"]
                   for array in tiles)
    page.shot(f"first view, {request.node.callspec.id}")
    assert page.smallest_text() >= 12
    for number, array in enumerate(data["arrays"]):
        if array["role"] == "output" or not page.js("return walk.state(arguments[0]).length", number):
            continue
        assert page.js("return document.querySelectorAll(arguments[0]).length",
                       f"#grid-{number} .values text") > 0, array["name"]
    assert page.js("return scrollY") == 0
    assert "C" in {title.split()[0] for title in page.grids()}
    assert all(0 <= box["top"] and box["bottom"] <= 720 and box["right"] <= 1280
               for box in page.grids().values())  # fmt: skip
    assert page.js("""const boxes = [...document.querySelectorAll('header, nav, section, #cell, .legend, details')]
        .filter((each) => each.checkVisibility()).map((each) => [each.id, each.getBoundingClientRect()]);
        return boxes.filter(([, box]) => box.top < innerHeight && box.bottom > innerHeight).map(([id]) => id)""") == []
    assert page.js("""return [...document.querySelectorAll('body *')].filter((each) => each.id !== 'code' &&
        each.checkVisibility() && getComputedStyle(each).overflowY === 'auto' && (each.scrollHeight >
        each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1)).map((e) => e.id)""") == []


BUTTONS = """return [...document.querySelectorAll('button')].filter((each) =>
    !each.closest('#finding') && each.checkVisibility()).map((each) => each.id)"""


@first_views(AT_NIGHT("naive"), "race")
def test_four_buttons(first_view: Opened) -> None:
    """And one that shows the others, and hides them again."""
    page, data = first_view
    more = page.driver.find_element(By.ID, "more")
    barriers = any(step[2] < 0 for step in data["steps"])
    few = ["back", "play", "forward", "barrier-forward" if barriers else "skip", "more"]
    assert (page.js(BUTTONS), more.get_attribute("aria-expanded")) == (few, "false")
    more.click()
    assert {"start", "end", "skip", "skip-back"} < {*page.js(BUTTONS)}
    assert ("finding-forward" in page.js(BUTTONS)) == (data["finding"] is not None)
    assert more.get_attribute("aria-expanded") == "true"
    more.click()
    assert page.js(BUTTONS) == few


@first_views("tiled")
def test_lens(first_view: Opened) -> None:
    """It shows the numbers at the selected thread's place: of the tile, and of A where they are from."""
    page, _ = first_view
    number = str(9 * 36 + 10 + 1)  # A[9][10], loaded by thread (10,9)
    shown = """return [0, 3].map((array) => [...document.querySelectorAll(`#grid-${array} .values text`)]
        .some((each) => each.textContent === arguments[0]))"""
    assert page.js(shown, number) == [False, False]
    page.js("location.hash = '#thread=154'")
    page.wait_for(lambda: page.js("return walk.thread") == 154)
    assert page.js(shown, number) == [True, True]


def test_undefined_after_divergence(opened: Open) -> None:
    """After a barrier that not all threads reach, the page says that a GPU may do something else."""
    page, data = opened("divergent")
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


def test_recording_that_was_cut(opened: Open, tiled: Opened) -> None:
    """How many phases there are is not known then, and why it was cut is said."""
    page, _ = tiled
    assert page.text("cut") == "" and "phase 1 of 3" in page.text("bar")
    page, _ = opened("race at the end")
    assert ", phase 1: " in page.text("step-number") and "of 2" not in page.text("bar")
    assert f"The recording stops at step {page.step}, in phase 1, at the mistake: " in page.text("cut")
    assert page.text("cut").endswith(" later accesses are not shown.") and "later" not in page.text("sentence")


@pytest.mark.slow  # by day test_walk.py looks at its data, and another page says where it was cut
def test_kernel_that_does_not_end(opened: Open) -> None:
    page, data = opened("endless")
    assert page.step == len(data["steps"]) - 1
    many = "" if data["counted"] else "more than "  # A slow machine may not have filled the trace.
    assert f"the kernel ran on until it was stopped, and {many}" in page.text("cut")
    assert not page.js("return document.querySelector('.waiters')"), "those of a later moment"
    page.assert_nothing_amiss()


PRINTS = ('    if (m < 0 || threadIdx.x == 99) printf("</script><script>document.title = 1</script> \\" \' é 中 '
          '<!-- &lt; \\x01 %d", k);')


@pytest.fixture(scope="module")
def of_a_student(checker: Builder, folder: Path) -> tuple[Path, Any]:
    """The page of a kernel with odd text in it and in its name, whose first barrier is for one phase alone;
    and its data."""
    text = (REPOSITORY / TILED).read_text().replace(
        "__syncthreads();", f"{PRINTS} if (phase == 0) __syncthreads();", 1)
    kernel, file = folder / "<b> 'a\" é.cu", folder / "hostile.html"
    kernel.write_text("#include <stdio.h>\n" + text)
    return file, walk(checker("gcc -O1", kernel), file, status=1)


def test_barrier_that_is_missed_in_a_phase(driver: Any, of_a_student: tuple[Path, Any]) -> None:
    file, data = of_a_student
    page = Page(driver, file)
    line = next(i for i, text in enumerate(data["source"], 1) if "phase == 0" in text)
    words = f"line {line}, but the two threads did not both reach it in tile phase 1"
    assert words in page.text("finding")
    assert page.text(f"line-{line}").endswith("not reached by both threads in phase 1")


def test_text_of_a_student(driver: Any, of_a_student: tuple[Path, Any]) -> None:
    """A string in the source that would end the script, quotes and Unicode are shown as they are; no text
    ends the element that it is in. Only the page's own style and script may be used, by their hashes."""
    file, data = of_a_student
    found = parts(file.read_text())
    assert "<" not in found["data"] and data["source"][0] == "#include <stdio.h>"
    assert any(PRINTS in each for each in data["source"])
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        digest = base64.b64encode(hashlib.sha256(found[element].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in found["policy"]
    assert found["policy"].startswith("default-src 'none'; ")
    page = Page(driver, file)
    assert PRINTS.strip() in page.text("code") and "<b> 'a\" é.cu" in driver.title
    page.assert_nothing_amiss()


def test_atomics(opened: Open) -> None:
    """They are called that, with the old value and the new one, and their sums are followed."""
    page, data = opened("split k")
    step = next(i for i, each in enumerate(data["steps"]) if data["sites"][each[3][0][0]]["atomic"])
    page.goto(step)
    value, old = data["steps"][step][3][0][3:]
    assert "atomically update C[0, 1][0..15]" in page.text("sentence")
    assert f"C[0][0] = {old:g} → {value:g}" in page.text("sentence")
    assert "atomic update of C" in page.text("strips")
    assert f"Added atomically at line {data['steps'][step][0]}" in page.text("sum")
    assert page.js("return walk.sums(0)")[0]["followed"]
    page.assert_nothing_amiss()


def test_values_of_doubles(opened: Open) -> None:
    """They are kept as they are, not as floats."""
    page, data = opened("doubles")
    page.press(Keys.END)
    sums = next(i for i, array in enumerate(data["arrays"]) if array["name"] == "sums")
    held = replay(data)[sums]
    assert len(held) == 64 and not data["arrays"][sums]["float32"]
    assert {each["offset"]: each["value"] for each in page.js("return walk.state('sums')")} == held


def test_what_the_warp_does(tiled: Opened) -> None:
    """Said only of an access that several of its threads make."""
    page, _ = tiled
    page.goto(0)
    words = "In the warp, neighboring threads access neighboring elements: coalesced"
    assert words in page.text("index")
    page.js("walk.goto(0, 3)")
    assert "A[" in page.text("index") and "In the warp" not in page.text("index")


def test_focus_is_not_below_the_bar(page: Page) -> None:
    """By the Tab key alone, through the whole page and back to its beginning."""
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
    for name in ("play", "slider", "unit", "speed", "cursor-0", "cursor-threads"):
        assert name in seen
    assert "scene" not in seen and len(seen) < 60


@pytest.mark.parametrize("width, height", sample([(320, 640), (640, 900), (720, 450), (1024, 700)], every=2))
def test_narrow_windows(tiled: Opened, width: int, height: int) -> None:
    """Nothing but matrices and tables scrolls sideways; 720 x 450 is 1440 x 900 at a zoom of 200 %."""
    page, _ = tiled
    with window(page.driver, width, height):
        page.goto(20)
        assert_fits(page.driver)
        bar = page.js("""const bar = document.getElementById('time');
                         return getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0""")
        assert bar < 0.45 * height
        page.shot(f"{width} x {height}")


@pytest.mark.parametrize("name", sample(
    ["1 x 1 x 1", "split k", "naive", "register tile", "1-D block", "dynamic", "shuffle", "64 x 64 blocks"], every=8))
def test_other_kernels(opened: Open, name: str) -> None:
    """Every step can be shown; nothing is asked for from outside, no error is logged."""
    page, data = opened(name)
    assert page.js("return walk.steps") == len(data["steps"])
    for step in range(0, len(data["steps"]), max(1, len(data["steps"]) // 9)):
        page.goto(step)
        assert page.text("sentence").startswith(("Line", "A barrier", "Barrier")), page.text("sentence")
    page.shot(name)
    page.press(Keys.END)
    page.assert_nothing_amiss()


@pytest.mark.parametrize(("name", "medium"), sample(
    [(name, medium) for name in ("tiled", "race", "divergent") for medium in MEDIA],
    every=8, start=4))  # by day light is test_walk_other_lab.py's
def test_accessible(driver: Any, opened: Open, name: str, medium: str) -> None:
    """For everybody, in each of their media; nothing moves by itself."""
    step = 16 if name == "divergent" else 3
    with media(driver, MEDIA[medium]):
        page, _ = opened(name, f"#step={step}")
        page.shot(f"{name}, {medium}")
        assert_accessible(driver)
        assert page.step == step
