"""What pages show of the mistakes that `make check` names: `make diagnosis` writes each of mistakes.toml
as it is printed, and docs/check.md and docs/look.md have an example; and the tables of findings and causes."""

import shutil

from checked import Builder, run_check
from conftest import REPOSITORY
from corpus import SEEDED
from kinds import CAUSES, KINDS

from instructor.faulty import diagnosis

EXAMPLES = diagnosis.examples()


def test_an_entry_has_the_headline_and_its_name(checker: Builder) -> None:
    """Whether each mistake is named at its line is test_mistakes.py's question."""
    each = EXAMPLES["b-row-length-k"]
    folder = checker("gcc -O1", "kernel.cu").parent
    kernel = folder / f"{each.style}.cu"
    kernel.write_text(each.text)
    shutil.copy2(checker("gcc -O1", kernel.name), folder / "sgemm-check")
    kernel.unlink()
    entry = diagnosis.entry(folder, each)
    assert entry.startswith(f"**{each.mistake}**: {each.did}. `row-length`:\n\n```\nhandout.cu:")
    assert "symptom:" not in entry and "hint:" not in entry and entry.endswith("\n```\n")


def test_every_mistake_is_in_the_page_below_a_heading() -> None:
    titles = diagnosis.sections()
    assert list(EXAMPLES) == list(dict.fromkeys(each.mistake for each in SEEDED))
    assert next(iter(titles)) == next(iter(EXAMPLES)) and len(titles) > 10


def test_the_documentation_has_the_tables() -> None:
    """As findings.def and causes.def have them."""
    page = (REPOSITORY / "docs" / "check.md").read_text()
    findings = [(kind.name, kind.meaning) for kind in KINDS.values()]
    for table in (findings, CAUSES.items()):
        rows = [f"| `{name}` | {meaning} |\n" for name, meaning in table]
        assert "|---|---|\n" + "".join(rows) + "\n" in page


def test_the_documentation_shows_what_is_printed(checker: Builder) -> None:
    """The race at the beginning of README.md and check.md; the examples of a cause and of --indices."""
    race, row = "first-barrier-missing_handout", "b-row-length-k_handout"
    for name, options, pages in ((race, [], ["README.md"]), (race, [], ["docs/check.md"]),
                                 (row, ["--indices"], ["docs/check.md", "docs/look.md"])):
        (each,) = [each for each in SEEDED if each.name == name]
        folder = checker("gcc -O1", "kernel.cu").parent
        kernel = folder / "handout.cu"
        kernel.write_text(each.text)
        printed = run_check(checker("gcc -O1", kernel.name), *options, "--seed", 1).stdout
        kernel.unlink()
        printed, _, command = printed.strip().rpartition("\n")
        assert command == "next: make walk KERNEL=handout.cu"
        text = " ".join(" ".join((REPOSITORY / page).read_text().split()) for page in pages)
        for part in printed.strip().split("\n\n"):
            assert " ".join(part.replace("handout.cu", "kernel.cu").split()) in text, part
