"""A real browser (Chromium, driven by selenium) for tests of pages. A plugin of pytest's
(conftest.py), so that all of them have the fixture `driver`."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, missing, need

SECONDS = 60  # for a page to open on a busy machine
SCREENSHOTS = REPOSITORY / "build" / "screenshots"

MEDIA = {
    "light": [("prefers-color-scheme", "light")], "dark": [("prefers-color-scheme", "dark")],
    "reduced motion": [("prefers-reduced-motion", "reduce")],
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What opens a page comes first, so that one worker has it all: each more would start a browser. And tests of
    one page (`tiled` of test_walk_page.py) follow each other."""
    def place(item: pytest.Item) -> int:
        names = getattr(item, "fixturenames", ())
        return ("tiled" not in names) if "driver" in names else 2

    items.sort(key=place)


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    from selenium import webdriver

    browser = shutil.which("chromium") or shutil.which("chromium-browser") or missing("chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                     "--force-device-scale-factor=1", "--window-size=1400,1100"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options, webdriver.ChromeService(need("chromedriver")))
    started.set_script_timeout(SECONDS)
    yield started
    started.quit()


def shot(driver: Any, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))


def assert_nothing_amiss(driver: Any) -> None:
    """No error or refusal was logged since the log was last read; nothing was asked for from
    outside."""
    assert driver.get_log("browser") == []
    asked = driver.execute_script(
        "return performance.getEntriesByType('resource').map((e) => e.name)")
    assert asked == []


@contextmanager
def window(driver: Any, width: int, height: int) -> Iterator[None]:
    """Of this size, in pixels."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextmanager
def media(driver: Any, features: Sequence[tuple[str, str]]) -> Iterator[None]:
    """As for a reader who has asked for this: MEDIA."""
    named = [{"name": name, "value": value} for name, value in features]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": named})
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def assert_fits(driver: Any) -> None:
    """The page does not scroll sideways."""
    assert driver.execute_script(
        "const e = document.documentElement; return e.scrollWidth <= e.clientWidth")


def assert_accessible(driver: Any) -> None:
    """axe-core's rules for WCAG 2 and good practice find nothing, on a telephone neither."""
    import axe_playwright_python

    axe = Path(axe_playwright_python.__file__).parent / "axe.min.js"
    driver.execute_script(axe.read_text())
    for width, height in ((1400, 1000), (390, 844)):
        with window(driver, width, height):
            found = driver.execute_async_script(
                "const done = arguments[0]; axe.run().then((r) => done(r.violations))")
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
