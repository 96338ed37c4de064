"""What the pages say of the mistakes that `make check` names: docs/diagnosis.md, which `make
diagnosis` writes, has each of mistakes.toml as it is printed, and docs/check.md an example."""

from __future__ import annotations

import re
import shutil

import pytest
from checked import Builder, run_check
from conftest import REPOSITORY, sample
from corpus import SEEDED

from instructor.faulty import diagnosis
from instructor.faulty.mistakes import Seeded

PAGE = diagnosis.PAGE.read_text()
EXAMPLES = diagnosis.examples()
ENTRY = re.compile(r"^\*\*(\S+)\*\*: (.*)\. `(\S+)`:\n\n```\n((?:.+\n)+?)```\n", re.MULTILINE)


def test_the_page_has_every_mistake() -> None:
    """In the order of the table, with a cause or a finding that test_mistakes.py accepts."""
    found = ENTRY.findall(PAGE)
    assert [entry[0] for entry in found] == list(EXAMPLES) == list(
        dict.fromkeys(each.mistake for each in SEEDED)), "make diagnosis"
    for mistake, did, name, lines in found:
        each = EXAMPLES[mistake]
        assert did.replace("`", "") == each.did
        assert name in each.causes + each.found or not each.causes
        assert re.match(rf"{each.style}\.cu:\d+: ", lines) and "symptom:" not in lines
    assert f"\n{len(EXAMPLES)} mistakes " in PAGE and f" {len(SEEDED)} in all" in PAGE
    assert f"prints for {len(EXAMPLES)} mistakes" in (REPOSITORY / "README.md").read_text()


def test_the_page_has_the_sections_of_the_table() -> None:
    titles = diagnosis.sections()
    assert re.findall("^## (.*)", PAGE, re.MULTILINE) == list(titles.values())
    assert next(iter(titles)) == next(iter(EXAMPLES)) and len(titles) > 10


@pytest.mark.parametrize("each", sample(list(EXAMPLES.values()), every=45),
                         ids=lambda each: each.mistake)
def test_the_page_shows_what_is_printed(checker: Builder, each: Seeded) -> None:
    """If not: make diagnosis."""
    folder = checker("gcc -O1", "kernel.cu").parent
    kernel = folder / f"{each.style}.cu"
    kernel.write_text(each.text)
    shutil.copy2(checker("gcc -O1", kernel.name), folder / "sgemm-check")
    assert diagnosis.entry(folder, each) in PAGE
    kernel.unlink()


def test_facts_end_where_the_symptom_begins(checker: Builder) -> None:
    run = run_check(checker("gcc -O1", "instructor/faulty/18_b_stride_k.cu"), "--seed", 1)
    lines = diagnosis.first_lines(run.stdout)
    assert lines[-1].startswith("    (from a run with ") and "row" in lines[0]
    assert run.stdout.splitlines()[len(lines)].startswith("    symptom: ")
    assert diagnosis.first_lines("k.cu:1: a\n    b\n    m=1 k=1 n=1\n") == ["k.cu:1: a", "    b"]


def test_the_documentation_shows_what_is_printed(checker: Builder) -> None:
    """The example of a cause, and that of --indices, both of this mistake."""
    (each,) = [each for each in SEEDED if each.name == "b-row-length-k_handout"]
    page = (REPOSITORY / "docs" / "check.md").read_text()
    folder = checker("gcc -O1", "kernel.cu").parent
    kernel = folder / "handout.cu"
    kernel.write_text(each.text)
    printed = run_check(checker("gcc -O1", kernel.name), "--indices", "--seed", 1).stdout
    kernel.unlink()
    printed, _, command = printed.strip().rpartition("\n")
    assert command == "next: make walk KERNEL=handout.cu"
    for part in printed.strip().split("\n\n"):
        words = part.replace("handout.cu", "kernel.cu").split()
        assert " ".join(words) in " ".join(page.split()), part
