"""`make diagnosis`: build/diagnosis.md, which shows what `make check` prints for each mistake of
mistakes.toml.

Builds a kernel for each mistake, of the style `handout` where that has it, and runs it, in a copy
of the repository, so that it is named as a student's kernel is: some minutes. Exit status: 0; 1 a
mistake is not found, or a kernel is not built; 2 mistakes.toml is not as its head describes it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from instructor.faulty.mistakes import FOLDER, Seeded, seeded

REPOSITORY = FOLDER.parent.parent
PAGE = REPOSITORY / "build" / "diagnosis.md"
NOT_COPIED = (".*", "build", "results", "tests", "sgemm", "sgemm-check", "__pycache__")
STYLE = "handout"

# Where the facts end: what follows is the finding that the mistake comes from, or the launch and
# the shape, which every finding has.
BEHIND_A_CAUSE = re.compile(r" +symptom: ")
BEHIND_A_FINDING = re.compile(r" +(\S+<<<|block \(|m=)")

HEAD = """# What `make check` prints, by mistake

{count} mistakes that students make, each in one kernel, and the first lines that `./sgemm-check`
prints: the mistake at its line, and the facts that show it. Below these it prints the symptom, the
launch and a hint. The name before each is the cause (docs/check.md), or where the finding says as
much, the kind of the finding.

The kernels are those of `instructor/faulty/styles/` with one edit each, from `mistakes.toml`:
`handout.cu` is the handout's kernel, another name is a style that can have the mistake where the
handout's cannot. Each mistake is made in at least three kernels, {kernels} in all.
"""


class Failure(Exception):
    """One line; there is no page then."""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          errors="replace", check=False)


def build(folder: Path, each: Seeded) -> None:
    """./sgemm-check in `folder`, a copy of the repository."""
    kernel = folder / f"{each.style}.cu"
    kernel.write_text(each.text, encoding="utf-8")
    made = run(folder, "make", "-s", "BACKEND=cpu", f"KERNEL={kernel.name}", "sgemm-check")
    if made.returncode:
        raise Failure(f"{each.name} cannot be built:\n{made.stderr}")


def first_lines(text: str) -> list[str]:
    """The headline and the facts below it."""
    lines = text.splitlines()
    for behind in (BEHIND_A_CAUSE, BEHIND_A_FINDING):
        for number, line in enumerate(lines):
            if behind.match(line):
                return lines[:number]
    return lines


def entry(folder: Path, each: Seeded) -> str:
    """The page's part for one mistake, whose kernel is built in `folder`."""
    command = ["./sgemm-check", "--seed", "1", *each.shape.split()]
    text, report = run(folder, *command), run(folder, *command, "--json")
    if text.returncode != 1 or report.returncode != 1:
        raise Failure(f"{each.name}: status {text.returncode}, not 1\n{text.stdout}{text.stderr}")
    finding = json.loads(report.stdout)["finding"]
    name = (finding["cause"] or {"name": finding["kind"]})["name"]
    lines = "\n".join(first_lines(text.stdout))
    did = re.sub("<<<.*?>>>", r"`\g<0>`", each.did)
    return f"**{each.mistake}**: {did}. `{name}`:\n\n```\n{lines}\n```\n"


def examples() -> dict[str, Seeded]:
    """One kernel for each mistake."""
    chosen: dict[str, Seeded] = {}
    for each in seeded():
        if each.mistake not in chosen or (each.style == STYLE != chosen[each.mistake].style):
            chosen[each.mistake] = each
    return chosen


def sections() -> dict[str, str]:
    """For the first mistake below each heading of mistakes.toml, that heading."""
    text = (FOLDER / "mistakes.toml").read_text(encoding="utf-8")
    titles = re.findall(r'^# -+ (.*?) -+\n(?:(?!name).*\n)*name = "(.*)"', text, re.MULTILINE)
    return {mistake: f"`{title}`" if title.endswith("Idx") else title[0].upper() + title[1:]
            for title, mistake in titles}


def page() -> str:
    chosen, titles = examples(), sections()
    parts = [HEAD.format(count=len(chosen), kernels=sum(1 for _ in seeded()))]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "copy"
        shutil.copytree(REPOSITORY, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
        for number, (mistake, each) in enumerate(chosen.items(), 1):
            print(f"diagnosis: {number} of {len(chosen)}: {each.name}", file=sys.stderr)
            if mistake in titles:
                parts.append(f"## {titles[mistake]}\n")
            build(folder, each)
            parts.append(entry(folder, each))
    return "\n".join(parts)


def main() -> int:
    try:
        text = page()
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    except (Failure, ValueError) as error:
        print(f"diagnosis: {error}", file=sys.stderr)
        return 1 if isinstance(error, Failure) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
