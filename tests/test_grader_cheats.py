"""instructor/cheats: each way in which submissions have been known to cheat, graded as a teaching
assistant would, gets no point and is named for what it tried."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, RUN_SECONDS, Tree, clean_environment

sys.path.insert(0, str(REPOSITORY))

from grader.errors import BadInput  # noqa: E402
from grader.intake import read_submission  # noqa: E402

CHEATS = sorted((REPOSITORY / "instructor" / "cheats").glob("*.cu"))

WAYS = {*range(1, 21), *range(30, 37)}
"""The numbers by which the files are named. 21 to 29 are ways to cheat a clock, and no time earns
points here."""

HERE = {35: "test_submissions_that_are_no_plain_text"}
"""What is no kernel.cu has a test in this file instead."""


def head(path: Path) -> dict[str, str]:
    """tries: and named: of the comment at its top."""
    comment = path.read_text(encoding="utf-8").split("*/")[0]
    return {key: " ".join(value.replace("\n *", " ").split())
            for key, value in re.findall(r"\* (tries|named): +((?:[^\n]|\n \* {10})*)", comment)}


def marked_line(path: Path) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((i for i, line in enumerate(lines, 1) if "<- here" in line), 0)


@pytest.mark.parametrize("path", CHEATS, ids=lambda path: path.stem)
def test_cheats_get_nothing_and_are_named(path: Path, tree: Tree, programs: Path,
                                          tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "grader", "--submission", path, "--suite", "all", "--results",
         tmp_path, "--name", "cheat"], cwd=tree.path, stdin=subprocess.DEVNULL,
        env=clean_environment({"GRADER_CACHE": str(programs / "grader-cache")}),
        capture_output=True, text=True, errors="replace", timeout=3 * RUN_SECONDS, check=False,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    record = json.loads((tmp_path / "cheat" / "result.json").read_text())
    assert record["complete"] and record["score"] == 0 and record["max_score"] == 100
    assert all(test["score"] == 0 for test in record["tests"])

    refusal = record["refusal"] or {"tried": "", "line": 0}
    said = " / ".join([refusal["tried"], record["build"]["message"],
                       *(test["reason"] for test in record["tests"][:1])])
    assert any(words.strip() in said for words in head(path)["named"].split("|")), said
    if refusal["line"] and marked_line(path) and "into C" not in said:
        assert abs(refusal["line"] - marked_line(path)) <= 1, refusal


def test_every_way_has_a_file_or_a_test() -> None:
    tried = {}
    for path in CHEATS:
        tried[path.stem] = int(head(path)["tries"])
        assert path.stem.startswith(f"{tried[path.stem]:02d}_"), path
    assert WAYS <= {*tried.values(), *HERE}
    assert {*tried.values()} <= WAYS
    assert all(name in globals() for name in HERE.values())


def test_submissions_that_are_no_plain_text(tmp_path: Path) -> None:
    """35. What is handed in is read as bytes, never followed; tests/test_grader_intake.py has the
    rest of it."""
    secret = tmp_path / "secret"
    secret.write_text("the hidden case\n")
    (tmp_path / "link.cu").symlink_to(secret)
    (tmp_path / "large.cu").write_bytes(b"/" * (2 << 20))
    (tmp_path / "nul.cu").write_bytes(b"int x;\0\n")
    (tmp_path / "utf16.cu").write_bytes("int x;\n".encode("utf-16"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kernel.cu").symlink_to("/dev/zero")
    for name in ("link.cu", "large.cu", "nul.cu", "utf16.cu", "folder", "missing.cu"):
        with pytest.raises(BadInput) as refused:
            read_submission(tmp_path / name)
        assert "hidden" not in str(refused.value) and "\n" not in str(refused.value)
