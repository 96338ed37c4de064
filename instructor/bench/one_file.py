"""Puts a kernel and the headers beside it that it includes into one file, as a submission is.

    one_file.py KERNEL.cu > ONE.cu

Each header once, where it is first included. Exit status: 0; 2 a file cannot be read.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'#include "([^"]+)"')


def lines_of(path: Path, seen: set[Path]) -> list[str]:
    """Raises OSError."""
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        included = INCLUDE.fullmatch(line)
        header = path.parent / included[1] if included else None
        if header is None:
            lines += [] if line == "#pragma once" else [line]
        elif header not in seen:
            seen.add(header)
            lines += lines_of(header, seen)
    return lines


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: one_file.py KERNEL.cu", file=sys.stderr)
        return 2
    try:
        lines = lines_of(Path(arguments[0]), set())
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
