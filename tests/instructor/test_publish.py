"""`make release` and `make cases`: what reaches students, and whether the cases are sound.

A failure here means that a solution or a hidden case gets into students' hands, that a term begins
with a copy that does not build, or that a test case is published which correct kernels fail.
"""

import re
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from dataclasses import replace
from functools import cache
from pathlib import Path

import grader_fake as fake
import pytest
from conftest import REPOSITORY, Tree, clean_environment, finished, first_of_each, need

from grader.build.parts import described
from grader.cases.model import Case, Performance, Suite
from grader.cases.read import load_suites
from grader.errors import BadInput
from grader.lab import Lab
from instructor.release import leaks, names, proof, prove_cases, repository, student_copy
from instructor.release.proof import Kernel, Proof, Proved

LAB = fake.LAB
SUITES = load_suites(LAB, "all")
HIDDEN = [case for suite in SUITES if suite.hidden for case in suite.cases]
PUBLIC_SHAPES = {leaks.sorted_shape(*case.params.values()) for suite in SUITES if not suite.hidden
                 for case in suite.cases}
SCAN = "labs/scan"
ARRAYS = {"A", "B", "C"}
SECONDS = 600


@pytest.fixture
def checkout(tmp_path: Path, programs: Path) -> Tree:
    """A copy of the repository, where instructors keep theirs."""
    return Tree(tmp_path / "meine Übung 行列", programs)


def command(name: str, *words: object) -> list[str]:
    return [sys.executable, "-B", "-m", f"instructor.release.{name}", *map(str, words)]


def run_script(folder: Path, name: str, *words: object, **env: str) -> subprocess.CompletedProcess[str]:
    return finished(command(name, *words), folder, env)


def left_behind(checkout: Tree) -> list[str]:
    return [path.name for path in checkout.path.parent.iterdir() if path != checkout.path]


# ---- the student's copy --------------------------------------------------------------------------

# What a student sees first; the four with a dot must be where they are.
ROOT = {"Makefile", "README.md", "LICENSE", "handout.md", "kernel.cu", "main.cu", "support.c", "support.h", "testcases",
        "engine", "lab", "grader", "docs", ".clangd", ".devcontainer", ".gitattributes", ".gitignore"}


def test_a_students_copy(checkout: Tree) -> None:
    """All of it, as an instructor does it."""
    target = checkout.path.parent / "autumn größe"
    done = run_script(checkout.path, "student_copy", target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(target) in done.stdout and "nothing found" in done.stdout
    assert re.search(r"to do +handout\.md:\d+: where, and by when, to hand in", done.stdout)
    assert re.search(r"kernel\.cu 0 of (\d+) points, 2_tiled\.cu \1 of \1", done.stdout), done.stdout
    assert left_behind(checkout) == [target.name]

    names = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert {name.split("/")[0] for name in names} == ROOT  # no .git, whose history has what is left out
    assert not [name for name in names if name.startswith("testcases/hidden") or name == "docs/instructor.md"]
    assert "grader/cases/read.py" in names
    for name in names - {"README.md"}:
        assert (target / name).read_bytes() == (checkout.path / name).read_bytes()
    readme = (target / "README.md").read_text()
    assert "## Students" in readme and "instructor/" not in readme and "make test" not in readme
    # Not by the search of the release itself.
    everything = b"\n".join((target / name).read_bytes() for name in names).decode().lower()
    assert not [case.name for case in HIDDEN if case.name in everything]
    assert "a_s[ty][i] * b_s[i][tx]" not in everything


@pytest.mark.slow
def test_a_students_copy_for_another_lab(checkout: Tree) -> None:
    """It is built, checked and graded without LAB=."""
    target = checkout.path.parent / "sums"
    done = run_script(checkout.path, "student_copy", "--lab", SCAN, target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"kernel\.cu 0 of 40 points, 3_work_efficient\.cu 40 of 40", done.stdout), done.stdout
    assert {path.name for path in target.iterdir()} == ROOT


def test_what_is_refused_is_not_written(checkout: Tree) -> None:
    """An empty folder stays empty."""
    readme = checkout.path / "README.md"
    readme.write_text(readme.read_text().replace("## Teaching", "## Caretakers"))
    (checkout.path.parent / "empty").mkdir()
    done = run_script(checkout.path, "student_copy", "../empty")
    assert (done.returncode, done.stderr.splitlines()) == (1, [
        'release: README.md: has no section "## Teaching" to leave out', "release: ../empty was not written"])
    assert left_behind(checkout) == ["empty"] and not list((checkout.path.parent / "empty").iterdir())


@pytest.mark.slow  # test_what_is_refused_is_not_written: what is left behind
def test_a_release_that_is_stopped_leaves_nothing(checkout: Tree) -> None:
    with subprocess.Popen(command("student_copy", "../copy"), cwd=checkout.path, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=clean_environment()) as running:
        deadline = time.monotonic() + SECONDS
        while not list(checkout.path.parent.glob(".copy-*/trial")):
            assert time.monotonic() < deadline and running.poll() is None
            time.sleep(0.02)
        time.sleep(0.5)  # in its first make, or soon
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=60) != 0
    assert left_behind(checkout) == []


def test_a_dir_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    full, file, link = (tmp_path / name for name in ("full", "file", "link"))
    full.mkdir()
    for path in (full / "precious", file):
        path.write_text("mine")
    link.symlink_to("full")
    for path in (full, file, link, tmp_path / "no/such/place", REPOSITORY, REPOSITORY / "copy"):
        with pytest.raises(BadInput, match=re.escape(f"{path}: ")):
            student_copy.usable_target(str(path))
    monkeypatch.setattr(sys, "argv", ["student_copy", ""])
    assert student_copy.main() == 2
    assert re.fullmatch("release: DIR: .*\n", capsys.readouterr().err)


def write_copy(lab: Lab, target: Path) -> tuple[dict[str, str], list[str]]:
    """Its files, and the project's."""
    everything = student_copy.files_of_project(lab.folder, uncommitted=True)
    files = student_copy.published(lab.folder, everything)
    student_copy.write_copy(files, target, lab)
    return files, everything


# ---- what must not be in it ----------------------------------------------------------------------


def lines_of(kernel: str, words: str) -> str:
    """The line with these words, and the one before it."""
    lines = (REPOSITORY / kernel).read_text().splitlines()
    (at,) = [number for number, line in enumerate(lines) if words in line]
    return "\n".join(lines[at - 1:at + 1])


def with_other_names(code: str) -> str:
    for old, new in {"A_s": "tileA", "B_s": "tileB", "row": "r", "a_col": "q", "tx": "x1"}.items():
        code = re.sub(rf"\b{old}\b", new, code)
    return code


TILED_KERNEL = "instructor/solutions/2_tiled.cu"
SECRET = next(case for case in HIDDEN if leaks.sorted_shape(*case.params.values()) not in PUBLIC_SHAPES)
M, K, N = (SECRET.params[size] for size in "mkn")
TITLED = next(case for case in HIDDEN if len(case.title) >= leaks.SHORTEST_PHRASE)
PLANTED = {
    "lab": {
        "docs/check.md": (f"as in {SECRET.name} of last year", "the name of the hidden case"),
        "docs/cpu-backend.md": (f"| {N} | {M} | {K} |", "the sizes of the hidden case"),
        "docs/look.md": (TITLED.title, "a title or hint of the hidden case"),
        "docs/points.md": (f"{M} rows, inner dimension {K} and {N} columns", "the sizes of the hidden case"),
        "handout.md": (with_other_names(lines_of(TILED_KERNEL, "A_s[ty][tx] =")), "has code of"),
        "main.cu": (f"/* {lines_of(TILED_KERNEL, '+= A_s[ty]')} */", "has code of"),
        "docs/sgemm.md": ("see [this](nowhere.md)", "links to nowhere.md"),
        "LICENSE": ("as docs/instructor.md says", "names docs/instructor.md"),
        "lab/lab.c": ("/* make release copies this */", "names make release"),
        "kernel.cu": ("int mine;", "is not the empty starter"),
        "lab/picture.bin": ("\xff", "not text"),
        f"docs/{SECRET.name}.md": ("", f'(a file\'s name):1: says "{SECRET.name.lower()}"'),
    },
    SCAN: {
        "handout.md": (lines_of(f"{SCAN}/instructor/solutions/2_hillis_steele.cu", "to[i] = i < stride"), "code of 2_"),
        "main.cu": (lines_of(f"{SCAN}/instructor/cheats/5_knows_the_fills.cu", "out[i] = period"), "code of 5_knows"),
        "lab/scan.h": (lines_of("labs/stencil/instructor/solutions/2_tile.cu", "+= tile[y + 1]"), "code of 2_tile"),
        "docs/check.md": (lines_of(TILED_KERNEL, "+= A_s[ty]"), "code of 2_tiled"),
        "lab/lab.c": ("/* warp-wraps-around */", "the name of the hidden case"),
        "lab/truth.c": ("/* 20,011 elements */", "the sizes of the hidden case"),
        "docs/look.md": (HIDDEN[-1].name, "the name of the hidden case"),
        "README.md": (f"as in {SCAN}", "names labs/scan"),
    },
}


@pytest.mark.parametrize("folder", PLANTED)
def test_everything_that_must_not_be_there_is_found_at_once(tmp_path: Path, folder: str) -> None:
    """And nothing else. Of SGEMM's copy test_a_students_copy searches the other files."""
    files, everything = write_copy(described(folder), tmp_path)
    for name in files if folder == "lab" else ():
        if name != "kernel.cu":
            (tmp_path / name).write_text("")
    for name, (text, _) in PLANTED[folder].items():
        files[name] = name
        with open(tmp_path / name, "ab") as file:
            file.write(f"\n{text}\n".encode("latin-1" if name.endswith(".bin") else "utf-8"))
    with pytest.raises(student_copy.Refused) as refused:
        student_copy.search(tmp_path, files, everything, described(folder))
    reasons = refused.value.reasons
    for name, (_, what) in PLANTED[folder].items():
        place = "(a file's name)" if "a file's name" in what else name
        assert any(line.startswith(f"{place}:") and what in line for line in reasons), (name, what)
    instead = {"instead of a name", "instead of sizes", "instead of code"}
    if folder == "lab":
        instead |= {"instead of a title or a hint", "(a file's name)"}
    assert {line.split(":")[0] for line in reasons} - {*PLANTED[folder]} == instead
    for what in instead - {"(a file's name)"}:
        assert sum(line.startswith(f"{what}: ") for line in reasons) == 1, reasons


def test_another_lab_lies_where_sgemm_does_and_no_labs_secrets_do(tmp_path: Path) -> None:
    files, _ = write_copy(described(SCAN), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == ROOT
    assert files["lab/truth.c"] == f"{SCAN}/truth.c" and files["kernel.cu"] == f"{SCAN}/kernel.cu"
    assert not [name for name, source in files.items() if re.search("hidden/|instructor/", source)
                or source.startswith("lab") and not source.startswith(f"{SCAN}/")]
    readme = (tmp_path / "README.md").read_text()
    assert readme.startswith("# Prefix sums in CUDA\n") and "make && ./scan" in readme
    with pytest.raises(student_copy.Refused, match="the lab has none"):
        student_copy.readme_of_another_lab("scan", tmp_path / "no handout")


@pytest.mark.slow  # as that of another lab
@pytest.mark.parametrize("lab", ["reduction", "stencil"])
def test_a_small_lab_gives_nothing_away(tmp_path: Path, lab: str) -> None:
    small = described(f"labs/{lab}")
    (what, said), *_ = student_copy.search(tmp_path, *write_copy(small, tmp_path), small)
    assert what == "searched" and said.endswith("nothing found")


# ---- what a student would do with it -------------------------------------------------------------


def spoilt_trial(folder: Path, *changes: tuple[str, str, str]) -> student_copy.Trial:
    """Of a student's copy in which files were changed: name, old text, new text."""
    write_copy(LAB, folder / "copy")
    for name, old, new in changes:
        path = folder / "copy" / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
    return student_copy.Trial(folder / "copy", folder / "trial" / "student's copy", LAB)


def test_what_does_not_work_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three targets; test_a_students_copy plans all."""
    named = student_copy.targets_in
    monkeypatch.setattr(student_copy, "targets_in",
                        lambda text: [each for each in named(text) if each in ("mistake", "chekc", "check")])
    target = "\n## make mistake  copies\nmistake: ; cp instructor/solutions/2_tiled.cu kernel.cu\n"
    trial = spoilt_trial(tmp_path, ("Makefile", "\nclean:", f"{target}\nclean:"),
                         ("Makefile", "## make check ", "## make chekc "),
                         ("support.c", "#include", "#error nothing goes\n#include"))
    with pytest.raises(student_copy.Refused) as refused:
        trial.targets_exist()
    assert len(refused.value.reasons) == 2
    for words in ("mistake uses instructor/", "no target chekc"):
        assert any(words in reason for reason in refused.value.reasons)
    with pytest.raises(student_copy.Refused, match="does not build ./sgemm"):
        trial.builds()


@pytest.mark.slow  # test_a_students_copy: its grades
def test_points_for_nothing_are_seen(tmp_path: Path) -> None:
    """A grader that has gone soft."""
    judge = "def judge(seen: Seen) -> Lost | None:\n"
    trial = spoilt_trial(tmp_path, ("grader/criteria/correct.py", judge, f"{judge}    return None\n"))
    with pytest.raises(student_copy.Refused, match="gives the empty kernel.cu"):
        trial.grades()


# ---- which files, and how they are copied --------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of a few files, instead of this one."""
    folder = tmp_path / "project"
    for module in (repository, student_copy):
        monkeypatch.setattr(module, "REPOSITORY", folder)
    for name in ("kernel.cu", "handout.md", "engine/text", "engine/tool", "instructor/faulty/01_a.cu"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text\n")
    (folder / "engine/tool").chmod(0o755)
    (folder / "README.md").write_text(f"# Title\n{student_copy.TEACHING}")
    (folder / ".gitignore").write_text("sgemm\n")
    return folder


def git(folder: Path, *words: str) -> None:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a",
                "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
    finished([need("git"), *words], folder, identity).check_returncode()


def test_only_what_git_tracks_is_published(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "a")
    (project / "sgemm").write_text("ignored: built")
    (project / "instructor/faulty/99_new.cu").write_text("")  # not published, so it need not be committed
    committed = student_copy.files_of_project("lab", uncommitted=False)
    assert "kernel.cu" in committed and "sgemm" not in committed
    (project / "new.md").write_text("not added\n")
    (project / "handout.md").write_text("changed\n")
    with pytest.raises(student_copy.Refused) as refused:
        student_copy.files_of_project("lab", uncommitted=False)
    assert [line.split(": ")[0] for line in refused.value.reasons] == ["handout.md", "new.md"]
    assert all("commit" in line for line in refused.value.reasons)
    assert set(student_copy.files_of_project("lab", uncommitted=True)) == {
        *committed, "new.md", "instructor/faulty/99_new.cu"}


def test_programs_keep_their_right_to_run_and_links_are_not_copied(project: Path, tmp_path: Path) -> None:
    """No program that is published has it now."""
    names = ("engine/tool", "engine/text", "README.md")
    student_copy.write_copy(dict(zip(names, names)), tmp_path / "copy", LAB)
    modes = [(tmp_path / "copy" / name).stat().st_mode & 0o777 for name in names[:2]]
    assert modes == [0o755, 0o644]
    (project / "link.md").symlink_to("instructor/faulty/01_a.cu")
    with pytest.raises(student_copy.Refused, match="link.md: not a regular file"):
        student_copy.write_copy({"link.md": "link.md"}, tmp_path / "copy", LAB)


# ---- names ---------------------------------------------------------------------------------------

NAMED = names.Names(
    ["Makefile", "docs/check.md", "docs/ci.md", "engine/cuda/place.h", "tests/kinds.py", "course/__main__.py",
     "instructor/room.c", "grader/grader.mk", "testcases/hidden/a.toml", "testcases/public/b.toml"],
    ["Makefile", "docs/check.md", "engine/cuda/place.h", "grader/grader.mk", "testcases/public/b.toml"],
    {"all", "check", "release", "grade", "sgemm"}, {"all", "check", "grade", "sgemm"})
LACKING = [
    "see docs/ci.md.", "(docs/ci.md:3)", "tests/kinds.py", "in tests/ and", "`instructor/release`", "checker.mk",
    "../docs/ci.md", "testcases/hidden/*.toml", "room.c", "python -m course/__main__.py", "`make release DIR=x`",
    "run make release", "`make relaese`", "next: make chekc",
]
NOT_LACKING = [
    "docs/check.md, docs/check.md:3", "place.h", "../cuda/place.h", "cuda/place.h", "testcases/*/b.toml",
    "build/c/docs/ci.md", "results/x.md", "https://example.org/docs/ci.md", "stdio.h", "other.cu", "criteria/NAME.py",
    "\\ndocs/check.md", "make sure, make of it", "`make check KERNEL=x.cu`", "next: make grade", "the tests of it",
    "course of events",
]


def test_names_of_what_is_not_there_are_found() -> None:
    for text in LACKING:
        (found,) = NAMED.search("engine/cuda/file.c", f"first line\n{text}\n")
        assert found.line == 2 and found.what.endswith("a student's copy does not have"), text
    for text in NOT_LACKING:
        assert list(NAMED.search("engine/cuda/file.c", text)) == [], text


# ---- the search ----------------------------------------------------------------------------------

SHAPE = leaks.sorted_shape(97, 23, 58)
SIZES = leaks.sizes_of(SHAPE, "a case", set())
NOTATIONS = [
    "97 23 58", "58x97x23", "23 × 58 × 97", "m=97 k=23 n=58", '"m": 97, "n": 58, "k": 23', "| 97 | 23 | 58 |",
    "shape_97_23_58", "A is 97 x 23, B is 23 x 58", "--sizes=97/23/58", "M97K23N58",
    "97 and later 23, but 58 comes after many words", "# n = 58, which is odd enough\n#\n# k = 23\n# and then m = 97",
    "$97 \\times 23 \\times 58$", "![C has 97 rows](c.svg) and ![58 columns](d.svg), of 23 terms",
    "#define ROWS 97\n#define COLUMNS 58\n#define TERMS 23", "98 99 97\n101 58 5\n23",
]
NO_SHAPES = ["97.23.58", "0.97 23 58", "197 23 58", "97 23 580", "97 23", "97 97 23 23",
             "a" * 40 + "97b23c58", f"97 and 23 {'words ' * 60} 58"]


def test_a_shape_is_found_in_any_notation() -> None:
    for notation in NOTATIONS:
        text = f"before\n{notation}\nbehind"
        (at,) = SIZES.found_in(leaks.numbers_in(text))
        assert leaks.line_at(text, at) in (2, 3), notation
    for text in NO_SHAPES:
        assert list(SIZES.found_in(leaks.numbers_in(text))) == [], text


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


def hidden(*cases: Case | Performance, **more) -> Suite:
    return fake.suite(*cases, name="hidden/a", **more)


def case(name: str, *shape: int, suite: str = "hidden/a", **more) -> Case:
    return fake.case(name, *shape, suite=suite, **more)


def test_what_is_public_is_no_secret() -> None:
    """Nor is what nobody could tell from other numbers; both are said."""
    secrets = leaks.secrets_of(
        [hidden(case("twin", 20, 70, 35), case("tiny", 3, 5, 7), case("part", 20, 70, 2),
                case("real-1", 97, 23, 58, seed=1234567))],
        [fake.suite(case("wide", 35, 20, 70, suite="public/b"))])
    assert [sizes.needed for sizes in secrets.sizes] == [SHAPE]
    assert [note.split(": ")[0] for note in secrets.not_searched] == [
        "hidden/a/twin", "hidden/a/tiny", "hidden/a/part"]
    text = "20 70 35, 3 5 7; the twins of Real-1s and unreal-1\n"
    assert list(secrets.search("f", text)) == []
    for picture, there in (('<path d="M97 23h58"/>', 0), ("<text>97 x 23 x 58</text>", 1)):
        assert len(list(secrets.search("a.svg", picture))) == there
    found = list(secrets.search("f", "\nREAL-1 has\n1234567\n"))
    assert [leak.line for leak in found] == [2, 3]


def timed(name: str, m: int, k: int, n: int, **more) -> Performance:
    return fake.shape(name, suite="hidden/a", **more).model_copy(update={"params": {"m": m, "k": k, "n": n}})


def test_hidden_shapes_that_are_timed_are_secrets() -> None:
    secrets = leaks.secrets_of(
        [hidden(case("real-1", 97, 23, 58), timed("real-3", 1024, 1025, 1026),
                timed("real-2", 1601, 1709, 1811, hint="a hint about this one and only shape"))],
        [fake.suite(case("wide", 35, 20, 70, suite="public/b"), timed("known", 1026, 1025, 1024))])
    assert {sizes.needed for sizes in secrets.sizes} == {SHAPE, (1601, 1709, 1811)}
    found = [leak.what for leak in secrets.search(
        "f", "1709 x 1811 x 1601, a hint about this one and only shape, Real-2; 1024 1025 1026")]
    assert len(found) == 3 and all("real-2" in what for what in found)


NAIVE = REPOSITORY / "instructor/solutions/1_naive.cu"
LOOP = lines_of(NAIVE, "sum += A[row * k + i]")
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
    "in HTML": LOOP.replace("<", "&lt;").replace("*", "&#42;"),
}


@pytest.mark.parametrize("text", HIDING_PLACES.values(), ids=HIDING_PLACES.keys())
def test_code_is_found_where_it_hides(text: str) -> None:
    (found,) = leaks.Code([NAIVE], ARRAYS).search("handout.md", f"words\n\n{text}\n")
    assert found.file == "handout.md" and found.line in (3, 4) and "1_naive.cu" in str(found)


TRIVIA = [
    "for (int i = 0; i < n; ++i) sum += x[i] * y[i];", "if (row < m && col < n) return;",
    "int row = blockIdx.y * 16 + ty;", "__shared__ float tile[16][16];",
    "dim3 grid((n + 15) / 16, (m + 15) / 16);", "C[row * n + col] = sum;", "A[row * k + col]",
    "__syncthreads();", "tile[threadIdx.y][threadIdx.x]", "x[i] = y[i];",
    'say("%u x %u x %u, at most %u x %u x %u", a[0], a[1], a[2], b[0], b[1], b[2]);',
    "A[row * k + i]", "int row = blockIdx.y;", (REPOSITORY / "kernel.cu").read_text(),
]


def test_kernels_are_found_and_what_every_textbook_has_is_not() -> None:
    kernels = [*(REPOSITORY / "instructor").rglob("[0-9]*.cu"), *(REPOSITORY / "tests/kernels/right").glob("*.cu")]
    code = leaks.Code(kernels, ARRAYS)
    for text in TRIVIA:
        assert not list(code.search("handout.md", f"words\n```\n{text}\n```\nwords\n")), text
    mysgemms = [path for path in kernels if path.parent.name != "cheats"]
    assert len(mysgemms) > 80
    assert [path.name for path in mysgemms if not list(code.search("f", path.read_text()))] == []


def test_texts_may_be_allowed_to_the_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    code = leaks.Code([NAIVE], ARRAYS)
    for allowed, found in ((LOOP, 0), (LOOP.replace("sum", "x"), 1)):
        monkeypatch.setattr(leaks, "ALLOWED", (allowed,))
        assert len(list(code.search("handout.md", f"an example:\n{LOOP}\n"))) == found


# ---- what is proved of cases ---------------------------------------------------------------------


FIRST, SECOND, THIRD = (fake.case(name, size, size, size, points=2.0, criteria=["memory"])
                        for name, size in (("first", 16), ("second", 17), ("third", 18)))
TILES = fake.case("tiles", 64, 64, 64, points=2.0, criteria=["tiled"])
SUITE = fake.suite(FIRST, TILES, points={"memory": 3.0, "tiled": 1.0})
LEAKS, WRONG = "16 16 16: leak\nright", "16 16 16: wrong\nright"


def proved(name: str, group: str, loses: str, text: str, suite: Suite = SUITE) -> Proved:
    """Of a kernel that does what the text says."""
    return Proved(Kernel(LAB, Path(f"{name}.cu"), group, loses), [fake.grading(text, [suite]).run()])


def printed(capsys: pytest.CaptureFixture[str], proof: Proof) -> str:
    prove_cases.show(proof, [], full=True, seconds=1)
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 or line.startswith("not sound: ") for line in shown.splitlines())
    return " ".join(shown.split())


def test_which_case_catches_what(capsys: pytest.CaptureFixture[str]) -> None:
    """`second` and `third` catch the same; `first` catches one that no other case does."""
    suite = fake.suite(FIRST, SECOND, THIRD, points={"memory": 3.0})
    proof = Proof([suite], [proved("1_a", "faulty", "correct", WRONG, suite),
                            proved("2_b", "faulty", "memory", "16 16 16: right\nleak", suite)])
    assert proof.failures == proof.free == []
    assert proof.caught_by(FIRST) == proof.only_by(FIRST) == ["1_a"]
    assert proof.caught_by(THIRD) == ["2_b"] and proof.only_by(THIRD) == []
    assert proof.redundant() == [SECOND, THIRD]
    shown = printed(capsys, proof)
    assert "Cases that catch nothing that others do not: public/basics: second, third " in shown
    assert "Faults that a single case catches: 1_a (public/basics/first) " in shown
    assert "the case takes points for builds, correct, memory, ...; ·: for nothing" in shown
    assert shown.endswith("sound: these cases can be published")


def test_a_fault_that_no_case_catches(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, Proof([SUITE], [proved("5_f", "faulty", "correct", "right")]))
    assert "Faults that go free: 5_f " in shown
    assert shown.endswith("not sound: 5_f loses no points in any case")


@pytest.mark.parametrize(("group", "loses", "text", "words"), [
    ("solution", "nothing", "right", ""),
    ("solution", "nothing", LEAKS, "public/basics/first takes points for memory"),
    ("solution", "nothing", "fopen", "but is refused"),
    ("solution", "nothing", "error", "but is refused"),
    ("solution", "tiled", "naive", ""),
    ("solution", "tiled", "right", "but keeps it"),
    ("solution", "tiled", "16 16 16: leak\nnaive", "takes points for memory"),
    ("right", "", "naive", ""),
    ("right", "", "right", ""),
    ("right", "", "64 64 64: wrong\nright", "takes points for correct"),
    ("starter", "", "wrong", ""),
    ("starter", "", "16 16 16: leak\nwrong", "2 of 8 points for nothing"),
    ("cheat", "", "16 16 16: leak\nwrong", "2 of 8 points for nothing"),
    # Those that cheat a clock keep what they earn without one, but for what they declare and what is less basic.
    ("cheat", "tiled", "naive", ""),
    ("cheat", "tiled", "right", "but keeps it"),
    ("cheat", "tiled", "64 64 64: wrong\nright", "takes points for correct"),
    ("cheat", "tiled", "fopen", "but is refused"),
    ("cheat", "tiled", "16 16 16: leak\nnaive", "takes points for memory"),
    ("cheat", "memory", "16 16 16: leak\nnaive", ""),
    ("cheat", "memory", "naive", "declares `loses: memory`, but keeps it"),
    ("faulty", "memory", WRONG, "declares `loses: memory` and loses correct"),
    ("faulty", "correct", LEAKS, "and loses memory"),
    ("faulty", "correct", WRONG, ""),
    ("faulty", "memory or correct", LEAKS, ""),
    ("faulty", "memory or correct", WRONG, ""),
    ("faulty", "builds", WRONG, ""),  # it launches nothing
    ("faulty", "builds", LEAKS, "and loses memory"),
    ("faulty", "everything", WRONG, "and loses correct"),
    ("faulty", "everything", "fopen", ""),
    ("faulty", "correct", "right", "5_f loses no points in any case"),
])
def test_grades_that_are_known_beforehand(group: str, loses: str, text: str, words: str) -> None:
    failures = Proof([SUITE], [proved("5_f", group, loses, text)]).failures
    assert len(failures) == bool(words) and all(words in line for line in failures), failures


def test_points_are_written_one_a_line(tmp_path: Path) -> None:
    prove_cases.write_points([proved("5_f", "solution", "", LEAKS), proved("4_e", "cheat", "", "fopen")],
                             tmp_path / "points.txt")
    lines = (tmp_path / "points.txt").read_text().splitlines()
    assert lines == sorted(lines) and "4_e refused" in lines
    assert lines[-4:] == [f"5_f public/basics/{what}" for what in (
        "first correct kept", "first memory lost", "tiles correct kept", "tiles tiled kept")]


def test_what_is_wrong_keeps_no_more_than_85_of_100() -> None:
    """Of cases that were not tried, all that they are worth; and what only does not tile is not wrong."""
    def kept(points: float, loses: str = "correct") -> list[str]:
        suite = fake.suite(FIRST, points={"memory": 3.0})
        large = fake.case("large", 999, 999, 999, points=points, criteria=["memory"])
        return Proof([replace(suite, cases=[FIRST, large])], [proved("6_g", "faulty", loses, WRONG, suite)]).failures

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

    def declared(head: str, group: str) -> str:
        path.write_text(f"/* KERNEL\n{head} */\n * fails:    speed\n")
        return prove_cases.declared(LAB, path, group)

    assert declared(" * tries:    1\n * named:    wrong", "cheat") == ""
    assert declared(" * loses:    tiled", "cheat") == "tiled"
    assert declared(" * fails:    speed\n * loses:    tiled", "cheat") == "tiled"
    for head in ("/* loses: nothing */", "/* loses:nothing*/", "/*\nloses: nothing\n*/\n/* loses: tiled */",
                 "// x\n// loses: nothing", "/**\r\n * loses:    nothing\r\n */"):
        path.write_text(head)
        assert prove_cases.declared(LAB, path, "solution") == "nothing", head
    for head in ("", " * loses:    a bit", " * loses:    tiled\n * loses:    tiled"):
        with pytest.raises(BadInput, match="x.cu: its first comment has to say once what it loses"):
            declared(head, "faulty")
    found = prove_cases.kernels(LAB, "*")
    assert {each.group for each in found} == set(proof.GROUPS)
    loses = {each.name: each.loses for each in found}
    assert (loses["2_tiled"], loses["1_naive"], loses["21_side_stream"], loses["24_graph"]) == (
        "nothing", "tiled", "tiled", "")


def test_a_suite_needs_a_gate_of_random_numbers() -> None:
    cases = [case("a", 9, 9, 9), case("c", 9, 9, 9, fill="ones-twos")]
    assert prove_cases.without_a_gate([hidden(*cases, gate="hidden/a/a")]) == []
    for gate, words in (("", "has no gate"), ("hidden/a/c", "its gate c has the fill ones-twos")):
        (line,) = prove_cases.without_a_gate([hidden(*cases, gate=gate)])
        assert line.startswith("hidden/a: ") and words in line
    assert prove_cases.without_a_gate(SUITES) == []


# ---- make cases, as an instructor runs it --------------------------------------------------------

FIRST_CASE = """title = "Small"
gate = "first"
points = { memory = 1 }
[[case]]
name = "first"
m = 16
k = 16
n = 16
fill = "random"
points = 2
"""
EDGES = """[[case]]
name = "edges"
m = 34
k = 19
n = 21
fill = "random"
points = 2
criteria = []
"""
SMALL_SUITE = FIRST_CASE + EDGES
TWIN = EDGES.replace("edges", "edges-again")


def test_a_look_at_the_files_builds_nothing_but_the_labs_description(tmp_path: Path) -> None:
    done = run_script(REPOSITORY, "prove_cases", "--files", GRADER_CACHE=str(tmp_path))
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    assert all(path.name.startswith("lab-") for path in tmp_path.iterdir())


def test_a_look_at_the_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    """What is there, and what is wrong with it; which `make cases` says, too, before it grades anything."""
    monkeypatch.setattr(prove_cases, "described", lambda folder: replace(LAB, folder=str(tmp_path)))
    for half in ("public", "hidden"):
        (tmp_path / "testcases" / half).mkdir(parents=True)

    def look(public: str, *words: str) -> tuple[int, str, str]:
        (tmp_path / "testcases/public/small.toml").write_text(public)
        (tmp_path / "testcases/hidden/other.toml").write_text(SMALL_SUITE.replace("34", "50"))
        monkeypatch.setattr(sys, "argv", ["prove_cases", *words])
        return prove_cases.main(), *capsys.readouterr()

    status, shown, _ = look(SMALL_SUITE, "--files")
    assert status == 0 and "in order" in shown and "4 cases, 10 points" in shown
    assert re.search(r"public/small +2 +· +5 +34 19 21 +2\.0 s", shown), shown
    status, shown, _ = look(SMALL_SUITE.replace('"random"', '"index"'), "--files")
    assert status == 1 and "its gate first has the fill index" in shown
    absurd = re.sub("34|19|21", "16384", TWIN)
    for words in ((), ("--files",)):
        status, _, said = look(SMALL_SUITE + absurd, *words)
        assert status == 2 and re.fullmatch(
            "cases: .*small.toml: case 'edges-again': m k n = 16384 16384 16384: the time limit.*\n", said)


@pytest.mark.parametrize(("groups", "faulty", "said"), [
    ("faulty", "99_*", "matches no kernel"), ("solutions", "*", "'solutions' is not one of starter, "),
])
def test_a_glob_without_kernels_and_an_unknown_group(groups: str, faulty: str, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        prove_cases.prove(Namespace(groups=groups, faulty=faulty, points=None, jobs=1), LAB, [])


def test_progress_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each tenth, and after twenty how long it takes."""
    class Fake:
        def prove(self, kernel: Kernel) -> Proved:
            return Proved(kernel, [])

        def known(self, kernel: Kernel) -> Proved | None:
            return Proved(kernel, []) if kernel is FAULTY[0] else None

    kernels = FAULTY[:31]
    assert [each.kernel for each in prove_cases.prove_all(Fake(), kernels, 2)] == kernels
    said = re.sub(r"\d+ s$", "N s", capsys.readouterr().err, flags=re.MULTILINE)
    tenths = [f"cases: {done} of 30 graded, N s" for done in range(3, 31, 3)]
    assert said.splitlines() == ["cases: grading 30 submissions, 2 at a time; 1 are as they were",
                                 *tenths[:6], "cases: about 0 min more", *tenths[6:]]


# ---- what the faulty kernels lose ----------------------------------------------------------------

REVEALING = "tall-67-33-18"  # of all cases, the one that catches every faulty kernel but one
TOO_SMALL_THERE = {"18_grid_hard_coded": "rows-over-1024"}
WRITTEN = tempfile.TemporaryDirectory(prefix="faulty-")  # removed when this process ends
FAULTY = sorted([*prove_cases.kernels(LAB, "*", ["faulty"]),
                 *prove_cases.made_of_edits(LAB, "*", Path(WRITTEN.name))], key=lambda each: each.name)


@cache
def grader_of(name: str) -> prove_cases.Grader:
    """One that has this case alone."""
    suites = [replace(suite, cases=[case for case in suite.cases if case.name == name]) for suite in SUITES]
    return prove_cases.Grader(LAB, [suite for suite in suites if suite.cases], Path(WRITTEN.name) / "kept")


@pytest.mark.parametrize("kernel", first_of_each(FAULTY, lambda kernel: kernel.loses, every=2),
                         ids=lambda kernel: kernel.name)
def test_a_faulty_kernel_loses_what_its_head_declares(kernel: Kernel) -> None:
    """`make cases` tries all cases, and takes some minutes; here a single one does. In `make test`
    the first kernel of every second thing to lose, in `make test-all` all."""
    proved = grader_of(TOO_SMALL_THERE.get(kernel.name, REVEALING)).prove(kernel)
    assert proved.loses() != "nothing"
    assert list(proved.failures()) == []
