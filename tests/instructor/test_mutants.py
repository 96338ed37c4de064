"""`make mutants`, in a repository of a few lines."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import REPOSITORY

from instructor.mutants import draw

PRODUCT = {
    "sum.py": "def total(a, b):\n    '''Of both.'''\n    return a - b\n",
    "noted.py": "noted = []\n\n\ndef note(word):\n    noted.append(word)\n",
    "tests/test_sum.py": "import sum\n\n\ndef test_total():\n    assert sum.total(3, 2) == 1\n",
    "instructor/mutants/rooms.toml": '[sums]\nfiles = ["sum.py"]\ntests = ["tests"]\n'
                                     '[notes]\nfiles = ["noted.py"]\ntests = ["tests/test_sum.py"]\n',
    "tests/conftest.py": "import sys\nsys.path.insert(0, '.')\n",
    "tests/pytest.ini": "[pytest]\naddopts = -ra\nmarkers =\n    slow: more\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """With the program and what says where the repository is; the rest is this one's."""
    shutil.copytree(REPOSITORY / "instructor/mutants", tmp_path / "instructor/mutants")
    (tmp_path / "instructor/release").mkdir()
    shutil.copy(REPOSITORY / "instructor/release/repository.py", tmp_path / "instructor/release")
    for name, text in PRODUCT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def mutants(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "instructor.mutants", *words], cwd=project,
                          capture_output=True, text=True, check=False,
                          env=os.environ | {"PYTHONPATH": str(REPOSITORY)})


def test_what_no_test_notices_is_shown_with_its_line(project: Path) -> None:
    """A test that fails without a defect is named and left out."""
    with open(project / "tests/test_sum.py", "a") as file:
        file.write("\n\ndef test_other():\n    assert False\n")
    ran = mutants(project, "--count", "2", "--jobs", "2")
    assert ran.returncode == 0, ran.stderr
    tried = json.loads((project / "build/mutants.json").read_text())["tried"]
    assert {(each["room"], each["end"]) for each in tried} == {("sums", "killed"), ("notes", "lives")}
    assert {each["by"] for each in tried if each["room"] == "sums"} == {"tests/test_sum.py::test_total"}
    lives = [each for each in tried if each["end"] == "lives"]
    for each in lives:
        assert f"noted.py:{each['line']}\n  - {each['before'].strip()}\n" in ran.stdout
    count = len(tried) - len(lives), len(lives)
    assert ["all", str(len(tried)), str(count[0]), "0", str(count[1])] in [
        line.split() for line in ran.stdout.splitlines()], ran.stdout
    for room in ("sums", "notes"):
        named = f"{room}: left out, for it fails without a defect: tests/test_sum.py::test_other"
        assert named in ran.stdout + ran.stderr
    assert (project / "sum.py").read_text() == PRODUCT["sum.py"], "the checkout is left as it is"


@pytest.mark.slow  # it makes what is there faster
def test_what_was_tried_with_these_sources_is_not_tried_again(project: Path) -> None:
    file = project / "build/mutants.json"
    assert mutants(project, "--count", "1", "--room", "sums").returncode == 0
    kept = json.loads(file.read_text())
    kept["tried"][0]["by"], kept["left_out"]["sums"] = "an earlier test", ["tests/test_sum.py::test_total"]
    file.write_text(json.dumps(kept))
    assert mutants(project, "--count", "2", "--room", "sums").returncode == 0
    first, second = json.loads(file.read_text())["tried"]
    assert first["by"] == "an earlier test" and second["end"] == "lives"
    with open(project / "sum.py", "a") as source:
        source.write("# another source\n")
    assert mutants(project, "--count", "1", "--room", "sums").returncode == 0
    (tried,) = json.loads(file.read_text())["tried"]
    assert tried["by"] == "tests/test_sum.py::test_total"


def test_each_room_has_files_and_tests() -> None:
    tracked = [str(name.relative_to(REPOSITORY)) for folder in ("engine", "lab", "grader", "course")
               for name in (REPOSITORY / folder).rglob("*")]
    assert len(draw.rooms_of(REPOSITORY, tracked)) == 10


def test_lines_behind_a_bracket_and_a_minus_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a[] = {-1};\nint f(void) { return 1; }\n")
    made = draw.mutants_of(tmp_path, draw.Room("room", ("a.c",), ()))
    assert {each.line for each in made} == {1, 2}


def test_what_changes_nothing_that_is_built_is_not_drawn(tmp_path: Path) -> None:
    """A comment, a docstring, what does not compile, or not assemble."""
    (tmp_path / "a.c").write_text('int f(int a) { return a + 1; } // + 1\n#define UNUSED 3\n__asm__(".data");\n')
    (tmp_path / "a.py").write_text(PRODUCT["sum.py"])
    room = draw.Room("room", ("a.c", "a.py"), ())
    copy = draw.Copy(tmp_path, ["a.c", "a.py"], tmp_path / "copy")
    objects = draw.Objects(copy)
    objects.flags = []
    c, python = ((tmp_path / name).read_text().splitlines(keepends=True) for name in room.files)

    def counts(file: str, lines: list[str], line: int, after: str) -> bool:
        mutant = draw.Mutant(room, file, line, lines[line - 1], after)
        return draw.changes_what_is_built(mutant, copy, objects)

    assert counts("a.c", c, 1, "int f(int a) { return a - 1; } // + 1\n")
    assert not counts("a.c", c, 1, "int f(int a) { return a + 1; } // - 1\n")
    assert not counts("a.c", c, 1, "int f(int a) { return a + ; } // + 1\n")
    assert not counts("a.c", c, 2, "#define UNUSED 4\n")
    assert not counts("a.c", c, 3, '__asm__(".atad");\n')
    assert counts("a.py", python, 3, "    return a + b\n")
    assert not counts("a.py", python, 2, "    '''Of none.'''\n")
    assert not counts("a.py", python, 3, "    break\n")
    assert (copy.path / "a.c").read_text() == "".join(c)


def test_an_equal_set_is_no_change() -> None:
    """In whatever order it is kept, which Python 3.12 draws anew each time."""
    one, other = (compile("", "", "exec").replace(co_consts=(frozenset(numbers),)) for numbers in ((0, 8), (8, 0)))
    assert draw.without_lines(one) == draw.without_lines(other)


def test_what_is_harmless_is_there() -> None:
    """A line that has changed may have become harmful."""
    for each in tomllib.loads(draw.HARMLESS.read_text())["harmless"]:
        lines = (REPOSITORY / each["file"]).read_text().splitlines()
        assert each["before"] in map(str.strip, lines), each
