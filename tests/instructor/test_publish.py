"""`make release` and `make cases`: what reaches students, and whether the cases are sound.

A failure here means that a solution or a hidden case gets into students' hands, that a term begins
with a copy that does not build, or that a test case is published which correct kernels fail.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import REPOSITORY, Tree, clean_environment, first_of_each, need, sample
from corpus import BY_NAME, FAULTS

from grader.cases.model import Case, Performance, Suite
from grader.build.parts import described
from grader.cases.read import load_suites
from grader.errors import BadInput
from grader.lab import Lab
from grader.record.model import Build, Criterion, Record, Refusal, Submission, Test
from instructor.release import leaks, names, proof, prove_cases, repository, student_copy
from instructor.release.proof import Kernel, Proof, Proved

LAB = described()
SUITES = load_suites(LAB, "all")
HIDDEN = [case for suite in SUITES if suite.hidden for case in suite.cases]
PUBLIC_SHAPES = {leaks.sorted_shape(*case.params.values()) for suite in SUITES if not suite.hidden
                 for case in suite.cases}
SCAN = "labs/scan"
ARRAYS = {"A", "B", "C"}
SECONDS = 600


@pytest.fixture
def checkout(tmp_path: Path, programs: Path) -> Tree:
    """A copy of the repository that may be spoilt, where instructors keep theirs."""
    return Tree(tmp_path / "meine Übung 行列", programs)


def run_script(tree: Tree, name: str, *words: object,
               **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", f"instructor.release.{name}", *map(str, words)]
    return subprocess.run(
        command, cwd=tree.path, env=clean_environment(env), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )


@pytest.fixture
def release(checkout: Tree) -> Callable[..., subprocess.CompletedProcess[str]]:
    return lambda *words: run_script(checkout, "student_copy", *words)


def said(result: subprocess.CompletedProcess[str], status: int) -> list[str]:
    """The reasons, one in each line."""
    assert result.returncode == status, result.stdout + result.stderr
    lines = result.stderr.splitlines()
    assert lines and all(re.match(r"(release|cases): \S", line) for line in lines), result.stderr
    return lines


def left_behind(checkout: Tree) -> list[str]:
    return [path.name for path in checkout.path.parent.iterdir() if path != checkout.path]


# ---- the student's copy --------------------------------------------------------------------------


def test_a_students_copy(checkout, release) -> None:
    """All of it, as an instructor does it."""
    target = checkout.path.parent / "autumn größe"
    done = release(target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(target) in done.stdout and "nothing found" in done.stdout
    assert re.search(r"to do +handout\.md:\d+: where, and by when, to hand in", done.stdout)
    graded = re.search(r"kernel\.cu 0 of (\d+) points, 2_tiled\.cu \1 of \1", done.stdout)
    assert graded, done.stdout
    assert left_behind(checkout) == [target.name]

    names = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    for folder in ("instructor", "tests", "testcases/hidden", ".ci", "build", "results"):
        assert not [name for name in names if name.split("/")[0] == folder
                    or name.startswith(f"{folder}/")], folder
    assert not {"sgemm", "sgemm-check", "docs/instructor.md"} & names
    assert not (target / ".git").exists()  # a history that has had them still has them
    assert {name.split("/")[0] for name in names} == ROOT
    assert {"kernel.cu", "Makefile", "handout.md", "README.md", "grader/cases/read.py"} <= names
    for name in names - {"README.md"}:
        assert (target / name).read_bytes() == (checkout.path / name).read_bytes()
        assert os.access(target / name, os.X_OK) == os.access(checkout.path / name, os.X_OK)
    readme = (target / "README.md").read_text()
    assert "## Students" in readme and "instructor/" not in readme and "make test" not in readme
    # Not by the search of the release itself.
    everything = b"\n".join((target / name).read_bytes() for name in names).decode().lower()
    for case in HIDDEN:
        assert case.name not in everything
    assert "a_s[ty][i] * b_s[i][tx]" not in everything


# What a student sees first; the four with a dot must be where they are.
ROOT = {"Makefile", "README.md", "LICENSE", "handout.md", "kernel.cu", "main.cu", "support.c", "support.h", "testcases",
        "engine", "lab", "grader", "docs", ".clangd", ".devcontainer", ".gitattributes", ".gitignore"}


def plant(checkout: Tree, name: str, text: str) -> None:
    """At the file's end."""
    checkout.write(name, (checkout.path / name).read_text() + text)


def test_everything_that_must_not_be_there_is_found_at_once(checkout, release) -> None:
    """One of each, so that one run shows them all; nothing is built, nothing is written."""
    secret = next(case for case in HIDDEN if leaks.sorted_shape(*case.params.values())
                  not in PUBLIC_SHAPES)
    titled = next(case for case in HIDDEN if len(case.title) >= leaks.SHORTEST_PHRASE)
    kernel = (checkout.path / "instructor/solutions/2_tiled.cu").read_text()
    body = re.search(r"for \(int i = 0.*?;\n", kernel, re.DOTALL)[0]
    renamed = re.search(r" +A_s\[ty\].*?barrier|A_s\[ty\]\[tx\] = .*?__sync", kernel, re.DOTALL)[0]
    for old, new in {"A_s": "tileA", "B_s": "tileB", "row": "r", "a_col": "q", "tx": "x1"}.items():
        renamed = re.sub(rf"\b{old}\b", new, renamed)
    planted = {
        "docs/check.md": f"\nas in {secret.name} of last year\n",
        "docs/cpu-backend.md": f"\n| {secret.params['n']} | {secret.params['m']} | {secret.params['k']} |\n",
        "docs/look.md": f"\n{titled.title}\n",
        "handout.md": f"\n```\n{renamed}\n```\n",
        "docs/points.md": f"\n{secret.params['m']} rows, inner dimension {secret.params['k']} and {secret.params['n']} columns\n",
        "main.cu": f"\n/* {body} */\n",
        "docs/sgemm.md": "\nsee [this](nowhere.md)\n",
        "LICENSE": "\nas docs/instructor.md says\n",
        "lab/lab.c": "\n/* make release copies this */\n",
    }
    for name, text in planted.items():
        plant(checkout, name, text)
    starter = (checkout.path / "kernel.cu").read_text()
    checkout.write("kernel.cu", starter.replace("TILE_SIZE 16", "TILE_SIZE 32") + "int mine;\n")
    (checkout.path / "lab" / "picture.bin").write_bytes(b"\x89PNG\xff\xfe")
    checkout.write(f"docs/{secret.name}.md", "\n")
    (checkout.path.parent / "empty").mkdir()
    lines = said(release("../empty"), 1)
    for name, what in [
        ("docs/check.md", "the name of the hidden case"),
        ("docs/cpu-backend.md", "the sizes of the hidden case"),
        ("docs/look.md", "a title or hint of the hidden case"),
        ("docs/points.md", "the sizes of the hidden case"),
        ("handout.md", "has code of"),
        ("main.cu", "has code of"),
        ("docs/sgemm.md", "links to nowhere.md"),
        ("LICENSE", "names docs/instructor.md"),
        ("lab/lab.c", "names make release"),
        ("kernel.cu", "is not the empty starter"),
        ("lab/picture.bin", "not text"),
        ("(a file's name)", secret.name),
    ]:
        assert any(f"release: {name}" in line and what in line for line in lines), (name, lines)
    for instead in ("a name", "a title or a hint", "sizes", "code"):
        assert sum(line.startswith(f"release: instead of {instead}: ") for line in lines) == 1, lines
    assert lines[-1].endswith("was not written")
    assert left_behind(checkout) == ["empty"]
    assert not list((checkout.path.parent / "empty").iterdir())


@pytest.fixture
def trial(
    checkout: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], student_copy.Trial]:
    """Of a student's copy of what is in the checkout then."""
    for module in (repository, student_copy):
        monkeypatch.setattr(module, "REPOSITORY", checkout.path)

    def copied() -> student_copy.Trial:
        write_copy(LAB, tmp_path / "copy")
        return student_copy.Trial(tmp_path / "copy", tmp_path / "trial" / "student's copy", LAB)

    return copied


def write_copy(lab: Lab, target: Path) -> tuple[dict[str, str], list[str]]:
    """Its files, and the project's."""
    everything = student_copy.files_of_project(lab.folder, uncommitted=True)
    files = student_copy.published(lab.folder, everything)
    student_copy.write_copy(files, target, lab)
    return files, everything


@pytest.mark.slow
def test_a_students_copy_for_another_lab(checkout, release) -> None:
    """It is built, checked and graded without LAB=."""
    target = checkout.path.parent / "sums"
    done = release("--lab", SCAN, target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"kernel\.cu 0 of 40 points, 3_work_efficient\.cu 40 of 40", done.stdout), done.stdout
    assert {path.name for path in target.iterdir()} == ROOT


def lines_of(kernel: str, words: str) -> str:
    """The line with these words, and the one before it."""
    lines = (REPOSITORY / kernel).read_text().splitlines()
    (at,) = [number for number, line in enumerate(lines) if words in line]
    return "\n".join(lines[at - 1:at + 1])


def test_another_lab_lies_where_sgemm_does_and_no_labs_secrets_do(checkout, monkeypatch, tmp_path) -> None:
    for module in (repository, student_copy):
        monkeypatch.setattr(module, "REPOSITORY", checkout.path)
    lab, copy = described(SCAN), tmp_path / "copy"
    files, everything = write_copy(lab, copy)
    assert {path.name for path in copy.iterdir()} == ROOT
    assert files["lab/truth.c"] == f"{SCAN}/truth.c" and files["kernel.cu"] == f"{SCAN}/kernel.cu"
    assert not [name for name, source in files.items() if re.search("hidden/|instructor/", source)
                or source.startswith("lab") and not source.startswith(f"{SCAN}/")]
    readme = (copy / "README.md").read_text()
    assert readme.startswith("# Prefix sums in CUDA\n") and "make && ./scan" in readme
    planted = {
        "handout.md": (lines_of(f"{SCAN}/instructor/solutions/2_hillis_steele.cu", "to[i] = i < stride"), "code of 2_"),
        "main.cu": (lines_of(f"{SCAN}/instructor/cheats/5_knows_the_fills.cu", "out[i] = period"), "code of 5_knows"),
        "lab/scan.h": (lines_of("labs/stencil/instructor/solutions/2_tile.cu", "+= tile[y + 1]"), "code of 2_tile"),
        "docs/check.md": (lines_of("instructor/solutions/2_tiled.cu", "+= A_s[ty]"), "code of 2_tiled"),
        "lab/lab.c": ("/* warp-wraps-around */", "the name of the hidden case"),
        "lab/truth.c": ("/* 20,011 elements */", "the sizes of the hidden case"),
        "docs/look.md": (HIDDEN[-1].name, "the name of the hidden case"),
        "README.md": (f"as in {SCAN}", "names labs/scan"),
    }
    for name, (text, _) in planted.items():
        (copy / name).write_text(f"{(copy / name).read_text()}\n{text}\n")
    with pytest.raises(student_copy.Refused) as refused:
        student_copy.search(copy, files, everything, lab)
    for name, (_, what) in planted.items():
        assert any(line.startswith(f"{name}:") and what in line for line in refused.value.reasons), (name, what)
    assert {line.split(":")[0] for line in refused.value.reasons} - {*planted} <= {
        "instead of a name", "instead of sizes", "instead of code"}, refused.value.reasons  # nothing else is found
    with pytest.raises(student_copy.Refused, match="the lab has none"):
        student_copy.readme_of_another_lab("scan", copy / "no handout")


@pytest.mark.slow  # as that of another lab
@pytest.mark.parametrize("lab", ["reduction", "stencil"])
def test_a_small_lab_gives_nothing_away(checkout, monkeypatch, tmp_path, lab: str) -> None:
    for module in (repository, student_copy):
        monkeypatch.setattr(module, "REPOSITORY", checkout.path)
    small, copy = described(f"labs/{lab}"), tmp_path / "copy"
    (what, said), *_ = student_copy.search(copy, *write_copy(small, copy), small)
    assert what == "searched" and said.endswith("nothing found")


def spoil(checkout: Tree, name: str, old: str, new: str) -> None:
    text = (checkout.path / name).read_text()
    assert old in text
    checkout.write(name, text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("stage", "where", "old", "new", "words"),
    [
        ("targets_exist", "Makefile", "\nclean:", "\n## make mistake  copies\n"
         "mistake: ; cp instructor/solutions/2_tiled.cu kernel.cu\n\nclean:",
         "mistake uses instructor/"),
        ("targets_exist", "Makefile", "## make check ", "## make chekc ",
         "no target chekc"),
        ("builds", "support.c", "#include", "#error nothing goes\n#include",
         "does not build ./sgemm"),
    ],
    ids=["a target that needs instructor/", "a target that is not there", "does not build"],
)
def test_what_does_not_work_is_refused(checkout, trial, stage, where, old, new, words) -> None:
    spoil(checkout, where, old, new)
    with pytest.raises(student_copy.Refused, match=re.escape(words)):
        getattr(trial(), stage)()


@pytest.mark.slow  # test_a_students_copy: its grades
def test_points_for_nothing_are_seen(checkout, trial) -> None:
    """A grader that has gone soft."""
    criterion = checkout.path / "grader" / "criteria" / "correct.py"
    text = criterion.read_text()
    judge = "def judge(seen: Seen) -> Lost | None:\n"
    assert text.count(judge) == 1
    criterion.write_text(text.replace(judge, f"{judge}    return None\n"))
    with pytest.raises(student_copy.Refused, match="gives the empty kernel.cu"):
        trial().grades()


def test_what_is_refused_is_not_written(checkout, release) -> None:
    spoil(checkout, "README.md", "## Teaching", "## Caretakers")
    assert "Teaching" in said(release("../copy"), 1)[0]
    assert left_behind(checkout) == []


def test_a_dir_that_cannot_be_used(release, tmp_path) -> None:
    full, file, link = (tmp_path / name for name in ("full", "file", "link"))
    full.mkdir()
    for path in (full / "precious", file):
        path.write_text("mine")
    link.symlink_to("full")
    for path in (full, file, link, tmp_path / "no/such/place", REPOSITORY, REPOSITORY / "copy"):
        with pytest.raises(BadInput, match=re.escape(f"{path}: ")):
            student_copy.usable_target(str(path))
    assert len(said(release(""), 2)) == 1


@pytest.mark.slow  # test_what_is_refused_is_not_written: what is left behind
def test_a_release_that_is_stopped_leaves_nothing(checkout) -> None:
    command = [sys.executable, "-B", "-m", "instructor.release.student_copy", "../copy"]
    with subprocess.Popen(command, cwd=checkout.path, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=clean_environment()) as running:
        deadline = time.monotonic() + 600
        while not list(checkout.path.parent.glob(".copy-*/trial")):
            assert time.monotonic() < deadline and running.poll() is None
            time.sleep(0.02)
        time.sleep(0.5)  # in its first make, or soon
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=60) != 0
    assert left_behind(checkout) == []


def git(tree: Tree, *words: str) -> None:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a",
                "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
    subprocess.run([need("git"), "-C", str(tree.path), *words], check=True, capture_output=True,
                   env=clean_environment(identity))


def test_only_what_git_tracks_is_published(checkout, monkeypatch) -> None:
    for module in (repository, student_copy):
        monkeypatch.setattr(module, "REPOSITORY", checkout.path)
    git(checkout, "init", "-q")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "a")
    checkout.write("sgemm", "ignored: built")
    checkout.write("instructor/faulty/99_new.cu", "")  # not published, so it need not be committed
    committed = student_copy.files_of_project("lab", uncommitted=False)
    assert "kernel.cu" in committed and "sgemm" not in committed
    checkout.write("docs/new.md", "not added\n")
    plant(checkout, "handout.md", "changed\n")
    with pytest.raises(student_copy.Refused) as refused:
        student_copy.files_of_project("lab", uncommitted=False)
    assert [line.split(": ")[0] for line in refused.value.reasons] == ["docs/new.md", "handout.md"]
    assert all("commit" in line for line in refused.value.reasons)
    assert set(student_copy.files_of_project("lab", uncommitted=True)) == {
        *committed, "docs/new.md", "instructor/faulty/99_new.cu"}


def test_a_link_is_not_copied(checkout, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(student_copy, "REPOSITORY", checkout.path)
    (checkout.path / "docs" / "link.md").symlink_to("../instructor/solutions/2_tiled.cu")
    with pytest.raises(student_copy.Refused, match="docs/link.md: not a regular file"):
        student_copy.write_copy({"docs/link.md": "docs/link.md"}, tmp_path / "copy", LAB)


def test_programs_keep_their_right_to_run(checkout, monkeypatch, tmp_path) -> None:
    """None that is published has it now."""
    monkeypatch.setattr(student_copy, "REPOSITORY", checkout.path)
    for name, mode in (("tool", 0o755), ("text", 0o644)):
        checkout.write(f"engine/{name}", "#!/bin/sh\n").chmod(mode)
    names = ("engine/tool", "engine/text", "README.md")
    student_copy.write_copy(dict(zip(names, names)), tmp_path / "copy", LAB)
    modes = [(tmp_path / "copy/engine" / name).stat().st_mode & 0o777 for name in ("tool", "text")]
    assert modes == [0o755, 0o644]


# ---- names ---------------------------------------------------------------------------------------

NAMED = names.Names(
    ["Makefile", "docs/check.md", "docs/ci.md", "engine/cuda/place.h", "tests/kinds.py", "course/__main__.py",
     "instructor/room.c", "grader/grader.mk", "testcases/hidden/a.toml", "testcases/public/b.toml"],
    ["Makefile", "docs/check.md", "engine/cuda/place.h", "grader/grader.mk", "testcases/public/b.toml"],
    {"all", "check", "release", "grade", "sgemm"}, {"all", "check", "grade", "sgemm"})


@pytest.mark.parametrize("text", [
    "see docs/ci.md.", "(docs/ci.md:3)", "tests/kinds.py", "in tests/ and", "`instructor/release`", "checker.mk",
    "../docs/ci.md", "testcases/hidden/*.toml", "room.c", "python -m course/__main__.py", "`make release DIR=x`",
    "run make release", "`make relaese`", "next: make chekc",
])
def test_a_name_of_what_is_not_there_is_found(text: str) -> None:
    (found,) = NAMED.search("engine/cuda/file.c", f"first line\n{text}\n")
    assert found.line == 2 and found.what.endswith("a student's copy does not have")


@pytest.mark.parametrize("text", [
    "docs/check.md, docs/check.md:3", "place.h", "../cuda/place.h", "cuda/place.h", "testcases/*/b.toml",
    "build/c/docs/ci.md", "results/x.md", "https://example.org/docs/ci.md", "stdio.h", "other.cu", "criteria/NAME.py", "\\ndocs/check.md",
    "make sure, make of it", "`make check KERNEL=x.cu`", "next: make grade", "the tests of it", "course of events",
])
def test_other_names_are_none_that_lack(text: str) -> None:
    assert list(NAMED.search("engine/cuda/file.c", text)) == []


# ---- the search ----------------------------------------------------------------------------------

SHAPE = leaks.sorted_shape(97, 23, 58)
SIZES = leaks.sizes_of(SHAPE, "a case", set())
NOTATIONS = [
    "97 23 58", "58x97x23", "23 × 58 × 97", "97, 58, 23", "{97, 23, 58}", "m=97 k=23 n=58",
    "m = 97\nk = 23\nn = 58", '"m": 97, "n": 58, "k": 23', "| 97 | 23 | 58 |", "shape_97_23_58",
    "A is 97 x 23, B is 23 x 58", "(97 x 23) times (23 x 58)", "97 by 23 by 58",
    "--sizes=97/23/58", "M97K23N58", "97 rows, inner dimension 23 and 58 columns",
    "97 of the 23 rows, then 58", "97 and later 23, but 58 comes after many words",
    "# n = 58, which is odd enough\n#\n# k = 23\n# and then m = 97", "$97 \\times 23 \\times 58$",
    "![C has 97 rows](c.svg) and ![58 columns](d.svg), of 23 terms",
    '@pytest.mark.parametrize("k", [23])\n@pytest.mark.parametrize("mn", [(97, 58)])',
    "#define ROWS 97\n#define COLUMNS 58\n#define TERMS 23", "98 99 97\n101 58 5\n23",
]
NO_SHAPES = ["97.23.58", "0.97 23 58", "197 23 58", "97 23 580", "97 23", "97 97 23 23",
             "a" * 40 + "97b23c58", f"97 and 23 {'words ' * 60} 58"]


@pytest.mark.parametrize("text", NOTATIONS)
def test_a_shape_is_found_in_any_notation(text) -> None:
    (at,) = SIZES.found_in(leaks.numbers_in(f"before\n{text}\nbehind"))
    assert leaks.line_at(f"before\n{text}\nbehind", at) in (2, 3)


@pytest.mark.parametrize("text", NO_SHAPES)
def test_other_numbers_are_no_shape(text) -> None:
    assert list(SIZES.found_in(leaks.numbers_in(text))) == []


@pytest.mark.parametrize(("shape", "text", "places"), [
    ((1, 37, 45), "an outer product of 45 and 37", 1),  # who needs to say the 1?
    ((1, 37, 45), f"45 {'words ' * 20} 37", 0),
    ((3, 17, 1030), "1,030 rows and 17 columns", 1),
    ((3, 17, 1030), "1030 rows, 17 columns; 17 columns and 1'030 rows", 2),
    ((97, 97, 97), "97 x 97 x 97, not 97 x 97", 1),
    ((1, 97, 97), "97 x 97 and 97", 0),
    ((20, 35, 64), "20, 35 and 64", 1),
    ((20, 35, 64), f"20, 35 and {'words ' * 20} 64", 0),  # in many public cases
])
def test_sizes_that_are_less_conspicuous(shape, text, places) -> None:
    sizes = leaks.sizes_of(shape, "a case", {(20, 35, 70), (64, 64, 64)})
    assert len(list(sizes.found_in(leaks.numbers_in(text)))) == places


def case(name: str, shape: tuple[int, int, int], suite: str = "hidden/a", **more) -> Case:
    points = more.pop("points", 2.0)
    values = {"fill": "random", "title": "", "points": points}
    return Case(name=name, params=dict(zip("mkn", shape)), suite=suite, lab=LAB,
                hidden=suite.startswith("hidden"),
                **values | more)


def suite(*cases: Case) -> Suite:
    return Suite(cases[0].suite, "Shapes", Path("a.toml"), cases[0].hidden, list(cases))


def test_what_is_public_is_no_secret() -> None:
    """Nor is what nobody could tell from other numbers; both are said."""
    hidden = suite(case("twin", (20, 70, 35)), case("tiny", (3, 5, 7)),
                   case("part", (20, 70, 2)), case("real-1", (97, 23, 58), seed=1234567))
    public = suite(case("wide", (35, 20, 70), "public/b"))
    secrets = leaks.secrets_of([hidden], [public])
    assert [sizes.needed for sizes in secrets.sizes] == [SHAPE]
    assert [note.split(": ")[0] for note in secrets.not_searched] == [
        "hidden/a/twin", "hidden/a/tiny", "hidden/a/part"]
    text = "20 70 35, 3 5 7; the twins of Real-1s and unreal-1\n"
    assert list(secrets.search("f", text)) == []
    for picture, there in (('<path d="M97 23h58"/>', 0), ("<text>97 x 23 x 58</text>", 1)):
        assert len(list(secrets.search("a.svg", picture))) == there
    found = list(secrets.search("f", "\nREAL-1 has\n1234567\n"))
    assert [leak.line for leak in found] == [2, 3]


KERNEL = """
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f; /* starts here */
    for (int i = 0; i < k; ++i)
        sum += A[row * k + i] * B[i * n + row];
}
"""


@pytest.fixture
def code(tmp_path: Path) -> leaks.Code:
    path = tmp_path / "1_kernel.cu"
    path.write_text(KERNEL)
    return leaks.Code([path], ARRAYS)


LOOP = "for (int i = 0; i < k; ++i)\n        sum += A[row * k + i] * B[i * n + row];"
HIDING_PLACES = {
    "as it is": LOOP,
    "in a comment": "/* " + LOOP.replace("\n", "\n * ") + " */",
    "in Python's comments": "# " + LOOP.replace("\n", "\n# "),
    "quoted": "> " + LOOP.replace("\n", "\n> "),
    "with comments": re.sub(r"(\w+)", r"\1 /* says more */", LOOP),
    "other names": re.sub(r"\b(sum|row|i)\b", r"my_\1", LOOP),
    "on one line": " ".join(LOOP.split()),
    "other matrices": re.sub(r"\b([ABC])\b", r"\1_of_mine", re.sub(r"\bi\b", "x", LOOP)),
    "in a macro": "#define TERMS " + re.sub(r"\b(sum|row|i|A|B)\b", r"\1_",
                                            LOOP.replace("\n", " \\\n")),
    "in a string": 'text = "' + LOOP.replace("\n", '\\n"\n"') + '"',
    "in HTML": LOOP.replace("<", "&lt;"),
}


@pytest.mark.parametrize("text", HIDING_PLACES.values(), ids=HIDING_PLACES.keys())
def test_code_is_found_where_it_hides(code, text) -> None:
    found = list(code.search("handout.md", f"words\n\n{text}\n"))
    assert [(leak.file, leak.line in (3, 4)) for leak in found] == [("handout.md", True)], found
    assert "1_kernel.cu" in str(found[0])


TRIVIA = [
    "for (int i = 0; i < n; ++i) sum += x[i] * y[i];", "if (row < m && col < n) return;",
    "int row = blockIdx.y * 16 + ty;", "__shared__ float tile[16][16];",
    "dim3 grid((n + 15) / 16, (m + 15) / 16);", "C[row * n + col] = sum;", "A[row * k + col]",
    "__syncthreads();", "tile[threadIdx.y][threadIdx.x]", "x[i] = y[i];",
    'say("%u x %u x %u, at most %u x %u x %u", a[0], a[1], a[2], b[0], b[1], b[2]);',
    "A[row * k + i]", "int row = blockIdx.y;", (REPOSITORY / "kernel.cu").read_text(),
]


def test_what_every_textbook_has_may_be_published() -> None:
    code = leaks.Code((REPOSITORY / "instructor").rglob("[0-9]*.cu"), ARRAYS)
    for text in TRIVIA:
        assert not list(code.search("handout.md", f"words\n```\n{text}\n```\nwords\n")), text


def test_texts_may_be_allowed_to_the_letter(code, monkeypatch) -> None:
    for allowed, found in ((LOOP, 0), (LOOP.replace("sum", "x"), 1)):
        monkeypatch.setattr(leaks, "ALLOWED", (allowed,))
        assert len(list(code.search("handout.md", f"an example:\n{LOOP}\n"))) == found


def test_every_kernel_is_searched_for() -> None:
    """Planted alone, each is found."""
    folders = ("instructor/solutions", "tests/kernels/right")
    kernels = [path for folder in folders for path in (REPOSITORY / folder).glob("*.cu")]
    texts = {path.stem: path.read_text() for path in kernels} | {
        fault.path.stem: fault.text for fault in FAULTS}
    assert len(texts) > 150
    code = leaks.Code([*kernels, *(REPOSITORY / "instructor/faulty").glob("*.cu")], ARRAYS)
    missed = [name for name, text in texts.items() if not list(code.search("f", text))]
    assert missed == []


# ---- what is proved of cases ---------------------------------------------------------------------


def graded(case: Case, **passed: bool) -> Test:
    criteria = [Criterion(name=name, passed=passed.get(name, True), reason="because", phrase="so")
                for name in ("correct", *case.asked)]
    score = case.points if criteria[0].passed else 0
    return Test(
        name=case.name, suite=case.suite, hidden=case.hidden, title="", params=case.params,
        fill=case.fill, seed=1, score=score, max_score=case.points,
        status="passed" if all(each.passed for each in criteria) else "failed", criteria=criteria,
        reason="because", hint="", finding=None, output="", seconds=0,
    )  # fmt: skip


def record(*tests: Test, refused: str = "", ok: bool = True) -> Record:
    refusal = Refusal(tried=refused, file=None, line=0, hint="") if refused else None
    return Record(
        complete=True, suites=[], seed=1, lab={"name": "sgemm", "title": "C = A B"}, score=0 if refused else sum(test.score for test in tests),
        max_score=sum(test.max_score for test in tests), refusal=refusal, tests=list(tests),
        submission=Submission(name="a", path="a", sha256="", bytes=0, notes=[]),
        build=Build(ok=ok, message="", file=None, line=0, output=""), protection="none",
        protection_note="", backend="cpu", compiler="", started="2026-11-21T12:00:00Z", seconds=0,
    )  # fmt: skip


POINTS = {"memory": 3.0, "tiled": 3.0}
FIRST, SECOND, THIRD = (case(name, (16, 16, 16), "public/a", points=2.0, criteria=["memory"])
                        for name in ("first", "second", "third"))


def small(*cases: Case) -> Suite:
    return replace(suite(*cases), points={"memory": 3.0})


def faulty(name: str, loses: str, *tests: Test, **more) -> Proved:
    return Proved(Kernel(LAB, Path(f"{name}.cu"), "faulty", loses), [record(*tests, **more)])


def test_which_case_catches_what() -> None:
    """`second` and `third` catch the same; `first` catches one that no other case does."""
    proved = Proof([small(FIRST, SECOND, THIRD)], [
        faulty("1_a", "correct", graded(FIRST, correct=False, memory=False), graded(SECOND),
               graded(THIRD)),
        faulty("2_b", "memory", graded(FIRST), graded(SECOND, memory=False),
               graded(THIRD, memory=False)),
    ])
    assert proved.failures == proved.free == []
    assert proved.caught_by(FIRST) == proved.only_by(FIRST) == ["1_a"]
    assert proved.caught_by(THIRD) == ["2_b"] and proved.only_by(THIRD) == []
    assert proved.redundant() == [SECOND, THIRD]


def test_a_fault_that_goes_free() -> None:
    proved = Proof([small(FIRST)], [faulty("3_c", "correct", graded(FIRST))])
    assert proved.free == ["3_c"] and proved.failures == ["3_c loses no points in any case"]
    refused = Proof([small(FIRST)], [faulty("3_d", "everything", graded(FIRST), refused="calls system")])
    assert refused.free == refused.failures == []


@pytest.mark.parametrize(
    ("loses", "tests", "sound"),
    [
        ("memory", [graded(FIRST, correct=False, memory=False)], False),
        ("correct", [graded(FIRST, memory=False)], False),
        ("correct", [graded(FIRST, correct=False, memory=False), graded(SECOND)], True),
        ("memory or correct", [graded(FIRST, memory=False)], True),
        ("memory or correct", [graded(FIRST, correct=False, memory=False)], True),
        ("builds", [graded(FIRST, correct=False, memory=False)], True),  # it launches nothing
        ("builds", [graded(FIRST, memory=False)], False),
        ("everything", [graded(FIRST, correct=False, memory=False)], False),
    ],
)
def test_faults_lose_what_they_declare(loses, tests, sound) -> None:
    failures = Proof([small(FIRST, SECOND)], [faulty("4_e", loses, *tests)]).failures
    assert (failures == []) == sound, failures


TILED = case("tiles", (64, 64, 64), "public/a", points=2.0, criteria=["tiled"])


NO_TILES = graded(TILED, tiled=False)
WRONG = graded(TILED, correct=False, tiled=False)


@pytest.mark.parametrize(
    ("group", "loses", "tests", "record_says", "words"),
    [
        ("solution", "nothing", [graded(FIRST)], {}, ""),
        ("solution", "nothing", [graded(FIRST, memory=False)], {}, "public/a/first takes points"),
        ("solution", "nothing", [graded(FIRST)], {"refused": "calls sqrtf"}, "but is refused"),
        ("solution", "nothing", [graded(FIRST)], {"ok": False}, "but is refused"),
        ("solution", "tiled", [NO_TILES], {}, ""),
        ("solution", "tiled", [graded(TILED)], {}, "but keeps it"),
        ("solution", "tiled", [NO_TILES, graded(FIRST, memory=False)], {}, "memory"),
        ("right", "", [NO_TILES], {}, ""),
        ("right", "", [graded(TILED)], {}, ""),
        ("right", "", [WRONG], {}, "takes points for correct"),
        ("starter", "", [graded(FIRST, correct=False, memory=False)], {}, ""),
        ("starter", "", [graded(FIRST, memory=False)], {}, "2 of 2 points for nothing"),
        ("cheat", "", [graded(FIRST)], {}, "2 of 2 points for nothing"),
        # Those that cheat a clock keep what they earn without one, but for what they declare.
        ("cheat", "tiled", [NO_TILES], {}, ""),
        ("cheat", "tiled", [graded(TILED)], {}, "but keeps it"),
        ("cheat", "tiled", [WRONG], {}, "takes points for correct"),
        ("cheat", "tiled", [NO_TILES], {"refused": "calls sqrtf"}, "but is refused"),
    ],
)
def test_grades_that_are_known_beforehand(group, loses, tests, record_says, words) -> None:
    proved = Proved(Kernel(LAB, Path("5_f.cu"), group, loses), [record(*tests, **record_says)])
    failures = Proof([small(FIRST, TILED)], [proved]).failures
    assert len(failures) == bool(words) and all(words in line for line in failures), failures


def test_points_are_written_one_a_line(tmp_path: Path) -> None:
    proved = [Proved(Kernel(LAB, Path("5_f.cu"), "solution"), [record(graded(FIRST, memory=False))]),
              Proved(Kernel(LAB, Path("4_e.cu"), "cheat"), [record(refused="calls sqrtf")])]
    prove_cases.write_points(proved, tmp_path / "points.txt")
    assert (tmp_path / "points.txt").read_text().splitlines() == [
        "4_e refused", "5_f public/a/first correct kept", "5_f public/a/first memory lost"]


def test_what_is_wrong_keeps_no_more_than_85_of_100(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of cases that were not tried, all that they are worth; and what only does not tile is not wrong."""
    def kept(points: float, loses: str = "correct") -> list[str]:
        large = case("large", (999, 999, 999), "public/a", points=points, criteria=["memory"])
        both = replace(suite(FIRST, large), points={"memory": 3.0})
        return Proof([both], [faulty("6_g", loses, graded(FIRST, correct=False, memory=False))]).failures

    assert kept(28.0) == []  # of 33
    (line,) = kept(29.0)
    assert line == "6_g: is wrong, and keeps 29 of 34 points"
    assert not any("keeps" in line for line in kept(29.0, "tiled"))


def test_a_solution_of_several_files_is_graded_as_one(tmp_path) -> None:
    (kernel,) = prove_cases.solutions_of_several_files(LAB, tmp_path)
    assert (kernel.name, kernel.group, kernel.loses) == ("9_every_shape", "solution", "nothing")
    assert '#include "' not in kernel.path.read_text()


def test_heads(tmp_path: Path) -> None:
    path = tmp_path / "x.cu"
    heads = {" * tries:    1\n * named:    wrong": "", " * loses:    tiled": "tiled",
             " * fails:    speed\n * loses:    tiled": "tiled"}
    for head, loses in heads.items():
        path.write_text(f"/* CHEAT\n{head} */\n * fails:    speed\n")
        assert prove_cases.declared(LAB, path, "cheat") == loses
    found = prove_cases.kernels(LAB, "*")
    loses = {each.name: each.loses for each in found if each.group in ("faulty", "solution")}
    assert len(loses) > 75 and set(loses.values()) <= set(proof.declarable(LAB))
    assert loses["2_tiled"] == "nothing" and loses["1_naive"] == "tiled"
    assert {each.group for each in found} == set(proof.GROUPS)
    cheats = {each.name: each.loses for each in found if each.group == "cheat"}
    assert cheats["21_side_stream"] == "tiled" and cheats["24_graph"] == ""


def test_a_cheat_may_lose_what_is_less_basic_but_not_what_is_more() -> None:
    every = case("all", (16, 16, 16), "public/a", criteria=["memory", "tiled"])

    def failures(loses: str, **passed: bool) -> list[str]:
        cheat = Kernel(LAB, Path("40_cheat.cu"), "cheat", loses)
        return list(Proved(cheat, [record(graded(every, **passed))]).failures())

    assert failures("memory", memory=False, tiled=False) == []
    assert failures("tiled", tiled=False) == []
    (line,) = failures("tiled", memory=False, tiled=False)
    assert "takes points for memory" in line
    (line,) = failures("memory", tiled=False)
    assert "declares `loses: memory`, but keeps it" in line


def timed(name: str, **more) -> Performance:
    values = {"points": 2.0, "none": 0.3, "full": 0.9}
    params = {size: more.pop(size, 1024) for size in "mkn"}
    return Performance(name=name, suite="hidden/a", hidden=True, lab=LAB, params=params, **values | more)


def test_hidden_shapes_that_are_timed_are_secrets() -> None:
    hidden = replace(suite(case("real-1", (97, 23, 58))), performance=[
        timed("real-2", m=1601, k=1709, n=1811, hint="a hint about this one and only shape"),
        timed("real-3", m=1024, k=1025, n=1026)])
    public = replace(suite(case("wide", (35, 20, 70), "public/b")),
                     performance=[timed("known", m=1026, k=1025, n=1024)])
    secrets = leaks.secrets_of([hidden], [public])
    assert {sizes.needed for sizes in secrets.sizes} == {SHAPE, (1601, 1709, 1811)}
    found = [leak.what for leak in secrets.search(
        "f", "1709 x 1811 x 1601, a hint about this one and only shape, Real-2; 1024 1025 1026")]
    assert len(found) == 3 and all("real-2" in what for what in found)


def test_a_suite_needs_a_gate_of_random_numbers() -> None:
    fixed, random = case("c", (9, 9, 9), fill="ones-twos"), case("a", (9, 9, 9))
    assert prove_cases.without_a_gate([replace(suite(random, fixed), gate="hidden/a/a")]) == []
    for gate, words in (("", "has no gate"), ("hidden/a/c", "its gate c has the fill ones-twos")):
        (line,) = prove_cases.without_a_gate([replace(suite(random, fixed), gate=gate)])
        assert line.startswith("hidden/a: ") and words in line
    assert prove_cases.without_a_gate(SUITES) == []


# ---- make cases, as an instructor runs it --------------------------------------------------------


@pytest.fixture
def cases(checkout: Tree) -> Callable[..., subprocess.CompletedProcess[str]]:
    for rung in (checkout.path / "instructor/solutions").glob("[3-8]_*.cu"):
        rung.unlink()  # each is graded: two solutions say as much
    shutil.rmtree(checkout.path / "instructor/solutions/9_every_shape")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return run_script(checkout, "prove_cases", "--groups", "starter,solution,faulty", *words)

    return run


SMALL_SUITE = """title = "Small"
gate = "first"
points = { memory = 1 }
[[case]]
name = "first"
m = 16
k = 16
n = 16
fill = "random"
points = 2
[[case]]
name = "edges"
m = 34
k = 19
n = 21
fill = "random"
points = 2
criteria = []
"""
TWIN = SMALL_SUITE[SMALL_SUITE.rindex("[[case]]"):].replace("edges", "edges-again")
TILES_OF_ONE = """[[case]]
name = "one-column-of-tiles"
m = 20
k = 1
n = 1
fill = "random"
points = 1
criteria = ["tiled"]
"""


def write_suites(checkout: Tree, public: str) -> None:
    for half in ("public", "hidden"):
        shutil.rmtree(checkout.path / "testcases" / half)
    checkout.write("testcases/public/small.toml", public)
    checkout.write("testcases/hidden/other.toml",
                   SMALL_SUITE.replace("Small", "Other").replace("34", "50"))


def listed(output: str, title: str) -> str:
    """What follows "title: ", however the lines are broken."""
    found = re.search(rf"{title}: (.*?)\n(?:[A-Z]|\n)", output, re.DOTALL)
    assert found, output
    return " ".join(found[1].split())


@pytest.mark.slow  # test_draw.py: the command grades, and judges cases; above: which case catches what
def test_make_cases(checkout, cases) -> None:
    """A case that alone catches a fault is listed apart, and everything fits."""
    write_suites(checkout, SMALL_SUITE)
    shutil.rmtree(checkout.path / "testcases" / "hidden")
    first = cases("--faulty", "04_a_columns")
    assert first.returncode == 0 and "cases: testcases/hidden: no cases here" in first.stderr
    one_case = SMALL_SUITE[:SMALL_SUITE.rindex("[[case]]")]
    checkout.write("testcases/hidden/other.toml", one_case)

    done = cases("--faulty", "04_a_columns", "--full")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sound: these cases can be published" in done.stdout
    assert done.stderr.startswith("cases: building the grader's own parts\ncases: grading ")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert listed(done.stdout, "others do not") == "public/small: first; hidden/other: first"
    assert listed(done.stdout, "single case catches") == "04_a_columns (public/small/edges)"


@pytest.mark.slow  # as test_which_case_catches_what, by the command
def test_a_case_with_a_twin(checkout, cases) -> None:
    write_suites(checkout, SMALL_SUITE + TWIN)
    checkout.write("testcases/hidden/other.toml", SMALL_SUITE[:SMALL_SUITE.rindex("[[case]]")])
    done = cases("--faulty", "04_a_columns")
    assert done.returncode == 0, done.stdout + done.stderr
    assert listed(done.stdout, "others do not").startswith(
        "public/small: first, edges, edges-again; ")


@pytest.mark.slow  # as test_grades_that_are_known_beforehand, by the command
def test_a_case_that_a_solution_fails(checkout, cases) -> None:
    write_suites(checkout, SMALL_SUITE.replace("memory = 1 }", "memory = 1, tiled = 1 }") + TILES_OF_ONE)
    done = cases("--faulty", "04_a_columns")
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"not sound: 2_tiled: is right, but public/small/one-column-of-tiles takes "
                     r"points for\s+tiled", done.stdout), done.stdout


@pytest.mark.slow  # as test_a_fault_that_goes_free, by the command
def test_a_fault_that_no_case_catches(checkout, cases) -> None:
    write_suites(checkout, SMALL_SUITE)
    text = BY_NAME["18_rows_beyond_the_grid"].text
    assert "loses:    correct" in text
    checkout.write("instructor/faulty/18_only_rows.cu", text)
    for name in ("public/small", "hidden/other"):
        path = checkout.path / "testcases" / f"{name}.toml"
        path.write_text(re.sub(r"m = \d\d\nk = 19", "m = 20\nk = 19", path.read_text()))
    done = cases("--faulty", "18_only_rows")
    assert done.returncode == 1, done.stdout + done.stderr
    assert listed(done.stdout, "go free") == "18_only_rows"
    assert "not sound: 18_only_rows loses no points in any case" in done.stdout


def test_progress_without_a_terminal(capsys) -> None:
    """A line for each tenth, and after twenty how long it takes."""
    class Fake:
        def prove(self, kernel: Kernel) -> Proved:
            return Proved(kernel, [])

        def known(self, kernel: Kernel) -> Proved | None:
            return Proved(kernel, []) if kernel is FAULTY[0] else None

    proved = prove_cases.prove_all(Fake(), FAULTY, 2)
    assert [each.kernel for each in proved] == FAULTY and len(FAULTY) > 10
    first, *lines = capsys.readouterr().err.splitlines()
    new = len(FAULTY) - 1
    assert first == f"cases: grading {new} submissions, 2 at a time; 1 are as they were"
    assert [line for line in lines if "more" in line] == ["cases: about 0 min more"]
    graded = [int(re.fullmatch(rf"cases: (\d+) of {new} graded, \d+ s", line)[1])
              for line in lines if "more" not in line]
    assert len(graded) == 10 and graded == sorted(graded) and graded[-1] == new


def test_a_look_at_the_files_alone(checkout, grader_cache) -> None:
    """In seconds, before more is built than the lab's description: what is there, and what is wrong with it."""
    write_suites(checkout, SMALL_SUITE)

    def look(cases: str) -> subprocess.CompletedProcess[str]:
        checkout.write("testcases/public/small.toml", cases)
        nothing_built = grader_cache.parent / "no parts of the grader"
        done = run_script(checkout, "prove_cases", "--files", GRADER_CACHE=str(nothing_built))
        assert all(path.name.startswith("lab-") for path in nothing_built.iterdir())
        return done

    done = look(SMALL_SUITE)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    assert re.search(r"public/small +2 +· +5 +34 19 21 +2\.0 s", done.stdout), done.stdout
    assert "in order" in done.stdout and "4 cases, 10 points" in done.stdout

    absurd = TWIN.replace("34", "16384").replace("19", "16384").replace("21", "16384")
    for words in ((), ("--files",)):  # `make cases` says so, too, before it grades anything
        checkout.write("testcases/public/small.toml", SMALL_SUITE + absurd)
        (line,) = said(run_script(checkout, "prove_cases", *words), 2)
        assert "small.toml: case 'edges-again': m k n = 16384 16384 16384: the time limit" in line
    done = look(SMALL_SUITE.replace('"random"', '"index"'))
    assert done.returncode == 1 and "its gate first has the fill index" in done.stdout


BAD = {
    "a case": ("testcases/public/small.toml", 'fill = "random"', 'fill = "randm"', "randm"),
    "a head": ("instructor/faulty/04_a_columns.cu", " * loses:    correct", " * loses:    a bit",
               "04_a_columns.cu"),
    "no head": ("instructor/faulty/04_a_columns.cu", " * loses:    correct", " *", "what it loses"),
}


@pytest.mark.parametrize(("name", "old", "new", "words"), sample([*BAD.values()], every=2), ids=BAD.keys())
def test_what_cannot_be_read(checkout, cases, name, old, new, words) -> None:
    write_suites(checkout, SMALL_SUITE)
    text = (checkout.path / name).read_text()
    assert old in text
    checkout.write(name, text.replace(old, new, 1))
    (line,) = said(cases("--faulty", "04_a_columns"), 2)
    assert words in line


def test_a_glob_without_kernels_and_an_unknown_group(cases) -> None:
    assert "matches no kernel" in said(cases("--faulty", "99_*"), 2)[0]
    assert "starter" in said(cases("--groups", "solutions"), 2)[0]


# ---- docs/instructor.md --------------------------------------------------------------------------


def test_the_page_lists_the_cases_as_they_are() -> None:
    text = (REPOSITORY / "docs" / "instructor.md").read_text()
    row_of_a_case = r"^\| `([\w.-]+)` \| (\d[^|]*?) \| (\d+) \|([^|]*)\|"
    listed = {name: (shape, float(points), bool(tiles.strip())) for name, shape, points, tiles
              in re.findall(row_of_a_case, text, re.MULTILINE)}
    known = {}
    points = {hidden: sum(suite.worth for suite in SUITES if suite.hidden == hidden)
              for hidden in (True, False)}
    for each in (case for suite in SUITES for case in suite.cases):
        fill = "" if each.fill == "random" else f", {each.fill}"
        known[each.name] = (f"{each.shape}{fill}", each.points, "tiled" in each.asked)
    assert listed == known
    assert re.search(rf"^There are {sum(points.values()):g} points: {points[False]:g} on public.*"
                     rf" {points[True]:g} on hidden", text, re.MULTILINE)


# ---- what the faulty kernels lose ----------------------------------------------------------------

REVEALING = "tall-67-33-18"  # of all cases, the one that catches every faulty kernel but one
TOO_SMALL_THERE = {"18_grid_hard_coded": "rows-over-1024"}
WRITTEN = tempfile.TemporaryDirectory(prefix="faulty-")  # removed when this process ends
FAULTY = sorted([*prove_cases.kernels(LAB, "*", ["faulty"]),
                 *prove_cases.made_of_edits(LAB, "*", Path(WRITTEN.name))], key=lambda each: each.name)


def grader_of(name: str) -> prove_cases.Grader:
    """One that has this case alone."""
    suites = [replace(suite, cases=tuple(c for c in suite.cases if c.name == name))
              for suite in SUITES]
    return prove_cases.Grader(LAB, [suite for suite in suites if suite.cases], Path(WRITTEN.name) / "kept")


@pytest.fixture(scope="session")
def revealing() -> prove_cases.Grader:
    return grader_of(REVEALING)


@pytest.mark.parametrize("kernel", first_of_each(FAULTY, lambda kernel: kernel.loses, every=2),
                         ids=lambda kernel: kernel.name)
def test_a_faulty_kernel_loses_what_its_head_declares(
    revealing: prove_cases.Grader, kernel: Kernel
) -> None:
    """`make cases` tries all cases, and takes some minutes; here a single one does. In `make test`
    the first kernel of every second thing to lose, in `make test-all` all."""
    elsewhere = TOO_SMALL_THERE.get(kernel.name)
    proved = (grader_of(elsewhere) if elsewhere else revealing).prove(kernel)
    assert proved.loses() != "nothing"
    assert list(proved.failures()) == []
