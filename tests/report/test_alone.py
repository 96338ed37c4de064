"""Words are made of a record alone: engine/report/ needs nothing else of this repository, and nothing reads
again what it says."""

from __future__ import annotations

import re

from conftest import REPOSITORY, Tree, finished, need

PAGE = sorted((REPOSITORY / "engine" / "show" / "page" / "view").glob("*.js"))
C_FILES = sorted(path for folder in ("engine", "lab", "grader")
                 for path in (REPOSITORY / folder).rglob("*.c"))

# What finding_say() and finding_element() have made, or a kind by its letters.
SAID = r"(?:words|mistake|finding|cause)(?:\.|->)(?:what|detail|hint|element)\b"
READ_AGAIN = re.compile(
    rf"str(?:n?cmp|n?casecmp|str|chr|rchr|n?cspn|spn)\s*\([^;]*{SAID}|sscanf\s*\([^;]*{SAID}")
READ_AGAIN_IN_PAGE = re.compile(
    r"(?:finding|cause)\??\.(?:what|detail|hint|element)\b[^;]*\.(?:match|matchAll|startsWith|endsWith|includes|split)\(|"
    r"(?:finding|cause)\.detail\.join\(|\.exec\([^;]*(?:finding|cause|detail)\b|\.kind\.(?:endsWith|startsWith|includes)|"
    r"includes\([^;]*finding\.kind")


def test_words_need_nothing_else(tree: Tree) -> None:
    """No runtime, no names, no source of a kernel: tests of records need the library of this folder alone."""
    tree.make("build/libreport.a")
    built = finished([need("cc"), "-std=c11", "-pthread", "-I.", "tests/report/test_record.c", "-Wl,-z,muldefs",
                      "build/libreport.a", "-o", "build/alone", "-lm"], tree.path)
    assert built.returncode == 0, built.stderr


def test_no_sentence_is_read_again() -> None:
    for path in C_FILES:
        assert not READ_AGAIN.search(path.read_text()), path
    for path in PAGE:
        assert not READ_AGAIN_IN_PAGE.search(path.read_text()), path
