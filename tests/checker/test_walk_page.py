"""The walkthrough's page in a real browser (Chromium, driven by selenium): what a student sees and
can do.

A failure here means that the page shows something else than the run, cannot be used by everybody,
or asks for anything from outside. Screenshots of its main states are left in build/screenshots.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from checked import TILED, Builder
from conftest import REPOSITORY, missing, need
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from test_walk import FAULTY, NAIVE, STYLES, Access, accesses, walk

SECONDS = 60  # for a page to open on a busy machine
SCREENSHOTS = REPOSITORY / "build" / "screenshots"


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

    def shot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    def assert_nothing_amiss(self) -> None:
        assert self.driver.get_log("browser") == []
        assert self.js("return performance.getEntriesByType('resource').map((e) => e.name)") == []


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or missing("chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                     "--force-device-scale-factor=1", "--window-size=1400,1100"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options, webdriver.ChromeService(need("chromedriver")))
    yield started
    started.quit()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def tiled(driver: Any, checker: Builder, folder: Path) -> tuple[Page, Any]:
    """The model answer on 20 x 36 times 36 x 20, and its data."""
    file = folder / "tiled.html"
    data = walk(checker("gcc -O1", TILED), file)
    return Page(driver, file), data


def test_steps_forward_and_back(tiled: tuple[Page, Any]) -> None:
    """The same picture, from whichever side a step is reached."""
    page, _ = tiled
    steps = page.js("return walk.steps")
    for step in range(0, steps - 1, steps // 7):
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


def test_loads_are_those_of_the_run(driver: Any, checker: Builder, folder: Path) -> None:
    """Of a grid of one block: the same figure as that of ./sgemm-check --counts (test_walk.py)."""
    data = walk(checker("gcc -O1", TILED), folder / "one.html", 16, 40, 16)
    page = Page(driver, folder / "one.html")
    assert page.js("return walk.loads") == 0
    page.press(Keys.END)
    assert page.js("return walk.loads") == data["loads"]["launch"] == 2 * 16 * 40
    assert "1,280" in page.text("totals") and "20,480" in page.text("totals")  # and the naive one's


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


@pytest.mark.parametrize("name, words", [
    ("01_first_barrier", "__syncthreads()"), ("02_second_barrier", "__syncthreads()"),
    ("18_b_stride_k", "B"), ("18_grid_exchanged", "grid"), ("03_barrier_in_branch", "barrier"),
    ("05_b_columns", "B")])  # fmt: skip
def test_finding(driver: Any, checker: Builder, folder: Path, name: str, words: str) -> None:
    """It is on the page with its line and hint, and f leads to its step."""
    file = folder / f"{name}.html"
    kernel = f"{FAULTY}/{name}.cu"
    finding = walk(checker("gcc -O1", kernel), file, status=1)["finding"]
    page = Page(driver, file, "#finding")
    said = page.text("finding")
    shown = finding["cause"] or finding
    assert shown["what"] in said and shown["hint"] in said and words in said
    assert f"{shown['line']}" in said
    if finding["step"] is not None:
        assert page.step == finding["step"]
        page.press(Keys.HOME, "f")
        assert page.step in (finding["step"], finding["other_step"])
    page.shot(name)
    page.assert_nothing_amiss()


@pytest.mark.parametrize("kernel, args", [
    (NAIVE, ()), (TILED, (1, 1, 1)), (f"{STYLES}/register_tile.cu", ()),
    (f"{STYLES}/one_dimensional.cu", ()), ("tests/kernels/right/dynamic_shared.cu", ()),
    ("tests/kernels/right/warp_shuffle.cu", ()), ("tests/kernels/right/split_k.cu", ()),
    (f"{STYLES}/tiles_32.cu", ("--block", "63,63", 2048, 2, 2048))],
    ids=["naive", "1 x 1 x 1", "register tile", "1-D block", "dynamic", "shuffle", "split k",
         "64 x 64 blocks"])  # fmt: skip
def test_other_kernels(driver: Any, checker: Builder, folder: Path, kernel: str,
                       args: tuple[object, ...], request: pytest.FixtureRequest) -> None:
    """Every step can be shown; nothing is asked for from outside, no error is logged."""
    file = folder / "other.html"
    data = walk(checker("gcc -O1", kernel), file, *args)
    page = Page(driver, file)
    assert page.step == -1 and page.js("return walk.steps") == len(data["steps"])
    for step in range(0, len(data["steps"]), max(1, len(data["steps"]) // 9)):
        page.goto(step)
        assert page.text("sentence").startswith(("Line", "A barrier", "Barrier")), page.text("sentence")
    page.shot(request.node.callspec.id)
    page.press(Keys.END)
    page.assert_nothing_amiss()


def test_text_of_a_student(driver: Any, checker: Builder, folder: Path) -> None:
    """A string in the source that would end the script, quotes and Unicode are shown as they are."""
    line = '    if (m < 0) printf("</script><script>document.title = 1</script> \\" \' é 中 <!-- &lt;");'
    text = (REPOSITORY / TILED).read_text().replace("__syncthreads();", line + " __syncthreads();", 1)
    kernel = folder / "hostile.cu"
    kernel.write_text("#include <stdio.h>\n" + text)
    walk(checker("gcc -O1", kernel), folder / "hostile.html", 4)
    page = Page(driver, folder / "hostile.html")
    assert line.strip() in page.text("code") and "hostile.cu" in page.driver.title
    page.assert_nothing_amiss()


MEDIA = {
    "light": [("prefers-color-scheme", "light")], "dark": [("prefers-color-scheme", "dark")],
    "reduced motion": [("prefers-reduced-motion", "reduce")],
}  # fmt: skip


@pytest.mark.parametrize("media", MEDIA)
@pytest.mark.parametrize("which", ["tiled", "01_first_barrier"])
def test_accessible(driver: Any, checker: Builder, folder: Path, which: str, media: str) -> None:
    """axe-core's rules for WCAG 2 and good practice find nothing; nothing moves by itself."""
    axe = Path(axe_playwright_python.__file__).parent / "axe.min.js"
    file = folder / f"axe {which}.html"
    if which == "tiled":
        walk(checker("gcc -O1", TILED), file)
    else:
        walk(checker("gcc -O1", f"{FAULTY}/{which}.cu"), file, status=1)
    features = [{"name": name, "value": value} for name, value in MEDIA[media]]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        page = Page(driver, file, "#step=3")
        page.js(axe.read_text())
        found = driver.execute_async_script(
            "const done = arguments[0]; axe.run().then((r) => done(r.violations))")
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
        assert page.step == 3
        page.shot(f"{which}, {media}")
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
