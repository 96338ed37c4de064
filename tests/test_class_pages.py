"""A class's pages with what is around them: records of the real grader, the repository, a browser. Of hidden
cases nothing stands in a student's page; what the grader writes is what course/ reads; the command on a page
shows the mistake. Screenshots are left in build/screenshots."""

import html
import json
import re
from pathlib import Path
from typing import Any

import grader_fake as fake
import pytest
from browser import MEDIA, assert_accessible, assert_fits, assert_nothing_amiss, media, shot, window
from conftest import REPOSITORY, Tree, finished, sample
from test_pages import both_pages, class_page, feedback, standing

from course.model import Override
from course.record import OF_STUDENTS, RESULT, Record, read_record
from grader.record.student import student_view
from instructor.release.leaks import secrets_of

# ---- what students must not find ------------------------------------------------------------------

HIDDEN = [fake.case("quagga-thylacine", 7919, 6007, 5003, suite="hidden/dodo", seed=918273645,
                    title="Where the great auk nested", hint="what does the great auk eat?"),
          fake.case("moa-of-the-south", 4409, 3301, 2203, suite="hidden/dodo", seed=564738291,
                    points=4.0, criteria=["tiled"]),
          fake.shape("passenger-pigeon", 8563, suite="hidden/dodo")]
PUBLIC = [fake.case("34", points=2.0, criteria=["memory"]),
          fake.case("64", 64, 64, 64, points=1.0, criteria=["tiled"]), fake.shape("fast")]
SUITES = [fake.suite(*PUBLIC, points={"memory": 2.0, "tiled": 3.0}),
          fake.suite(*HIDDEN, name="hidden/dodo", points={"tiled": 2.0})]
SECRET = ("quagga thylacine moa pigeon dodo auk hidden/ 918273645 564738291 1020304050 7919 6007 5003 "
          "4409 3301 2203 8563").split()


Both = tuple[Record, Record]


def graded(text: str, **more: Any) -> Both:
    """For staff, and for students, as course/ reads them: whatever it reads is what the grader means."""
    record = fake.grading(text, SUITES, seed=1020304050, **more).run()
    read = []
    for written in (record, student_view(record)):
        known = Record.model_validate_json(written.model_dump_json())
        assert without_more(known.model_dump(), json.loads(written.model_dump_json()))
        assert [item.nothing_lost for item in known.items] == [
            item.nothing_lost for item in written.items]
        read.append(known)
    return read[0], read[1]


def without_more(known: Any, written: Any) -> bool:
    """All that is known was written."""
    if isinstance(known, dict):
        return all(name in written and without_more(value, written[name])
                   for name, value in known.items())
    if isinstance(known, list):
        return len(known) == len(written) and all(map(without_more, known, written))
    return bool(known == written)


@pytest.mark.parametrize("gpu", [False, True])
@pytest.mark.parametrize("verb", ["right", "naive", "wrong", "leak", "race", "starter", "hang",
                                  "crash", "copies", "error"])
@pytest.mark.parametrize("where", ["everywhere", "hidden"])
def test_hidden_cases_stand_in_no_file_of_a_student(verb: str, where: str, gpu: bool, tmp_path: Path) -> None:
    """Searched for as `make release` does, and word by word; staff see them."""
    text = "34 34 34: right\n64 64 64: right\n" if where == "hidden" else ""
    record, seen = graded("error" if verb == "error" else
                    f"cause: row-length 3\n{text}clock 8563 8563 8563: wrong 8563\n{verb}", gpu=gpu)
    which = standing(record, seen=seen, content="int main;\n" * 40, late="late", notes=("7919 for staff",),
                     override=Override("ada", "was ill", extension=1))
    page = feedback(which, tmp_path)
    secrets = secrets_of(SUITES[1:], SUITES[:1])
    assert not secrets.not_searched and len(secrets.sizes) == 3
    if verb == "wrong":  # a cause of public cases, and shown for these alone
        assert (fake.WHAT in page.text) == (where == "everywhere")
    said = (tmp_path / "ada.html").read_text()
    assert list(secrets.search("ada.html", said)) == []
    shown = re.sub(r"'sha256-[^']*'|--seed \d+", "", said)  # a public case's seed
    assert [word for word in SECRET if word in shown.replace(",", "")] == []
    staff = class_page([which], tmp_path)
    if record.build.ok:
        assert "hidden/dodo/quagga-thylacine" in staff.text and "m=7919 k=6007 n=5003" in staff.text


# ---- in a browser --------------------------------------------------------------------------------


@pytest.mark.parametrize(("scheme", "which"), sample(
    [("light", 0), ("dark", 0), ("light", 1), ("dark", 1)], every=3))  # each page and each scheme once
def test_in_a_browser(driver: Any, tmp_path: Path, which: int, scheme: str) -> None:
    """For everybody; nothing is refused by the policy; no page scrolls sideways."""
    path = both_pages(tmp_path)[which]
    with media(driver, MEDIA[scheme]):
        driver.get_log("browser")
        driver.get(path.as_uri())
        assert_nothing_amiss(driver)
        driver.execute_script("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(251, 251, 250)", "dark": "rgb(22, 22, 24)"}[scheme]
        for width in (360, 768, 1400):
            with window(driver, width, 800):
                assert_fits(driver)
                shot(driver, f"{path.stem}, {scheme}, {width}")
        assert_accessible(driver)


def test_on_paper(driver: Any, tmp_path: Path) -> None:
    """Dark on light, for those whose screen is dark as well."""
    with media(driver, MEDIA["dark"]):
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        driver.get(both_pages(tmp_path)[0].as_uri())
        ink = driver.execute_script("return getComputedStyle(document.body).color")
        assert ink == "rgb(27, 27, 29)"
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


# ---- for real ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_next_command_shows_the_mistake(tree: Tree, venv: Path, tmp_path: Path) -> None:
    """A faulty kernel, graded; the command on its page, run by the shell as a student would."""
    kernel = REPOSITORY / "instructor" / "faulty" / "01_first_barrier.cu"
    tree.make("grade", f"SUBMISSION={kernel}", f"RESULTS={tmp_path}", "NAME=ada", f"VENV={venv}", check=False)
    record = read_record(tmp_path / "ada" / RESULT)
    seen = read_record(tmp_path / "ada" / OF_STUDENTS)
    source_there = (tmp_path / "ada" / "kernel.cu").read_text()
    page = feedback(standing(record, seen=seen, content=source_there), tmp_path)
    source = (tmp_path / "ada.html").read_text()
    here = next(number for number, line in enumerate(kernel.read_text().splitlines(), 1) if "<- here" in line)
    assert f"kernel.cu:{here}: race on shared memory" in page.text
    assert re.search(r'<li class="mistake"><code>[^<]*&lt;- here', source)
    [command] = re.findall(r'<code class="command">(.*?)</code>', source)
    done = finished(html.unescape(command), tree.path, {"KERNEL": str(kernel)}, shell=True)
    assert done.returncode == 1, done
    assert f"{kernel.name}:{here}: race on shared memory" in done.stdout
