"""python -m grader.exporters FORMAT results/NAME/result.json [-o FILE]

Results in the forms that others read, made from result.json and nothing else. docs/ci.md says which system
reads which FORMAT.

Exit status: 0 written, 2 the record or an option cannot be used.
"""

import argparse
import os
import sys
from pathlib import Path

from ..errors import BadInput
from ..record.store import OF_STUDENTS, RESULT, read_record
from . import autolab, github, gradescope


def main(words: list[str]) -> int:
    asked = arguments(words)
    try:
        text = exported(asked)
        # What a step of a GitHub workflow writes here is shown on the page of the run.
        page = asked.github and asked.format == "summary" and os.environ.get("GITHUB_STEP_SUMMARY")
        write(text, Path(page) if page else asked.output, append=asked.github)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m grader.exporters", description="A result in another system's format.")
    parser.add_argument("format", choices=["gradescope", "autolab", "summary", "annotations"])
    parser.add_argument("result", type=Path, help="results/NAME/result.json")
    parser.add_argument("-o", "--output", type=Path, help="default: standard output")
    parser.add_argument("--ta", action="store_true",
                        help="summary: all that is known of hidden cases; not for students")
    parser.add_argument("--github", action="store_true",
                        help="summary: append to the file that the runner shows; standard "
                             "output where there is none")
    add_platform_options(parser)
    return parser.parse_args(words)


def add_platform_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hidden-cases", default="hidden", choices=gradescope.VISIBILITIES,
                        help="gradescope: when students see them")
    parser.add_argument("--problem", help="autolab: one problem for all points")


def exported(asked: argparse.Namespace) -> str:
    record = read_record(asked.result)
    if asked.format == "summary" and asked.ta:
        return github.summary(record)
    if asked.result.name != RESULT:
        raise BadInput(f"{asked.result}: what students may see lies beside {RESULT}")
    seen = read_record(asked.result.with_name(OF_STUDENTS))
    return {"gradescope": lambda: gradescope.export(record, seen, asked.hidden_cases),
            "autolab": lambda: autolab.export(seen, asked.problem),
            "annotations": lambda: github.annotations(seen),
            "summary": lambda: github.summary(seen)}[asked.format]()


def write(text: str, path: Path | None, *, append: bool) -> None:
    try:
        if path is None:
            sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
            sys.stdout.write(text)
            return
        with open(path, "a" if append else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInput(f"{path or 'standard output'}: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
