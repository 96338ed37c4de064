"""What a student's copy names and does not have: files and folders, and targets of make. Of a text in it, Leaks."""

import fnmatch
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from instructor.release.leaks import Leak, line_at

# A word that may be a path. By its ending, a name alone is a file of ours; of a .c or .h one cannot
# tell: it counts if the repository has it, and the copy does not. An object is made; a .cu file may be a student's own.
WORD = re.compile(r"(?<![\w./:<~${@-])(?:\.{1,2}/)*[\w*][\w*.-]*(?:/[\w*.-]+)*/?")
OURS = re.compile(r"\.(?:mk|sh|awk|md|def|toml|py|ipynb)$")
PERHAPS = re.compile(r"\.(?:c|h|js|S)$|/[^/]*\.cu$")
TARGET = re.compile(r"(`|\bnext: |^ {4,})?\bmake ([a-z][a-z0-9-]*)", re.MULTILINE)
# What a build makes; NAME stands for any.
MADE = re.compile(r".*\bNAME\b|(?:build|results|\.venv)(?:/|$)|.*\.o$|(?:.*/)?(?:lab\.sh|class\.toml|pytest\.ini)$")


class Names:
    """Of the repository, and of the copy of it."""

    def __init__(self, everything: Iterable[str], published: Iterable[str], all_targets: Iterable[str],
                 targets: Iterable[str]):
        everything, self.published = with_folders(everything), with_folders(published)
        self.ends_published, self.ends_left_out = ends_of(self.published), ends_of(everything - self.published)
        self.tops = {name for name in everything if "/" not in name}
        self.lacking_targets, self.targets = set(all_targets) - set(targets), set(targets)

    def search(self, file: str, text: str) -> Iterator[Leak]:
        text, folder = re.sub(r"\\n", "  ", text), PurePosixPath(file).parent  # \n: of a string
        for match in WORD.finditer(text):
            if "." not in match[0] and "/" not in match[0]:
                continue  # most words
            name = re.sub(r"[.*-]+$", "", match[0])
            if name and name[0] != "*" and self.lacks(name, folder):
                yield Leak(file, line_at(text, match.start()), f"names {name}, which a student's copy does not have")
        for match in TARGET.finditer(text):
            target = match[2]
            if target in self.lacking_targets or match[1] and match[1] != " " * 4 and target not in self.targets:
                yield Leak(file, line_at(text, match.start()),
                           f"names make {target}, a target that a student's copy does not have")

    def lacks(self, name: str, folder: PurePosixPath) -> bool:
        """A path from the repository's root, or from this folder; or the end of one."""
        if MADE.match(name):
            return False
        path, name = "/" in name, name.rstrip("/")
        if path and name.split("/")[0] in self.tops:
            return not self.has(self.published, name) and not self.has(self.published, str(folder / name))
        end = re.sub(r"^(\.{1,2}/)+", "", name)
        if end in self.ends_published:
            return False
        return bool(OURS.search(name)) or bool(PERHAPS.search(name)) and end in self.ends_left_out

    @staticmethod
    def has(names: set[str], pattern: str) -> bool:
        return pattern in names or "*" in pattern and bool(fnmatch.filter(names, pattern))


def with_folders(names: Iterable[str]) -> set[str]:
    files = set(names)
    return files | {str(parent) for name in files for parent in PurePosixPath(name).parents if str(parent) != "."}


def ends_of(names: Iterable[str]) -> set[str]:
    """Of a/b/c: b/c and c, too."""
    return {name.split("/", cut)[-1] for name in names for cut in range(name.count("/") + 1)}
